"""Words that come and go while a topic model runs.

A new word gets a row of lambda drawn from a generator keyed by the word itself, so that its start
does not depend on when it came or what came before. The rows of all other words stay as they are.
A word that was evicted leaves its column to the prior, until another word takes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from trustream.array_types import Array, Float64
from trustream.models.lda import LazyRows, LdaPrior
from trustream.models.lda.seeds import SeedRows

# A table that must grow is given room for this much more, so that growing rarely copies it.
_ROOM = 1.25


def starts(words: Sequence[str], n_topics: int, seed: int) -> Float64:
    """The rows of lambda that words start with, (W, K): Gamma(100, 0.01) draws, mean 1.

    >>> rows = starts(["cat", "dog"], 3, 0)
    >>> np.array_equal(rows[1], starts(["dog"], 3, 0)[0]), np.array_equal(rows[0], rows[1])
    (True, False)
    """
    rows = np.empty((len(words), n_topics))
    # One generator, set anew for each word: to make one takes longer than to draw from it.
    bits = np.random.Philox(key=0)
    rng, state, salt = np.random.Generator(bits), bits.state, seed.to_bytes(8, "little")
    for row, word in zip(rows, words, strict=True):
        name = word.encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(name, digest_size=16, key=salt).digest()
        state["state"]["key"][:] = np.frombuffer(digest, "<u8")
        bits.state = state
        rng.standard_gamma(100.0, out=row)
    return rows * 0.01


def followed(
    lambda_: LazyRows,
    prior: LdaPrior,
    changes: Sequence[tuple[int, str | None]],
    seed: int | None,
    seeds: SeedRows | None = None,
) -> tuple[LazyRows, LdaPrior]:
    """lambda and prior after some columns came to stand for other words, or for none.

    In the memory of the lambda that is passed in, as far as it goes (see `savepoint`).

    Args:
        changes: columns with their words now; new columns follow on those there are.
        seed: of the words' starts; without it they start at the prior, lambda_v = eta, or at what
            the prior has put into lambda, if that is more.
        seeds: the seeds afterwards; their words start in their topics.
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
    columns = np.array([column for column, _ in changes], np.int64)
    old = stored[columns[columns < n_old]].astype(np.float64)
    totals -= (lambda_.scale * old + level).sum(axis=0)
    rows = np.full((len(changes), n_topics), max(prior.eta, level))
    if seeds is not None:
        rows = seeds.added_to(rows, columns)
    if seed is not None:
        new = [(i, word) for i, (_, word) in enumerate(changes) if word is not None]
        begun = starts([word for _, word in new], n_topics, seed)
        if seeds is not None:
            begun = seeds.started(begun, columns[[i for i, _ in new]])
        rows[[i for i, _ in new]] = np.maximum(begun, level)
    stored[columns] = (rows - level) / lambda_.scale
    # What is stored counts, rounded as it is.
    totals += (lambda_.scale * stored[columns].astype(np.float64) + level).sum(axis=0)
    prior = replace(prior, pattern_sums=np.full(n_topics, float(n_new)), seeds=seeds)
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
