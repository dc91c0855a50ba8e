"""A store of documents from planted topics, with times, made by bulk appends.

A document has 50 words, of one to three of the topics. Words of a topic are as frequent as
Zipf's law says, in an order of the topic's own, and topics become more and less frequent over two
years.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trustream.store import CodedWords, Record, WordTable, open_store
from trustream.topics.topic_set import TopicSet

N_TOPICS, N_WORDS, N_TOKENS = 100, 20_000, 50
_AT_ONCE = 10_000
# Words of a topic that are not those of all others.
_OWN = 400
_YEARS = 2 * 365.0 * 86400.0
_START = 1_600_000_000.0


def make(path: Path, n_documents: int) -> None:
    """Make a store with so many documents; takes about 20 microseconds a document."""
    rng = np.random.default_rng(0)
    cumulated = np.cumsum(_beta(), axis=1)
    cumulated /= cumulated[:, -1:]
    table = WordTable(_words())
    with open_store(path, min_documents=1) as store:
        for first in range(0, n_documents, _AT_ONCE):
            n = min(_AT_ONCE, n_documents - first)
            times = _START + _YEARS * rng.random(n)
            codes = _codes(rng, cumulated, (times - _START) / _YEARS)
            store.append(
                Record(f"d{first + i}", CodedWords(table, row), time)
                for i, (row, time) in enumerate(zip(codes, times.tolist(), strict=True))
            )


def topics(n_jobs: int | None = None) -> TopicSet:
    """The planted topics, as a model that has learned them from a million documents."""
    weights = (1e5 * _beta() + 0.01).astype(np.float32)
    return TopicSet.of(weights, 0.05, _words(), eta=0.01, n_jobs=n_jobs)


def _words() -> list[str]:
    return [f"word{v}" for v in range(N_WORDS)]


def _beta() -> np.ndarray:
    """(K, V) topics: words that all share, and words of their own."""
    rng = np.random.default_rng(1)
    shared = 1.0 / np.arange(10, N_WORDS + 10)
    beta = np.tile(0.3 * shared / shared.sum(), (N_TOPICS, 1))
    own = 1.0 / np.arange(5, _OWN + 5)
    for row in beta:
        row[rng.choice(N_WORDS, _OWN, replace=False)] += 0.7 * own / own.sum()
    return beta


def _codes(rng: np.random.Generator, cumulated: np.ndarray, year: np.ndarray) -> np.ndarray:
    """(n, tokens) words of documents, of topics whose frequency depends on the time."""
    phase = np.arange(N_TOPICS) / N_TOPICS
    weight = 1.2 + np.cos(2 * np.pi * (year[:, None] - phase[None, :]))
    edges = np.cumsum(weight, axis=1)
    chosen = (rng.random((year.size, 3)) * edges[:, -1:])[:, :, None]
    three = (edges[:, None, :] < chosen).sum(axis=2)
    # Of each document's topics the first has more tokens than the others.
    which = three[
        np.arange(year.size)[:, None], (3 * rng.random((year.size, N_TOKENS)) ** 3).astype(int)
    ]
    codes = np.empty(which.shape, np.int32)
    uniform = rng.random(which.shape)
    for topic in range(N_TOPICS):
        there = which == topic
        codes[there] = np.searchsorted(cumulated[topic], uniform[there])
    return np.minimum(codes, N_WORDS - 1)
