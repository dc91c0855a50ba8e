"""Document completion: how well topics predict documents that they never learn from.

The same quantity as `trustream.evaluation.completion` gives for E[beta] and alpha, but for rounding
and for topics that a document does not use, and many times as fast: a trainer scores again and
again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from trustream import kernels
from trustream.array_types import Float64
from trustream.evaluation import validation
from trustream.evaluation.token_split import observed_halves
from trustream.models.lda import LazyRows, LdaModel, LdaPrior
from trustream.models.lda.batch import CountRows, WordBatch, segment_sums
from trustream.models.lda.natural import LdaNatural
from trustream.models.lda.starts import equal_topics
from trustream.streaming.stream_model import Score

# Most iterations, and the change that ends them. Documents that are not settled after so many are
# those of topics that have hardly begun.
_N_LOCAL, _TOL = 50, 1e-4
# Numbers of pairs of document and word, one for each topic, that are computed at a time: so many
# that they stay in the cache of a core.
_AT_ONCE = 2**16


def score(
    model: LdaModel,
    lambda_: LazyRows,
    prior: LdaPrior,
    counts: CountRows | sparse.csr_array,
    seed: int,
) -> Score | None:
    """Score documents (B, V) under E[beta] and alpha; None if they have too few words.

    Takes time for the words of these documents only.
    """
    return score_batch(model, lambda_, prior, model.batch(counts, slice(None)), seed)


def score_batch(
    model: LdaModel, lambda_: LazyRows, prior: LdaPrior, batch: WordBatch, seed: int
) -> Score | None:
    """The same of documents that are prepared."""
    whole = batch.counts.astype(np.int64)
    keys = validation.stream_keys(validation.seed_of(seed), 0, batch.size)
    module = kernels.get("likelihood", model.backend)
    observed = observed_halves(batch.indptr, whole, keys, 0, module)
    hidden = whole - observed
    n_tokens = int(hidden.sum())
    if n_tokens == 0:
        return None
    natural = model.materialise(model.restrict(lambda_, prior, batch))
    theta = _theta(model, prior, _with_counts(batch, observed), natural)
    per_word = _log_likelihood(batch, theta / natural.totals, natural.rows, hidden) / n_tokens
    frequencies = natural.rows.sum(axis=1, dtype=np.float64) / natural.totals.sum()
    alone = float(hidden @ np.log(frequencies[batch.ids])) / n_tokens
    n_documents = int((segment_sums(hidden, batch.indptr) > 0).sum())
    return Score(per_word, alone, n_documents, n_tokens)


def _with_counts(batch: WordBatch, counts: np.ndarray) -> WordBatch:
    """The same documents with other counts, some of which may be zero."""
    lengths = segment_sums(counts, batch.indptr)
    return replace(batch, counts=counts.astype(batch.counts.dtype), lengths=lengths)


def _theta(model: LdaModel, prior: LdaPrior, batch: WordBatch, natural: LdaNatural) -> Float64:
    """E[theta] (B, K) of the tokens of a batch, with E[beta] in the place of exp E[log beta]."""
    reading = replace(model, max_doc_topics=model.n_components, strides=True).computation
    table, _ = reading.empty_table(batch.n_words)
    table[:, : model.n_components], table[:, model.n_components :] = natural.rows, 0
    # A word's scale does not matter, and neither does that of all words; small numbers do.
    table /= np.maximum(table.max(axis=1, keepdims=True), np.finfo(table.dtype).tiny)
    factor = (natural.totals.min() / natural.totals).astype(table.dtype)
    start = equal_topics(prior, batch.lengths, model.n_components).astype(table.dtype)
    gamma, _, _ = reading.local(batch, table, factor, prior.alpha, start, _N_LOCAL, _TOL)
    found = gamma.astype(np.float64)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _log_likelihood(
    batch: WordBatch, weights: Float64, rows: np.ndarray, hidden: np.ndarray
) -> float:
    """sum_dw m_dw log sum_k weights_dk lambda_wk, in nats."""
    documents = np.repeat(np.arange(batch.size), np.diff(batch.indptr))
    value, weights = 0.0, weights.astype(rows.dtype)
    n_pairs = max(1, _AT_ONCE // rows.shape[1])
    for first in range(0, hidden.size, n_pairs):
        part = np.flatnonzero(hidden[first : first + n_pairs]) + first
        of_pairs = weights.take(documents[part], axis=0), rows.take(batch.ids[part], axis=0)
        likelihood = np.einsum("ij,ij->i", *of_pairs)
        value += float(hidden[part] @ np.log(likelihood.astype(np.float64)))
    return value
