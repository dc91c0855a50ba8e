"""Parameters that all estimators share, and what they may be."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from trustream.learning import algorithms

_positive_integer = Interval(Integral, 1, None, closed="left")
_not_negative = Interval(Real, 0, None, closed="left")
_positive = Interval(Real, 0, None, closed="neither")


class _Methods(StrOptions):
    """The names of all algorithms, those that were registered later included."""

    def __init__(self) -> None:
        super().__init__(set(algorithms.names()))

    def is_satisfied_by(self, val: Any) -> bool:
        """Called by scikit-learn."""
        self.options = set(algorithms.names())
        return bool(super().is_satisfied_by(val))


COMMON: dict[str, list[Any]] = {
    "n_components": [_positive_integer],
    "learning_method": [_Methods()],
    "learning_rate": [StrOptions({"decaying", "adaptive"})],
    "learning_decay": [Interval(Real, 0, 1, closed="both")],
    "learning_offset": [_positive],
    "cooldown": [Interval(Real, 0, 1, closed="both")],
    "max_iter": [_positive_integer],
    "batch_size": [_positive_integer, None],
    "inner_iter": [_positive_integer, None],
    "total_samples": [_positive, None],
    "tol": [_not_negative],
    "n_init": [_positive_integer],
    "warm_start": ["boolean"],
    "dtype": "no_validation",  # type: ignore[dict-item]
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
    "callback": [callable, None],
    "random_state": ["random_state", np.random.Generator],
}


def dtype_name(dtype: Any) -> str:
    """ "float32" or "float64".

    >>> dtype_name(np.float64)
    'float64'
    """
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = repr(dtype)
    if dtype is None or name not in ("float32", "float64"):
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
    return name


def generator(random_state: Any) -> np.random.Generator:
    """A Generator from None, an integer, a RandomState or a Generator (which is used as it is).

    >>> int(generator(0).integers(10)) == int(generator(0).integers(10))
    True
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(random_state)
