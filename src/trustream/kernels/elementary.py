"""exp, log and digamma for Numba kernels, without a call into a library, so that loops vectorise.

All three take and return float32 or float64 and keep to that type.

digamma is split as psi(x) = log(y) - deficit(x) with y = x + shift, so that exp(psi(x)) needs no
logarithm:

    exp(psi(x)) = (x + shift) exp(-deficit(x)).

shift is n - 1/2. The recurrence psi(x) = psi(x+n) - sum_{i<n} 1/(x+i) and the asymptotic series
psi(y + 1/2) = log y + sum_j c_j y^-2j with c_j = (1 - 2^(1-2j)) B_2j / 2j (B_2j the Bernoulli
numbers) give

    deficit(x) = sum_{i<n} 1/(x+i) - sum_j c_j y^-2j.

The reciprocals are added in pairs, 1/(x+i) + 1/(x+j) = (2x+n-1) / (x(x+n-1) + ij) for i + j = n - 1,
and pairs over common denominators, which leaves few divisions.
"""

# The functions below are templates for Numba; their bodies are typed by it.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,no-any-return"
from __future__ import annotations

import math

import numpy as np
from numba import types
from numba.extending import overload

from trustream.kernels import FLOOR

JIT = {"fastmath": True, "error_model": "numpy"}

SHIFT32, SHIFT64 = 3.5, 7.5
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)
_SERIES = tuple(
    (1 - 2.0 ** (1 - 2 * j)) * b / (2 * j) for j, b in enumerate(_BERNOULLI, start=1)
)
_LN2 = math.log(2.0)


def exp(x):
    """e^x for x <= 0; below the smallest normal number it stays there."""
    raise NotImplementedError("for use in compiled code")


def log(x):
    """Natural logarithm of a positive normal number."""
    raise NotImplementedError("for use in compiled code")


def deficit(x):
    """log(x + shift) - psi(x) for x > 0; falls with x."""
    raise NotImplementedError("for use in compiled code")


def shift(x):
    """The shift that belongs to the type of x."""
    raise NotImplementedError("for use in compiled code")


def floor(x):
    """FLOOR of the type of x."""
    raise NotImplementedError("for use in compiled code")


def as_bits(x):
    """A float array seen as integers: those of positive floats are in the same order."""
    raise NotImplementedError("for use in compiled code")


def from_bits(x):
    """The float of one such integer."""
    raise NotImplementedError("for use in compiled code")


def _is_single(numba_type) -> bool:
    return numba_type in (types.float32, types.int32)


@overload(shift, jit_options=JIT)
def _shift(x):
    value = np.float32(SHIFT32) if _is_single(x) else np.float64(SHIFT64)
    return lambda x: value


@overload(floor, jit_options=JIT)
def _floor(x):
    value = np.float32(FLOOR["float32"]) if _is_single(x) else np.float64(FLOOR["float64"])
    return lambda x: value


@overload(as_bits, jit_options=JIT)
def _as_bits(x):
    if _is_single(x.dtype):
        return lambda x: x.view(np.int32)
    return lambda x: x.view(np.int64)


@overload(from_bits, jit_options=JIT)
def _from_bits(x):
    if _is_single(x):
        return lambda x: np.int32(x).view(np.float32)
    return lambda x: np.int64(x).view(np.float64)


