"""A fitted estimator as named arrays and a JSON header, and back."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from trustream import persist
from trustream.inference.adaptive import Averages
from trustream.inference.state import State
from trustream.inference.streaming_vb import Draws

# What algorithms keep beside lambda, by the name in a file.
_MEMORIES = {"Averages": Averages, "Draws": Draws}


def to_arrays(estimator: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays, header) that hold all of a fitted estimator but its callback."""
    state: State = estimator._state
    arrays = {f"lambda.{key}": value for key, value in _fields(state.lambda_).items()}
    arrays |= {f"prior.{key}": value for key, value in _fields(state.prior).items()}
    if state.memory is not None:
        arrays |= {f"memory.{key}": value for key, value in _fields(state.memory).items()}
    params = estimator.get_params(deep=False)
    kept = {}
    for key, value in params.items():
        if isinstance(value, np.ndarray | list | tuple):
            arrays[f"param.{key}"] = np.asarray(value)
        elif _is_plain(value):
            kept[key] = value.item() if isinstance(value, np.generic) else value
        elif key == "dtype":
            kept[key] = np.dtype(value).name
        elif key not in ("callback", "random_state"):
            raise ValueError(f"cannot save the parameter {key}={value!r}")
    if hasattr(estimator, "feature_names_in_"):
        arrays["feature_names"] = persist.pack_strings(list(estimator.feature_names_in_))
    attributes = {name: getattr(estimator, name) for name in _attributes(estimator)}
    header = {
        "estimator": type(estimator).__name__,
        "params": kept,
        "attributes": attributes,
        "n_steps": state.n_steps,
        "n_seen": state.n_seen,
        "memory": None if state.memory is None else type(state.memory).__name__,
        "rng": persist.generator_to_json(estimator._rng),
    }
    return arrays, header


def from_arrays(cls: Any, arrays: dict[str, np.ndarray], header: dict[str, Any]) -> Any:
    """The estimator that `to_arrays` took apart."""
    params = dict(header["params"])
    params |= {key: arrays[f"param.{key}"] for key in _named(arrays, "param")}
    estimator = cls(**params)
    for name, value in header["attributes"].items():
        setattr(estimator, name, value)
    if "feature_names" in arrays:
        names = persist.unpack_strings(arrays["feature_names"])
        estimator.feature_names_in_ = np.array(names, dtype=object)
    lambda_type, prior_type = cls._state_types()
    estimator._state = State(
        _rebuild(lambda_type, arrays, "lambda"),
        _rebuild(prior_type, arrays, "prior"),
        header["n_steps"],
        header["n_seen"],
        # Files of versions without other algorithms have none.
        _rebuild(_MEMORIES[header["memory"]], arrays, "memory") if header.get("memory") else None,
    )
    estimator._rng = persist.generator_from_json(header["rng"])
    return estimator


def _attributes(estimator: Any) -> list[str]:
    names = ("n_features_in_", "n_iter_", "_n_samples_seen", "lower_bound_")
    return [name for name in names if name in vars(estimator)]


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str | np.generic)


def _fields(value: Any) -> dict[str, np.ndarray]:
    """The parts of a named tuple or dataclass as arrays; numbers become arrays of no dimension."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    else:
        names = list(value._fields)
    return {name: np.asarray(getattr(value, name)) for name in names}


def _named(arrays: dict[str, np.ndarray], prefix: str) -> list[str]:
    return [name.split(".", 1)[1] for name in arrays if name.startswith(f"{prefix}.")]


def _rebuild(cls: Any, arrays: dict[str, np.ndarray], prefix: str) -> Any:
    parts = {name: arrays[f"{prefix}.{name}"] for name in _named(arrays, prefix)}
    return cls(**{name: part.item() if part.ndim == 0 else part for name, part in parts.items()})
