"""exp, log and digamma as LLVM instructions, for numbers and for vectors of them.

No call into a library, so that nothing stands in the way of vector code. All take and return
float32 or float64, or a `simd.Vector` of either, and keep to that type.

digamma is split as psi(x) = log(x + shift) - deficit(x), so that exp(psi(x)) needs no logarithm:

    exp(psi(x)) = (x + shift) exp(-deficit(x)).

shift is n - 1/2. With y = x + shift, the recurrence psi(x) = psi(x+n) - sum_{i<n} 1/(x+i) and the
asymptotic series psi(y + 1/2) = log y + sum_j c_j y^-2j with c_j = (1 - 2^(1-2j)) B_2j / 2j (B_2j
the Bernoulli numbers) give

    deficit(x) = sum_{i<n} 1/(x+i) - sum_j c_j y^-2j.

The reciprocals are added in pairs, 1/(x+i) + 1/(x+j) = (2x+n-1) / (x(x+n-1) + ij) for i + j = n-1,
and pairs over common denominators, which leaves few divisions.
"""

# Typing functions of Numba: their arguments are types, their results are checked by LLVM.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,no-any-return,untyped-decorator"
from __future__ import annotations

import math
from functools import reduce

from llvmlite import ir
from numba import extending

JIT = {"fastmath": True, "error_model": "numpy"}
# Options of kernels, which Python calls, and of functions that only kernels call: a way in from
# Python would take a fifth of their compilation, and the kernel's cache holds them as well.
KERNEL = {"nogil": True, "cache": True, **JIT}
INSIDE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **JIT}

_SHIFT = {32: 3.5, 64: 7.5}
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)
_SERIES = [(1 - 2.0 ** (1 - 2 * j)) * b / (2 * j) for j, b in enumerate(_BERNOULLI, start=1)]
_LN2 = math.log(2.0)
# log 2 in two parts: an integer times the first is exact, the second carries the rest (if the
# compiler keeps them apart, which it need not; the tests hold either way).
_LN2_HIGH = 0.693359375


class _Value:
    """An LLVM number or vector with arithmetic, so that formulas read as formulas."""

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder, self.value, self.type = builder, value, value.type

    @property
    def element(self):
        """The type of one lane."""
        return getattr(self.type, "element", self.type)

    @property
    def bits(self) -> int:
        """32 or 64."""
        return 32 if self.element in (ir.FloatType(), ir.IntType(32)) else 64

    def as_type(self, element):
        """This shape, with lanes of another type."""
        if isinstance(self.type, ir.VectorType):
            return ir.VectorType(element, self.type.count)
        return element

    def constant(self, number, element=None):
        """The number in all lanes."""
        shaped = self.as_type(element or self.element)
        many = isinstance(shaped, ir.VectorType)
        return ir.Constant(shaped, [number] * shaped.count if many else number)

    def _apply(self, name, other):
        right = other.value if isinstance(other, _Value) else self.constant(other)
        return self.of(getattr(self.builder, name)(self.value, right, flags=("fast",)))

    def of(self, value) -> _Value:
        return _Value(self.builder, value)

    def __add__(self, other) -> _Value:
        return self._apply("fadd", other)

    def __sub__(self, other) -> _Value:
        return self._apply("fsub", other)

    def __mul__(self, other) -> _Value:
        return self._apply("fmul", other)

    def __truediv__(self, other) -> _Value:
        return self._apply("fdiv", other)

    def _choose(self, comparison, other) -> _Value:
        right = other.value if isinstance(other, _Value) else self.constant(other)
        keep = self.builder.fcmp_ordered(comparison, self.value, right, flags=("fast",))
        return self.of(self.builder.select(keep, self.value, right))

    def at_most(self, other) -> _Value:
        return self._choose("<", other)

    def at_least(self, other) -> _Value:
        return self._choose(">", other)

    def polynomial(self, coefficients) -> _Value:
        """c_0 + c_1 x + c_2 x^2 + ..., by Horner's rule."""
        *lower, highest = coefficients
        start = self.of(self.constant(highest))
        return reduce(lambda value, c: value * self + c, reversed(lower), start)


