"""Waiting for another thread without going to sleep.

Waking a sleeping thread takes 50 to 150 microseconds on a virtual machine, longer than many calls
of a kernel. So a thread that expects news soon looks for it again and again, without the
interpreter lock, for a fraction of a millisecond before it goes to sleep.
"""

# Numba looks at the signature of a typing function, so its arguments carry no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc,no-any-return"
from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

# Looks before giving up, of about a third of a nanosecond each.
_LOOKS = 1_000_000
# Looks between the news and the return. The sender is about to call a kernel, which lets go of
# the interpreter lock; to ask for the lock before that would be to sleep after all.
_GRACE = 5_000


@intrinsic
def _read(typingctx, array, index):
    """array[index], from memory each time, as another thread may write it."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load_atomic(builder.gep(data, [args[1]]), "acquire", 8)

    return types.int64(array, types.intp), codegen


@njit("boolean(int64[::1], int64, int64, int64)", nogil=True, cache=True)
def _until_changed(flag, value, n_looks, n_grace):
    for _ in range(n_looks):
        if _read(flag, 0) != value:
            for _ in range(n_grace):
                _read(flag, 0)
            return True
    return False


def until_changed(flag: NDArray[np.int64], value: int) -> Any:
    """Whether flag[0] came to differ from `value` within a fraction of a millisecond.

    >>> until_changed(np.zeros(1, np.int64), 1), until_changed(np.ones(1, np.int64), 1)
    (True, False)
    """
    return _until_changed(flag, value, _LOOKS, _GRACE)
