"""Measure the multiply-adds per second of LDA's local step, as a share of a core's peak."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.core import articles
from benchmarks.harness import peak
from benchmarks.harness.rows import Row, Setup, at_least
from benchmarks.harness.timing import interleaved, sum_of_best
from trustream.kernels import threads
from trustream.kernels.lda import ALL_TOPICS, compiled
from trustream.models.lda import LdaModel, LdaPrior
from trustream.models.lda.batch import WordBatch
from trustream.models.lda.natural import StoredNatural

FILES = articles.FILES
N_DOCUMENTS, N_LOCAL = 500, 20
# Documents in a run: a few milliseconds, which other programs often leave alone.
_RUN = 25


def useful_fmas(nnz: int, n_topics: int, n_local: int) -> float:
    """A dot product and an addition to gamma for each pair of document and word; no padding."""
    return 2.0 * nnz * n_topics * n_local


def kernel(
    model: LdaModel, natural: StoredNatural, prior: LdaPrior, batch: WordBatch, n_local: int
) -> Callable[[int, int], None]:
    """lda_local on a range of the batch's documents, exactly n_local iterations."""
    gamma, _ = model.beliefs(prior, batch, None)
    table, _, totals = natural.table(model.computation)
    factor, _ = model.computation.factor(totals)
    alpha = prior.alpha.astype(model.dtype)
    theta = np.empty((batch.size, table.shape[1]), model.dtype)
    ratio = np.empty_like(batch.counts)
    documents = (batch.indptr, batch.ids, batch.counts)
    settings = (False, ALL_TOPICS, n_local, 0.0, False)

    def run(start: int, stop: int) -> None:
        compiled.lda_local(
            *documents, table, factor, alpha, gamma, theta, ratio, *settings, start, stop
        )

    return run


def measure(setup: Setup) -> Iterator[Row]:
    """At 100 and at 400 topics, single-threaded."""
    counts = articles.load(setup)
    for n_topics in (100, 400):
        model = LdaModel(n_topics, counts.shape[1])
        state = articles.start(model, counts)
        batch = model.batch(counts, slice(0, N_DOCUMENTS))
        natural = model.restrict(state.lambda_, state.prior, batch)
        run = kernel(model, natural, state.prior, batch, N_LOCAL)
        parts = threads.split(N_DOCUMENTS, _RUN)
        tasks = {"peak": peak.run} | {part: _call(run, part) for part in parts}
        timings = interleaved(tasks, setup.choose(40, 15))
        peak_rate = peak.FMAS / min(timings.pop("peak"))
        fmas = useful_fmas(batch.counts.size, n_topics, N_LOCAL)
        rate = fmas / sum_of_best(list(timings.values()))
        yield at_least(
            f"local-step kernel, K={n_topics}, share of a core's FMA rate",
            100 * rate / peak_rate,
            30,
            "%",
            gfma_per_second=rate / 1e9,
            peak_gfma_per_second=peak_rate / 1e9,
            timings=list(timings.values()),
        )


def _call(run: Callable[[int, int], None], part: threads.Part) -> Callable[[], None]:
    return lambda: run(*part)
