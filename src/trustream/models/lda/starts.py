"""Where learning LDA starts: random topics, and beliefs about words and documents."""

from __future__ import annotations

import numpy as np

from trustream.array_types import Array, Float64
from trustream.models.lda.batch import WordBatch, segment_sums
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.natural import LdaNatural
from trustream.models.lda.prior import LdaPrior
from trustream.models.lda.seeds import SeedRows


def initial(
    shape: tuple[int, int], dtype: str, rng: np.random.Generator, seeds: SeedRows | None = None
) -> LazyRows:
    """lambda_vk ~ Gamma(100, 0.01) of shape (V, K), seed words in their topics."""
    return LazyRows.of(_draws(shape, dtype, rng, seeds, np.arange(shape[0])))


def of_batch(
    shape: tuple[int, int],
    n_others: int,
    dtype: str,
    rng: np.random.Generator,
    seeds: SeedRows | None,
    words: Array,
) -> LdaNatural:
    """The same of a batch's words, (W, K).

    The other V - W words enter through their sum, which is a Gamma(100 (V - W), 0.01) draw.
    """
    rows = _draws(shape, dtype, rng, seeds, words)
    others = 0.01 * rng.gamma(100.0 * n_others, size=shape[1])
    return LdaNatural(rows, rows.sum(axis=0, dtype=np.float64) + others)


def _draws(
    shape: tuple[int, int],
    dtype: str,
    rng: np.random.Generator,
    seeds: SeedRows | None,
    words: Array,
) -> Array:
    draws = np.empty(shape, dtype)
    rng.standard_gamma(100.0, dtype=draws.dtype.type, out=draws)
    draws *= draws.dtype.type(0.01)
    return draws if seeds is None else seeds.started(draws, words)


def uniform_beliefs(
    prior: LdaPrior, batch: WordBatch, n_topics: int, dtype: str
) -> tuple[Array, LdaNatural]:
    """gamma (B, K) and s (W, K) of phi = 1/K."""
    share = 1.0 / n_topics
    gamma = prior.alpha + share * batch.lengths[:, np.newaxis]
    rows = (share * batch.word_counts[:, np.newaxis]).astype(dtype)
    totals = np.full(n_topics, share * batch.word_counts.sum())
    return gamma.astype(dtype), LdaNatural(rows, totals)


def given_beliefs(
    prior: LdaPrior, batch: WordBatch, phi: Array, dtype: str
) -> tuple[Array, LdaNatural]:
    """gamma (B, K) and s (W, K) of phi (nnz, K), in the batch's order of pairs."""
    weighted = batch.counts[:, np.newaxis] * np.asarray(phi, np.float64)
    gamma = prior.alpha + segment_sums(weighted, batch.indptr)
    rows = segment_sums(weighted[batch.positions], batch.word_ptr)
    return gamma.astype(dtype), LdaNatural(rows.astype(dtype), rows.sum(axis=0))


def equal_topics(prior: LdaPrior, lengths: Float64, n_topics: int) -> Float64:
    """gamma (B, K) of documents with equal parts of all topics, (sum_k alpha_k + n_d) / K.

    Where topics are given, a document is read from here. gamma = alpha + n_d / K, that of uniform
    phi, would let alpha choose the topics of short documents before their words do: where gamma is
    small, exp E[log theta] of two topics differs by far more than their alphas, and the local step
    does not come back from it (docs/notes/streams.md).
    """
    level = (prior.alpha.sum() + lengths) / n_topics
    return np.repeat(level[:, np.newaxis], n_topics, axis=1)
