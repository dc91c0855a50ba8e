"""Make records of what a request brings: one document, a list of them, or lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from trustream.feeds.errors import InvalidValue
from trustream.feeds.json_lines import json_record, parsed
from trustream.feeds.options import MAX_DEPTH, Options
from trustream.feeds.store_tokeniser import agreed_tokeniser
from trustream.service.problems import ProblemError
from trustream.store.errors import RecordError
from trustream.store.limits import MAX_CHARACTERS
from trustream.store.protocol import Store
from trustream.store.records import Record

LINES = "application/x-ndjson"
# Faults that are told of, at most.
_MOST_FAULTS = 20
# What feeds call a field that is wrong, and its name in JSON.
_FIELDS = {"the text": "text", "the tokens": "tokens", "a token": "tokens", "the counts": "counts"}


def read_records(
    body: bytes, kind: str, options: Options, idempotency_key: str | None
) -> Sequence[Record]:
    """Records of a body, checked; a `ProblemError` names the fields that are wrong.

    Args:
        body: JSON, or lines of JSON.
        kind: media type of the body.
        options: how records are read.
        idempotency_key: of the request: makes append ids of records that have none.
    """
    values = _lines(body) if kind == LINES else _values(body)
    records: list[Record] = []
    faults: list[dict[str, Any]] = []
    for place, (line, value) in enumerate(values):
        try:
            if isinstance(value, InvalidValue):
                raise value
            record = _record(value, options)
            if idempotency_key is not None and record.append_id is None:
                record = replace(record, append_id=_append_id(idempotency_key, place))
            records.append(record)
        except InvalidValue as error:
            faults.append(_fault(error, line, place if kind != LINES else None))
            if len(faults) == _MOST_FAULTS:
                break
    if faults:
        raise _refusal(faults)
    return records


def record_problem(error: RecordError) -> ProblemError:
    """The refusal of records that the store cannot take."""
    fault = {"field": None, "message": str(error.problem), "index": error.index}
    return _refusal([fault])


def reading_options(store: Store) -> Options:
    """How texts become words of a store, and what it keeps of them."""
    tokenise = agreed_tokeniser(store, None, "documents that come by HTTP")
    return Options(tokenise=tokenise, keep_text=store.settings.keep_text, require_id=True)


def _record(value: Any, options: Options) -> Record:
    record = json_record(value, options)
    replaces = value.get("replace", False)
    if not isinstance(replaces, bool):
        raise InvalidValue(f"is {replaces!r:.60}", field="replace", expected="true or false")
    title = value.get("title")
    if title is not None and not isinstance(title, str):
        raise InvalidValue(f"is a {type(title).__name__}", field="title", expected="a string")
    return replace(record, replace=True) if replaces else record


def _values(body: bytes) -> list[tuple[int | None, Any]]:
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise ProblemError(
            400, "malformed-body", f"the body is not UTF-8 (byte {error.start}): send JSON as UTF-8"
        ) from None
    try:
        value = parsed(text, MAX_DEPTH)
    except InvalidValue as error:
        raise ProblemError(400, "malformed-body", f"the body is {error}") from None
    if isinstance(value, list):
        return [(None, one) for one in value]
    return [(None, value)]


def _lines(body: bytes) -> list[tuple[int | None, Any]]:
    found: list[tuple[int | None, Any]] = []
    for number, line in enumerate(body.split(b"\n"), 1):
        if line.strip():
            try:
                found.append((number, parsed(line.decode(), MAX_DEPTH)))
            except UnicodeDecodeError:
                found.append((number, InvalidValue("not UTF-8")))
            except InvalidValue as error:
                found.append((number, error))
    return found


def _append_id(key: str, place: int) -> str:
    return f"{key}:{place}"


def _fault(error: InvalidValue, line: int | None, index: int | None) -> dict[str, Any]:
    named = error.args[0]
    if named is not None:
        named = "counts" if str(named).startswith("the count of") else _FIELDS.get(named, named)
        named = str(named).removeprefix("the ")
    fault: dict[str, Any] = {"field": named, "message": str(error)}
    if line is not None:
        fault["line"] = line
    if index is not None:
        fault["index"] = index
    return fault


def _refusal(faults: Sequence[dict[str, Any]]) -> ProblemError:
    first = faults[0]
    where = f"line {first['line']}: " if "line" in first else ""
    if "index" in first:
        where = f"document {first['index']} (from 0): "
    return ProblemError(
        422, "invalid-document", f"{where}{first['message']}. Nothing was added", faults
    )


def check_idempotency_key(key: str | None) -> str | None:
    """The key, if it leaves room for the place of a record in an append id."""
    longest = MAX_CHARACTERS - 20
    if key is not None and not (1 <= len(key) <= longest and key.isprintable()):
        fault = {"field": "Idempotency-Key", "message": f"expected 1 to {longest} characters"}
        raise ProblemError(422, "invalid-request", f"Idempotency-Key: {fault['message']}", [fault])
    return key
