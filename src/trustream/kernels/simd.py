"""Vectors of eight numbers inside Numba kernels.

LLVM vectorises a plain dot product with scalar remainders and overlap checks at each entry; on
rows of a hundred topics these cost as much as the work. The few operations below say what is
meant: load, store, multiply-add, and the sums of eight vectors at once. LLVM splits or joins them
for the machine at hand.
"""

# Numba looks at the signature of a typing function, so its arguments carry no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,no-any-return"
from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

from trustream.kernels import LANES

_FAST = ("fast",)
_INT32 = ir.IntType(32)


class Vector(types.Type):
    """Numba type of LANES float32 or float64."""

    def __init__(self, scalar) -> None:
        self.scalar = scalar
        super().__init__(name=f"Vector({scalar}, {LANES})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type) -> None:
        element = ir.FloatType() if fe_type.scalar == types.float32 else ir.DoubleType()
        super().__init__(dmm, fe_type, ir.VectorType(element, LANES))


def _pointer(context, builder, array_type, array, index, vector):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _shuffle(builder, a, b, lanes):
    mask = ir.Constant(ir.VectorType(_INT32, len(lanes)), lanes)
    return builder.shuffle_vector(a, b, mask)


def _broadcast(builder, scalar, vector):
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(_INT32, 0))
    return _shuffle(builder, first, undefined, [0] * LANES)


@intrinsic
def load(typingctx, array, index):
    """array[index : index + LANES] of a one-dimensional array."""
    result = Vector(array.dtype)

    def codegen(context, builder, signature, args):
        vector = context.get_value_type(result)
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1], vector)
        return builder.load(pointer, align=array.dtype.bitwidth // 8, typ=vector)

    return result(array, types.intp), codegen


@intrinsic
def store(typingctx, array, index, value):
    """array[index : index + LANES] = value."""

    def codegen(context, builder, signature, args):
        vector = context.get_value_type(signature.args[2])
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1], vector)
        builder.store(args[2], pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), codegen


@intrinsic
def splat(typingctx, scalar):
    """The same number in all lanes."""
    result = Vector(scalar)

    def codegen(context, builder, signature, args):
        return _broadcast(builder, args[0], context.get_value_type(result))

    return result(scalar), codegen


@intrinsic
def lane(typingctx, vector, index):
    """Lane `index` of a vector in all lanes."""

    def codegen(context, builder, signature, args):
        scalar = builder.extract_element(args[0], builder.trunc(args[1], _INT32))
        return _broadcast(builder, scalar, args[0].type)

    return vector(vector, types.intp), codegen


@intrinsic
def multiply_add(typingctx, a, b, c):
    """a * b + c, one instruction where the machine has it."""

    def codegen(context, builder, signature, args):
        return builder.fadd(builder.fmul(args[0], args[1], flags=_FAST), args[2], flags=_FAST)

    return a(a, b, c), codegen


@intrinsic
def divide(typingctx, a, b):
    """a / b."""

    def codegen(context, builder, signature, args):
        return builder.fdiv(args[0], args[1], flags=_FAST)

    return a(a, b), codegen


@intrinsic
def sums(typingctx, a, b, c, d, e, f, g, h):
    """(sum a, sum b, ..., sum h): three rounds of adding neighbours."""

    def codegen(context, builder, signature, args):
        def neighbours(x, y):
            even = _shuffle(builder, x, y, [0, 2, 8, 10, 4, 6, 12, 14])
            odd = _shuffle(builder, x, y, [1, 3, 9, 11, 5, 7, 13, 15])
            return builder.fadd(even, odd, flags=_FAST)

        pairs = [neighbours(args[i], args[i + 1]) for i in range(0, LANES, 2)]
        low, high = neighbours(pairs[0], pairs[1]), neighbours(pairs[2], pairs[3])
        return builder.fadd(
            _shuffle(builder, low, high, [0, 1, 2, 3, 8, 9, 10, 11]),
            _shuffle(builder, low, high, [4, 5, 6, 7, 12, 13, 14, 15]),
            flags=_FAST,
        )

    return a(a, b, c, d, e, f, g, h), codegen


@intrinsic
def transposed(typingctx, a, b, c, d, e, f, g, h):
    """Eight vectors, of which number i holds lane i of a, b, ..., h."""
    result = types.UniTuple(a, LANES)

    def codegen(context, builder, signature, args):
        rows = list(args)
        # Exchange single lanes of neighbours, then pairs of lanes, then halves.
        for distance in (1, 2, 4):
            own = [j if not j & distance else LANES + j - distance for j in range(LANES)]
            other = [j + distance if not j & distance else LANES + j for j in range(LANES)]
            for i in (i for i in range(LANES) if not i & distance):
                low, high = rows[i], rows[i + distance]
                rows[i] = _shuffle(builder, low, high, own)
                rows[i + distance] = _shuffle(builder, low, high, other)
        return context.make_tuple(builder, result, rows)

    return result(a, b, c, d, e, f, g, h), codegen


@intrinsic
def minimum(typingctx, a, b):
    """The smaller of two, lane by lane."""

    def codegen(context, builder, signature, args):
        keep = builder.fcmp_ordered("<", args[0], args[1], flags=_FAST)
        return builder.select(keep, args[0], args[1])

    return a(a, b), codegen


@intrinsic
def smallest(typingctx, vector):
    """The smallest lane, as a number."""

    def codegen(context, builder, signature, args):
        value, n = args[0], LANES
        while n > 1:
            n //= 2
            low = _shuffle(builder, value, value, list(range(n)))
            high = _shuffle(builder, value, value, list(range(n, 2 * n)))
            keep = builder.fcmp_ordered("<", low, high, flags=_FAST)
            value = builder.select(keep, low, high)
        return builder.extract_element(value, ir.Constant(_INT32, 0))

    return vector.scalar(vector), codegen
