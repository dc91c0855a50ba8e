"""What the arrays of a state must be, for each model; `learning.state_arrays` makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from trustream._schema import Array, one_of, shown
from trustream.inference.memory_format import MemoryFormat
from trustream.learning import algorithms
from trustream.models.factorization import FactorPrior, FactorRows
from trustream.models.factorization.validity import check_factors
from trustream.models.hmm import (
    BernoulliHmmNatural,
    BernoulliHmmPrior,
    CategoricalHmmNatural,
    CategoricalHmmPrior,
    GaussianHmmNatural,
    GaussianHmmPrior,
)
from trustream.models.lda import LazyRows, LdaPrior
from trustream.models.lda.validity import check_lda
from trustream.models.mixture import (
    BernoulliNatural,
    BernoulliPrior,
    GaussianNatural,
    GaussianPrior,
)
from trustream.models.mixture.gaussian_covariance import KINDS
from trustream.models.mixture.gaussian_validity import check_gaussians

Table = dict[str, Array]

FLOATS = ("float32", "float64")
ONE: tuple[tuple[int, ...], ...] = ((),)


class StateFormat(NamedTuple):
    """What the arrays of a model's state must be.

    Attributes:
        lambda_type, prior_type: what lambda and the prior are rebuilt as.
        arrays: their arrays, as ``lambda.*`` and ``prior.*``.
        gradient: the parts of lambda that have a gradient.
        check: refuses a lambda and a prior that are not those of a model.
    """

    lambda_type: type
    prior_type: type
    arrays: Table
    gradient: tuple[str, ...]
    check: Callable[[Any, Any], None] = lambda lambda_, prior: None

    def table(self, header: Mapping[str, Any]) -> Table:
        """All arrays of a state with that header.

        Raises:
            ValueError: no algorithm has the memory that the header names.
        """
        table = dict(self.arrays)
        if "mean" in header:
            parts = {name: rule for name, rule in table.items() if name.startswith("lambda.")}
            table |= {f"mean.{name.partition('.')[2]}": rule for name, rule in parts.items()}
        if "late" in header:
            table |= {
                "late.places": Array(None, ("int64",), least=0.0),
                "late.log_kept": Array(None),
            }
        if "seeds" in header:
            n = header["seeds"]
            of_topics = [(n, *shape) for shape in self.arrays["prior.alpha"].shapes or ()]
            table |= {
                "seeds.places": Array([(n,)], ("int64",), least=0.0),
                "seeds.weights": Array(of_topics, least=0.0),
            }
        # Files of versions without other algorithms say nothing of a memory.
        memory = header.get("memory")
        if memory is not None:
            parts = memory_format(memory).arrays(self.arrays, self.gradient)
            table |= {f"memory.{name}": rule for name, rule in parts.items()}
        return table


def lda(n_topics: int, n_words: int, dtype: str) -> StateFormat:
    """Of `LdaModel`."""
    k, v = n_topics, n_words
    # A stream may not have any words yet.
    sums = Array([(k,)], above=0.0) if v else Array([(k,)], least=0.0)
    arrays = {
        "lambda.stored": Array([(v, k)], (dtype,)),
        "lambda.scale": Array(ONE, above=0.0),
        "lambda.shift": Array(ONE, least=0.0),
        "lambda.totals": sums,
        "prior.alpha": Array([(k,)], above=0.0),
        "prior.eta": Array(ONE, above=0.0),
        "prior.pattern": Array([(1, 1), (v, 1), (v, k)], above=0.0),
        "prior.pattern_sums": sums,
    }
    return StateFormat(LazyRows, LdaPrior, arrays, ("stored",), check_lda)


def factorization(n_components: int, n_items: int, dtype: str) -> StateFormat:
    """Of `FactorModel`."""
    k, v = n_components, n_items
    one = Array(ONE, above=0.0)
    arrays = {
        "lambda.stored": Array([(v, k)], (dtype,)),
        "lambda.scale": one,
        "lambda.shift": Array(ONE, least=0.0),
        "lambda.totals": Array([(k,)], above=0.0),
        "lambda.rates": Array([(k,)], above=0.0),
        "lambda.rate_shift": Array(ONE, least=0.0),
        "prior.n_items": Array(ONE, ("int64",), least=1.0),
        "prior.item_shape": one,
        "prior.item_rate": one,
        "prior.user_shape": one,
        "prior.activity_shape": one,
        "prior.activity_rate": one,
    }
    return StateFormat(FactorRows, FactorPrior, arrays, ("stored", "rates"), check_factors)


def bernoulli(n_components: int, n_features: int, dtype: str) -> StateFormat:
    """Of `BernoulliModel`."""
    k, d = n_components, n_features
    arrays = {
        "lambda.gamma": Array([(k,)], above=0.0),
        "lambda.a": Array([(d, k)], (dtype,), above=0.0),
        "lambda.b": Array([(d, k)], (dtype,), above=0.0),
        "prior.alpha": Array([(k,)], above=0.0),
        "prior.a": Array([(), (d,)], above=0.0),
        "prior.b": Array([(), (d,)], above=0.0),
    }
    return StateFormat(BernoulliNatural, BernoulliPrior, arrays, BernoulliNatural._fields)


def gaussian(n_components: int, n_features: int, covariance_type: str) -> StateFormat:
    """Of `GaussianModel`."""
    k, d = n_components, n_features
    C, nu = KINDS[covariance_type].shapes(k, d)
    arrays = {
        "lambda.gamma": Array([(k,)], above=0.0),
        "lambda.s": Array([(k,)], above=0.0),
        "lambda.sm": Array([(k, d)]),
        "lambda.C": Array([C]),
        "lambda.nu": Array([nu], above=0.0),
        "prior.alpha": Array([(k,)], above=0.0),
        "prior.mean": Array([(d,)]),
        "prior.s": Array(ONE, above=0.0),
        "prior.Psi": Array([(d,) if covariance_type == "diag" else (d, d)]),
        "prior.nu": Array(ONE, above=0.0),
    }

    def check(lambda_: GaussianNatural, prior: GaussianPrior) -> None:
        check_gaussians(covariance_type, lambda_)

    return StateFormat(GaussianNatural, GaussianPrior, arrays, GaussianNatural._fields, check)


def hmm(
    emissions: str, n_components: int, n_features: int, dtype: str, covariance_type: str
) -> StateFormat:
    """Of `HmmModel`: chains beside emissions, which have the arrays of the mixtures."""
    k = n_components
    chain = {
        "lambda.start": Array([(k,)], above=0.0),
        "lambda.transitions": Array([(k, k)], above=0.0),
        "prior.start": Array([(k,)], above=0.0),
        "prior.transitions": Array([(k, k)], above=0.0),
    }
    if emissions == "categorical":
        arrays = chain | {
            "lambda.emissions": Array([(k, n_features)], (dtype,), above=0.0),
            "prior.emissions": Array([(), (n_features,)], above=0.0),
        }
        natural = CategoricalHmmNatural
        return StateFormat(natural, CategoricalHmmPrior, arrays, natural._fields)
    if emissions == "bernoulli":
        arrays = chain | _components(bernoulli(k, n_features, dtype))
        parts = BernoulliHmmNatural._fields
        return StateFormat(BernoulliHmmNatural, BernoulliHmmPrior, arrays, parts)

    def check(lambda_: GaussianHmmNatural, prior: GaussianHmmPrior) -> None:
        check_gaussians(covariance_type, GaussianNatural(lambda_.start, *lambda_[2:]))

    arrays = chain | _components(gaussian(k, n_features, covariance_type))
    fields = GaussianHmmNatural._fields
    return StateFormat(GaussianHmmNatural, GaussianHmmPrior, arrays, fields, check)


def _components(mixture: StateFormat) -> Table:
    """The arrays of a mixture without its weights."""
    weights = ("lambda.gamma", "prior.alpha")
    return {name: rule for name, rule in mixture.arrays.items() if name not in weights}


def memory_format(name: str) -> MemoryFormat:
    """The memory of that name in a file, or a ValueError."""
    known = algorithms.memories()
    if name not in known:
        expected = one_of(known).expected
        raise ValueError(f"memory in the header is {shown(name)}, expected {expected}, or nothing")
    return known[name]
