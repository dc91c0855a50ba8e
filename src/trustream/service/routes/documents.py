"""Routes of documents: append, list, read, delete, and those near others."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response

from trustream.service import document_views as views
from trustream.service import schemas
from trustream.service.answers import answer, next_address
from trustream.service.context import Context, administering, appending, context_of, reading
from trustream.service.documents_in import (
    LINES,
    check_idempotency_key,
    record_problem,
)
from trustream.service.problems import ProblemError, documented
from trustream.store.errors import RecordError
from trustream.store.limits import name_fault
from trustream.store.protocol import Store

router = APIRouter(tags=["documents"])
Key = Annotated[str, Path(description="key of a document")]
Limit = Annotated[int, Query(ge=1, le=500)]

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
    dependencies=[Depends(appending)],
)
async def append_documents(
    request: Request, idempotency_key: Annotated[str | None, Header()] = None
) -> Response:
    """Add documents or parts of documents, all or nothing; durable when it is answered.

    With an `Idempotency-Key`, or an `append_id` in each document, a request can be sent again: what
    was added before is left out, and counted in `n_repeated`.
    """
    context = context_of(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    key = check_idempotency_key(idempotency_key)
    body = await request.body()
    records = await context.parser.run(
        lambda store: context.documents_in.read(store, body, kind, key)
    )
    try:
        done = await context.appender.append(records)
    except RecordError as error:
        raise record_problem(error) from None
    request.app.state.metrics.appended(done)
    values = {
        "n_records": done.n_records,
        "n_documents": done.n_documents,
        "n_tokens": done.n_tokens,
        "n_repeated": done.n_repeated,
        "n_replaced": len(done.replaced),
        "sequence": done.sequence,
    }
    return answer(request, values)


@router.get(
    "/documents",
    response_model=schemas.DocumentPage,
    responses=documented(422),
    dependencies=[Depends(reading)],
)
async def list_documents(
    request: Request,
    limit: Limit = 20,
    before: Annotated[int | None, Query(ge=0, le=2**62, description="a document's number")] = None,
) -> Response:
    """Documents, the last to arrive first."""
    context = context_of(request)

    def read(store: Store) -> dict[str, Any]:
        from trustream.topics.stored_documents import titles_and_excerpts

        found, numbers = store.newest(limit, before)
        titles, excerpts = titles_and_excerpts(store, found.keys)
        assert found.times is not None
        sums = np.concatenate(([0.0], np.cumsum(found.counts, dtype=np.float64)))
        lengths = np.diff(sums[found.indptr]).tolist()
        items = [
            {
                "id": key,
                "title": titles[i],
                "excerpt": excerpts[i],
                "time": float(found.times[i]),
                "n_tokens": lengths[i],
                "number": numbers[i],
            }
            for i, key in enumerate(found.keys)
        ]
        more = len(items) == limit and numbers[-1] > 0
        following = next_address(request, before=numbers[-1]) if more else None
        total = store.totals().documents
        return {"items": items, "total": total, "limit": limit, "next": following}

    return answer(request, await context.readers.run(read))


@router.get(
    "/documents/{id:path}",
    response_model=schemas.Document,
    responses=documented(404, 422),
    dependencies=[Depends(reading)],
)
async def read_document(request: Request, id: Key) -> Response:
    """A document with its topics, its words, and its text where the store keeps texts."""
    context = context_of(request)
    model = context.watcher.model
    found = await context.readers.run(lambda store: views.view_document(store, model, id))
    if found is None:
        raise _no_document(context, id)
    return answer(request, found)


@router.delete(
    "/documents/{id:path}",
    response_model=schemas.Deleted,
    responses=documented(404, 422),
    dependencies=[Depends(administering)],
)
async def delete_document(request: Request, id: Key) -> Response:
    """Delete a document, with its text; what the model has learned from it stays."""
    context = context_of(request)
    n_deleted = 0
    if name_fault(id) is None:
        n_deleted = await context.appender.run(lambda store: store.delete([id]))
    if not n_deleted:
        raise _no_document(context, id)
    return answer(request, {"n_deleted": n_deleted})


@router.post(
    "/infer",
    response_model=schemas.Inference,
    responses=documented(400, 404, 408, 409, 413, 415, 422),
    dependencies=[Depends(reading)],
)
async def infer_topics(request: Request, asked: schemas.InferenceRequest) -> Response:
    """The topics of texts, by the published model; nothing is stored."""
    context = context_of(request)
    model = context.model
    values = await context.readers.run(
        lambda _: views.inferred_texts(model, asked.texts, asked.top, asked.words)
    )
    return answer(request, {"version": model.version, "documents": values})


@router.get(
    "/nearest",
    response_model=schemas.Nearest,
    responses=documented(404, 422),
    dependencies=[Depends(reading)],
)
async def nearest_to_document(
    request: Request,
    id: Annotated[str, Query(min_length=1, max_length=500)],
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> Response:
    """The documents that are nearest to one in the store, by their topics."""
    context = context_of(request)
    report = context.report
    found = await context.readers.run(lambda store: views.nearest_to(store, report, limit, key=id))
    if found is None:
        raise _no_document(context, id)
    return answer(request, found)


@router.post(
    "/nearest",
    response_model=schemas.Nearest,
    responses=documented(400, 404, 408, 409, 413, 415, 422),
    dependencies=[Depends(reading)],
)
async def nearest_to_text(request: Request, asked: schemas.NearestRequest) -> Response:
    """The documents that are nearest to a text, by their topics."""
    context = context_of(request)
    report = context.report
    found = await context.readers.run(
        lambda store: views.nearest_to(store, report, asked.limit, text=asked.text)
    )
    return answer(request, found)


def _no_document(context: Context, id: str) -> ProblemError:
    return ProblemError(404, "no-document", f"{context.title} has no document {id!r:.120}")
