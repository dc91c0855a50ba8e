"""Random numbers in Numba: each document has a stream of its own, whatever thread it runs in.

The same numbers as `reference_random.Stream`. A stream is two 64-bit integers, a
counter and a key; a number is the counter hashed twice. NumPy's generators would have to be made
in Python, one for every document.
"""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

import numpy as np

from trustream.kernels.jit import njit

_OPTIONS = {"nogil": True, "cache": True, "error_model": "numpy"}
# Numba takes an unsigned and a plain integer together for a float: all constants are unsigned.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_REPEAT = np.uint64(0xD1B54A32D192ED03)
_SECOND = np.uint64(0xA0761D6478BD642F)
_FACTOR_1 = np.uint64(0xBF58476D1CE4E5B9)
_FACTOR_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@njit(inline="always", **_OPTIONS)
def _mix(x):
    """A bijection of 64-bit integers that spreads every bit over all."""
    x = (x ^ (x >> _S30)) * _FACTOR_1
    x = (x ^ (x >> _S27)) * _FACTOR_2
    return x ^ (x >> _S31)


@njit(**_OPTIONS)
def seed(stream, key, repeat):
    """Start the stream (2,) of a key and a repetition."""
    stream[0] = _mix(key + np.uint64(repeat) * _REPEAT)
    stream[1] = _mix(stream[0] ^ _SECOND)


@njit(inline="always", **_OPTIONS)
def uniform(stream):
    """The next number in [0, 1)."""
    stream[0] += _STEP
    return np.float64(_mix(_mix(stream[0]) ^ stream[1]) >> _S11) * 2.0**-53


@njit(**_OPTIONS)
def normal(stream):
    """A standard normal number (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(stream)))
    return radius * math.cos(2.0 * math.pi * uniform(stream))


@njit(**_OPTIONS)
def log_gamma(stream, shape):
    """Logarithm of a draw from Gamma(shape, 1) (Marsaglia and Tsang, 2000).

    A shape below one is drawn as Gamma(shape + 1) u^(1 / shape), in logarithms so that small
    shapes do not underflow.
    """
    boost = 0.0
    if shape < 1.0:
        boost = math.log(1.0 - uniform(stream)) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    while True:
        x = normal(stream)
        v = (1.0 + x / math.sqrt(9.0 * d)) ** 3
        if v > 0.0:
            if math.log(1.0 - uniform(stream)) < 0.5 * x * x + d - d * v + d * math.log(v):
                return math.log(d * v) + boost
