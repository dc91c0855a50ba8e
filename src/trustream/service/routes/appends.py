"""The route that documents come in by."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from trustream.service import schemas
from trustream.service.access import Token
from trustream.service.answers import answer
from trustream.service.context import appending, context_of
from trustream.service.documents_in import (
    LINES,
    NOTHING,
    Before,
    checked_key,
    record_problem,
)
from trustream.service.line_parts import line_parts
from trustream.service.problem_error import ProblemError
from trustream.service.problems import documented, unavailable
from trustream.store.errors import RecordError, StoreError

router = APIRouter(tags=["documents"])

NEW_DOCUMENT: dict[str, Any] = {
    "type": "object",
    "required": ["id"],
    "description": "A document, or a part that is added to it. Other fields are passed over.",
    "properties": {
        "id": {"type": ["string", "integer"], "description": "key, 1 to 500 characters"},
        "text": {"type": "string", "description": "split into words as the store says"},
        "tokens": {"type": "array", "items": {"type": "string"}},
        "counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
        "time": {"type": ["number", "string", "null"], "description": "seconds, or ISO 8601"},
        "title": {"type": ["string", "null"]},
        "replace": {"type": "boolean", "description": "whether it takes the document's place"},
        "append_id": {
            "type": ["string", "integer", "null"],
            "description": "a second record with the same one does nothing",
        },
    },
    "oneOf": [{"required": ["text"]}, {"required": ["tokens"]}, {"required": ["counts"]}],
}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "anyOf": [NEW_DOCUMENT, {"type": "array", "items": NEW_DOCUMENT}],
                }
            },
            LINES: {"schema": {"type": "string", "description": "one document on each line"}},
        },
    }
}


@router.post(
    "/documents",
    response_model=schemas.Appended,
    responses=documented(400, 408, 413, 415, 422),
    openapi_extra=_BODY,
)
async def append_documents(
    request: Request,
    sender: Annotated[Token, Depends(appending)],
    idempotency_key: Annotated[str | None, Header()] = None,
    in_parts: Annotated[
        bool, Query(description="store lines in parts while they come: they may be any number")
    ] = False,
) -> Response:
    """Add documents or parts of documents, all or nothing; durable when it is answered.

    With an `Idempotency-Key`, or an `append_id` in each document, a request can be sent again: what
    was added before is left out, and counted in `n_repeated`. With `in_parts`, lines are added a
    few megabytes at a time; if something is wrong, `added` says what was added before.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    key = checked_key(idempotency_key, sender.name)
    if not in_parts:
        added = await _append(request, await request.body(), kind, key, NOTHING)
        return answer(request, added)
    if kind != LINES:
        detail = f"in_parts is for lines: send them as Content-Type: {LINES}"
        raise ProblemError(415, "unsupported-type", detail, headers=_UNREAD)
    return answer(request, await _append_parts(request, key))


async def _append_parts(request: Request, key: str | None) -> dict[str, int]:
    before, total = NOTHING, dict.fromkeys(_COUNTS, 0)
    try:
        async for part in line_parts(request.stream()):
            # Lines may come for hours, and a token may be revoked meanwhile.
            if before.n_lines and not await context_of(request).still_allows(request, "append"):
                raise context_of(request).no_token()
            added = await _append(request, part, LINES, key, before)
            total = {name: total[name] + added[name] for name in _COUNTS}
            total["sequence"] = added["sequence"]
            n = added["n_records"] + added["n_repeated"]
            before = Before(before.n_records + n, before.n_lines + part.count(b"\n"))
    except (ProblemError, StoreError) as error:
        problem = error if isinstance(error, ProblemError) else unavailable(request, error)
        if before.n_lines:
            problem.detail += (
                f". The {before.n_lines:,} lines before were added: send those that follow, or all "
                "of them with the same Idempotency-Key as before"
            )
        problem.more["added"] = total
        problem.headers |= _UNREAD
        raise problem from None
    return total


# Of an answer to a body whose rest is not read.
_UNREAD = {"Connection": "close"}
_COUNTS = "n_records", "n_documents", "n_tokens", "n_repeated", "n_replaced", "sequence"


async def _append(
    request: Request, body: bytes, kind: str, key: str | None, before: Before
) -> dict[str, int]:
    """Add the documents of a body, see `schemas.Appended`."""
    context = context_of(request)
    records = await context.records(body, kind, key, before)
    try:
        done = await context.appender.append(records)
    except RecordError as error:
        raise record_problem(error, records, before) from None
    request.app.state.metrics.appended(done)
    return {
        "n_records": done.n_records,
        "n_documents": done.n_documents,
        "n_tokens": done.n_tokens,
        "n_repeated": done.n_repeated,
        "n_replaced": len(done.replaced),
        "sequence": done.sequence,
    }
