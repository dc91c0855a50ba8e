"""Poisson factorisation: the model, its prior and its parameters."""

from trustream.models.factorization.factor_rows import FactorRows
from trustream.models.factorization.model import FactorModel
from trustream.models.factorization.prior import FactorPrior

__all__ = ["FactorModel", "FactorPrior", "FactorRows"]
