"""Waiting for another thread without going to sleep: spinning.

Waking a sleeping thread takes 50 to 150 microseconds on a virtual machine, longer than many calls
of a kernel. So a thread that expects work or a result soon reads a flag again and again, without
the interpreter lock, for a fraction of a millisecond before it goes to sleep.
"""

# Numba looks at the signature of a typing function, so its arguments carry no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc,no-any-return"
from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from trustream.kernels.jit import njit

# Reads of the flag before giving up, of about a third of a nanosecond each.
_READS = 1_000_000
# Reads between the change of the flag and the return. The sender is about to call a kernel, which
# lets go of the interpreter lock; to ask for the lock before that would be to sleep after all.
GRACE = 40_000


@intrinsic
def _read(typingctx, array, index):
    """array[index], from memory each time, as another thread may write it."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load_atomic(builder.gep(data, [args[1]]), "acquire", 8)

    return types.int64(array, types.intp), codegen


@intrinsic
def _write(typingctx, array, index, value):
    """array[index] = value, at once, as another thread may be waiting for it."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        builder.store_atomic(args[2], builder.gep(data, [args[1]]), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), codegen


@njit("boolean(int64[::1], int64, int64[::1], int64, int64)", nogil=True, cache=True)
def _until_changed(flag, value, told, n_reads, n_grace):
    _write(told, 0, 1)
    for _ in range(n_reads):
        if _read(flag, 0) != value:
            for _ in range(n_grace):
                _read(flag, 0)
            return True
    return False


def until_changed(
    flag: NDArray[np.int64], value: int, told: NDArray[np.int64] | None = None, grace: int = 0
) -> Any:
    """Whether flag[0] came to differ from `value` within a fraction of a millisecond.

    Args:
        told: told[0] becomes 1 first, without the interpreter lock: who waits for it can have the
            lock at once.
        grace: reads between the change and the return.

    >>> until_changed(np.zeros(1, np.int64), 1), until_changed(np.ones(1, np.int64), 1)
    (True, False)
    """
    if told is None:
        told = np.empty(1, np.int64)
    return _until_changed(flag, value, told, _READS, grace)
