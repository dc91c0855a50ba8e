"""Seeds: words that are given to topics before anything is learned.

A token of a seed word v of topic k counts, beside what its document makes of it, a_vk times more in
topic k,

    s_vk = sum_d n_dv phi_dvk + a_vk sum_d n_dv,

which is the prior Dir(eta + a_vk n_v), n_v being the tokens of the word that there are: in a batch
as in a population, the seed has the same weight beside the data, whatever their number.

Which topic is which is decided in the first steps, from a random start in which each word counts
about one in each of the K topics. So a seed word starts with as many as any other word has in all
topics, K, in its own topic alone, and a_vk K tokens are held also when batches come that lack it:

    eta_vk = eta + a_vk K,

which soon is little beside the data. In lambda the seeds' parts are kept with those of the data
(`LazyRows`), so that eta is learned, and lambda rescaled, as ever.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trustream.array_types import Array, Float64
from trustream.models.lda.batch import WordBatch, segment_sums

# What a seed word starts with in other topics, where other words have one: as the usual prior.
_ELSEWHERE = 0.1


class SeedRows(NamedTuple):
    """Weights of seed words in topics.

    Attributes:
        places: (S,) columns of the seed words, rising.
        weights: (S, K) a_vk, not negative.
    """

    places: NDArray[np.int64]
    weights: Float64

    @property
    def held(self) -> Float64:
        """(S, K) tokens that are there without any data, a K."""
        return np.asarray(self.weights * self.weights.shape[1])

    def added_to(self, rows: Array, words: Array) -> Array:
        """rows of these words, (W, K), with what is held; rows may be (1, 1) or (W, 1)."""
        ids, weights = self.among(words)
        if not ids.size:
            return rows
        found = np.broadcast_to(rows, (words.size, weights.shape[1])).copy()
        found[ids] += weights.shape[1] * weights
        return found

    def missing(self, words: Array) -> tuple[NDArray[np.int64], Float64]:
        """Seed words that are not among these, and what is held of them."""
        absent = ~np.isin(self.places, words)
        return self.places[absent], self.held[absent]

    def among(self, words: Array) -> tuple[NDArray[np.int64], Float64]:
        """Which of these columns have a seed, as numbers of them, and their weights (S', K).

        >>> rows = SeedRows(np.array([2, 5]), np.array([[1.0, 0.0], [0.0, 2.0]]))
        >>> rows.among(np.array([7, 5, 3]))
        (array([1]), array([[0., 2.]]))
        """
        at = np.minimum(np.searchsorted(self.places, words), self.places.size - 1)
        ids = np.flatnonzero(self.places[at] == words)
        return ids, self.weights[at[ids]]

    def rows(self, words: Array) -> Float64:
        """The weights of these columns, (W, K); 0 without a seed.

        >>> SeedRows(np.array([2]), np.array([[1.0, 0.0]])).rows(np.array([7, 2])).tolist()
        [[0.0, 0.0], [1.0, 0.0]]
        """
        ids, weights = self.among(words)
        rows = np.zeros((words.size, self.weights.shape[1]))
        rows[ids] = weights
        return rows

    def started(self, rows: Array, words: Array) -> Array:
        """Random rows of lambda to start from, (W, K), with seed words in their topics; in place.

        >>> rows = SeedRows(np.array([2]), np.array([[1.0, 0.0]]))
        >>> rows.started(np.ones((2, 2)), np.array([1, 2])).tolist()
        [[1.0, 1.0], [2.1, 0.1]]
        """
        ids, weights = self.among(words)
        rows[ids] *= rows.dtype.type(_ELSEWHERE)
        rows[ids] += rows.shape[1] * (weights > 0).astype(rows.dtype)
        return rows

    def changed(self, gone: list[int], new: dict[int, Float64]) -> SeedRows | None:
        """Without the seeds of these columns, and with others; None if none is left."""
        kept = ~np.isin(self.places, np.array([*gone, *new], np.int64))
        return seed_rows(
            {**dict(zip(self.places[kept].tolist(), self.weights[kept], strict=True)), **new}
        )


def seed_rows(weights: dict[int, Float64]) -> SeedRows | None:
    """From weights (K,) by column; None if there are none."""
    if not weights:
        return None
    places = sorted(weights)
    return SeedRows(np.array(places, np.int64), np.array([weights[place] for place in places]))


class SeedCounts(NamedTuple):
    """What seeds add to the statistics of a batch.

    Attributes:
        ids: (S',) the batch's words that have a seed.
        rows: (S', K) a_vk n_v.
    """

    ids: NDArray[np.int64]
    rows: Float64

    @classmethod
    def of(cls, seeds: SeedRows | None, batch: WordBatch) -> SeedCounts | None:
        """Of a batch's words; None if none of them has a seed."""
        if seeds is None:
            return None
        ids, weights = seeds.among(batch.words)
        return cls(ids, batch.word_counts[ids, np.newaxis] * weights) if ids.size else None

    @property
    def totals(self) -> Float64:
        """(K,) sums over words."""
        return np.asarray(self.rows.sum(axis=0))

    def added_to(self, rows: Array, n_words: int, scale: float = 1.0) -> Array:
        """rows + scale * these, (W, K), in memory of its own; rows may be (1, 1) or (W, 1)."""
        found = np.broadcast_to(rows, (n_words, self.rows.shape[1])).copy()
        found[self.ids] += (scale * self.rows).astype(found.dtype)
        return found


def document_terms(
    batch: WordBatch, ids: Array, weights: Float64, expected_log: Float64
) -> Float64:
    """sum_v n_dv sum_k a_vk E[log beta_vk] of each document, (B,): its extra tokens in the bound.

    Args:
        ids, weights: as from `SeedRows.among`.
        expected_log: (S', K), E[log beta] of these words.
    """
    of_words = np.zeros(batch.n_words)
    of_words[ids] = (weights * expected_log).sum(axis=1)
    return np.asarray(segment_sums(batch.counts * of_words[batch.ids], batch.indptr))
