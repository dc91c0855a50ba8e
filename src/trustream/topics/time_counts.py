"""Count topics in bins of time, while documents come."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trustream.array_types import Float64
from trustream.topics import characteristic_words
from trustream.topics.bin_words import CandidateWords
from trustream.topics.documents import ReadBatch
from trustream.topics.share_intervals import ShareSums, intervals
from trustream.topics.time_bins import OUTSIDE, FixedBins, TimeBins, as_seconds, is_number
from trustream.topics.time_result import TopicsOverTime
from trustream.topics.topic_set import as_topics
from trustream.topics.trends import find_trends

# Words of each topic that are counted in bins.
_CANDIDATES = 50


@dataclass
class _Bin:
    """Sums over the documents of a bin; see `ShareSums`."""

    n: int
    n_tokens: float
    sums: Float64
    squares: Float64
    tokens: Float64
    words: Float64 = field(repr=False)

    def add(self, other: _Bin) -> None:
        self.n += other.n
        self.n_tokens += other.n_tokens
        for name in ("sums", "squares", "tokens", "words"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class TimeCounts:
    """What `topics_over_time` counts in documents, as they come: in any order, and for ever.

    Two of them that counted different documents in the same bins can be merged.

    Parameters
    ----------
    topics : TopicSet or LatentDirichletAllocation
    bins : FixedBins, GrowingBins or sequence of edges
        With `GrowingBins` what is kept stays bounded however long the stream goes on.
    words : bool, default=True
        Whether to count words, the 50 most probable ones of each topic.

    Examples
    --------
    >>> from trustream.topics.documents import read
    >>> from trustream.topics.time_bins import GrowingBins
    >>> from trustream.topics.topic_set import TopicSet
    >>> topics = TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1)
    >>> counts = TimeCounts(topics, GrowingBins(width=86400.0))
    >>> for part in read(topics, np.array([[3, 0], [0, 2], [1, 1]]), times=[0.0, 90000.0, 7.0]):
    ...     counts.add(part)
    >>> counts.result().n_documents.tolist()
    [2, 1]
    """

    def __init__(self, topics: Any, bins: Any, words: bool = True) -> None:
        self.topics = as_topics(topics)
        self.bins: TimeBins = bins if isinstance(bins, TimeBins) else fixed(bins)
        self._candidates = CandidateWords(self.topics, _CANDIDATES if words else 0)
        self._bins: dict[int, _Bin] = {}
        self.n_without_time = self.n_outside = self.n_without_words = 0

    def add(self, part: ReadBatch) -> None:
        """Take in some documents; those without a time are left out, and counted."""
        times = part.documents.times
        if times is None:
            self.n_without_time += part.documents.size
            return
        seconds = as_seconds(times)
        known = ~np.isnan(seconds)
        filled = known & (part.lengths > 0)
        places = np.full(seconds.size, OUTSIDE)
        places[filled] = self.bins.place(seconds[filled])
        inside = places != OUTSIDE
        self.n_without_time += int((~known).sum())
        self.n_without_words += int((known & ~filled).sum())
        self.n_outside += int((filled & ~inside).sum())
        if not inside.any():
            return
        numbers, local = np.unique(places[inside], return_inverse=True)
        bins = np.full(seconds.size, -1)
        bins[inside] = local
        words = self._candidates.tokens(part, bins, numbers.size)
        # The documents of a bin one after the other, so that sums over bins are sums over ranges.
        rows = np.flatnonzero(inside)[np.argsort(local, kind="stable")]
        starts = np.searchsorted(bins[rows], np.arange(numbers.size))
        tokens, lengths = part.tokens[rows], part.lengths[rows]
        shares = tokens / tokens.sum(axis=1, keepdims=True)
        n = np.diff(np.append(starts, rows.size))
        n_tokens = np.add.reduceat(lengths, starts)
        sums = [np.add.reduceat(values, starts) for values in (shares, shares**2, tokens)]
        for i, number in enumerate(numbers.tolist()):
            # Copies, which do not keep the sums of all bins.
            share, square, token = (values[i].copy() for values in sums)
            found = _Bin(int(n[i]), float(n_tokens[i]), share, square, token, words[i].copy())
            self._take(number, found)
        self._bound()

    @property
    def n_counted(self) -> int:
        """Documents that are in a bin."""
        return sum(found.n for found in self._bins.values())

    def merge(self, other: TimeCounts) -> None:
        """Take in what another one has counted, of the same topics and in the same bins.

        Growing bins may have grown: the finer ones are made as wide as the others.
        """
        if other.topics.names.ids != self.topics.names.ids:
            raise ValueError("the other counts are of other topics")
        if other._candidates.size != self._candidates.size:
            raise ValueError("only one of the two counts has words")
        if not _fit(self.bins, other.bins):
            raise ValueError(
                f"the other counts are in other bins ({other.bins}) than these ({self.bins})"
            )
        while _width(self.bins) < _width(other.bins):
            self._coarsen()
        theirs, width = other._bins, _width(other.bins)
        while width < _width(self.bins):
            theirs, width = _paired(theirs), 2 * width
        for number, found in theirs.items():
            self._take(number, found)
        self.n_without_time += other.n_without_time
        self.n_outside += other.n_outside
        self.n_without_words += other.n_without_words
        self._bound()

    def result(
        self, *, n_words: int = 5, level: float = 0.9, trend_level: float = 0.05
    ) -> TopicsOverTime:
        """Return shares, intervals, words and trends of what was counted so far.

        Parameters
        ----------
        n_words : int, default=5
            Words of each topic in each bin.
        level : float, default=0.9
            Of the intervals.
        trend_level : float, default=0.05
            The probability of calling any topic a trend if nothing changes.
        """
        if not self._bins:
            raise ValueError(
                f"no document is in any bin: {self.n_without_time} have no time, {self.n_outside} "
                f"are outside of the bins, {self.n_without_words} have no known words"
            )
        shown = self.bins.range_of(self._bins)
        nothing = _empty(self.topics.n_topics, self._candidates.size)
        bins = [self._bins.get(number, nothing) for number in shown]
        edges = np.array([self.bins.edge(number) for number in [*shown, shown[-1] + 1]])
        moments = ShareSums(
            np.array([found.n for found in bins], np.float64),
            np.array([found.sums for found in bins]),
            np.array([found.squares for found in bins]),
        )
        shares, lower, upper = intervals(moments, level)
        tokens = np.array([found.tokens for found in bins])
        n_tokens = np.array([found.n_tokens for found in bins])
        in_bins = np.array([found.words for found in bins])
        rows = range(self.topics.n_topics)
        words = [self._candidates.best(in_bins, k, tokens[:, k], n_words) for k in rows]
        ids = self.topics.names.ids
        return TopicsOverTime(
            topics=ids,
            labels=[characteristic_words.label(self.topics, row) for row in rows],
            edges=edges,
            shares=shares,
            lower=lower,
            upper=upper,
            level=level,
            token_shares=np.where(
                n_tokens[:, np.newaxis] > 0,
                tokens / np.maximum(tokens.sum(axis=1, keepdims=True), 1e-300),
                np.nan,
            ),
            n_documents=moments.n.astype(np.int64),
            n_tokens=n_tokens,
            words=[[words[k][b] for k in rows] for b in range(len(bins))],
            trends=find_trends(moments, edges, ids, trend_level),
            n_without_time=self.n_without_time,
            n_outside=self.n_outside,
            n_without_words=self.n_without_words,
        )

    def _take(self, number: int, found: _Bin) -> None:
        if number in self._bins:
            self._bins[number].add(found)
        else:
            self._bins[number] = replace(found)

    def _coarsen(self) -> None:
        wider = self.bins.coarser()
        assert wider is not None
        self.bins, self._bins = wider, _paired(self._bins)

    def _bound(self) -> None:
        while len(self.bins.range_of(self._bins)) > self.bins.most:
            self._coarsen()


def fixed(edges: Any) -> FixedBins:
    """Return bins with these edges, given in any form that times may have."""
    if is_number(edges):
        raise ValueError(
            f"bins are a number, {edges}, but the first and last time of batches are not known "
            "before they are read: give edges of bins, or GrowingBins(width)"
        )
    return FixedBins(tuple(as_seconds(edges).tolist()))


def _fit(bins: TimeBins, others: TimeBins) -> bool:
    """Whether bins are the same once the finer ones have grown: widths differ by a power of 2."""
    if isinstance(bins, FixedBins) or isinstance(others, FixedBins):
        return bins == others
    same = (bins.origin, bins.most) == (others.origin, others.most)
    return same and math.frexp(bins.width / others.width)[0] == 0.5


def _width(bins: TimeBins) -> float:
    return 0.0 if isinstance(bins, FixedBins) else bins.width


def _paired(bins: dict[int, _Bin]) -> dict[int, _Bin]:
    """Bins of twice the width."""
    wider: dict[int, _Bin] = {}
    for number, found in bins.items():
        if number // 2 in wider:
            wider[number // 2].add(found)
        else:
            wider[number // 2] = replace(found)
    return wider


def _empty(n_topics: int, n_candidates: int) -> _Bin:
    nothing = np.zeros(n_topics)
    return _Bin(0, 0.0, nothing, nothing, nothing, np.zeros(n_candidates))
