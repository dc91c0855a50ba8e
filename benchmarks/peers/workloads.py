"""Documents on which methods are compared, and how much of them each may take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import corpora

LEAST_TOKENS = 10


@dataclass(frozen=True)
class Workload:
    """One plot.

    Attributes:
        about: for people.
        source: `wiki_en`, `wiki_simple` or `zipf`.
        n_documents: to learn from; None takes all but the held-out ones.
        effort: factor on the passes or iterations of each method, see `EFFORT` in its module.
        limit: seconds of training after which a method is stopped.
        without: methods that are left out, to keep it short.
    """

    name: str
    about: str
    source: str
    n_documents: int | None
    n_topics: int
    effort: float = 1.0
    limit: float = 180.0
    n_held_out: int = 1000
    n_chib: int = 200
    without: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """Data sets that it reads."""
        return () if self.source == "zipf" else (f"{self.source}.npz",)

    def quick(self) -> Workload:
        """The same in seconds, to see that everything works."""
        return replace(
            self,
            about=f"{self.name}, cut down to 1,000 documents and K = 20",
            n_documents=1000,
            n_topics=20,
            effort=0.2,
            limit=10,
            n_held_out=100,
            n_chib=20,
        )

    def load(self, data: Path) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """Documents to learn from and held-out ones, documents x words.

        Held-out documents have at least ten tokens: half of next to nothing tells little.
        """
        if self.source == "zipf":
            counts = zipf((self.n_documents or 10_000) + 2 * self.n_held_out)
        else:
            counts = corpora.wiki(data, self.source)
        n_train = self.n_documents or counts.shape[0] - 2 * self.n_held_out
        rest = counts[n_train:]
        long = np.flatnonzero(np.asarray(rest.sum(axis=1)).ravel() >= LEAST_TOKENS)
        return counts[:n_train], rest[long[: self.n_held_out]]


def zipf(
    n_documents: int, n_words: int = 200_000, n_topics: int = 100, mean_length: int = 150
) -> sp.csr_matrix:
    """Documents of a model with topics whose words follow Zipf's law.

    beta_k ~ Dirichlet(5,000 / rank, normalised), theta_d ~ Dirichlet(0.05), lengths are geometric.
    """
    rng = np.random.default_rng(0)
    base = 1 / np.arange(1, n_words + 1)
    shape = 5_000 * base / base.sum()
    lengths = 10 + rng.geometric(1 / (mean_length - 10), n_documents)
    theta = rng.dirichlet(np.full(n_topics, 0.05), n_documents)
    of_topic = rng.multinomial(lengths, theta)
    rows, columns = [], []
    for k in range(n_topics):
        cumulative = np.cumsum(rng.gamma(shape))
        draws = rng.random(of_topic[:, k].sum()) * cumulative[-1]
        columns.append(np.searchsorted(cumulative, draws).clip(max=n_words - 1))
        rows.append(np.repeat(np.arange(n_documents), of_topic[:, k]))
    row, column = np.concatenate(rows), np.concatenate(columns)
    ones = np.ones(row.size, np.int32)
    counts = sp.coo_matrix((ones, (row, column)), shape=(n_documents, n_words)).tocsr()
    counts.indices = counts.indices.astype(np.int32)
    return counts


# What the main workload shows is not shown again: too slow, or not the best of its kind.
_SHORT: dict[str, Any] = {
    "effort": 0.5,
    "limit": 60.0,
    "n_chib": 50,
    "without": ("river", "gensim multicore", "trustream, natural gradient"),
}
WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("wiki-100", "20,000 English articles, K = 100", "wiki_en", 20_000, 100),
        Workload("wiki-400", "20,000 English articles, K = 400", "wiki_en", 20_000, 400, **_SHORT),
        Workload("simple-100", "Simple English, K = 100", "wiki_simple", None, 100, **_SHORT),
        Workload("vocabulary", "V = 200,000, K = 100", "zipf", 10_000, 100, **_SHORT),
        Workload(
            "wiki-1000", "20,000 English articles, K = 1,000", "wiki_en", 20_000, 1000, **_SHORT
        ),
    )
}
