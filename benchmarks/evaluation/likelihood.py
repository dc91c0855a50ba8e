"""Held-out likelihood of articles: what the estimators cost and how well they agree.

The error of an estimate has two parts. The Monte-Carlo error is what it reports, next to the
spread over seeds; the bias shows where estimators differ by more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.core import articles
from benchmarks.harness.rows import Row, Setup, at_most, information
from trustream import LatentDirichletAllocation
from trustream.evaluation import HeldOut, chib, completion, importance, left_to_right

FILES = articles.FILES
N_TOPICS = 100
# Lengths in tokens at which documents are told apart: biases grow with the length.
_LENGTHS = (1, 50, 200, 1000, 10**9)


def measure(setup: Setup) -> Iterator[Row]:
    """Time and error on 1,000 articles that the model has not seen; `quick` takes every eighth."""
    counts = articles.load(setup)
    n_training, n_held_out = setup.choose(20_000, 5_000), setup.choose(1_000, 125)
    topics, alpha = fitted(counts[:n_training], setup.n_threads)
    held_out = counts[n_training : n_training + n_held_out]
    name = f"{n_held_out:,} articles, K={N_TOPICS}"

    def run(estimator: Callable[..., HeldOut], seed: int = 0, **options: Any) -> HeldOut:
        return estimator(
            held_out, topics, alpha, random_state=seed, n_jobs=setup.n_threads, **options
        )

    # Compiled before the clock starts.
    for estimator in (chib, left_to_right, importance, completion):
        estimator(held_out[:3], topics, alpha, random_state=0)
    yield from _chib(run, name, setup)
    yield from _others(run, name, setup)


def fitted(counts: sp.csr_matrix, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Topics (K, V) and alpha (K,) of a model with everything as it comes."""
    model = LatentDirichletAllocation(N_TOPICS, n_jobs=n_threads, random_state=0).fit(counts)
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
    return topics, np.broadcast_to(model.doc_topic_prior_, (N_TOPICS,))


def by_length(result: HeldOut) -> dict[str, float]:
    """Nats per word of short, middling and long documents."""
    values = {}
    for low, high in pairwise(_LENGTHS):
        chosen = (result.n_tokens >= low) & (result.n_tokens < high)
        if chosen.any():
            total = result.per_document[chosen].sum() / result.n_tokens[chosen].sum()
            values[f"{low} tokens or more"] = float(total)
    return values


def _chib(run: Callable[..., HeldOut], name: str, setup: Setup) -> Iterator[Row]:
    results, timings = [], []
    for seed in range(setup.choose(4, 2)):
        start = time.perf_counter()
        results.append(run(chib, seed))
        timings.append(time.perf_counter() - start)
    details = {"per_word": [r.per_word for r in results], **by_length(results[0])}
    error = results[0].standard_error or 0.0
    spread = float(np.std([r.per_word for r in results], ddof=1))
    yield at_most(f"chib: {name}, time", min(timings), 60, "s", timings=timings)
    yield at_most(f"chib: {name}, standard error", error, 0.002, "nats per word", **details)
    yield at_most(f"chib: {name}, spread over seeds", spread, 0.002, "nats per word", **details)


def _others(run: Callable[..., HeldOut], name: str, setup: Setup) -> Iterator[Row]:
    start = time.perf_counter()
    plain = run(left_to_right)
    elapsed = time.perf_counter() - start
    details = {"standard_error": plain.standard_error, **by_length(plain)}
    yield at_most(f"left to right: {name}, 20 particles, time", elapsed, 600, "s", **details)
    yield information(f"left to right: {name}", plain.per_word, "nats per word", **details)
    few: dict[str, Any] = {"n_resampled": 20}
    for label, estimator, options in (
        ("left to right, unbiased, 20 resampled", left_to_right, {"unbiased": True, **few}),
        ("left to right, 20 resampled", left_to_right, few),
        ("chib, 4 times the repetitions", chib, {"n_repeats": setup.choose(48, 24)}),
        ("completion", completion, {}),
        ("importance sampling from the prior", importance, {}),
    ):
        start = time.perf_counter()
        result = run(estimator, **options)
        details = {
            "seconds": time.perf_counter() - start,
            "standard_error": result.standard_error,
            **by_length(result),
        }
        yield information(f"{label}: {name}", result.per_word, "nats per word", **details)
