"""Mixtures of Bernoullis and of Gaussians: models, priors and parameters."""

from trustream.models.mixture.bernoulli import (
    BernoulliExpected,
    BernoulliModel,
    BernoulliNatural,
    BernoulliPrior,
)
from trustream.models.mixture.gaussian import GaussianExpected, GaussianModel
from trustream.models.mixture.gaussian_covariance import GaussianNatural
from trustream.models.mixture.gaussian_prior import GaussianPrior

__all__ = [
    "BernoulliExpected",
    "BernoulliModel",
    "BernoulliNatural",
    "BernoulliPrior",
    "GaussianExpected",
    "GaussianModel",
    "GaussianNatural",
    "GaussianPrior",
]
