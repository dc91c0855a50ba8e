"""The models, the prior and the recipe that the parameters of the LDA estimator stand for."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from trustream.estimators import parameters
from trustream.kernels import threads
from trustream.learning.defaults import START_OF_ETA, for_topics, start_of_alpha
from trustream.learning.recipe import Recipe
from trustream.models.lda import CollapsedLdaModel, LdaModel, LdaPrior
from trustream.models.lda.seeds import SeedRows

if TYPE_CHECKING:
    from trustream.estimators.lda import LatentDirichletAllocation

# By the parameter `local`.
MODELS: dict[str, type[LdaModel]] = {"mean-field": LdaModel, "collapsed": CollapsedLdaModel}
# Priors out of this range overflow, or their logarithms do, where beliefs are computed.
_LEAST_PRIOR, _MOST_PRIOR = 1e-300, 1e30


def model(estimator: LatentDirichletAllocation, n_features: int) -> LdaModel:
    """The model that learns."""
    return MODELS[estimator.local](
        estimator.n_components,
        n_features,
        dtype=parameters.dtype_name(estimator.dtype),
        n_threads=threads.n_threads(estimator.n_jobs),
        eta_per_word=estimator.learn_priors == "per-word",
        max_doc_topics=estimator._recipe().max_doc_topics,
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


def prior(
    estimator: LatentDirichletAllocation, n_features: int, seeds: SeedRows | None = None
) -> LdaPrior:
    """alpha and eta to start from, and seeds.

    Raises:
        ValueError: a prior has another shape, or is not positive and finite.
    """
    k = estimator.n_components
    shapes = {
        "doc_topic_prior": [(), (k,)],
        "topic_word_prior": [(), (n_features,), (k, n_features)],
    }
    starts = {"doc_topic_prior": start_of_alpha(k), "topic_word_prior": START_OF_ETA}
    values = {}
    for name, allowed in shapes.items():
        given = getattr(estimator, name)
        value = np.asarray(starts[name] if given is None else given, np.float64)
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
    found = LdaPrior.of(values["doc_topic_prior"], values["topic_word_prior"], k, n_features)
    return replace(found, seeds=seeds)


def recipe(estimator: LatentDirichletAllocation) -> Recipe:
    """How to learn.

    Raises:
        ValueError: priors of words cannot be learned for a population.
    """
    return for_topics(
        estimator.n_components,
        **estimator._recipe_options(),
        max_doc_update_iter=estimator.max_doc_update_iter,
        max_doc_topics=estimator.max_doc_topics,
        mean_change_tol=estimator.mean_change_tol,
        learn_priors=estimator.learn_priors,
        collapsed=estimator.local == "collapsed",
        population=estimator.population,
        is_seeded=estimator.seed_words is not None,
        has_prior_per_topic=_has_prior_per_topic(estimator),
    )


def _has_prior_per_topic(estimator: LatentDirichletAllocation) -> bool:
    """Whether the prior of words is another one for each topic."""
    eta = estimator.topic_word_prior
    return eta is not None and np.ndim(eta) == 2
