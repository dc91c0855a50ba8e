"""Routes of documents: list, read, delete, topics of texts, and documents near others."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Path, Query, Request, Response
from starlette.convertors import Convertor, register_url_convertor

from trustream.service import document_views as views
from trustream.service import schemas
from trustream.service.answers import answer, next_address
from trustream.service.context import Context, administering, context_of, reading
from trustream.service.problem_error import ProblemError
from trustream.service.problems import documented
from trustream.store.limits import name_fault
from trustream.store.protocol import Store

router = APIRouter(tags=["documents"])


class KeyConvertor(Convertor[str]):
    """The rest of a path, whatever it has: also slashes and line breaks."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        """The key of a path."""
        return value

    def to_string(self, value: str) -> str:
        """The path of a key."""
        return value


register_url_convertor("key", KeyConvertor())
Key = Annotated[str, Path(description="key of a document")]
AnyKey = Annotated[str, Query(min_length=1, max_length=500, description="key of a document")]
Limit = Annotated[int, Query(ge=1, le=500)]


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
        from trustream.topics.stored_titles import titles_and_excerpts

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
    "/documents/{id:key}",
    response_model=schemas.Document,
    responses=documented(404, 422),
    dependencies=[Depends(reading)],
)
async def read_document(request: Request, id: Key) -> Response:
    """A document with its topics, its words, and its text where the store keeps texts."""
    return await _read(request, id)


@router.get(
    "/document",
    response_model=schemas.Document,
    responses=documented(404, 422),
    dependencies=[Depends(reading)],
)
async def read_document_by_id(request: Request, id: AnyKey) -> Response:
    """The same by a parameter: clients take ids such as ".." for steps in a path."""
    return await _read(request, id)


@router.delete(
    "/documents/{id:key}",
    response_model=schemas.Deleted,
    responses=documented(404, 422),
    dependencies=[Depends(administering)],
)
async def delete_document(request: Request, id: Key) -> Response:
    """Delete a document, its text, and words that only it had, also from saved models.

    What models have learned from it about other words stays.
    """
    return await _delete(request, id)


@router.delete(
    "/document",
    response_model=schemas.Deleted,
    responses=documented(404, 422),
    dependencies=[Depends(administering)],
)
async def delete_document_by_id(request: Request, id: AnyKey) -> Response:
    """The same by a parameter."""
    return await _delete(request, id)


async def _read(request: Request, id: str) -> Response:
    context = context_of(request)
    found: Any = None
    if name_fault(id) is None:
        if not context.has_model:
            found = await context.readers.run(lambda store: views.view_document(store, None, id))
        else:
            found = await context.compute("document", id)
    if found is None:
        raise _no_document(context, id)
    return answer(request, found)


async def _delete(request: Request, id: str) -> Response:
    context = context_of(request)
    if name_fault(id) is not None:
        raise _no_document(context, id)
    n_deleted = await context.appender.run(lambda store: store.delete([id]))
    # Also if there is none: whoever got no answer sends the request again.
    overwritten = await context.forgetter.forget()
    if not n_deleted:
        raise _no_document(context, id)
    return answer(request, {"n_deleted": n_deleted, "overwritten": overwritten})


@router.post(
    "/infer",
    response_model=schemas.Inference,
    responses=documented(400, 404, 408, 409, 413, 415, 422),
    dependencies=[Depends(reading)],
)
async def infer_topics(request: Request, asked: schemas.InferenceRequest) -> Response:
    """The topics of texts, by the published model; nothing is stored."""
    context = context_of(request)
    context.check_model()
    return answer(request, await context.compute("infer", asked.texts, asked.top, asked.words))


@router.get(
    "/nearest",
    response_model=schemas.Nearest,
    responses=documented(404, 422),
    dependencies=[Depends(reading)],
)
async def nearest_to_document(
    request: Request,
    id: AnyKey,
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> Response:
    """The documents that are nearest to one in the store, by their topics."""
    context = context_of(request)
    report = context.report
    proportions = await context.compute("proportions", id, None)
    if proportions is None:
        raise _no_document(context, id)
    return answer(request, views.nearest_to(report, proportions, limit, without=id))


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
    proportions = await context.compute("proportions", None, asked.text)
    return answer(request, views.nearest_to(report, proportions, asked.limit))


def _no_document(context: Context, id: str) -> ProblemError:
    return ProblemError(404, "no-document", f"{context.title} has no document {id!r:.120}")
