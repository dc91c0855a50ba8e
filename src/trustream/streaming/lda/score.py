"""Document completion: how well topics predict documents that they never learn from."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from trustream.evaluation import completion, completion_from, split_tokens
from trustream.models.lda import LazyRows, LdaModel, LdaPrior
from trustream.streaming.stream_model import Score


def score(
    model: LdaModel,
    lambda_: LazyRows,
    prior: LdaPrior,
    counts: sparse.csr_array,
    *,
    seed: int,
    n_jobs: int | None,
) -> Score | None:
    """Score documents (B, V) under E[beta] and alpha; None if they have too few words.

    Takes time for the words of these documents only: one more column stands for all others.
    """
    columns, ids = np.unique(counts.indices, return_inverse=True)
    if columns.size == 0:
        return None
    batch = model.batch(counts, slice(0, counts.shape[0]))
    natural = model.materialise(model.restrict(lambda_, prior, batch))
    topics = np.empty((prior.alpha.size, columns.size + 1))
    topics[:, np.searchsorted(columns, batch.words)] = natural.rows.T / natural.totals[:, None]
    topics[:, -1] = np.maximum(1.0 - topics[:, :-1].sum(axis=1), 0.0)
    counts = sparse.csr_array(
        (counts.data.astype(np.int64), ids, counts.indptr),
        shape=(counts.shape[0], columns.size + 1),
    )
    if counts.sum(axis=1).max() < 2:
        return None
    observed, hidden = split_tokens(counts, seed)
    result = completion(
        observed, topics, prior.alpha, hidden=hidden, all_topics=False, n_jobs=n_jobs
    )
    frequency = natural.totals @ topics / natural.totals.sum()
    alone = completion_from(np.ones((counts.shape[0], 1)), frequency[np.newaxis], hidden)
    used = result.n_tokens > 0
    n_tokens = int(result.n_tokens.sum())
    return Score(result.per_word, alone.per_word, int(used.sum()), n_tokens)
