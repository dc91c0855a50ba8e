"""Chains prepared for a local step, in groups that bound its memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from trustream.array_types import Index
from trustream.kernels.threads import Part
from trustream.models.hmm.emissions import Emissions, Places
from trustream.models.hmm.sequences import Sequences, chain_rows, core_rows, extent, ranges
from trustream.models.protocol import Rows

# Observations of a group, if a chain has no more: beliefs about so many are in memory at a time.
_GROUP = 2**16
# Observations that share their sums: fixed, so that threads do not change a result.
_PART = 2**10


class Scales(NamedTuple):
    """By how much more than N/B the statistics of a batch stand for all data.

    Chains of all data have N_s starts, N_t transitions and N_o observations, those of the batch
    B_s, B_t and B_o. Statistics of each kind are scaled by what there is of it in all data over
    what there is in the batch; relative to N/B these are (N_s / B_s) (B / N) and so on. A batch
    without starts says nothing of start probabilities, and leaves them as they are: None.
    """

    start: float | None
    transitions: float
    emissions: float


@dataclass(frozen=True, eq=False)
class Group:
    """Some chains of a batch.

    Attributes:
        chains: (n, 5), places of observations counted from the first of this group.
        observations: of the chains, buffers included, as the emissions prepared them.
        core: of the cores only; the same object where there are no buffers.
        core_rows: places of the cores among the observations.
        at: (T,) row of each observation in the table of scores.
        parts: ranges of chains.
    """

    chains: Index
    observations: Any
    core: Any
    core_rows: slice | Index
    at: Places
    parts: list[Part]


@dataclass(frozen=True, eq=False)
class HmmBatch:
    """Chains in groups, and how their statistics are scaled (None: all by N/B)."""

    size: int
    groups: tuple[Group, ...]
    scales: Scales | None
    is_cut: bool

    @property
    def n_observations(self) -> int:
        """Observations of all cores."""
        return sum(extent(group.chains).observations for group in self.groups)


def batch_of(data: Sequences, rows: Rows | slice, emissions: Emissions) -> HmmBatch:
    """Some chains of validated data.

    Raises:
        ValueError: there are none.
    """
    chains = data.chains[rows]
    if not len(chains):
        raise ValueError("a batch needs at least one data point, got an empty one")
    sizes = chains[:, 3] - chains[:, 0]
    groups = tuple(
        _group(data, chains[start:stop], emissions) for start, stop in _runs(sizes, _GROUP)
    )
    scales = _scales(data, chains) if data.is_cut else None
    return HmmBatch(len(chains), groups, scales, data.is_cut)


def _group(data: Sequences, chains: Index, emissions: Emissions) -> Group:
    sizes = chains[:, 3] - chains[:, 0]
    observations = emissions.prepare(data.x, chain_rows(chains))
    local = chains.copy()
    local[:, :4] -= (chains[:, 0] - (np.cumsum(sizes) - sizes))[:, np.newaxis]
    if (chains[:, :1] == chains[:, 1:2]).all() and (chains[:, 2] == chains[:, 3]).all():
        core = observations
        rows: slice | Index = slice(0, int(sizes.sum()))
    else:
        core = emissions.prepare(data.x, core_rows(chains))
        rows = ranges(local[:, 1], local[:, 2])
    parts = _runs(sizes, max(_PART, emissions.n_shared or 0))
    return Group(local, observations, core, rows, emissions.places(observations), parts)


def _runs(sizes: Index, most: int) -> list[Part]:
    """Ranges of chains with about `most` observations each, or one chain.

    >>> _runs(np.array([2, 2, 9, 1]), 4)
    [(0, 2), (2, 3), (3, 4)]
    """
    runs, start, total = [], 0, 0
    for i, size in enumerate(sizes.tolist()):
        if i > start and total + size > most:
            runs.append((start, i))
            start, total = i, 0
        total += size
    return [*runs, (start, len(sizes))]


def _scales(data: Sequences, chains: Index) -> Scales:
    share = len(chains) / data.shape[0]
    whole, part = data.extent, extent(chains)
    start, transitions, emissions = (
        share * n / b if b else None for n, b in zip(whole, part, strict=True)
    )
    return Scales(start, transitions or 0.0, emissions or 0.0)