@overload(exp, jit_options=JIT)
def _exp(x):
    """2^n e^r with |r| <= log(2)/2, e^r by its Taylor series."""
    single = _is_single(x)
    real, integer = (np.float32, np.int32) if single else (np.float64, np.int64)
    bias, mantissa = (integer(127), integer(23)) if single else (integer(1023), integer(52))
    lowest = real(-87.0) if single else real(-708.0)
    # Not log 2 in two parts, as is usual: fastmath would join them. It costs |x| eps / 6, less
    # than the rounding of x itself.
    ln2, per_ln2, half = real(_LN2), real(1 / _LN2), real(0.5)
    c = tuple(real(1 / math.factorial(i)) for i in range(14))

    if single:

        def single_exp(x):
            x = max(x, lowest)
            n = integer(x * per_ln2 - half)  # x <= 0: truncation rounds to the nearest
            f = real(n)
            r = x - f * ln2
            p = c[5] + r * (c[6] + r * c[7])
            p = c[0] + r * (c[1] + r * (c[2] + r * (c[3] + r * (c[4] + r * p))))
            return p * integer((n + bias) << mantissa).view(np.float32)

        return single_exp

    def double_exp(x):
        x = max(x, lowest)
        # By way of int32: the only conversion that AVX2 has for vectors.
        n = integer(np.int32(x * per_ln2 - half))
        f = real(np.int32(x * per_ln2 - half))
        r = x - f * ln2
        p = c[9] + r * (c[10] + r * (c[11] + r * (c[12] + r * c[13])))
        p = c[4] + r * (c[5] + r * (c[6] + r * (c[7] + r * (c[8] + r * p))))
        p = c[0] + r * (c[1] + r * (c[2] + r * (c[3] + r * p)))
        return p * integer((n + bias) << mantissa).view(np.float64)

    return double_exp


@overload(log, jit_options=JIT)
def _log(x):
    """n log 2 + log m with m in [sqrt(1/2), sqrt 2), log m = 2 atanh((m-1)/(m+1)) by its series."""
    single = _is_single(x)
    real, integer = (np.float32, np.int32) if single else (np.float64, np.int64)
    mantissa = integer(23) if single else integer(52)
    root_half = integer(real(math.sqrt(0.5)).view(integer))
    ln2, one, two = real(_LN2), real(1), real(2)
    c = tuple(real(1 / (2 * i + 1)) for i in range(11))

    if single:

        def single_log(x):
            bits = np.float32(x).view(np.int32)
            n = (bits - root_half) >> mantissa
            m = integer(bits - (n << mantissa)).view(np.float32)
            s = (m - one) / (m + one)
            q = s * s
            p = c[0] + q * (c[1] + q * (c[2] + q * (c[3] + q * c[4])))
            return real(n) * ln2 + two * s * p

        return single_log

    def double_log(x):
        bits = np.float64(x).view(np.int64)
        n = (bits - root_half) >> mantissa
        m = integer(bits - (n << mantissa)).view(np.float64)
        s = (m - one) / (m + one)
        q = s * s
        p = c[5] + q * (c[6] + q * (c[7] + q * (c[8] + q * (c[9] + q * c[10]))))
        p = c[0] + q * (c[1] + q * (c[2] + q * (c[3] + q * (c[4] + q * p))))
        return real(n) * ln2 + two * s * p

    return double_log


@overload(deficit, jit_options=JIT)
def _deficit(x):
    single = _is_single(x)
    real = np.float32 if single else np.float64
    one, two = real(1), real(2)
    c = tuple(real(b) for b in _SERIES)
    # Above this the deficit is below the rounding of the logarithm, and squares would overflow.
    large = real(1e8) if single else real(1e16)

    if single:
        three, offset = real(3), real(SHIFT32)

        def single_deficit(x):
            x = min(x, large)
            t = x * (x + three)
            y = x + offset
            q = one / (y * y)
            pairs = (two * t + two) / (t * (t + two))
            series = q * (c[0] + q * (c[1] + q * (c[2] + q * (c[3] + q * c[4]))))
            return (two * x + three) * pairs - series

        return single_deficit

    offset64, seven, six, ten, twelve = real(SHIFT64), real(7), real(6), real(10), real(12)
    twenty_two = real(22)

    def double_deficit(x):
        x = min(x, large)
        t = x * (x + seven)
        y = x + offset64
        q = one / (y * y)
        pairs = (two * t + six) / (t * (t + six))
        pairs += (two * t + twenty_two) / ((t + ten) * (t + twelve))
        series = c[4] + q * (c[5] + q * (c[6] + q * (c[7] + q * c[8])))
        series = q * (c[0] + q * (c[1] + q * (c[2] + q * (c[3] + q * series))))
        return (two * x + seven) * pairs - series

    return double_deficit
