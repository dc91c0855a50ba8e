"""Make a fitted estimator of topics that were learned elsewhere, and topics for elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trustream.array_types import Float64
from trustream.estimators import LatentDirichletAllocation, parameters
from trustream.evaluation.validation import as_alpha, whole_number
from trustream.inference.state import State
from trustream.models.lda import LazyRows, LdaPrior
from trustream.topics.topic_set import TopicSet, checked_weights

# Steps that count as taken, at least. The next one then has a rate of (1 + 99)^-0.5 = 0.1: topics
# that were learned from all their documents are not forgotten for the sake of a batch.
LEAST_STEPS = 99


def fitted_lda(
    weights: ArrayLike,
    alpha: ArrayLike,
    eta: ArrayLike,
    words: Sequence[str] | None = None,
    *,
    n_documents: int,
    n_steps: int = 0,
    random_state: Any = None,
) -> LatentDirichletAllocation:
    """Return a fitted `LatentDirichletAllocation` from arrays, which can go on learning.

    Parameters
    ----------
    weights : array of shape (n_topics, n_words)
        lambda, positive: eta and the tokens of the topic. Its type becomes that of the model,
        float32 or float64.
    alpha : float or array of shape (n_topics,)
    eta : float or array of shape (n_words,) or (n_topics, n_words)
    words : sequence of str, default=None
        Words by column.
    n_documents : int
        Documents that the weights stand for. `partial_fit` weighs new ones by it.
    n_steps : int, default=0
        Steps that were taken, on which the learning rate depends; 99 if they are fewer.
    random_state : int, RandomState, Generator or None, default=None
        Of the steps to come.

    Examples
    --------
    >>> lda = fitted_lda([[5.0, 1.0], [1.0, 9.0]], 0.1, 0.5, ["cat", "bank"], n_documents=4)
    >>> lda.components_.tolist(), lda.top_words(1)
    ([[5.0, 1.0], [1.0, 9.0]], [['cat'], ['bank']])
    >>> lda.partial_fit([[2, 0], [0, 2]]).components_.shape
    (2, 2)
    """
    given = checked_weights(weights)
    k, v = given.shape
    eta = _checked_eta(eta, k, v)
    alpha = as_alpha(alpha, k)
    dtype = "float64" if given.dtype == np.float64 else "float32"
    prior = LdaPrior.of(alpha, eta, k, v)
    # What the prior has put in: no more than there is, if weights are of an earlier eta.
    pattern = np.broadcast_to(prior.pattern, (v, prior.pattern.shape[1]))
    shift = min(prior.eta, float((given.T / pattern).min()))
    stored = np.maximum(given.T - shift * pattern, 0.0).astype(dtype, order="C")
    totals = (stored.astype(np.float64) + shift * pattern).sum(axis=0)
    n_documents = whole_number("n_documents", n_documents)
    model = LatentDirichletAllocation(
        k,
        doc_topic_prior=_simple(alpha),
        topic_word_prior=eta if eta.ndim else float(eta),
        dtype=dtype,
        random_state=random_state,
    )
    table = LazyRows(np.ascontiguousarray(stored), 1.0, shift, totals)
    model._state = State(table, prior, max(LEAST_STEPS, int(n_steps)), n_documents)
    model._rng = parameters.generator(random_state)
    model._n_samples_seen, model.n_iter_, model.n_features_in_ = n_documents, 1, v
    model._mean_tokens = float(stored.sum(dtype=np.float64)) / n_documents
    if words is not None:
        model.set_words(words)
    return model


def different_words(topics: TopicSet) -> list[str]:
    """Return words by column, all different: a column without a word, j, is called xj.

    >>> different_words(TopicSet.of([[5.0, 1.0, 1.0]], 0.1, ["cat", "", "x1"]))
    ['cat', 'x1_', 'x1']
    """
    taken = set(topics.words)
    found = []
    for column, word in enumerate(topics.words):
        if not word:
            word = f"x{column}"
            while word in taken:
                word += "_"
            taken.add(word)
        found.append(word)
    if len(set(found)) < len(found):
        raise ValueError("the topics have two columns with the same word; a word has one column")
    return found


def n_documents_of(model: Any) -> int:
    """Return the number of documents that a model has learned from; 0 for a TopicSet."""
    return int(getattr(getattr(model, "estimator_", model), "_n_samples_seen", 0))


def n_steps_of(model: Any) -> int:
    """Return the steps that a model has taken, 99 if they are fewer or unknown."""
    return max(LEAST_STEPS, getattr(getattr(model, "estimator_", model), "n_batch_iter_", 0))


def one_eta(topics: TopicSet) -> float | None:
    """Return eta if it is the same for all words and topics, else None."""
    return topics.prior.eta if topics.prior.pattern.shape == (1, 1) else None


def _checked_eta(eta: ArrayLike, k: int, v: int) -> Float64:
    found = np.asarray(eta, np.float64)
    if found.shape not in ((), (v,), (k, v)):
        raise ValueError(
            f"eta has shape {found.shape}, expected a number, ({v},) or ({k}, {v}): one for all "
            "words, for each word, or for each topic and word"
        )
    if not (np.isfinite(found).all() and found.min() > 0):
        raise ValueError(f"eta is from {found.min():g} to {found.max():g}, expected above 0")
    # The same for all is one number.
    return found if found.min() < found.max() else np.asarray(found.flat[0])


def _simple(alpha: Float64) -> Any:
    return float(alpha[0]) if alpha.min() == alpha.max() else alpha
