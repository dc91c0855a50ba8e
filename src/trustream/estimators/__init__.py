"""scikit-learn estimators over the models and algorithms of this package."""

from trustream.estimators.bernoulli_mixture import BernoulliMixture
from trustream.estimators.factorization import PoissonFactorization
from trustream.estimators.gaussian_mixture import GaussianMixture
from trustream.estimators.hidden_markov_model import HiddenMarkovModel
from trustream.estimators.lda import LatentDirichletAllocation
from trustream.estimators.linear_regression import BayesianLinearRegression
from trustream.estimators.probit_regression import ProbitRegression

__all__ = [
    "BayesianLinearRegression",
    "BernoulliMixture",
    "GaussianMixture",
    "HiddenMarkovModel",
    "LatentDirichletAllocation",
    "PoissonFactorization",
    "ProbitRegression",
]
