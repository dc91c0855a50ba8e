"""How well a running model predicts documents that it never learns from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from trustream.evaluation import completion, completion_from, split_tokens
from trustream.models.lda import LazyRows, LdaModel, LdaPrior
from trustream.store.protocol import Documents


@dataclass(frozen=True, slots=True)
class Score:
    """Document completion of held-out documents.

    Attributes:
        per_word: nats a word of a random half of each document given the other half.
        frequencies: the same by word frequencies alone, no topics, as the model has them. Both
            fall as the vocabulary grows; their difference can be compared over time.
        n_documents: how many had words to score.
        n_tokens: words scored.
    """

    per_word: float
    frequencies: float
    n_documents: int
    n_tokens: int

    @property
    def gain(self) -> float:
        """What the topics know beyond word frequencies, in nats a word."""
        return self.per_word - self.frequencies


def score(
    model: LdaModel,
    lambda_: LazyRows,
    prior: LdaPrior,
    documents: Documents,
    *,
    seed: int,
    n_jobs: int | None,
) -> Score | None:
    """Score documents under E[beta] and alpha; None if they have too few words.

    Takes time for the words of these documents only: one more column stands for all others.
    """
    columns, ids = np.unique(documents.indices, return_inverse=True)
    if columns.size == 0:
        return None
    batch = model.batch(_matrix(documents, model.n_words), slice(0, len(documents.keys)))
    natural = model.materialise(model.restrict(lambda_, prior, batch))
    topics = np.empty((prior.alpha.size, columns.size + 1))
    topics[:, np.searchsorted(columns, batch.words)] = natural.rows.T / natural.totals[:, None]
    topics[:, -1] = np.maximum(1.0 - topics[:, :-1].sum(axis=1), 0.0)
    counts = sparse.csr_array(
        (documents.counts.astype(np.int64), ids, documents.indptr),
        shape=(len(documents.keys), columns.size + 1),
    )
    if counts.sum(axis=1).max() < 2:
        return None
    observed, hidden = split_tokens(counts, seed)
    result = completion(observed, topics, prior.alpha, hidden=hidden, n_jobs=n_jobs)
    frequency = natural.totals @ topics / natural.totals.sum()
    alone = completion_from(np.ones((counts.shape[0], 1)), frequency[np.newaxis], hidden)
    used = result.n_tokens > 0
    n_tokens = int(result.n_tokens.sum())
    return Score(result.per_word, alone.per_word, int(used.sum()), n_tokens)


def _matrix(documents: Documents, n_words: int) -> sparse.csr_array:
    arrays = (documents.counts, documents.indices, documents.indptr)
    return sparse.csr_array(arrays, shape=(len(documents.keys), n_words))
