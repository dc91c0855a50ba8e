"""Routes of topics: all of them, one, its documents, trends, map, search by word."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from trustream.service import schemas
from trustream.service.answers import answer, page
from trustream.service.context import Context, context_of, reading
from trustream.service.problem_error import ProblemError
from trustream.service.problems import documented
from trustream.service.shown_report import ShownReport

router = APIRouter(tags=["topics"], dependencies=[Depends(reading)])
Limit = Annotated[int, Query(ge=1, le=500)]
Offset = Annotated[int, Query(ge=0, le=2**31)]
TopicName = Annotated[str, Path(min_length=1, max_length=500, description="id or label of a topic")]
_NOT_THERE = documented(404, 422)


@router.get("/report", response_model=schemas.Report, responses=_NOT_THERE)
async def read_report(request: Request) -> Response:
    """All topics with words, documents, map, hierarchy and trends, as the report shows."""
    return answer(request, context_of(request).report.report)


@router.get("/topics", response_model=schemas.TopicPage, responses=_NOT_THERE)
async def list_topics(request: Request, limit: Limit = 100, offset: Offset = 0) -> Response:
    """Topics, the largest first."""
    report = context_of(request).report
    topics = json.loads(report.topics)
    items, following = page(request, topics, limit, offset)
    values = {"items": items, "total": len(topics), "next": following}
    return answer(
        request, {"version": report.model.version, "limit": limit, "offset": offset, **values}
    )


@router.get("/topics/{topic}", response_model=schemas.TopicDetail, responses=_NOT_THERE)
async def read_topic(request: Request, topic: TopicName) -> Response:
    """One topic, by its id or label: words, place on the map, shares over time, documents."""
    context = context_of(request)
    report = context.report
    return answer(request, report.details[await _find(context, report, topic)])


@router.get(
    "/topics/{topic}/documents", response_model=schemas.TopicDocumentPage, responses=_NOT_THERE
)
async def list_topic_documents(
    request: Request, topic: TopicName, limit: Limit = 20, offset: Offset = 0
) -> Response:
    """The documents that are most about a topic, the best first; fifty at most."""
    context = context_of(request)
    report = context.report
    wanted = await _find(context, report, topic)
    found = json.loads(report.documents[wanted])
    items, following = page(request, found, limit, offset)
    values = {"items": items, "total": len(found), "next": following, "topic": wanted}
    about = {"version": report.model.version, "is_sample": report.is_sample}
    return answer(request, {**about, "limit": limit, "offset": offset, **values})


@router.get("/trends", response_model=schemas.Trends, responses=_NOT_THERE)
async def read_trends(request: Request) -> Response:
    """Shares of topics over time, with intervals, and which of them changed by more than chance."""
    return answer(request, context_of(request).report.trends)


@router.get("/map", response_model=schemas.TopicMap, responses=_NOT_THERE)
async def read_map(request: Request) -> Response:
    """Topics on a map, where those that are alike are near each other, and their hierarchy."""
    return answer(request, context_of(request).report.map)


@router.get("/search", response_model=schemas.WordSearch, responses=_NOT_THERE)
async def search_topics(
    request: Request,
    word: Annotated[str, Query(min_length=1, max_length=200)],
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> Response:
    """The topics that a word belongs to, or words that begin like it."""
    context = context_of(request)
    context.check_model()
    return answer(request, await context.compute("search", word, limit))


async def _find(context: Context, report: ShownReport, topic: str) -> int:
    """The id of a topic of a report."""
    if topic.isascii() and topic.isdigit() and int(topic) in report.details:
        return int(topic)
    found: int = await context.compute("find_topic", topic)
    if found not in report.details:
        raise ProblemError(404, "no-topic", f"the report does not know the topic {found} yet")
    return found
