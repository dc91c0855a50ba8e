"""Explore the topics of a corpus on workers: shares, documents and trends, in one pass."""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from trustream.cluster.corpora import open_corpus
from trustream.cluster.corpus_parts import CorpusPart
from trustream.cluster.over_parts import Progress, Shared, blocks_of, over_parts
from trustream.cluster.pool import pool_on
from trustream.cluster.store_corpus import StoreCorpus
from trustream.cluster.transforming import as_fitted, on_threads
from trustream.cluster.worker import Worker
from trustream.store import open_store
from trustream.streaming.fitted_models import FittedModel, load_fitted
from trustream.streaming.published import DEFAULT_NAME
from trustream.topics.characteristic_words import RELEVANCE
from trustream.topics.documents import read
from trustream.topics.exploring import Exploration, Gatherers, with_texts
from trustream.topics.table import THRESHOLD
from trustream.topics.topic_set import TopicSet, as_topics


class _Job(NamedTuple):
    """What all calls need: the model, its topics, and gatherers that have counted nothing."""

    model: FittedModel
    topics: TopicSet
    empty: bytes


def explore(
    source: str | Path | Sequence[str | Path],
    model: Any = DEFAULT_NAME,
    *,
    cluster: str = "local",
    workers: int | None = None,
    worker_threads: int = 1,
    n_documents: int = 5,
    bins: Any = None,
    n_words: int = 10,
    relevance: float = RELEVANCE,
    exclusivity: float = 0.5,
    threshold: float = THRESHOLD,
    coherence: bool = True,
    level: float = 0.9,
    trend_level: float = 0.05,
    progress: Progress | None = None,
    **options: Any,
) -> Exploration:
    """Return shares of topics, their documents and their trends, from one pass on workers.

    It is `trustream.topics.explore` at scale: of a store, the same numbers to the last bit.

    Parameters
    ----------
    source : str, Path or sequence of them
        The address of a store; or Parquet files (a file, a folder, a pattern, a list).
    model : str, FittedModel or fitted LatentDirichletAllocation, default="model"
        Name of the model in the store, or a model.
    cluster, workers, worker_threads, **options
        As in `trustream.cluster.transform`.
    bins : int, sequence of edges, FixedBins, GrowingBins or None, default=None
        Bins of time; None counts no trends. A number of bins is for stores, which know their first
        and last time. Times of Parquet files are in the column `time_column`.
    n_documents, n_words, relevance, exclusivity, threshold, coherence, level, trend_level
        As in `trustream.topics.explore`.
    progress : callable, default=None
        Called as progress(documents done, documents).
    """
    corpus = open_corpus(source, **options)
    fitted = load_fitted(str(source), model) if isinstance(model, str) else as_fitted(model)
    fitted.check_topics()
    corpus.check(fitted)
    if not corpus.parts:
        raise ValueError(f"{corpus.name} has no documents")
    topics = as_topics(on_threads(fitted.estimator, worker_threads), fitted.words)
    opened: Any = nullcontext()
    if isinstance(corpus, StoreCorpus):
        opened = open_store(corpus.url, create=False)
    with opened as store:
        range_ = None if store is None else store.time_range()
        if store is None and isinstance(bins, int):
            raise ValueError(
                f"bins is {bins}, and nothing says which times files begin and end with: give the "
                "edges of bins, or GrowingBins"
            )
        found = Gatherers.of(topics, range_, n_documents, bins, threshold, coherence)
        n_arrival = 0
        with pool_on(cluster, corpus, workers, worker_threads) as pool:
            job = Shared(pool.put(_Job(fitted, topics, _packed(found, topics))))
            for parts, arrived in over_parts(pool, corpus, counted, job, progress=progress):
                for part in parts:
                    found.merge(_unpacked(part, topics))
                n_arrival += arrived
        n_stored = found.table.n_read
        if store is not None:
            n_stored = max(store.totals().documents, n_stored)
        return found.exploration(
            n_stored,
            n_arrival,
            documents=found.documents if store is None else with_texts(store, found.documents),
            level=level,
            trend_level=trend_level,
            n_words=n_words,
            relevance=relevance,
            exclusivity=exclusivity,
        )


def counted(worker: Worker, part: CorpusPart, job: Shared) -> tuple[list[bytes], int]:
    """What gatherers have counted in each block of a part, and documents without a time.

    Blocks are not added up here: the driver adds them up one by one, as one machine does.
    """
    model, topics, empty = job.get(worker)
    parts, n_arrival = [], 0
    shared = _Of(model)
    for first, block in blocks_of(worker, part, shared):  # type: ignore[arg-type]
        found = _unpacked(empty, topics)
        for some in read(topics, block.documents, first=first):
            found.add(some)
        parts.append(_packed(found, topics))
        n_arrival += block.n_arrival
    return parts, n_arrival


class _Of(NamedTuple):
    """What `blocks_of` asks for a model."""

    model: FittedModel

    def get(self, worker: Worker) -> FittedModel:
        return self.model


class _Packer(pickle.Pickler):
    """Leaves out the topics, which whoever unpacks it has already."""

    def __init__(self, file: io.BytesIO, topics: TopicSet) -> None:
        super().__init__(file, protocol=5)
        self._topics = topics

    def persistent_id(self, value: Any) -> str | None:
        return "topics" if value is self._topics else None


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, topics: TopicSet) -> None:
        super().__init__(file)
        self._topics = topics

    def persistent_load(self, name: str) -> TopicSet:
        return self._topics


def _packed(gatherers: Gatherers, topics: TopicSet) -> bytes:
    file = io.BytesIO()
    _Packer(file, topics).dump(gatherers)
    return file.getvalue()


def _unpacked(content: bytes, topics: TopicSet) -> Gatherers:
    found: Gatherers = _Unpacker(io.BytesIO(content), topics).load()
    return found
