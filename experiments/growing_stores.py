"""Models of a store that grows by whole documents or word by word, of one that is full, and `fit`.

A trainer looks at as many documents for each one that arrives as `fit` makes passes. All of its
settings are the defaults unless a method of the comparison changes one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from trustream import StreamTrainer, open_store
from trustream.estimators import LatentDirichletAllocation
from trustream.store.protocol import Record, Store
from trustream.streaming.simulator import ticks

# As many documents as streaming VB takes at once.
_VB_BATCH = 1000

Model = LatentDirichletAllocation


class Arrival(NamedTuple):
    """What comes into a store at a time.

    Attributes:
        records: documents, or parts of documents.
        n_documents: documents in the store after it; where words come one at a time, the number of
            average documents that their words make up.
    """

    records: list[Record]
    n_documents: int


def fitted(
    counts: Any, n_components: int, seed: int, marks: Sequence[int]
) -> Iterator[tuple[int, Model]]:
    """`fit` with its defaults on the first documents, for each mark from a new start."""
    for mark in marks:
        model = LatentDirichletAllocation(n_components, random_state=seed)
        yield mark, model.fit(counts[:mark])


def quiet(
    counts: Any, n_components: int, seed: int, marks: Sequence[int]
) -> Iterator[tuple[int, Model]]:
    """A trainer that runs until it is idle on a store that has all documents from the beginning."""
    for mark in marks:
        with _store(counts.shape[1]) as store:
            store.append(documents(counts, 0, mark))
            with _trainer(store, n_components, seed, {}) as trainer:
                trainer.run(until_idle=True)
                yield mark, _model(trainer)


def followed(
    arrivals: Iterator[Arrival],
    n_words: int,
    n_components: int,
    seed: int,
    marks: Sequence[int],
    options: dict[str, Any],
    looks: int,
    tick: Callable[[float], None] = lambda share: None,
) -> Iterator[tuple[int, Model]]:
    """A trainer beside a store that grows; the model at each mark.

    Args:
        arrivals: what comes into the store; one of them ends at each mark.
        n_words: of the vocabulary.
        marks: numbers of documents, rising.
        options: of `StreamTrainer`, where they are not the defaults.
        looks: documents that are looked at for each that arrives.
        tick: told the share of documents that have arrived.
    """
    looked_at = 0
    with _store(n_words) as store, _trainer(store, n_components, seed, options) as trainer:
        steps = trainer.steps(poll=0.0)
        for arrival in arrivals:
            store.append(arrival.records)
            n, is_mark = arrival.n_documents, arrival.n_documents in marks
            due = looks_due(options.get("method", ""), n, looked_at, is_mark, looks)
            while looked_at < due:
                info = next(steps)
                if info is None:
                    raise RuntimeError(f"nothing to learn from after {looked_at} of {due} looks")
                looked_at += info.step.batch_size
            tick(n / marks[-1])
            if is_mark:
                yield n, _model(trainer)


def looks_due(method: str, n_documents: int, looked_at: int, is_mark: bool, looks: int) -> int:
    """Documents that a trainer should have looked at when so many have arrived.

    The streaming batch algorithm learns once at each mark. Streaming VB looks at each document
    once, when there is a full batch or a mark is reached.

    >>> looks_due("", 300, 0, False, looks=5), looks_due("streaming-batch", 300, 0, False, looks=5)
    (1500, 0)
    >>> [looks_due("streaming-vb", 1300, 0, is_mark, looks=5) for is_mark in (False, True)]
    [1000, 1300]
    """
    if method == "streaming-batch":
        return looked_at + 1 if is_mark else 0
    if method == "streaming-vb":
        return n_documents if is_mark else n_documents // _VB_BATCH * _VB_BATCH
    return looks * n_documents


def whole_documents(counts: Any, marks: Sequence[int], chunk: int) -> Iterator[Arrival]:
    """Documents in their order, so many at a time; fewer where a mark is in between.

    >>> counts = np.ones((9, 2), int)
    >>> [arrival.n_documents for arrival in whole_documents(counts, [5, 9], chunk=3)]
    [3, 5, 8, 9]
    """
    first = 0
    for mark in marks:
        while first < mark:
            last = min(first + chunk, mark)
            yield Arrival(list(documents(counts, first, last)), last)
            first = last


def single_words(
    counts: Any, chunk: int, *, rate: float, p: float, rng: np.random.Generator
) -> Iterator[Arrival]:
    """Words one at a time as in section 4.3 of the paper, until the last is out.

    They are committed when as many have come as `chunk` documents have on average, since nobody
    looks before.

    >>> counts, rng = np.ones((9, 2), int), np.random.default_rng(0)
    >>> stream = single_words(counts, 3, rate=1.0, p=0.5, rng=rng)
    >>> [arrival.n_documents for arrival in stream]
    [3, 6, 9]
    """
    n, total = counts.shape[0], int(counts.sum())
    waiting: dict[str, list[str]] = {}
    n_revealed, next_stop = 0, min(chunk, n)
    for moment in ticks(counts, _words(counts.shape[1]), rate=rate, p=p, rng=rng):
        for record in moment.records:
            waiting.setdefault(record.key, []).extend(record.words)
        n_revealed += moment.n_revealed
        n_documents = n_revealed * n // total
        if n_documents >= next_stop:
            yield Arrival([Record(key, shown) for key, shown in waiting.items()], n_documents)
            waiting, next_stop = {}, min(n_documents + chunk, n)


def documents(counts: Any, first: int, last: int) -> Iterator[Record]:
    """Rows as records.

    >>> [record.words for record in documents(np.array([[1, 0], [0, 2]]), 1, 2)]
    [{'word-1': 2}]
    """
    words, rows = _words(counts.shape[1]), sparse.csr_matrix(counts[first:last])
    named = [words[column] for column in rows.indices]
    numbers = rows.data.tolist()
    for row, (start, end) in enumerate(pairwise(rows.indptr)):
        content = dict(zip(named[start:end], numbers[start:end], strict=True))
        yield Record(f"document-{first + row}", content)


def scores(
    model: Model, test: Any, reference: Any, n_chib: int | None, chib: dict[str, Any]
) -> dict[str, float]:
    """Three scores of documents that were never seen, and the number of topics in use.

    Args:
        reference: documents in which words of a topic should occur together.
        n_chib: documents that Chib's estimate is made for; None is all.
        chib: options of the estimate.
    """
    return {
        "completion": model.completion(test, random_state=0).per_word,
        "chib": model.chib(test[:n_chib], random_state=0, **chib).per_word,
        "npmi": model.coherence(reference, "npmi", n_words=10).mean,
        "n_used": n_used(model.components_),
    }


def n_used(topics: np.ndarray) -> int:
    """Topics that have more than a tenth of an equal share of the words.

    >>> n_used(np.array([[1.0, 8.0], [0.1, 0.2]]))
    1
    """
    share = topics.sum(axis=1)
    return int((share > 0.1 * share.mean()).sum())


def _words(n_words: int) -> list[str]:
    return [f"word-{column}" for column in range(n_words)]


@contextmanager
def _store(n_words: int) -> Iterator[Store]:
    """An empty SQLite store in a temporary file, from which nothing is held out."""
    with (
        tempfile.TemporaryDirectory(prefix="trustream-") as folder,
        open_store(Path(folder) / "stream.db", held_out=0.0, vocabulary=_words(n_words)) as store,
    ):
        yield store


def _trainer(store: Store, n_components: int, seed: int, options: dict[str, Any]) -> StreamTrainer:
    # Scores of held-out documents would take time, and there are none.
    return StreamTrainer(store, n_components, score_every=0, random_state=seed, **options)


def _model(trainer: StreamTrainer) -> Model:
    model: Model = trainer.estimator()
    # The store's columns are those of the counts, and what is scored has no names.
    del model.feature_names_in_
    return model
