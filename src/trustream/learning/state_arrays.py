"""A state as named arrays and a few JSON values, and back: what every model on disk is made of.

Files of estimators, checkpoints of streams and exported models all hold a state in this form. What
a file claims is compared with the model's `StateFormat` before anything is made from it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from trustream._schema import Rule, integer, number, optional, text
from trustream.inference.state import NONE_LATE, LateParts, Mean, State
from trustream.learning import algorithms
from trustream.learning.state_formats import StateFormat, memory_format
from trustream.models.lda import LazyRows, LdaPrior
from trustream.models.lda.seeds import SeedRows

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
    memory = None if kind is None else _rebuilt(memory_format(kind).memory_type, arrays, "memory")
    mean = None
    if "mean" in header:
        late = _rebuilt(LateParts, arrays, "late") if "late" in header else NONE_LATE
        table = _rebuilt(format.lambda_type, arrays, "mean")
        mean = Mean(table, log_kept=header.get("log_kept", 0.0), late=late)
        format.check(mean.lambda_, prior)
        _check_late(mean)
    rest = header.get("population"), header.get("share", 1.0), header.get("smoothing"), mean
    return State(lambda_, prior, header["n_steps"], header["n_seen"], memory, *rest)


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
