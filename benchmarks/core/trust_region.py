"""A trust-region step of LDA next to its own local-step kernel."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from benchmarks.core import articles
from benchmarks.core.local_kernel import kernel, useful_fmas
from benchmarks.harness.rows import Row, Setup, at_most
from benchmarks.harness.timing import seconds, sum_of_best
from trustream.inference import driver, empirical_bayes, schedules, trust_region
from trustream.inference.state import Info, State
from trustream.kernels import threads
from trustream.models.lda import LdaModel
from trustream.models.lda.batch import WordBatch, document_parts

FILES = articles.FILES
N_TOPICS, BATCH_SIZE, N_INNER, N_LOCAL = 100, 50, 5, 10


def steps(model: LdaModel, state: State, counts: Any, batches: Any) -> Iterator[tuple[State, Info]]:
    """The driver as the estimator calls it, priors learned."""
    rng = np.random.default_rng(0)

    def learn(model: Any, state: State, batch: Any, info: Info) -> State:
        return empirical_bayes.update(model, state, batch, [info.local], rho=info.rho, rng=rng)

    return driver.run(
        model,
        state,
        counts,
        batches,
        step=partial(trust_region.step, n_inner=N_INNER, n_local=N_LOCAL),
        schedule=schedules.decaying(10.0, 0.7),
        n_documents=counts.shape[0],
        learn=learn,
    )


def batches(setup: Setup, n_documents: int) -> tuple[list[np.ndarray], int]:
    """Random batches, and how often to go through them."""
    rng = np.random.default_rng(1)
    rows = list(driver.shuffled(n_documents, BATCH_SIZE, rng))
    return rows[: setup.choose(100, 30)], setup.choose(8, 4)


def measure(setup: Setup) -> Iterator[Row]:
    """The step's time over that of its multiply-adds at the kernel's own rate."""
    counts = articles.load(setup)
    model = LdaModel(N_TOPICS, counts.shape[1], n_threads=setup.n_threads)
    rows, n_rounds = batches(setup, counts.shape[0])
    # The first round warms up.
    run = steps(model, articles.start(model, counts), counts, rows * (n_rounds + 1))
    state = articles.last(islice(run, len(rows)))
    times: dict[str, list[list[float]]] = {
        name: [[] for _ in rows] for name in ("step", "kernel", "kernel, one thread")
    }
    fmas = 0.0
    for _ in range(n_rounds):
        for i, chosen in enumerate(rows):
            # The step gives the state up: what the kernel needs is taken from it before.
            batch = model.batch(counts, chosen)
            alone = _kernel_alone(model, state, batch)
            begin = time.perf_counter()
            state, _ = next(run)
            times["step"][i].append(time.perf_counter() - begin)
            times["kernel"][i].append(seconds(partial(alone, setup.n_threads)))
            times["kernel, one thread"][i].append(seconds(partial(alone, 1)))
            fmas += useful_fmas(batch.counts.size, N_TOPICS, N_INNER * N_LOCAL) / n_rounds
    best = {name: sum_of_best(runs) for name, runs in times.items()}
    yield at_most(
        "trust-region step, B=50 m=5 M=10 K=100, against its local kernel",
        best["step"] / best["kernel"],
        2,
        "x",
        best_ms={name: 1e3 * total / len(rows) for name, total in best.items()},
        gfma_per_second={name: fmas / total / 1e9 for name, total in best.items()},
        # Without what the kernel itself loses when threads wait for each other.
        against_ideal_threads=best["step"] * setup.n_threads / best["kernel, one thread"],
        timings=times,
    )


def _kernel_alone(model: LdaModel, state: State, batch: WordBatch) -> Callable[[int], None]:
    """The calls of the kernel that one step makes, in so many threads."""
    natural = model.restrict(state.lambda_, state.prior, batch)
    work = kernel(model, natural, state.prior, batch, N_LOCAL)

    def run(n_threads: int) -> None:
        parts = document_parts(batch.indptr, n_threads)
        for _ in range(N_INNER):
            threads.run(work, parts, n_threads)

    return run
