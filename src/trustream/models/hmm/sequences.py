"""Sequences as data points, whole or cut into subchains with buffers (Foti et al. 2014).

A data point is a chain: a stretch of observations, of which the core counts and the rest is a
buffer, in which beliefs forget that the chain was cut out of something longer. A sequence that is
not cut is one chain without buffers. The cores of the subchains of a sequence have all of its
observations once, and with a buffer of at least one observation all of its transitions as well,
each with the observation that it leads to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trustream.array_types import Index


class Extent(NamedTuple):
    """How much of each kind of evidence some chains have."""

    starts: int
    transitions: int
    observations: int


@dataclass(frozen=True, eq=False)
class Sequences:
    """Observations in their order, and which of them belong together.

    Attributes:
        x: (T,) symbols, or (T, D) observations, dense or CSR, of all sequences.
        n_features: D, or V for symbols.
        chains: (n, 5): first, core_start, core_stop, last, and whether the first observation is the
            first of its sequence, for each chain (`kernels.hmm.reference`).
        is_cut: whether chains are parts of sequences.

    >>> whole = Sequences.of(np.array([0, 1, 1, 0, 1]), [3, 2], n_features=2)
    >>> whole.shape, whole.extent
    ((2, 2), Extent(starts=2, transitions=3, observations=5))
    >>> whole.cut(2, 1).chains
    array([[0, 0, 2, 3, 1],
           [1, 2, 3, 3, 0],
           [3, 3, 5, 5, 1]])
    """

    x: Any
    n_features: int
    chains: Index
    is_cut: bool = False

    @classmethod
    def of(cls, x: Any, lengths: ArrayLike, n_features: int) -> Sequences:
        """Sequences of the given lengths, which add up to the observations."""
        lengths = np.asarray(lengths, np.int64)
        last = np.cumsum(lengths)
        first = last - lengths
        chains = np.stack([first, first, last, last, np.ones_like(first)], axis=1)
        return cls(x, n_features, chains)

    @property
    def shape(self) -> tuple[int, int]:
        """(number of data points, n_features)."""
        return len(self.chains), self.n_features

    def __getitem__(self, rows: Any) -> Sequences:
        """Some of the chains; observations are shared."""
        return Sequences(self.x, self.n_features, self.chains[rows], self.is_cut)

    @cached_property
    def extent(self) -> Extent:
        """The evidence of all chains."""
        return extent(self.chains)

    def observations(self) -> Any:
        """The observations of all cores, in their order, as a copy."""
        return self.x[core_rows(self.chains)]

    def cut(self, length: int, buffer: int) -> Sequences:
        """Sequences of more than `length` observations as subchains.

        Their cores have `length` observations each, the last one of a sequence fewer, and up to
        `buffer` observations more on both sides.
        """
        first, last = self.chains[:, 0], self.chains[:, 3]
        n_cores = -(-(last - first) // length)
        which = np.repeat(np.arange(len(first)), n_cores)
        number = np.arange(which.size) - np.repeat(np.cumsum(n_cores) - n_cores, n_cores)
        core_start = first[which] + number * length
        core_stop = np.minimum(core_start + length, last[which])
        chain_first = np.maximum(core_start - buffer, first[which])
        chain_last = np.minimum(core_stop + buffer, last[which])
        begins = (chain_first == first[which]).astype(np.int64)
        chains = np.stack([chain_first, core_start, core_stop, chain_last, begins], axis=1)
        return Sequences(self.x, self.n_features, chains, bool((n_cores > 1).any()))


def extent(chains: Index) -> Extent:
    """The evidence of chains (n, 5)."""
    first, core_start, core_stop, _, begins = chains.T
    at_first = core_start == first
    observations = int((core_stop - core_start).sum())
    return Extent(
        int(((begins == 1) & at_first).sum()), observations - int(at_first.sum()), observations
    )


def ranges(starts: Index, stops: Index) -> Index:
    """All numbers of start:stop, one range after the other.

    >>> ranges(np.array([0, 7]), np.array([2, 9]))
    array([0, 1, 7, 8])
    """
    lengths = stops - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def core_rows(chains: Index) -> slice | Index:
    """Rows of the observations of all cores."""
    return _rows(chains[:, 1], chains[:, 2])


def chain_rows(chains: Index) -> slice | Index:
    """Rows of the observations of all chains, buffers included."""
    return _rows(chains[:, 0], chains[:, 3])


def _rows(starts: Index, stops: Index) -> slice | Index:
    # A slice where they follow each other: nothing has to be copied.
    if len(starts) and (starts[1:] == stops[:-1]).all():
        return slice(int(starts[0]), int(stops[-1]))
    return ranges(starts, stops)
