"""Hidden Markov models: the model, its priors and parameters, and sequences as data points."""

from trustream.models.hmm.model import HmmModel
from trustream.models.hmm.parameters import (
    BernoulliHmmNatural,
    BernoulliHmmPrior,
    CategoricalHmmNatural,
    CategoricalHmmPrior,
    GaussianHmmNatural,
    GaussianHmmPrior,
)
from trustream.models.hmm.sequences import Sequences

__all__ = [
    "BernoulliHmmNatural",
    "BernoulliHmmPrior",
    "CategoricalHmmNatural",
    "CategoricalHmmPrior",
    "GaussianHmmNatural",
    "GaussianHmmPrior",
    "HmmModel",
    "Sequences",
]
