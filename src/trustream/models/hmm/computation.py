"""Kernels of hidden Markov models on whole groups of chains: work shared out among threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trustream import kernels
from trustream.array_types import Array, Float64
from trustream.families import dirichlet
from trustream.kernels import LANES, threads
from trustream.models.hmm.batch import Group, HmmBatch
from trustream.models.hmm.emissions import Emissions
from trustream.models.mixture import feature_blocks

# Below this logarithm of a weight recursions without logarithms may lose what counts.
_LEAST_LOG = -640.0
# Rows of a table that are worked on at a time.
_TABLE_ROWS = 2**10
# (ratios, tops) of observations, as kernels take them.
Table = tuple[Float64, Float64]


class Dynamics(NamedTuple):
    """Weights of start (W,), of a chain that does not begin a sequence (W,), and of transitions
    (K, W); logarithms if is_log."""

    start: Float64
    entry: Float64
    transitions: Float64
    is_log: bool


@dataclass(frozen=True)
class HmmComputation:
    """Recursions over the chains of a group.

    Attributes:
        kind: the emissions.
        backend: which kernels compute, "compiled" or "reference".
        n_threads: threads to use; they change the time only.
    """

    kind: Emissions
    backend: str
    n_threads: int

    def weights(self, natural: Any, is_cut: bool) -> Dynamics:
        """exp E[log pi] and exp E[log A], and the stationary distribution where it is needed."""
        start, transitions = (dirichlet.expected_log(natural[i]) for i in (0, 1))
        entry = start
        if is_cut:
            entry = np.log(stationary(dirichlet.mean(natural[1])))
        return self.dynamics(start, entry, transitions)

    def dynamics(self, start: Float64, entry: Float64, transitions: Float64) -> Dynamics:
        """As kernels take them, from logarithms."""
        k = start.size
        width = -(-k // LANES) * LANES
        is_log = min(part.min() for part in (start, entry, transitions)) < _LEAST_LOG
        padded = []
        for part in (start, entry, transitions):
            values = np.zeros((*part.shape[:-1], width))
            values[..., :k] = part if is_log else np.exp(part)
            padded.append(values)
        return Dynamics(padded[0], padded[1], padded[2], is_log)

    def tables(
        self, natural: Any, prior: Any, batch: HmmBatch, is_log: bool, predictive: bool = False
    ) -> Iterator[tuple[Group, Table]]:
        """Each group with (ratios, tops) of its observations (`kernels.hmm.reference`)."""
        score = self.kind.log_density if predictive else self.kind.scores
        table: Table | None = None
        for group in batch.groups:
            if table is None or self.kind.n_shared is None:
                values = score(tuple(natural[2:]), prior, group.observations)
                table = self._relative(values, is_log)
            yield group, table

    def _relative(self, values: Float64, is_log: bool) -> Table:
        n_rows, k = values.shape
        if is_log:
            return values, np.zeros(n_rows)
        ratios = np.empty((n_rows, -(-k // LANES) * LANES))
        tops = np.empty(n_rows)
        kernel = kernels.get("hmm", self.backend).relative

        def work(start: int, stop: int) -> None:
            kernel(values, ratios, tops, start, stop)

        n_threads = feature_blocks.worthwhile(20 * values.size, self.n_threads)
        threads.run(work, threads.split(n_rows, _TABLE_ROWS), n_threads)
        return ratios, tops

    def beliefs(
        self,
        dynamics: Dynamics,
        table: Table,
        group: Group,
        to: Any,
        n_shared: int | None,
        log_evidence: Float64,
    ) -> tuple[Float64, Float64, Float64]:
        """sums, pairs and firsts of a group (`forward_backward`), over all its chains.

        Beliefs are summed by `to` in n_shared rows, or None: each observation has a row.
        """
        module = kernels.get("hmm", self.backend)
        kernel = module.log_forward_backward if dynamics.is_log else module.forward_backward
        k, width = dynamics.transitions.shape
        weights, parts = dynamics[:3], group.parts
        pairs, firsts = np.empty((len(parts), k, width)), np.empty((len(parts), width))
        number = {start: i for i, (start, _) in enumerate(parts)}
        own = np.zeros((group.at.size, width)) if n_shared is None else None

        def work(start: int, stop: int) -> Array:
            i = number[start]
            sums = np.zeros((n_shared or 0, width)) if own is None else own
            kernel(
                *weights, *table, group.at, to, group.chains, sums, pairs[i], firsts[i],
                log_evidence, start, stop,
            )  # fmt: skip
            return sums if own is None else np.zeros(0)

        n_threads = feature_blocks.worthwhile(3 * group.at.size * k * width, self.n_threads)
        shared = feature_blocks.ordered_sum(work, parts, width * (n_shared or 1), n_threads)
        return shared if own is None else own, pairs.sum(axis=0), firsts.sum(axis=0)

    def filtered(self, dynamics: Dynamics, table: Table, group: Group) -> Float64:
        """log p(x_t | what came before) of the cores' observations, (T,)."""
        module = kernels.get("hmm", self.backend)
        kernel = module.log_forward if dynamics.is_log else module.forward
        found = np.empty(group.at.size)
        weights = dynamics[:3]

        def work(start: int, stop: int) -> None:
            kernel(*weights, *table, group.at, group.chains, found, start, stop)

        n_threads = feature_blocks.worthwhile(group.at.size * weights[2].size, self.n_threads)
        threads.run(work, group.parts, n_threads)
        return found[group.core_rows]

    def paths(self, natural: Any, prior: Any, batch: HmmBatch) -> NDArray[np.int64]:
        """The path of largest weight of each sequence, (T,)."""
        kernel = kernels.get("hmm", self.backend).viterbi
        start, transitions = (dirichlet.expected_log(natural[i]) for i in (0, 1))
        found, scores = [], None
        for group in batch.groups:
            if scores is None or self.kind.n_shared is None:
                scores = self.kind.scores(tuple(natural[2:]), prior, group.observations)
            states = np.empty(group.at.size, np.int64)

            def work(
                first: int, stop: int, group: Group = group, scores: Any = scores, to: Any = states
            ) -> None:
                kernel(start, transitions, scores, group.at, group.chains, to, first, stop)

            n_threads = feature_blocks.worthwhile(group.at.size * start.size**2, self.n_threads)
            threads.run(work, group.parts, n_threads)
            found.append(states)
        return np.concatenate(found)


def stationary(transitions: Float64) -> Float64:
    """The distribution p with p A = p, for a matrix (K, K) of positive entries whose rows sum to 1.

    From p (I - A + 1 1') = 1'; entries are kept above 1e-200.

    >>> stationary(np.array([[0.9, 0.1], [0.3, 0.7]])).round(12)
    array([0.75, 0.25])
    """
    k = transitions.shape[0]
    with threads.one_blas_thread():
        p = np.linalg.solve((np.eye(k) - transitions + 1).T, np.ones(k))
    p = np.maximum(p, 1e-200)
    return np.asarray(p / p.sum())
