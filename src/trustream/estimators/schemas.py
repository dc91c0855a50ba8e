"""What the file of each estimator holds: a table of arrays by name, for given K and D.

K is the number of components and D the number of features. A file is compared with its table before
anything is made from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from trustream._schema import (
    Array,
    Rule,
    any_number,
    integer,
    mapping,
    one_of,
    optional,
    text,
)
from trustream.estimators import parameters
from trustream.inference.adaptive import SHORTEST, Averages
from trustream.inference.streaming_vb import Draws
from trustream.models.lda import LazyRows, LdaPrior
from trustream.models.lda.validity import check_lda
from trustream.models.mixture import BernoulliNatural
from trustream.models.mixture.gaussian_covariance import KINDS, GaussianNatural
from trustream.models.mixture.gaussian_validity import check_gaussians

# What algorithms keep beside lambda, by the name in a file.
MEMORIES: dict[str, Any] = {"Averages": Averages, "Draws": Draws}

HEADER: dict[str, Rule] = {
    "estimator": text,
    "params": mapping,
    "attributes": mapping,
    "n_steps": integer(0),
    "n_seen": integer(0),
    "memory": optional(one_of(MEMORIES)),
    "rng": mapping,
}
# All that a file may set on an estimator, besides parameters.
ATTRIBUTES: dict[str, Rule] = {
    "n_features_in_": integer(1),
    "n_iter_": integer(0),
    "_n_samples_seen": integer(0),
    "lower_bound_": any_number,
}
_MOST_JOBS = 4096
# Parameters that scikit-learn's constraints leave open.
LIMITS: dict[str, Rule] = {
    "n_jobs": Rule(
        lambda value: value is None or (type(value) is int and 0 < abs(value) <= _MOST_JOBS),
        f"nothing, or a number of threads other than 0, up to {_MOST_JOBS}",
    )
}
PLAIN = Rule(
    lambda value: (
        value is None
        or isinstance(value, bool | str)
        or integer(-(2**63)).accepts(value)
        or isinstance(value, float)
    ),
    "a number, text, true, false or nothing",
)

_FLOATS = ("float32", "float64")
# Parameters come as users gave them.
_NUMBERS = (
    *_FLOATS, "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"
)  # fmt: skip
_ONE: tuple[tuple[int, ...], ...] = ((),)

Table = dict[str, Array]


class Schema(NamedTuple):
    """What an estimator's file holds.

    Attributes:
        arrays: table of all arrays that may be there, for (estimator, K, D).
        gradient: the parts of lambda that have a gradient.
        check: refuses a lambda and a prior that are not those of a model.
    """

    arrays: Callable[[Any, int, int], Table]
    gradient: tuple[str, ...]
    check: Callable[[Any, Any, Any], None] = lambda estimator, lambda_, prior: None


def _lda(estimator: Any, k: int, d: int) -> Table:
    dtype = parameters.dtype_name(estimator.dtype)
    return {
        "lambda.stored": Array([(d, k)], (dtype,)),
        "lambda.scale": Array(_ONE, above=0.0),
        "lambda.shift": Array(_ONE, least=0.0),
        "lambda.totals": Array([(k,)], above=0.0),
        "prior.alpha": Array([(k,)], above=0.0),
        "prior.eta": Array(_ONE, above=0.0),
        "prior.pattern": Array([(1, 1), (d, 1), (d, k)], above=0.0),
        "prior.pattern_sums": Array([(k,)], above=0.0),
        "param.doc_topic_prior": Array([(), (k,)], _NUMBERS, above=0.0),
        "param.topic_word_prior": Array([(), (d,), (k, d)], _NUMBERS, above=0.0),
    }


def _check_lda(estimator: Any, lambda_: LazyRows, prior: LdaPrior) -> None:
    check_lda(lambda_, prior)


def _bernoulli(estimator: Any, k: int, d: int) -> Table:
    return {
        "lambda.gamma": Array([(k,)], above=0.0),
        "lambda.a": Array([(d, k)], _FLOATS, above=0.0),
        "lambda.b": Array([(d, k)], _FLOATS, above=0.0),
        "prior.alpha": Array([(k,)], above=0.0),
        "prior.a": Array([(), (d,)], above=0.0),
        "prior.b": Array([(), (d,)], above=0.0),
        "param.probability_prior": Array([(2,), (2, d)], _NUMBERS, above=0.0),
        "param.weight_concentration_prior": Array([(), (k,)], _NUMBERS, above=0.0),
    }


def _gaussian(estimator: Any, k: int, d: int) -> Table:
    C, nu = KINDS[estimator.covariance_type].shapes(k, d)
    Psi = (d,) if estimator.covariance_type == "diag" else (d, d)
    return {
        "lambda.gamma": Array([(k,)], above=0.0),
        "lambda.s": Array([(k,)], above=0.0),
        "lambda.sm": Array([(k, d)]),
        "lambda.C": Array([C]),
        "lambda.nu": Array([nu], above=0.0),
        "prior.alpha": Array([(k,)], above=0.0),
        "prior.mean": Array([(d,)]),
        "prior.s": Array(_ONE, above=0.0),
        "prior.Psi": Array([Psi]),
        "prior.nu": Array(_ONE, above=0.0),
        "param.mean_prior": Array([(d,)], _NUMBERS),
        "param.covariance_prior": Array([Psi], _NUMBERS),
        "param.weight_concentration_prior": Array([(), (k,)], _NUMBERS, above=0.0),
    }


def _check_gaussian(estimator: Any, lambda_: GaussianNatural, prior: Any) -> None:
    check_gaussians(estimator.covariance_type, lambda_)


SCHEMAS = {
    "LatentDirichletAllocation": Schema(_lda, ("stored",), _check_lda),
    "BernoulliMixture": Schema(_bernoulli, BernoulliNatural._fields),
    "GaussianMixture": Schema(_gaussian, GaussianNatural._fields, _check_gaussian),
}


def schema_of(cls: type) -> Schema:
    """That of an estimator or of what it is derived from."""
    return next(SCHEMAS[base.__name__] for base in cls.__mro__ if base.__name__ in SCHEMAS)


def expected_arrays(estimator: Any, memory: str | None, n_features: int) -> Table:
    """The table of an estimator with its parameters set, and a memory of that kind."""
    schema, k = schema_of(type(estimator)), estimator.n_components
    table = schema.arrays(estimator, k, n_features)
    table["feature_names"] = Array(None, ("uint8",))
    if memory == "Averages":
        parts = [table[f"lambda.{name}"].shapes for name in schema.gradient]
        n_numbers = sum(math.prod(shape) for shapes in parts for shape in shapes or ())
        table |= {
            "memory.gradient": Array([(n_numbers,)]),
            "memory.square": Array(_ONE, least=0.0),
            "memory.tau": Array(_ONE, least=SHORTEST),
            "memory.count": Array(_ONE, ("int64",), least=1.0),
        }
    elif memory == "Draws":
        table |= {
            "memory.log_sum": Array([(k,)]),
            "memory.count": Array(_ONE, ("float64", "int64"), least=0.0),
        }
    return table


def is_optional(name: str) -> bool:
    """Whether a file may lack an array of that name."""
    return name == "feature_names" or name.startswith("param.")
