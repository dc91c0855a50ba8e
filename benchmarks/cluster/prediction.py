"""A model of the time of a step on a cluster, fitted to measured steps, for larger clusters.

With P workers, a batch with n_pairs pairs of document and word and W different words, K topics,
and E exchanges in a step, of which R carry rows of lambda and statistics (the first says which
words there are; `steps.Measured`):

    T(P) = n_pairs K a / P  +  E latency  +  R (copy (out + P back) + network)
    network = (nodes out + P back) / bandwidth,   out = 4 W K,   back = 4 W_P K

where W_P are the words of a worker's part. `a` is the median over measured steps; latency and copy,
which has in it what the driver does with a byte, come from the rest of their time by least squares
with non-negative coefficients. Efficiency is n_pairs K a / (P T(P)).

Assumptions, to be read with the plot: words follow Zipf's law (p_v proportional to 1 / v), and
documents are as long as the articles that were measured; each worker has as many documents of a
batch, so that batches grow with the cluster; 16 workers share a node, to which lambda's rows go
once; everything passes through the driver's one link, which sends and receives at the nominal rate
and does not do both at once; time of computing grows like K; nothing is slow, lost or repeated.
Since computing and exchange both grow like K, efficiency hardly depends on it (`TOPICS`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.cluster.kept import keep
from benchmarks.cluster.steps import Measured, measured_steps
from benchmarks.harness.rows import Row, Setup, information

FILES: tuple[str, ...] = ()
PICTURE = Path("docs") / "benchmarks" / "cluster.svg"
WORKERS = (4, 8, 16, 32, 64, 128, 256)
TOPICS = (100, 1_000, 10_000)
VOCABULARIES = (100_000, 1_000_000)
GBITS = (1.0, 10.0)
# Documents of a batch for each worker.
PER_WORKER = (1_000, 10_000, 100_000)
# Tokens and different words of a document; workers of a node.
TOKENS, PAIRS, PER_NODE = 400, 200, 16


@dataclass(frozen=True)
class StepModel:
    """Coefficients of one mode.

    Attributes:
        compute: seconds of a core for a pair and a topic, a.
        latency: seconds of an exchange, however little is in it.
        copy: seconds for a byte that is sent or received.
        n_exchanges, n_tables: in a step, E, and those with rows of lambda, R.
    """

    compute: float
    latency: float
    copy: float
    n_exchanges: float
    n_tables: float

    def seconds(
        self, n_workers: int, n_topics: int, n_words: int, gbits: float, per_worker: int
    ) -> float:
        """T(P), for batches of so many documents a worker."""
        n_pairs = per_worker * PAIRS * n_workers
        words = distinct(per_worker * n_workers * TOKENS, n_words)
        of_worker = distinct(per_worker * TOKENS, n_words)
        out, back = 4 * words * n_topics, 4 * of_worker * n_topics
        nodes = -(-n_workers // PER_NODE)
        network = 8 * (nodes * out + n_workers * back) / (gbits * 1e9)
        table = self.copy * (out + n_workers * back) + network
        exchanges = self.n_exchanges * self.latency + self.n_tables * table
        return self.work(n_topics, n_pairs) / n_workers + exchanges

    def work(self, n_topics: int, n_pairs: float) -> float:
        """Seconds of one core."""
        return self.compute * n_pairs * n_topics

    def efficiency(
        self, n_workers: int, n_topics: int, n_words: int, gbits: float, per_worker: int = 10_000
    ) -> float:
        """Time of computing over that of the step."""
        alone = self.work(n_topics, per_worker * PAIRS)
        return alone / self.seconds(n_workers, n_topics, n_words, gbits, per_worker)


@lru_cache
def distinct(n_tokens: int, n_words: int) -> float:
    """Expected number of different words among tokens drawn by Zipf's law.

    >>> round(distinct(1, 1000), 6), round(distinct(10**9, 1000))
    (1.0, 1000)
    """
    p = 1 / np.arange(1, n_words + 1)
    p /= p.sum()
    return float(-np.expm1(n_tokens * np.log1p(-p)).sum())


def fitted(measured: list[Measured], mode: str) -> StepModel:
    """The model of a mode from its measured steps, by least squares in relative errors."""
    some = [one for one in measured if one.mode == mode]
    compute = [one.busy / (one.n_pairs * one.n_topics) for one in some]
    # What is not computing: the rest of a step, by the number of exchanges and what is in them.
    rest = np.array([one.seconds - one.busy / 2 for one in some]).clip(min=1e-6)
    columns = np.array([[one.n_exchanges, one.sent + one.received] for one in some])
    scale = np.where(columns.max(axis=0) > 0, columns.max(axis=0), 1.0)
    found, _ = nnls(columns / scale / rest[:, None], np.ones(len(some)))
    latency, copy = found / scale
    exchanges = float(np.mean([one.n_exchanges for one in some]))
    tables = float(np.mean([one.sent / (4 * one.n_words * one.n_topics) for one in some]))
    return StepModel(float(np.median(compute)), latency, copy, exchanges, tables)


def measure(setup: Setup) -> Iterator[Row]:
    """Coefficients, how well they fit, and efficiency on larger clusters."""
    measured = measured_steps()
    models = {mode: fitted(measured, mode) for mode in ("exact", "local")}
    said: dict[str, Any] = {}
    for mode, model in models.items():
        errors = [
            abs(predicted(model, one) / one.seconds - 1) for one in measured if one.mode == mode
        ]
        said[mode] = {
            "error": max(errors),
            "of_64": {n: model.efficiency(64, 1_000, 100_000, 10.0, n) for n in PER_WORKER},
        }
        yield information(
            f"{mode}: largest relative error of the fitted model",
            100 * max(errors),
            "%",
            **vars(model),
        )
        for n_workers in (4, 16, 64, 256):
            by_topics = [model.efficiency(n_workers, k, 100_000, 10.0) for k in TOPICS]
            name = f"{mode}: predicted efficiency of {n_workers} workers"
            yield information(
                f"{name}, V = 100,000, 10 Gbit/s", by_topics[1], "x", by_topics=by_topics
            )
    if not setup.quick:
        keep("prediction", said)
        draw(models, PICTURE)


def predicted(model: StepModel, one: Measured) -> float:
    """Seconds of a measured step by the model: two workers, no network."""
    exchange = model.latency * one.n_exchanges + model.copy * (one.sent + one.received)
    return model.work(one.n_topics, one.n_pairs) / 2 + exchange


def draw(models: dict[str, StepModel], path: Path) -> None:
    """Efficiency by workers: a panel for each network and vocabulary."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams["svg.hashsalt"] = "trustream"
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.5), sharex=True, sharey=True)
    colours = dict(zip(PER_WORKER, ("#1f77b4", "#d95f02", "#1b7837"), strict=True))
    for row, n_words in zip(axes, VOCABULARIES, strict=True):
        for axis, gbits in zip(row, GBITS, strict=True):
            for mode, style in (("local", "-"), ("exact", "--")):
                for size in PER_WORKER:
                    values = [
                        models[mode].efficiency(n, 1_000, n_words, gbits, size) for n in WORKERS
                    ]
                    label = f"{mode}, {size:,} documents a worker"
                    axis.plot(WORKERS, values, style, color=colours[size], label=label)
            axis.set_xscale("log", base=2)
            axis.set_xticks(WORKERS, [str(n) for n in WORKERS])
            axis.set_ylim(0, 1)
            axis.set_title(f"V = {n_words:,}, {gbits:g} Gbit/s", fontsize=10)
            axis.grid(alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("workers")
    for row in axes:
        row[0].set_ylabel("predicted efficiency")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=2, loc="lower center", fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
