"""The shares of topics over time, as they are returned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trustream.array_types import Float64
from trustream.terminal import shown
from trustream.topics import frames
from trustream.topics.characteristic_words import WordWeight
from trustream.topics.trends import TREND_KINDS, Trend

# Rows of a printed result, and characters of a label in it.
_SHOWN = 20
_LABEL = 40


@dataclass(frozen=True, eq=False, repr=False)
class TopicsOverTime:
    """Shares of topics in bins of time, and the trends among them, which a shell shows.

    Attributes:
        topics: ids of the topics, by column.
        labels: their labels.
        edges: (B + 1,) where bins begin and end, in seconds since 1970.
        shares: (B, K) mean over the documents of a bin of the share of a document's tokens that is
            the topic's. Each document counts the same, however long. Rows sum to one; NaN in bins
            without documents.
        lower, upper: (B, K) ends of the intervals of `shares`; see `share_intervals.intervals`.
        level: probability with which an interval covers the mean share of the kind of documents
            that the bin holds, of which those in it are a sample.
        token_shares: (B, K) shares of all tokens of a bin, so that long documents count for more.
        n_documents: (B,) documents with words.
        n_tokens: (B,) their tokens.
        words: for each bin and topic the words that are most relevant in the bin, with shares of
            the topic's tokens there; none where the topic has less than one token.
        trends: one for each topic, in the order of `topics`.
        n_without_time, n_outside, n_without_words: documents that were left out because they have
            no time, or one outside of the edges, or no words that the model knows.
    """

    topics: tuple[int, ...]
    labels: list[str]
    edges: Float64
    shares: Float64
    lower: Float64
    upper: Float64
    level: float
    token_shares: Float64
    n_documents: np.ndarray
    n_tokens: Float64
    words: list[list[list[WordWeight]]]
    trends: list[Trend]
    n_without_time: int
    n_outside: int
    n_without_words: int

    def __repr__(self) -> str:
        k, n = len(self.topics), int(self.n_documents.sum())
        read = f"{_many(self.n_bins, 'bin')} of {_many(n, 'document')}"
        lines = [f"{_many(k, 'topic')} in {read}, shares before and after"]
        for column in self.by_trend()[:_SHOWN]:
            trend = self.trends[column]
            shares = f"{trend.before:6.1%} {trend.after:6.1%}"
            label = shown(self.labels[column])
            if len(label) > _LABEL:
                label = label[: _LABEL - 3].rstrip() + "..."
            lines.append(f"{trend.topic:>4}  {trend.kind:<6}  {shares}  {label}")
        if k > _SHOWN:
            lines.append(f"... and {k - _SHOWN} more")
        return "\n".join(lines)

    @property
    def n_bins(self) -> int:
        """B."""
        return len(self.edges) - 1

    def by_trend(self) -> list[int]:
        """Return all columns: new, rising and fading topics, the surest first, then steady ones."""

        def key(column: int) -> tuple[int, float, float]:
            trend = self.trends[column]
            return TREND_KINDS.index(trend.kind), trend.p_value, -trend.after

        return sorted(range(len(self.topics)), key=key)

    def frame(self) -> Any:
        """Return a pandas DataFrame, a row for each bin and topic, with times in UTC."""
        b, k = self.shares.shape
        times = (self.edges * 1e6).round().astype("datetime64[us]")
        return frames.frame(
            {
                "start": np.repeat(times[:-1], k),
                "end": np.repeat(times[1:], k),
                "topic": np.tile(self.topics, b),
                "label": self.labels * b,
                "share": self.shares.ravel(),
                "lower": self.lower.ravel(),
                "upper": self.upper.ravel(),
                "n_documents": np.repeat(self.n_documents, k),
                "words": [" ".join(w.word for w in words) for row in self.words for words in row],
                "trend": [trend.kind for trend in self.trends] * b,
            }
        )


def _many(n: int, name: str) -> str:
    return f"{n:,} {name}{'' if n == 1 else 's'}"
