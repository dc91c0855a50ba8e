"""Explore the topics of a store in one pass over its documents: table, documents and trends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from trustream.evaluation import validation
from trustream.store import open_store
from trustream.store.protocol import Store
from trustream.streaming.published import DEFAULT_NAME, load_model
from trustream.topics.characteristic_words import RELEVANCE
from trustream.topics.documents import DocumentBatch, ReadBatch, gather
from trustream.topics.representatives import RepresentativeDocument, RunningTop
from trustream.topics.stored_documents import known_times, over_words, sampled
from trustream.topics.stored_titles import titles_and_excerpts
from trustream.topics.table import THRESHOLD, TableCounts, TopicTable, topic_info
from trustream.topics.time_bins import FixedBins, TimeBins, check_number
from trustream.topics.time_counts import TimeCounts, fixed
from trustream.topics.time_result import TopicsOverTime
from trustream.topics.topic_set import TopicSet, as_topics

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Exploration:
    """What one pass over the documents of a store finds.

    Attributes:
        topics: the topics by which they were read.
        table: the topics with their sizes, words and coherence.
        documents: for each topic's id the documents that are most about it, the best first, with
            titles and excerpts where the store keeps texts.
        over_time: shares of topics over time and trends; None if no bins were asked for, or all
            documents have the same time, or none has words.
        n_documents: documents that were looked at.
        n_stored: documents that the store had when it began: more, if only a sample was looked at.
        n_arrival: documents among those looked at that came without a time, and count at the time
            of their arrival.
    """

    topics: TopicSet
    table: TopicTable
    documents: dict[int, list[RepresentativeDocument]]
    over_time: TopicsOverTime | None
    n_documents: int
    n_stored: int
    n_arrival: int

    @property
    def is_sample(self) -> bool:
        """Whether only a random sample of the documents was looked at."""
        return self.n_documents < self.n_stored


def explore(
    store: Store | str | Path,
    model: Any = DEFAULT_NAME,
    *,
    n_documents: int = 5,
    bins: Any = 10,
    sample: int | None = None,
    n_words: int = 10,
    relevance: float = RELEVANCE,
    exclusivity: float = 0.5,
    threshold: float = THRESHOLD,
    coherence: bool = True,
    level: float = 0.9,
    trend_level: float = 0.05,
    random_state: Any = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Exploration:
    """Return the table of topics, their documents and their trends from one pass over a store.

    All documents are read, held-out ones too, some thousand at a time, however many there are. The
    numbers are those that `topic_info`, `representative_documents` and `topics_over_time` give
    for the same documents.

    Parameters
    ----------
    store : Store, str or Path
        An open store, or the address of one.
    model : str, TopicSet or fitted model, default="model"
        Name of the model in the store, or a model that knows its words.
    n_documents : int, default=5
        Documents of each topic.
    bins : int, sequence of edges, FixedBins, GrowingBins or None, default=10
        Bins of time. A number divides the time between the first and the last document that the
        store has when it begins. None counts no trends. What comes without a time counts at the
        time of its arrival: `Exploration.n_arrival` says how many did.
    sample : int, default=None
        Look only at so many documents, drawn at random; None looks at all.
    n_words, relevance, exclusivity, threshold, coherence
        As in `topic_info`.
    level, trend_level
        As in `topics_over_time`.
    random_state : int or Generator, default=0
        Draws the sample.
    progress : callable, default=None
        Called with the number of documents that were read, and how many there are to read.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> topics = TopicSet.of([[9.0, 1.0], [1.0, 9.0]], 0.1, ["cat", "bank"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", min_documents=1) as store:
    ...         _ = store.append(Record(f"c{i}", ["cat"] * 9, i) for i in range(50))
    ...         _ = store.append(Record(f"b{i}", ["bank"] * 9, i) for i in range(60, 90))
    ...         found = explore(store, topics, bins=2, n_documents=1)
    >>> [(info.topic, info.n_documents) for info in found.table]
    [(0, 50), (1, 30)]
    >>> found.documents[1][0].key, [trend.kind for trend in found.over_time.trends]
    ('b60', ['fading', 'new'])
    >>> found.n_documents, found.is_sample, found.n_arrival
    (80, False, 0)
    """
    if sample is not None:
        sample = validation.whole_number("sample", sample)
    if isinstance(store, str | Path):
        opened: Any = open_store(store, create=False)
    else:
        opened = nullcontext(store)
    with opened as source:
        topics = _topics(source, model)
        totals, range_ = source.totals(), source.time_range()
        gatherers = Gatherers.of(topics, range_, n_documents, bins, threshold, coherence)
        n_wanted = totals.documents if sample is None else min(sample, totals.documents)
        reading = _Reading(source, topics.words, progress, n_wanted)
        if sample is None:
            blocks = source.scan()
        else:
            blocks = sampled(source, sample, np.random.default_rng(random_state))
        gather(topics, reading.batches(blocks), gatherers)
        if not gatherers.table.n_read:
            raise ValueError(f"{source.name} has no documents yet: trustream ingest adds some")
        return gatherers.exploration(
            max(totals.documents, reading.n_read if sample is None else 0),
            reading.n_arrival,
            documents=with_texts(source, gatherers.documents),
            level=level,
            trend_level=trend_level,
            n_words=n_words,
            relevance=relevance,
            exclusivity=exclusivity,
        )


class Gatherers(NamedTuple):
    """What an exploration counts in documents; those of parts can be merged, in their order.

    Attributes:
        table: sizes of topics, and how often their words occur together.
        best: the documents that are most about each topic.
        times: shares of topics over time, None without bins.
    """

    table: TableCounts
    best: RunningTop
    times: TimeCounts | None

    @classmethod
    def of(
        cls,
        topics: TopicSet,
        range_: tuple[float, float] | None,
        n_documents: int,
        bins: Any,
        threshold: float,
        coherence: bool,
    ) -> Gatherers:
        """Return gatherers that have counted nothing; `range_` is the first and the last time."""
        return cls(
            TableCounts(topics, threshold, coherence),
            RunningTop(topics, n_documents),
            None if bins is None else _time_counts(topics, bins, range_),
        )

    def add(self, part: ReadBatch) -> None:
        """Take in some documents."""
        for gatherer in self:
            if gatherer is not None:
                gatherer.add(part)

    def merge(self, other: Gatherers) -> None:
        """Take in what others have counted, whose documents come after these."""
        self.table.merge(other.table)
        self.best.merge(other.best)
        if self.times is not None and other.times is not None:
            self.times.merge(other.times)

    @property
    def documents(self) -> dict[int, list[RepresentativeDocument]]:
        """The best documents of each topic, by its id."""
        return {topic: self.best.documents(topic) for topic in self.table.topics.names.ids}

    def exploration(
        self,
        n_stored: int,
        n_arrival: int,
        *,
        documents: dict[int, list[RepresentativeDocument]],
        level: float,
        trend_level: float,
        **shown: Any,
    ) -> Exploration:
        """Return what was found; `shown` is for `topic_info`."""
        over_time = None
        if self.times is not None and self.times.n_counted:
            over_time = self.times.result(level=level, trend_level=trend_level)
        return Exploration(
            topics=self.table.topics,
            table=topic_info(self.table.topics, self.table, **shown),
            documents=documents,
            over_time=over_time,
            n_documents=self.table.n_read,
            n_stored=n_stored,
            n_arrival=n_arrival,
        )


def _topics(store: Store, model: Any) -> TopicSet:
    return as_topics(load_model(store, model) if isinstance(model, str) else model)


def _time_counts(
    topics: TopicSet, bins: Any, range_: tuple[float, float] | None
) -> TimeCounts | None:
    """What counts in bins; None if a number of bins is wanted of documents of a single time."""
    if isinstance(bins, TimeBins):
        return TimeCounts(topics, bins)
    if not isinstance(bins, int | np.integer):
        return TimeCounts(topics, fixed(bins))
    check_number(bins)
    if range_ is None or range_[0] == range_[1]:
        return None
    return TimeCounts(topics, FixedBins.between(*range_, int(bins)))


class _Reading:
    """Batches of documents on their way, and what else is known of them."""

    def __init__(
        self,
        store: Store,
        words: Sequence[str],
        progress: Callable[[int, int], None] | None,
        n_wanted: int,
    ) -> None:
        self._store, self._words = store, words
        self._progress, self._n_wanted = progress, n_wanted
        self.n_read = self.n_arrival = 0

    def batches(self, blocks: Any) -> Iterator[DocumentBatch]:
        """Batches of blocks of the store; the next is read while one is worked on."""
        for documents, counts in ahead(over_words(self._store, blocks, self._words)):
            yield DocumentBatch(counts, keys=documents.keys, times=known_times(documents))
            self.n_read += len(documents.keys)
            if documents.arrival is not None:
                self.n_arrival += int(np.count_nonzero(documents.arrival))
            if self._progress is not None:
                self._progress(self.n_read, max(self._n_wanted, self.n_read))


def ahead(values: Iterator[T]) -> Iterator[T]:
    """Yield values of an iterator, each made by another thread while the one before is used.

    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    end = object()
    with ThreadPoolExecutor(1, "trustream-ahead") as pool:
        waiting = pool.submit(next, values, end)
        while (value := waiting.result()) is not end:
            waiting = pool.submit(next, values, end)
            yield value  # type: ignore[misc]


def with_texts(
    store: Store, found: dict[int, list[RepresentativeDocument]]
) -> dict[int, list[RepresentativeDocument]]:
    """Return documents of topics with titles and excerpts, if the store has texts."""
    if not store.settings.keep_text:
        return found
    keys = list(dict.fromkeys(document.key for some in found.values() for document in some))
    known = dict(zip(keys, zip(*titles_and_excerpts(store, keys), strict=True), strict=True))
    return {
        topic: [
            replace(document, title=known[document.key][0], excerpt=known[document.key][1])
            for document in some
        ]
        for topic, some in found.items()
    }
