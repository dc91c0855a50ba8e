"""Parameters that all estimators share: what they may be, and what follows from them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

# "online" is scikit-learn's name for the natural gradient.
METHODS = {
    "trust-region": "trust-region",
    "natural-gradient": "natural-gradient",
    "online": "natural-gradient",
    "batch": "batch",
    "streaming-vb": "streaming-vb",
    "streaming-batch": "streaming-batch",
    "memoized": "memoized",
}
# Those that take a step on a batch that stands for all data.
STOCHASTIC = ("trust-region", "natural-gradient")
# What None means for algorithms other than the trust-region step: as in section 4.3 of the paper.
_BATCH_SIZES = {"streaming-vb": 1_000, "streaming-batch": 50_000}
_INNER = {"streaming-vb": 100, "streaming-batch": 100}

_positive_integer = Interval(Integral, 1, None, closed="left")
_not_negative = Interval(Real, 0, None, closed="left")
_positive = Interval(Real, 0, None, closed="neither")

COMMON: dict[str, list[Any]] = {
    "n_components": [_positive_integer],
    "learning_method": [StrOptions(set(METHODS))],
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


def batch_size(given: int | None, method: str, own: int) -> int:
    """`given`, or what None means: the method's size, or the estimator's `own`.

    >>> batch_size(None, "streaming-vb", 50), batch_size(None, "memoized", 50)
    (1000, 50)
    """
    return _BATCH_SIZES.get(METHODS[method], own) if given is None else given


def inner_iter(given: int | None, method: str, own: int) -> int:
    """The same for the iterations inside a step; `own` is for the trust-region step.

    >>> inner_iter(None, "streaming-vb", 2), inner_iter(None, "trust-region", 2)
    (100, 2)
    """
    return _INNER.get(METHODS[method], own) if given is None else given


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
