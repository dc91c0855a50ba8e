"""Topics to and from scikit-learn's `LatentDirichletAllocation`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import digamma
from sklearn import decomposition
from sklearn.exceptions import NotFittedError

from trustream.estimators import LatentDirichletAllocation
from trustream.evaluation.validation import as_alpha
from trustream.topics.exchange.fitted_models import (
    fitted_lda,
    n_documents_of,
    n_steps_of,
    one_eta,
)
from trustream.topics.exchange.libraries import check_class
from trustream.topics.topic_set import as_topics

# By which our alpha travels with a model of scikit-learn's, which has one number.
_ALPHA = "doc_topic_priors_"


def to_sklearn(model: Any) -> decomposition.LatentDirichletAllocation:
    """Return scikit-learn's `LatentDirichletAllocation` with the topics of a fitted model.

    `components_` and eta are exact, so that `transform`, `score`, `perplexity` and `partial_fit`
    work there. scikit-learn has one alpha for all topics. It gets the mean of the model's, with a
    warning if they differ; the attribute ``doc_topic_priors_`` has them all, which scikit-learn
    does not look at but `from_sklearn` does. Learn with ``learn_priors="eta"`` for one alpha.

    Parameters
    ----------
    model : LatentDirichletAllocation, TopicModel or TopicSet
        What is shown of it is taken: topics for the documents that there are. An eta for each
        word or for seeded topics cannot be taken along and is refused.

    Returns
    -------
    sklearn.decomposition.LatentDirichletAllocation

    Examples
    --------
    >>> from trustream.topics import TopicSet
    >>> lda = to_sklearn(TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1, ["cat", "bank"], eta=0.5))
    >>> lda.transform(np.array([[4, 0], [0, 4]])).argmax(axis=1).tolist()
    [0, 1]
    """
    topics = as_topics(model)
    eta = one_eta(topics)
    if eta is None:
        raise ValueError(
            "scikit-learn has one eta for all words and topics, the model has others: learn "
            "without learn_priors='per-word' and with one topic_word_prior, or use to_gensim"
        )
    alpha = topics.alpha
    mean = float(alpha.mean())
    if np.ptp(alpha) > 1e-6 * mean:
        warnings.warn(
            f"scikit-learn has one alpha for all topics: it gets the mean, {mean:.3g}, of numbers "
            f"from {alpha.min():.3g} to {alpha.max():.3g}, and its transform differs for that. "
            'Learn with learn_priors="eta" for one alpha',
            UserWarning,
            stacklevel=2,
        )
    lda = decomposition.LatentDirichletAllocation(
        topics.n_topics,
        # Parameters, which a new fit would start from, go up to 1; what is fitted is below.
        doc_topic_prior=min(mean, 1.0),
        topic_word_prior=min(eta, 1.0),
        total_samples=max(n_documents_of(model), 1),
        learning_method="online",
    )
    lda.components_ = np.array(topics.weights)
    log = _expected_log(lda.components_.astype(np.float64))
    lda.exp_dirichlet_component_ = np.exp(log).astype(lda.components_.dtype)
    lda.doc_topic_prior_, lda.topic_word_prior_ = mean, eta
    setattr(lda, _ALPHA, alpha.copy())
    lda.n_features_in_, lda.n_iter_ = topics.n_words, 1
    lda.n_batch_iter_ = n_steps_of(model)
    lda.random_state_, lda.bound_ = np.random.RandomState(0), None
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        lda.feature_names_in_ = np.array(names, dtype=object)
    return lda


def from_sklearn(
    model: Any,
    words: Sequence[str] | None = None,
    *,
    n_documents: int,
    random_state: Any = None,
) -> LatentDirichletAllocation:
    """Return a fitted estimator with the topics of scikit-learn's, which can go on learning.

    `components_`, alpha and eta are taken as they are.

    Parameters
    ----------
    model : sklearn.decomposition.LatentDirichletAllocation
        Fitted.
    words : sequence of str, default=None
        Words by column, such as ``vectorizer.get_feature_names_out()``; None takes the columns of
        the frame that it was fitted to, if it was.
    n_documents : int
        Documents that it was learned from, which scikit-learn does not keep; `partial_fit` weighs
        new ones by it. After `partial_fit` of scikit-learn it is the model's `total_samples`.
    random_state : int, RandomState, Generator or None, default=None
        Of the steps to come.

    Returns
    -------
    LatentDirichletAllocation
        `TopicModel.from_estimator` makes a model of texts of it, if it has words.

    Examples
    --------
    >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
    >>> fitted = decomposition.LatentDirichletAllocation(2, random_state=0).fit(counts)
    >>> lda = from_sklearn(fitted, ["cat", "dog", "bank", "rate"], n_documents=4)
    >>> bool(np.allclose(lda.components_, fitted.components_)), lda.words_[0]
    (True, 'cat')
    """
    ours = isinstance(model, LatentDirichletAllocation)
    check_class(
        model,
        decomposition.LatentDirichletAllocation,
        "scikit-learn's LatentDirichletAllocation",
        ": this is trustream's own, which needs no change" if ours else "",
    )
    if not hasattr(model, "components_"):
        raise NotFittedError(
            "this LatentDirichletAllocation of scikit-learn is not fitted yet: call fit first"
        )
    k, v = np.shape(model.components_)
    alpha = as_alpha(model.doc_topic_prior_, k)
    exact: Any = getattr(model, _ALPHA, None)
    if (
        exact is not None
        and np.shape(exact) == (k,)
        and np.isclose(np.mean(exact), model.doc_topic_prior_, rtol=1e-12)
    ):
        alpha = as_alpha(exact, k)
    if words is None and hasattr(model, "feature_names_in_"):
        words = [str(name) for name in model.feature_names_in_]
    if words is not None and len(words) != v:
        raise ValueError(
            f"{len(words)} words for {v} columns of the model: give the words that it was fitted "
            "with, in their order"
        )
    return fitted_lda(
        model.components_,
        alpha,
        model.topic_word_prior_,
        None if words is None else [str(word) for word in words],
        n_documents=n_documents,
        n_steps=int(model.n_batch_iter_),
        random_state=random_state,
    )


def _expected_log(weights: np.ndarray) -> np.ndarray:
    """E[log beta] of Dirichlet distributions with these parameters, (K, V)."""
    return np.asarray(digamma(weights) - digamma(weights.sum(axis=1, keepdims=True)))
