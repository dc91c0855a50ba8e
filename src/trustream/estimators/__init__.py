"""scikit-learn estimators over the models and algorithms of this package."""

from trustream.estimators.bernoulli_mixture import BernoulliMixture
from trustream.estimators.gaussian_mixture import GaussianMixture
from trustream.estimators.lda import LatentDirichletAllocation
from trustream.estimators.linear_regression import BayesianLinearRegression
from trustream.estimators.probit_regression import ProbitRegression

__all__ = [
    "BayesianLinearRegression",
    "BernoulliMixture",
    "GaussianMixture",
    "LatentDirichletAllocation",
    "ProbitRegression",
]
