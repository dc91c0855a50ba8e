"""scikit-learn estimators over the models and algorithms of this package."""

from trustream.estimators.bernoulli_mixture import BernoulliMixture
from trustream.estimators.factorization import PoissonFactorization
from trustream.estimators.gaussian_mixture import GaussianMixture
from trustream.estimators.hidden_markov_model import HiddenMarkovModel
from trustream.estimators.lda import LatentDirichletAllocation

__all__ = [
    "BernoulliMixture",
    "GaussianMixture",
    "HiddenMarkovModel",
    "LatentDirichletAllocation",
    "PoissonFactorization",
]
