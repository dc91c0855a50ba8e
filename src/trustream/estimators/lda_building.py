"""What the parameters of the LDA estimator stand for: model, prior, size of a batch."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from trustream.estimators import parameters
from trustream.estimators.settings import Effort
from trustream.kernels import threads
from trustream.models.lda import CollapsedLdaModel, LdaModel, LdaPrior

if TYPE_CHECKING:
    from trustream.estimators.lda import LatentDirichletAllocation

# By the parameter `local`.
MODELS: dict[str, type[LdaModel]] = {"mean-field": LdaModel, "collapsed": CollapsedLdaModel}
# By the parameter `learn_priors`.
LEARN = {
    True: ("alpha", "eta"),
    False: (),
    "alpha": ("alpha",),
    "eta": ("eta",),
    "per-word": ("alpha", "eta"),
}
# Pairs of local and global update in a trust-region step.
_INNER = 2
# Iterations of a local step: while topics come apart, in the first steps, more make better topics;
# after that they make no difference.
_FIRST_STEPS, _LOCAL_FIRST, _LOCAL_LATER = 30, 50, 15
# And when a fit has found its topics, after a third of it, neither do second pairs.
_LATE_SHARE, _LATE = 1 / 3, Effort(n_inner=1, n_local=20)
# Measured, see docs/defaults.md: smaller batches are too noisy for short documents and for many
# topics, and fewer steps than these leave topics unused.
_BATCH_TOKENS = 60_000
_BATCH_TOKENS_A_TOPIC = 600
_LEAST_STEPS_A_PASS = 20
# Where there would be fewer steps in all, batches shrink, down to a part of their tokens.
_LEAST_STEPS = 100
_LEAST_PART = 1 / 3
# From so many topics on, going on with a tenth of them saves time and loses nothing.
_MANY_TOPICS = 500
# Priors out of this range overflow, or their logarithms do, where beliefs are computed.
_LEAST_PRIOR, _MOST_PRIOR = 1e-300, 1e30


def model(estimator: LatentDirichletAllocation, n_features: int) -> LdaModel:
    """The model that learns."""
    k = estimator.n_components
    most: Any = estimator.max_doc_topics
    if most == "auto":
        most = k // 10 if k >= _MANY_TOPICS else k
    stochastic = parameters.METHODS[estimator.learning_method] in parameters.STOCHASTIC
    return MODELS[estimator.local](
        k,
        n_features,
        dtype=parameters.dtype_name(estimator.dtype),
        n_threads=threads.n_threads(estimator.n_jobs),
        eta_per_word=estimator.learn_priors == "per-word",
        max_doc_topics=most if stochastic else None,
    )


def reading_model(estimator: LatentDirichletAllocation, model: LdaModel) -> LdaModel:
    """The model whose beliefs are shown: of all topics that a document uses, however many.

    It extrapolates: topics are given, and what counts is to arrive. With expected counts each topic
    keeps a little, which adds up and shows: none is left alone.
    """
    exact = estimator.max_doc_topics is None or estimator.local == "collapsed"
    most = None if exact else estimator.n_components
    return replace(model, max_doc_topics=most, strides=True)


def bounding_model(model: LdaModel) -> LdaModel:
    """The model whose bound is shown: mean field, however the topics were found."""
    return LdaModel(**{f.name: getattr(model, f.name) for f in fields(LdaModel)})


def prior(estimator: LatentDirichletAllocation, n_features: int) -> LdaPrior:
    """alpha and eta to start from.

    Raises:
        ValueError: a prior has another shape, or is not positive and finite.
    """
    k = estimator.n_components
    shapes = {
        "doc_topic_prior": [(), (k,)],
        "topic_word_prior": [(), (n_features,), (k, n_features)],
    }
    values = {}
    for name, allowed in shapes.items():
        given = getattr(estimator, name)
        value = np.asarray(0.1 if given is None else given, np.float64)
        if value.shape not in allowed:
            raise ValueError(f"{name} has shape {value.shape}, expected one of {allowed}")
        if not (np.isfinite(value).all() and (value > 0).all()):
            raise ValueError(f"{name} must be positive and finite")
        if value.min() < _LEAST_PRIOR or value.max() > _MOST_PRIOR:
            raise ValueError(
                f"{name} goes from {value.min():g} to {value.max():g}, expected numbers from "
                f"{_LEAST_PRIOR:g} to {_MOST_PRIOR:g}"
            )
        values[name] = value
    return LdaPrior.of(values["doc_topic_prior"], values["topic_word_prior"], k, n_features)


def batch_size(X: Any, n_components: int, max_iter: int) -> int:
    """Documents that hold enough tokens for all topics and leave enough steps to all passes.

    >>> X = np.full((4000, 10), 10.0)
    >>> batch_size(X, 100, 5), batch_size(X, 100, 1)
    (200, 200)
    >>> batch_size(np.full((40_000, 10), 10.0), 100, 1)
    400
    """
    n_documents = X.shape[0]
    tokens = max(_BATCH_TOKENS, _BATCH_TOKENS_A_TOPIC * n_components)
    # A sparse matrix by its entries, since SciPy's sum sorts it in place.
    n_tokens = float(X.data.sum() if sparse.issparse(X) else X.sum())
    documents = tokens * n_documents / max(n_tokens, 1.0)
    documents = min(documents, max(_LEAST_PART * documents, n_documents * max_iter / _LEAST_STEPS))
    return max(1, int(min(documents, n_documents / _LEAST_STEPS_A_PASS)))


def effort(estimator: LatentDirichletAllocation) -> dict[str, Any]:
    """`effort`, `first` and `late` of the settings; what the user says holds for all steps."""
    n_local = estimator.max_doc_update_iter
    n_inner = parameters.inner_iter(estimator.inner_iter, estimator.learning_method, _INNER)
    if n_local is not None:
        return {"effort": Effort(n_inner, n_local)}
    long = Effort(n_inner, _LOCAL_FIRST)
    if parameters.METHODS[estimator.learning_method] != "trust-region":
        return {"effort": long}
    # Expected counts take what the uniform blend gives each topic for evidence of larger priors.
    shorter = estimator.inner_iter is None and estimator.local == "mean-field"
    late = (_LATE_SHARE, _LATE) if shorter else None
    return {"first": (_FIRST_STEPS, long), "effort": Effort(n_inner, _LOCAL_LATER), "late": late}
