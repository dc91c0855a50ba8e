"""A thousand topics against a hundred: time for each document, and what skipping topics costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.core import articles
from benchmarks.harness.rows import Row, Setup, at_most, information
from trustream import LatentDirichletAllocation
from trustream.evaluation import completion

FILES = articles.FILES
FEW, MANY = 100, 1000
N_HELD_OUT = 1000
# Pairs and iterations of every step. By default they change after 30 steps and after a third of a
# fit, and larger batches make fewer steps of a pass: a hundred topics would be given less of both.
EFFORT = {"inner_iter": 2, "max_doc_update_iter": 20}


def measure(setup: Setup) -> Iterator[Row]:
    """One pass, best of the seeds: with the same effort, by default, and with all topics."""
    counts = articles.load(setup)
    n_documents = setup.choose(20_000, 1_000)
    held_out, train = counts[:N_HELD_OUT], counts[N_HELD_OUT : N_HELD_OUT + n_documents]
    _fit(train[:100], FEW, 0, setup)  # compiles
    seeds = range(setup.choose(3, 1))
    names = ("few, same effort", "many, same effort", "few", "many", "many, all topics")
    seconds: dict[str, list[float]] = {name: [] for name in names}
    losses = []
    for seed in seeds:
        for name, n_topics in (("few", FEW), ("many", MANY)):
            spent, _ = _fit(train, n_topics, seed, setup, **EFFORT)
            seconds[f"{name}, same effort"].append(spent)
        for name, n_topics in (("few", FEW), ("many", MANY)):
            spent, some = _fit(train, n_topics, seed, setup)
            seconds[name].append(spent)
        spent, everything = _fit(train, MANY, seed, setup, max_doc_topics=None)
        seconds["many, all topics"].append(spent)
        losses.append(_score(everything, held_out) - _score(some, held_out))
    best = {name: min(values) for name, values in seconds.items()}
    title = f"K={MANY:,} against K={FEW}, time for a document, {n_documents:,} articles"
    yield at_most(
        f"{title}, same pairs and iterations",
        best["many, same effort"] / best["few, same effort"],
        5,
        "x",
        seconds=seconds,
        all_topics=best["many, all topics"] / best["few"],
    )
    yield information(f"{title}, one call each", best["many"] / best["few"], "x")
    yield at_most(
        f"K={MANY:,}: loss by skipping topics, mean of {len(losses)} seeds",
        float(np.mean(losses)),
        0.002,
        "nats per word",
        losses=losses,
    )


def _fit(
    train: Any, n_topics: int, seed: int, setup: Setup, **options: Any
) -> tuple[float, LatentDirichletAllocation]:
    lda = LatentDirichletAllocation(
        n_topics, max_iter=1, n_jobs=setup.n_threads, random_state=seed, **options
    )
    start = time.perf_counter()
    lda.fit(train)
    return time.perf_counter() - start, lda


def _score(lda: LatentDirichletAllocation, held_out: Any) -> float:
    topics = lda.components_.astype(np.float64)
    topics /= topics.sum(axis=1, keepdims=True)
    return completion(held_out, topics, lda.doc_topic_prior_, random_state=0).per_word
