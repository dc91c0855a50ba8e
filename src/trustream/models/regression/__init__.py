"""Bayesian regressions, linear and probit, with and without groups: models, priors and data."""

from trustream.families.weights_and_noise import Natural as LinearNatural
from trustream.models.regression.coordinates import Coordinates
from trustream.models.regression.data import GroupedData, Moments, RowData
from trustream.models.regression.grouped_linear import GroupedLinearModel, GroupedLinearNatural
from trustream.models.regression.grouped_probit import GroupedProbitModel, GroupedProbitNatural
from trustream.models.regression.linear import LinearModel
from trustream.models.regression.priors import PopulationPrior, WeightsPrior
from trustream.models.regression.probit import ProbitModel, ProbitNatural

__all__ = [
    "Coordinates",
    "GroupedData",
    "GroupedLinearModel",
    "GroupedLinearNatural",
    "GroupedProbitModel",
    "GroupedProbitNatural",
    "LinearModel",
    "LinearNatural",
    "Moments",
    "PopulationPrior",
    "ProbitModel",
    "ProbitNatural",
    "RowData",
    "WeightsPrior",
]
