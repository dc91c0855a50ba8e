"""Make records of what a request brings: one document, a list of them, or lines."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from trustream.feeds.errors import InvalidValue, field_name
from trustream.feeds.items import Item
from trustream.feeds.json_lines import json_record, parsed
from trustream.feeds.options import MAX_DEPTH, Options
from trustream.feeds.received_lines import ReceivedLines
from trustream.feeds.rows import records_of
from trustream.feeds.store_tokeniser import agreed_tokeniser
from trustream.service.problem_error import ProblemError
from trustream.store.coded_records import CodedRecords
from trustream.store.errors import RecordError
from trustream.store.limits import MAX_CHARACTERS
from trustream.store.protocol import Store
from trustream.store.records import Record

LINES = "application/x-ndjson"
# Faults that are told of, at most.
_MOST_FAULTS = 20
# Bytes of a body from which on compiled code pays.
_LARGE = 20_000
# Lines with this field are read one by one; also if its letters are escaped.
_REPLACE = re.compile(rb'"replace"|\\u00[4-7]', re.IGNORECASE)


class Before(NamedTuple):
    """What of a request was added before, if it is added in parts."""

    n_records: int = 0
    n_lines: int = 0


NOTHING = Before()


class DocumentsIn:
    """Makes records of bodies, one after the other; in one thread.

    >>> import tempfile, trustream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db") as store:
    ...         records = DocumentsIn().read(store, b'{"id": 7, "text": "Cats"}', LINES, "key")
    >>> records
    [Record(key='7', words=['cats'], time=None, append_id='key:0', replace=False)]
    """

    def __init__(self) -> None:
        self._lines: ReceivedLines | None = None

    def read(
        self,
        store: Store,
        body: bytes,
        kind: str,
        idempotency_key: str | None,
        before: Before = NOTHING,
    ) -> Sequence[Record]:
        """Records of a body, checked; a `ProblemError` names the fields that are wrong.

        Args:
            store: says how texts become words.
            body: JSON, or lines of JSON.
            kind: media type of the body.
            idempotency_key: of the request: makes append ids of records that have none.
            before: what of the request came before the body.
        """
        options = reading_options(store)
        if self._lines is None or self._lines.options != options:
            self._lines = ReceivedLines(options)
        if kind == LINES:
            records = _of_lines(body, self._lines, before)
        else:
            coded = self._lines.coded if is_for_compiled_code(body) else options
            records = _of_values(_values(body), coded)
        if idempotency_key is None:
            return records
        return _with_ids(records, idempotency_key, before.n_records)


def is_for_compiled_code(body: bytes) -> bool:
    """Whether a body is large enough for compiled code, and of a kind that it reads.

    >>> is_for_compiled_code(b'{"id": "a", "text": "cats"}')
    False
    """
    return len(body) > _LARGE and not _REPLACE.search(body)


def _of_lines(body: bytes, lines: ReceivedLines, before: Before) -> Sequence[Record]:
    if not _REPLACE.search(body):
        found, faults = [], []
        for item in lines.items(body):
            if isinstance(item, Item) and item.bad is not None:
                line = before.n_lines + item.line
                faults.append(_fault(item.bad.name, item.bad.problem, line=line))
                if len(faults) == _MOST_FAULTS:
                    break
            else:
                found.append(item)
        if faults:
            raise _refusal(faults, before)
        return records_of(found)
    return _of_values(_parsed_lines(body, before.n_lines), lines.options, before)


def _of_values(
    values: Iterable[tuple[int | None, int | None, Any]],
    options: Options,
    before: Before = NOTHING,
) -> Sequence[Record]:
    """Records of JSON values, each with its line or its place in a list."""
    records: list[Record] = []
    faults: list[dict[str, Any]] = []
    for line, place, value in values:
        try:
            if isinstance(value, InvalidValue):
                raise value
            records.append(_record(value, options))
        except InvalidValue as error:
            faults.append(_fault(error.name, str(error), line, place))
            if len(faults) == _MOST_FAULTS:
                break
    if faults:
        raise _refusal(faults, before)
    return records


def _with_ids(records: Sequence[Record], key: str, first: int) -> Sequence[Record]:
    """Records with an append id each, made of the key of their request and their place."""
    if isinstance(records, CodedRecords):
        given = records.append_ids or [None] * len(records)
        return replace(records, append_ids=[_id(one, key, i) for i, one in enumerate(given, first)])
    return [
        replace(record, append_id=_id(record.append_id, key, i))
        for i, record in enumerate(records, first)
    ]


def _id(given: str | None, key: str, place: int) -> str:
    return f"{key}:{place}" if given is None else given


def record_problem(
    error: RecordError, records: Sequence[Record], before: Before = NOTHING
) -> ProblemError:
    """The refusal of records that the store cannot take."""
    name = field_name(error, records[error.index])
    index = before.n_records + error.index
    return _refusal([_fault(name, error.problem, index=index)], before)


def reading_options(store: Store) -> Options:
    """How texts become words of a store, and what it keeps of them."""
    try:
        tokenise = agreed_tokeniser(store, None, "documents that come by HTTP")
        tokenise("")
    except (ValueError, ImportError):
        # A function of Python's that is not here, or words by a package that is not installed.
        tokenise = _no_tokeniser
    return Options(tokenise=tokenise, keep_text=store.settings.keep_text, require_id=True)


def _no_tokeniser(text: str) -> Sequence[str]:
    raise InvalidValue(
        "cannot be split into words here",
        field="the text",
        expected="tokens or counts",
        advice="a Python function or package that the service lacks makes words of this store's "
        "texts; trustream tokeniser STORE sets another",
        name="text",
    )


def _record(value: Any, options: Options) -> Record:
    record = json_record(value, options)
    replaces = value.get("replace", False)
    if not isinstance(replaces, bool):
        found = f"is {replaces!r:.60}"
        raise InvalidValue(found, field="replace", expected="true or false", name="replace")
    title = value.get("title")
    if title is not None and not isinstance(title, str):
        found = f"is a {type(title).__name__}"
        raise InvalidValue(found, field="title", expected="a string", name="title")
    return replace(record, replace=True) if replaces else record


def _values(body: bytes) -> list[tuple[int | None, int | None, Any]]:
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise ProblemError(
            400, "malformed-body", f"the body is not UTF-8 (byte {error.start}): send JSON as UTF-8"
        ) from None
    try:
        value = parsed(text, MAX_DEPTH)
    except InvalidValue as error:
        raise ProblemError(400, "malformed-body", f"the body cannot be read: {error}") from None
    if isinstance(value, list):
        return [(None, place, one) for place, one in enumerate(value)]
    return [(None, None, value)]


def _parsed_lines(body: bytes, n_before: int) -> Iterator[tuple[int | None, int | None, Any]]:
    for number, line in enumerate(body.split(b"\n"), n_before + 1):
        if line.strip():
            try:
                yield number, None, parsed(line.decode(), MAX_DEPTH)
            except UnicodeDecodeError:
                yield number, None, InvalidValue("not UTF-8")
            except InvalidValue as error:
                yield number, None, error


def _fault(
    field: str | None, message: str, line: int | None = None, index: int | None = None
) -> dict[str, Any]:
    fault: dict[str, Any] = {"field": field, "message": message}
    if line is not None:
        fault["line"] = line
    if index is not None:
        fault["index"] = index
    return fault


def _refusal(faults: Sequence[dict[str, Any]], before: Before = NOTHING) -> ProblemError:
    first = faults[0]
    where = f"line {first['line']}: " if "line" in first else ""
    if "index" in first:
        where = f"document {first['index']} (from 0): "
    detail = f"{where}{first['message']}"
    if not before.n_lines:
        detail += ". Nothing was added"
    return ProblemError(422, "invalid-document", detail, faults)


def checked_key(key: str | None, owner: str) -> str | None:
    """What append ids of a request begin with, made of its key; a problem if that is no key.

    Clients choose keys without knowing of each other: each name of a token has its own.

    Args:
        key: the header of the request; None if it has none.
        owner: name of the token; empty without one.

    >>> checked_key("import-7", ""), checked_key("import-7", "crawler")
    ('import-7', '7ed401ef:import-7')
    """
    # There is room for the name, and for the place of a record.
    longest = MAX_CHARACTERS - 20
    if key is not None and not (1 <= len(key) <= longest and key.isprintable()):
        fault = {"field": "Idempotency-Key", "message": f"expected 1 to {longest} characters"}
        raise ProblemError(422, "invalid-request", f"Idempotency-Key: {fault['message']}", [fault])
    if key is None or not owner:
        return key
    return f"{hashlib.blake2b(owner.encode(), digest_size=4).hexdigest()}:{key}"
