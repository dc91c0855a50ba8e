"""Answers about the history of a model: points in time, and how topics changed between two."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trustream.service.schemas.common import Answer


class HistoryPoint(Answer):
    time: float
    documents: int
    tokens: int
    words: int
    n_steps: int | None
    n_topics: int | None
    score: float | None


class Retention(Answer):
    """How long history is kept."""

    fine_seconds: float = Field(description="one point for so many seconds, at most")
    fine_days: float = Field(description="for so many days")
    coarse_seconds: float = Field(description="later one for so many seconds")
    coarse_days: float = Field(description="up to an age of so many days")


class History(Answer):
    items: list[HistoryPoint]
    retention: Retention


class TopicChange(Answer):
    topic: int
    label: str
    change: Literal["appeared", "gone", "grown", "shrunk", "steady"]
    before: float | None = Field(description="share")
    after: float | None
    words_in: list[str] = Field([], description="words that came among the first")
    words_out: list[str] = []


class Changes(Answer):
    since: float | None = Field(description="time of the point compared with; None if none is kept")
    until: float
    before: HistoryPoint | None
    after: HistoryPoint
    topics: list[TopicChange] = Field(description="the largest change first")
    topics_since: float | None = Field(
        description="time that topics are compared with: later, if there was no model at first"
    )
    retention: Retention
