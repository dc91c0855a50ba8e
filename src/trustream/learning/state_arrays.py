"""A state as named arrays and a few JSON values, and back: what every model on disk is made of.

Files of estimators, checkpoints of streams and exported models all hold a state in this form. What
a file claims is compared with the model's `StateFormat` before anything is made from it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from trustream._schema import Array, Rule, integer, number, one_of, optional, shown, text
from trustream.inference.memory_format import MemoryFormat
from trustream.inference.state import NONE_LATE, LateParts, Mean, State
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
from trustream.models.lda.seeds import SeedRows
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

# As large as priors that users give may be.
MOST_SMOOTHING = 1e30
# Of a file's header.
HEADER: dict[str, Rule] = {
    "n_steps": integer(0),
    "n_seen": integer(0),
    "memory": optional(text),
    "population": number(above=0.0),
    "smoothing": Rule(
        lambda value: type(value) is float and 0 < value <= MOST_SMOOTHING,
        f"a number above 0, up to {MOST_SMOOTHING:g}",
    ),
    "mean": Rule(lambda value: value is True, "true"),
    "log_kept": Rule(lambda value: type(value) is float and value <= 0, "a number up to 0"),
    "late": Rule(lambda value: value is True, "true"),
    "seeds": integer(1),
    "share": Rule(lambda value: type(value) is float and 0 < value <= 1, "a number from 0 to 1"),
}
# Files of earlier versions lack these.
MAY_LACK = ("memory", "population", "share", "smoothing", "mean", "log_kept", "late", "seeds")
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
            parts = _memory(memory).arrays(self.arrays, self.gradient)
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


def to_arrays(state: State) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays, header) that hold all of a state.

    Raises:
        ValueError: no algorithm has this memory, so that a file could not be read again.
    """
    memory = None if state.memory is None else _memory_name(state.memory)
    parts = {"lambda": state.lambda_, "prior": state.prior, "memory": state.memory}
    if state.mean is not None:
        parts["mean"] = state.mean.lambda_
        parts["late"] = state.mean.late if state.mean.late.places.size else None
    seeds = getattr(state.prior, "seeds", None)
    if seeds is not None:
        parts["seeds"] = seeds
    arrays = {
        f"{name}.{key}": value
        for name, part in parts.items()
        if part is not None
        for key, value in _fields(part).items()
    }
    header: dict[str, Any] = {
        "n_steps": int(state.n_steps),
        "n_seen": int(state.n_seen),
        "memory": memory,
    }
    if state.population is not None:
        header |= {"population": float(state.population), "share": float(state.share)}
    if state.mean is not None:
        header |= {"mean": True, "log_kept": state.mean.log_kept}
        if state.mean.late.places.size:
            header["late"] = True
    if seeds is not None:
        header["seeds"] = int(seeds.places.size)
    if state.smoothing is not None:
        header["smoothing"] = float(state.smoothing)
    return arrays, header


def from_arrays(
    format: StateFormat, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> State:
    """The state that `to_arrays` took apart, of arrays that fit the format's table.

    Raises:
        ValueError: lambda and prior cannot be those of a model.
    """
    if ("population" in header) != ("share" in header):
        raise ValueError("population and share belong together")
    lambda_ = _rebuilt(format.lambda_type, arrays, "lambda")
    prior = _rebuilt(format.prior_type, arrays, "prior")
    if "seeds" in header:
        prior = _seeded(prior, _rebuilt(SeedRows, arrays, "seeds"), lambda_)
    format.check(lambda_, prior)
    kind = header.get("memory")
    memory = None if kind is None else _rebuilt(_memory(kind).memory_type, arrays, "memory")
    mean = None
    if "mean" in header:
        late = _rebuilt(LateParts, arrays, "late") if "late" in header else NONE_LATE
        table = _rebuilt(format.lambda_type, arrays, "mean")
        mean = Mean(table, log_kept=header.get("log_kept", 0.0), late=late)
        format.check(mean.lambda_, prior)
        _check_late(mean)
    rest = header.get("population"), header.get("share", 1.0), header.get("smoothing"), mean
    return State(lambda_, prior, header["n_steps"], header["n_seen"], memory, *rest)


def _memory(name: str) -> MemoryFormat:
    """The memory of that name in a file, or a ValueError."""
    known = algorithms.memories()
    if name not in known:
        expected = one_of(known).expected
        raise ValueError(f"memory in the header is {shown(name)}, expected {expected}, or nothing")
    return known[name]


def _memory_name(memory: Any) -> str:
    """The name by which files can be read again that hold this memory, or a ValueError."""
    name = type(memory).__name__
    known = algorithms.memories().get(name)
    if known is None or known.memory_type is not type(memory):
        raise ValueError(
            f"cannot save the memory {name}, which could not be read again: let the attribute "
            "`memory` of its algorithm say what it holds, by a name that no other memory has, and "
            "list the algorithm in trustream.learning.algorithms"
        )
    return name


def _seeded(prior: Any, seeds: SeedRows, lambda_: Any) -> LdaPrior:
    """The prior with the seeds of a file, or a ValueError."""
    if not isinstance(lambda_, LazyRows):
        raise ValueError("only topics have seeds")
    places = seeds.places
    if np.diff(places).min(initial=1) < 1 or places[-1] >= len(lambda_.stored):
        raise ValueError("the seeds are of words that are not there, or in no order")
    return dataclasses.replace(prior, seeds=seeds)


def _check_late(mean: Mean) -> None:
    """Refuse late parts that a mean cannot have; it need not have any."""
    late = mean.late
    if late.places.size != late.log_kept.size or np.unique(late.places).size != late.places.size:
        raise ValueError("the late parts of the mean do not fit each other")
    if not late.places.size:
        return
    if not isinstance(mean.lambda_, LazyRows) or late.places.max() >= len(mean.lambda_.stored):
        raise ValueError("the mean has late parts where it has none")
    if late.log_kept.max() > 0 or late.log_kept.min() < mean.log_kept:
        raise ValueError("the late parts of the mean came before it, or have not come yet")


def named(arrays: Mapping[str, Any], prefix: str) -> list[str]:
    """What follows the prefix and a dot in the names that begin with them."""
    return [name.split(".", 1)[1] for name in arrays if name.startswith(f"{prefix}.")]


def _fields(value: Any) -> dict[str, np.ndarray]:
    """The parts of a named tuple or dataclass as arrays; numbers become arrays of no dimension."""
    if dataclasses.is_dataclass(value):
        # Seeds have arrays of their own.
        names = [
            field.name
            for field in dataclasses.fields(value)
            # What is not compared is no part of the value.
            if field.compare and field.name != "seeds"
        ]
    else:
        names = list(value._fields)
    return {name: np.asarray(getattr(value, name)) for name in names}


def _rebuilt(cls: Any, arrays: Mapping[str, np.ndarray], prefix: str) -> Any:
    parts = {name: arrays[f"{prefix}.{name}"] for name in named(arrays, prefix)}
    return cls(**{name: part.item() if part.ndim == 0 else part for name, part in parts.items()})
