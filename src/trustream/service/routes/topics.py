"""Routes of topics: all of them, one, its documents, trends, map, search by word."""

from __future__ import annotations

import json
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Path, Query, Request, Response

from trustream.service import schemas
from trustream.service.answers import answer, page
from trustream.service.context import context_of, reading
from trustream.service.live_model import LiveReport, number
from trustream.service.problems import ProblemError, documented
from trustream.terminal import shown
from trustream.topic_names import UnknownTopicError

router = APIRouter(tags=["topics"], dependencies=[Depends(reading)])
Limit = Annotated[int, Query(ge=1, le=500)]
Offset = Annotated[int, Query(ge=0, le=2**31)]
TopicName = Annotated[str, Path(min_length=1, max_length=500, description="id or label of a topic")]
_NOT_THERE = documented(404, 422)
# Words of a topic in lists, and on its own page.
_WORDS, _MORE_WORDS = 10, 50


@router.get("/report", response_model=schemas.Report, responses=_NOT_THERE)
async def read_report(request: Request) -> Response:
    """All topics with words, documents, map, hierarchy and trends, as the report shows."""
    report = context_of(request).report
    return answer(request, await _computed(request, report, "report", _report))


@router.get("/topics", response_model=schemas.TopicPage, responses=_NOT_THERE)
async def list_topics(request: Request, limit: Limit = 100, offset: Offset = 0) -> Response:
    """Topics, the largest first."""
    report = context_of(request).report
    topics = json.loads(await _computed(request, report, "topics", _topics))
    items, following = page(request, topics, limit, offset)
    values = {"items": items, "total": len(topics), "next": following}
    return answer(
        request, {"version": report.model.version, "limit": limit, "offset": offset, **values}
    )


@router.get("/topics/{topic}", response_model=schemas.TopicDetail, responses=_NOT_THERE)
async def read_topic(request: Request, topic: TopicName) -> Response:
    """One topic, by its id or label: words, place on the map, shares over time, documents."""
    report = context_of(request).report
    entry = _find(report, topic)
    best = report.best.documents(entry["topic"], 5)
    values = _topic(report, entry, _MORE_WORDS) | {
        "version": report.model.version,
        "position": entry["position"],
        "lower": entry.get("lower"),
        "upper": entry.get("upper"),
        "time": report.data["time"],
        "documents": [_document(found) for found in best],
    }
    return answer(request, values)


@router.get(
    "/topics/{topic}/documents", response_model=schemas.TopicDocumentPage, responses=_NOT_THERE
)
async def list_topic_documents(
    request: Request, topic: TopicName, limit: Limit = 20, offset: Offset = 0
) -> Response:
    """The documents that are most about a topic, the best first; fifty at most."""
    report = context_of(request).report
    entry = _find(report, topic)
    found = report.best.documents(entry["topic"])
    items, following = page(request, [_document(one) for one in found], limit, offset)
    values = {"items": items, "total": len(found), "next": following, "topic": entry["topic"]}
    about = {"version": report.model.version, "is_sample": report.is_sample}
    return answer(request, {**about, "limit": limit, "offset": offset, **values})


@router.get("/trends", response_model=schemas.Trends, responses=_NOT_THERE)
async def read_trends(request: Request) -> Response:
    """Shares of topics over time, with intervals, and which of them changed by more than chance."""
    report = context_of(request).report
    names = "topic", "label", "share", "shares", "lower", "upper", "trend"
    topics = [
        {name: entry[name] for name in names} for entry in report.data["topics"] if "trend" in entry
    ]
    about = {"version": report.model.version, "is_sample": report.is_sample}
    return answer(request, {**about, "time": report.data["time"], "topics": topics})


@router.get("/map", response_model=schemas.TopicMap, responses=_NOT_THERE)
async def read_map(request: Request) -> Response:
    """Topics on a map, where those that are alike are near each other, and their hierarchy."""
    report = context_of(request).report
    names = "topic", "label", "share", "position"
    topics = [{name: entry[name] for name in names} for entry in report.data["topics"]]
    values = {"explained": report.data["explained"], "hierarchy": report.data["hierarchy"]}
    return answer(request, {"version": report.model.version, "topics": topics, **values})


@router.get("/search", response_model=schemas.WordSearch, responses=_NOT_THERE)
async def search_topics(
    request: Request,
    word: Annotated[str, Query(min_length=1, max_length=200)],
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> Response:
    """The topics that a word belongs to, or words that begin like it."""
    from trustream.topics.word_search import matching_words, topics_of_words

    context = context_of(request)
    model = context.model

    def find(_: Any) -> dict[str, Any]:
        words = matching_words(model.topics, word)
        found = topics_of_words(model.topics, words, limit)
        items = [
            {
                "topic": one.topic,
                "label": model.label(one.topic),
                "share": number(model.topics.shares[model.topics.row(one.topic)]),
                "word": shown(one.word),
                "rank": one.rank,
                "probability": number(one.probability),
                "relevance": number(one.relevance),
                "topic_given_word": number(one.topic_given_word),
            }
            for one in found
        ]
        return {"version": model.version, "query": word, "words": words, "items": items}

    return answer(request, await context.readers.run(find))


async def _computed(request: Request, report: LiveReport, name: str, make: Any) -> bytes:
    """Something made of a report, as JSON; made once."""
    context = context_of(request)
    known = context.made.get(name)
    if known is None or known[0] is not report:
        content = await context.readers.run(lambda _: json.dumps(make(report)).encode())
        known = context.made[name] = report, content
    return known[1]


def _report(report: LiveReport) -> dict[str, Any]:
    state = report.state
    return {
        **report.data,
        **{name: state[name] for name in ("version", "computed", "n_stored", "is_sample")},
    }


def _topics(report: LiveReport) -> list[dict[str, Any]]:
    return [_topic(report, entry, _WORDS) for entry in report.data["topics"]]


def _topic(report: LiveReport, entry: dict[str, Any], n_words: int) -> dict[str, Any]:
    from trustream.topics.characteristic_words import relevant_words

    topics = report.model.topics
    row = topics.row(entry["topic"])
    beta = topics.probabilities(row)
    words = relevant_words(topics, row, n_words)
    names = (
        "topic", "label", "labelled", "share", "n_documents", "n_documents_with", "coherence",
    )  # fmt: skip
    place = report.model.columns
    return {name: entry[name] for name in names} | {
        "words": [
            {
                "word": shown(found.word),
                "probability": number(beta[place[found.word]], 9),
                "relevance": number(found.weight),
            }
            for found in words
        ],
        "shares": entry.get("shares"),
        "trend": entry.get("trend"),
    }


def _document(found: Any) -> dict[str, Any]:
    return {
        "row": None if found.row is None else int(np.int64(found.row)),
        "key": found.key,
        "title": found.title,
        "excerpt": found.excerpt,
        "proportion": number(found.proportion),
        "n_tokens": number(found.n_tokens),
    }


def _find(report: LiveReport, topic: str) -> dict[str, Any]:
    from trustream.topics.topic_search import find_topic

    try:
        wanted = find_topic(report.model.topics, topic)
    except UnknownTopicError as error:
        raise ProblemError(404, "no-topic", shown(error)) from None
    found: dict[str, Any] = next(e for e in report.data["topics"] if e["topic"] == wanted)
    return found
