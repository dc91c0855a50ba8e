"""What the arrays of a regression's state must be; see `learning.state_formats`."""

from __future__ import annotations

from typing import Any

from trustream._schema import Array
from trustream.learning.state_formats import ONE, StateFormat, Table
from trustream.models.regression import (
    GroupedLinearNatural,
    GroupedProbitNatural,
    LinearNatural,
    PopulationPrior,
    ProbitNatural,
    WeightsPrior,
)
from trustream.models.regression.validity import check_population, check_weights


def regression(n_features: int, n_weights: int, grouped: bool, probit: bool) -> StateFormat:
    """Of the models of `models.regression`."""
    d, p = n_features, n_weights
    located = {
        "prior.x_mean": Array([(d,)]),
        "prior.x_scale": Array([(d,)], above=0.0),
        "prior.y_mean": Array(ONE),
        "prior.y_scale": Array(ONE, above=0.0),
        "prior.noise_Psi": Array(ONE, above=0.0),
        "prior.noise_nu": Array(ONE, above=0.0),
    }
    if not grouped:
        arrays = located | {
            "lambda.precision": Array([(p, p)]),
            "lambda.shift": Array([(p,)]),
            "prior.precision": Array([(p,)], above=0.0),
        }
        if probit:
            arrays["lambda.information"] = Array([(p, p)])
            return _of_weights(ProbitNatural, arrays)
        arrays |= {"lambda.square": Array([(1,)]), "lambda.nu": Array([(1,)], above=0.0)}
        return _of_weights(LinearNatural, arrays)
    arrays = located | {
        "lambda.s": Array([(1,)], above=0.0),
        "lambda.sm": Array([(1, p)]),
        "lambda.C": Array([(1, p, p)]),
        "lambda.nu": Array([(1,)], above=0.0),
        "lambda.spread": Array([(1, p, p)]),
        "prior.s": Array(ONE, above=0.0),
        "prior.Psi": Array([(p, p)]),
        "prior.nu": Array(ONE, above=0.0),
    }
    lambda_type: Any = GroupedProbitNatural
    if not probit:
        lambda_type = GroupedLinearNatural
        arrays |= {
            "lambda.noise_Psi": Array([(1,)], above=0.0),
            "lambda.noise_nu": Array([(1,)], above=0.0),
        }

    def check(lambda_: Any, prior: PopulationPrior) -> None:
        check_population(lambda_)

    return StateFormat(lambda_type, PopulationPrior, arrays, lambda_type._fields, check)


def _of_weights(lambda_type: Any, arrays: Table) -> StateFormat:
    def check(lambda_: Any, prior: WeightsPrior) -> None:
        check_weights(lambda_)

    return StateFormat(lambda_type, WeightsPrior, arrays, lambda_type._fields, check)
