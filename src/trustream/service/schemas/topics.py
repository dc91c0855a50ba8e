"""Topics: all of them, one, its documents, trends, map, search by word.

They have the names and values of `trustream.topics.report_data`, so that a page draws both by the
same components.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from trustream.service.schemas.common import Answer, Id


class WordWeight(Answer):
    word: str
    probability: float = Field(description="in the topic")
    relevance: float


class TopicTrend(Answer):
    kind: str = Field(description="new, growing, steady, shrinking, fading or similar")
    p_value: float | None
    time: float | None
    before: float | None
    after: float | None


class Topic(Answer):
    topic: int = Field(description="id")
    label: str = Field(description="the given one, or the most relevant words")
    labelled: bool
    share: float | None = Field(description="of all tokens")
    n_documents: int | None = Field(description="documents that are mostly about it")
    n_documents_with: int | None
    coherence: float | None
    words: list[WordWeight] = Field(description="the most relevant first")
    shares: list[float | None] | None = Field(description="by bin of time")
    trend: TopicTrend | None


class TopicPage(Answer):
    version: int
    items: list[Topic]
    total: int
    limit: int
    offset: int
    next: str | None = Field(description="address of the next page")


class TopicDocument(Answer):
    """A document that is much about a topic."""

    row: int | None = None
    key: Id | None
    title: str | None
    excerpt: str | None = None
    proportion: float | None
    n_tokens: float | None


class TimeBins(Answer):
    edges: list[float]
    level: float
    n_documents: list[int]
    n_without_time: int
    n_outside: int
    n_without_words: int


class TopicDetail(Topic):
    version: int
    position: list[float | None] = Field(description="on the map, x and y")
    lower: list[float | None] | None
    upper: list[float | None] | None
    time: TimeBins | None
    documents: list[TopicDocument]


class TopicDocumentPage(Answer):
    version: int
    topic: int
    items: list[TopicDocument]
    total: int
    limit: int
    offset: int
    next: str | None
    is_sample: bool


class Report(Answer):
    """All that the report page shows: `trustream.topics.report_data`, and what it is of.

    In `topics` words are numbers in `words`, as in the report.
    """

    version: int
    computed: float
    n_stored: int
    is_sample: bool
    format: int
    title: str
    n_documents: int | None
    n_tokens: float | None
    n_words: int
    threshold: float
    explained: float | None
    relevance: dict[str, Any]
    time: TimeBins | None
    hierarchy: Hierarchy
    topics: list[dict[str, Any]]
    words: list[str]
    frequencies: list[float | None]


class Merger(Answer):
    left: int
    right: int
    distance: float | None
    label: str


class Hierarchy(Answer):
    order: list[int]
    distance: str
    mergers: list[Merger]


class MapTopic(Answer):
    topic: int
    label: str
    share: float | None
    position: list[float | None]


class TopicMap(Answer):
    version: int
    explained: float | None
    topics: list[MapTopic]
    hierarchy: Hierarchy


class TrendTopic(Answer):
    topic: int
    label: str
    share: float | None
    shares: list[float | None]
    lower: list[float | None]
    upper: list[float | None]
    trend: TopicTrend


class Trends(Answer):
    version: int
    is_sample: bool
    time: TimeBins | None = Field(description="None if all documents have the same time")
    topics: list[TrendTopic]


class FoundTopic(Answer):
    topic: int
    label: str
    share: float | None
    word: str
    rank: int = Field(description="of the word in the topic by relevance, from 1 on")
    probability: float = Field(description="of the word in the topic")
    relevance: float
    topic_given_word: float = Field(description="share of the word's tokens that are the topic's")


class WordSearch(Answer):
    version: int
    query: str
    words: list[str] = Field(description="words of the model that match, the most frequent first")
    items: list[FoundTopic]
