"""Words that come and go while a topic model runs.

A new word gets a row of lambda drawn from a generator keyed by the word itself, so that its start
does not depend on when it came or what came before. The rows of all other words stay as they are.
A word that was evicted leaves its column to the prior, lambda_v = eta, until another word takes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.models.lda import LazyRows, LdaPrior

Array = NDArray[Any]

# A table that must grow is given room for this much more, so that growing rarely copies it.
_ROOM = 1.25


def start_of(word: str, n_topics: int, seed: int) -> NDArray[np.float64]:
    """The row of lambda that a word starts with, (K,): Gamma(100, 0.01) draws, mean 1.

    >>> np.array_equal(start_of("cat", 3, 0), start_of("cat", 3, 0))
    True
    >>> np.array_equal(start_of("cat", 3, 0), start_of("dog", 3, 0))
    False
    """
    key = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    words = np.frombuffer(key, "<u4").tolist()
    return np.random.default_rng([seed, *words]).standard_gamma(100.0, n_topics) * 0.01


def followed(
    lambda_: LazyRows,
    prior: LdaPrior,
    changes: Sequence[tuple[int, str | None]],
    seed: int | None,
) -> tuple[LazyRows, LdaPrior]:
    """lambda and prior after some columns came to stand for other words, or for none.

    In the memory of the lambda that is passed in, as far as it goes (see `savepoint`).

    Args:
        changes: columns with their words now; new columns follow on those there are.
        seed: of the words' starts; without it they start at the prior, lambda_v = eta.
    """
    if prior.pattern.shape != (1, 1):
        raise ValueError("only a prior that is the same for all words can follow a vocabulary")
    n_old, n_topics = lambda_.stored.shape[0], prior.alpha.size
    n_new = max([n_old, *(column + 1 for column, _ in changes)])
    if n_new - n_old != len({column for column, _ in changes if column >= n_old}):
        raise ValueError(f"{n_new} columns after {n_old}, but not all of the new ones have a word")
    stored = _with_rows(lambda_.stored, n_new)
    totals = lambda_.totals.copy()
    level = lambda_.shift * prior.pattern[0, 0]
    for column, word in changes:
        if column < n_old:
            totals -= lambda_.scale * stored[column].astype(np.float64) + level
        row = np.full(n_topics, prior.eta)
        if word is not None and seed is not None:
            row = start_of(word, n_topics, seed)
        stored[column] = (row - level) / lambda_.scale
        # What is stored counts, rounded as it is.
        totals += lambda_.scale * stored[column].astype(np.float64) + level
    prior = replace(prior, pattern_sums=np.full(n_topics, float(n_new)))
    return LazyRows(stored, lambda_.scale, lambda_.shift, totals), prior


def savepoint(lambda_: LazyRows, changes: Sequence[tuple[int, str | None]]) -> Callable[[], None]:
    """What puts lambda back after `followed` gave some of its columns to other words."""
    stored, n_old = lambda_.stored, lambda_.stored.shape[0]
    at = np.array([column for column, _ in changes if column < n_old], np.int64)
    rows = stored[at]

    def restore() -> None:
        stored[at] = rows

    return restore


def _with_rows(stored: Array, n_rows: int) -> Array:
    """The table with more rows, the old ones kept; in place if there is room behind it."""
    if n_rows == stored.shape[0]:
        return stored
    base = stored.base if stored.base is not None else stored
    fits = base.ndim == 2 and base.shape[0] >= n_rows and base.shape[1] == stored.shape[1]
    if not (fits and base.dtype == stored.dtype and base.ctypes.data == stored.ctypes.data):
        base = np.empty((int(n_rows * _ROOM) + 1, stored.shape[1]), stored.dtype)
        base[: stored.shape[0]] = stored
    grown: Array = base[:n_rows]
    return grown
