"""Measure the machine's peak rate of fused multiply-adds on one core."""

from __future__ import annotations

import numpy as np
from numba import njit

from trustream.kernels import LANES, simd

# Chains that do not wait for each other: two units with a latency of four or five want ten.
_CHAINS = 12
_ROUNDS = 200_000
FMAS = _ROUNDS * _CHAINS * LANES


@njit(nogil=True, fastmath=True)
def _chains(numbers, n):
    """x <- a x + b in twelve vectors that stay in registers; fourteen of sixteen are in use."""
    a, b = simd.splat(numbers[0]), simd.splat(numbers[1])
    x0, x1, x2, x3, x4, x5 = a, a, a, a, a, a
    x6, x7, x8, x9, x10, x11 = a, a, a, a, a, a
    for _ in range(n):
        x0 = simd.multiply_add(x0, a, b)
        x1 = simd.multiply_add(x1, a, b)
        x2 = simd.multiply_add(x2, a, b)
        x3 = simd.multiply_add(x3, a, b)
        x4 = simd.multiply_add(x4, a, b)
        x5 = simd.multiply_add(x5, a, b)
        x6 = simd.multiply_add(x6, a, b)
        x7 = simd.multiply_add(x7, a, b)
        x8 = simd.multiply_add(x8, a, b)
        x9 = simd.multiply_add(x9, a, b)
        x10 = simd.multiply_add(x10, a, b)
        x11 = simd.multiply_add(x11, a, b)
    # What nobody reads would not be computed.
    simd.store(numbers, 0, x0)
    simd.store(numbers, LANES, x1)
    simd.store(numbers, 2 * LANES, x2)
    simd.store(numbers, 3 * LANES, x3)
    simd.store(numbers, 4 * LANES, x4)
    simd.store(numbers, 5 * LANES, x5)
    simd.store(numbers, 6 * LANES, x6)
    simd.store(numbers, 7 * LANES, x7)
    simd.store(numbers, 8 * LANES, x8)
    simd.store(numbers, 9 * LANES, x9)
    simd.store(numbers, 10 * LANES, x10)
    simd.store(numbers, 11 * LANES, x11)


def run() -> None:
    """FMAS multiply-adds in float32, and next to nothing else."""
    # a + b = 1: the numbers stay at 1 or below, far from what is slow.
    _chains(np.full(_CHAINS * LANES, 0.5, np.float32), _ROUNDS)