def _exp(x: _Value) -> _Value:
    """e^x for x <= 0, as 2^n e^r with |r| <= log(2)/2 and e^r by its Taylor series.

    Below the smallest normal number it stays there.
    """
    b = x.builder
    x = x.at_least(-87.0 if x.bits == 32 else -708.0)
    # For x <= 0 truncation rounds to the nearest. By way of int32: AVX2 converts to nothing else.
    n32 = b.fptosi((x * (1 / _LN2) - 0.5).value, x.as_type(ir.IntType(32)))
    f = x.of(b.sitofp(n32, x.type))
    r = (x - f * _LN2_HIGH) - f * (_LN2 - _LN2_HIGH)
    degree = 7 if x.bits == 32 else 13
    power = r.polynomial([1 / math.factorial(i) for i in range(degree + 1)])
    integer = ir.IntType(x.bits)
    n = n32 if x.bits == 32 else b.sext(n32, x.as_type(integer))
    bias, mantissa = (127, 23) if x.bits == 32 else (1023, 52)
    exponent = b.shl(b.add(n, x.constant(bias, integer)), x.constant(mantissa, integer))
    return power * x.of(b.bitcast(exponent, x.type))


def _log(x: _Value) -> _Value:
    """log of a positive normal number, as n log 2 + log m with m in [sqrt(1/2), sqrt 2).

    log m = 2 atanh(s), s = (m-1)/(m+1), by its series.
    """
    b = x.builder
    integer = ir.IntType(x.bits)
    mantissa = x.constant(23 if x.bits == 32 else 52, integer)
    root_half = x.constant(0x3F3504F3 if x.bits == 32 else 0x3FE6A09E667F3BCD, integer)
    bits = b.bitcast(x.value, x.as_type(integer))
    n = b.ashr(b.sub(bits, root_half), mantissa)
    m = x.of(b.bitcast(b.sub(bits, b.shl(n, mantissa)), x.type))
    n32 = n if x.bits == 32 else b.trunc(n, x.as_type(ir.IntType(32)))
    s = (m - 1.0) / (m + 1.0)
    terms = 5 if x.bits == 32 else 11
    series = (s * s).polynomial([2 / (2 * i + 1) for i in range(terms)])
    return x.of(b.sitofp(n32, x.type)) * _LN2 + s * series


def _deficit(x: _Value) -> _Value:
    """log(x + shift) - psi(x) for x > 0; falls with x."""
    # Above this the deficit is below the rounding of the logarithm, and squares would overflow.
    x = x.at_most(1e8 if x.bits == 32 else 1e16)
    if x.bits == 32:
        t = x * (x + 3.0)
        pairs = (t * 2.0 + 2.0) / (t * (t + 2.0))
        width, terms = 3.0, 5
    else:
        t = x * (x + 7.0)
        pairs = (t * 2.0 + 6.0) / (t * (t + 6.0))
        pairs = pairs + (t * 2.0 + 22.0) / ((t + 10.0) * (t + 12.0))
        width, terms = 7.0, 9
    y = x + _SHIFT[x.bits]
    q = x.of(x.constant(1.0)) / (y * y)
    return (x * 2.0 + width) * pairs - q * q.polynomial(_SERIES[:terms])


def _digamma(x: _Value) -> _Value:
    return _log(x + _SHIFT[x.bits]) - _deficit(x)


def _of_one(formula, name, doc):
    def typed(typingctx, x):
        def codegen(context, builder, signature, args):
            return formula(_Value(builder, args[0])).value

        return x(x), codegen

    typed.__name__, typed.__doc__ = name, doc
    return extending.intrinsic(typed)


exp = _of_one(_exp, "exp", "e^x for x <= 0.")
log = _of_one(_log, "log", "Natural logarithm of a positive normal number.")
deficit = _of_one(_deficit, "deficit", "log(x + shift) - psi(x) for x > 0.")
digamma = _of_one(_digamma, "digamma", "psi(x) for x > 0.")


def scaled_exp_digamma(floor: dict[str, float]):
    """A function of x, deficit(x) and offset: exp(psi(x) + offset), raised to the floor.

    Args:
        floor: the smallest result, for "float32" and for "float64".
    """

    @extending.intrinsic
    def typed(typingctx, x, its_deficit, offset):
        def codegen(context, builder, signature, args):
            value, missing, level = (_Value(builder, arg) for arg in args)
            scaled = (value + _SHIFT[value.bits]) * _exp(level - missing)
            return scaled.at_least(floor[f"float{value.bits}"]).value

        return x(x, its_deficit, offset), codegen

    return typed
