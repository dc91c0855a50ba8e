"""psi, log exp psi, exp and log of the compiled kernels against mpmath.

Errors are given in units of the rounding: eps times the size of what is rounded. psi is the
difference of a logarithm and the deficit, so that near its zero its error is that of numbers
around 2: absolute, not relative. Largest errors found on finer grids: psi 4.5, log exp psi 3.8
and log 1.5 units.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numba import njit

from tests.helpers import BACKENDS, Array
from trustream import kernels
from trustream.kernels import elementary
from trustream.kernels.lda import FLOOR

# The range that issues ask for in float64, and what float32 holds as normal numbers.
RANGES = {"float64": (1e-3, 1e8), "float32": (1e-37, 1e38)}
UNITS = 8.0
PSI_ZERO = 1.4616321449683623


def grid(dtype: str) -> Array:
    """Points over the whole range, and more of them around the zero of psi."""
    near = np.concatenate([np.linspace(0.3, 3, 250), PSI_ZERO + np.linspace(-1e-3, 1e-3, 50)])
    return np.concatenate([np.geomspace(*RANGES[dtype], 700), near]).astype(dtype)


def true_psi(x: Array) -> list[mpmath.mpf]:
    with mpmath.workdps(30):
        return [mpmath.digamma(mpmath.mpf(float(value))) for value in x.flat]


def units(found: Array, true: list[mpmath.mpf], size: Array, dtype: str) -> float:
    """The largest error in units of eps * size."""
    with mpmath.workdps(30):
        pairs = zip(found.flat, true, strict=True)
        errors = np.array([float(abs(mpmath.mpf(float(a)) - b)) for a, b in pairs])
    return float(np.max(errors / size.reshape(-1)) / np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", RANGES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_digamma(backend: str, dtype: str) -> None:
    """psi is right to 8 eps max(1, |psi|): 1.8e-15 in float64, 9.5e-7 in float32."""
    x = grid(dtype)
    found = np.empty_like(x)
    kernels.get("lda", backend).digamma(x, found)
    true = true_psi(x)
    size = np.maximum(1, np.abs(np.array(true, dtype=np.float64)))
    assert units(found, true, size, dtype) < UNITS


@pytest.mark.parametrize("dtype", RANGES)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("width", [1, 3, 16])
def test_log_exp_digamma(backend: str, dtype: str, width: int) -> None:
    """log(table) - offset is psi to 8 eps max(1, |psi|, |offset|), unless at the floor.

    Rows hold neighbours of the grid, so that their entries are of comparable size; the largest
    entry of every row is above 1/2, and the padding is zero.
    """
    x = grid(dtype)
    x = x[: x.size // width * width].reshape(-1, width)
    table = np.full((x.shape[0], -(-width // kernels.LANES) * kernels.LANES), np.nan, dtype)
    offset = np.empty(x.shape[0], dtype)
    kernels.get("lda", backend).exp_digamma(x, table, offset, 0, x.shape[0])
    assert (table[:, width:] == 0).all()
    table = table[:, :width]
    assert (table.max(axis=1) > 0.5).all() and np.isfinite(table).all()
    used = table > 2 * FLOOR[dtype]
    # In float32 a third of the grid is so small that even a neighbour is out of reach.
    assert used.mean() > 0.4
    found = np.log(table.astype(np.longdouble)) - offset[:, np.newaxis].astype(np.longdouble)
    true = np.array(true_psi(x), dtype=np.longdouble).reshape(x.shape)
    size = np.maximum(np.maximum(1, np.abs(true)), np.abs(offset)[:, np.newaxis])
    assert float(np.max((np.abs(found - true) / size)[used])) < UNITS * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", RANGES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_far_smaller_entries_are_raised_to_the_floor(backend: str, dtype: str) -> None:
    """exp(psi(1e-5)) is 1e-43430 and is raised to the floor; its neighbour does not notice."""
    x = np.array([[1e-5, 3.0, 1e-30]], dtype)
    table, offset = np.empty((1, 8), dtype), np.empty(1, dtype)
    kernels.get("lda", backend).exp_digamma(x, table, offset, 0, 1)
    assert table[0, 0] == table[0, 2] == np.dtype(dtype).type(FLOOR[dtype])
    true = float(mpmath.digamma(3))
    np.testing.assert_allclose(np.log(table[0, 1]) - offset[0], true, rtol=UNITS * 1e-7)


@pytest.mark.parametrize("size", [1e-37, 1e-30, 1e-20, 1e-10, 1e-7])
@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_of_equal_tiny_entries_are_equal(backend: str, size: float) -> None:
    """psi(1e-30) is -1e30, whose rounding is 1e23: equal entries must not drift apart by it."""
    x = np.full((2, 11), size, np.float32)
    table, offset = np.empty((2, 16), np.float32), np.empty(2, np.float32)
    kernels.get("lda", backend).exp_digamma(x, table, offset, 0, 2)
    assert (table[:, :11] == table[0, 0]).all() and np.isfinite(table).all()


@njit(**elementary.JIT)
def _exp_of(x: Array, out: Array) -> None:
    for i in range(x.size):
        out[i] = elementary.exp(x[i])


@njit(**elementary.JIT)
def _log_of(x: Array, out: Array) -> None:
    for i in range(x.size):
        out[i] = elementary.log(x[i])


@pytest.mark.parametrize(("dtype", "lowest"), [("float32", -87.0), ("float64", -708.0)])
def test_exp(dtype: str, lowest: float) -> None:
    """e^x for x <= 0 to (2 + |x| / 4) eps, half of what rounding x may cost.

    Below the smallest normal number it stays there.
    """
    x = np.concatenate([-np.geomspace(1e-8, -lowest, 700), [0.0, -0.0]]).astype(dtype)
    found = np.empty_like(x)
    _exp_of(x, found)
    with mpmath.workdps(30):
        true = [mpmath.exp(mpmath.mpf(float(value))) for value in x]
    size = np.array(true, dtype=np.float64) * (2 + np.abs(x) / 4)
    assert units(found, true, size, dtype) < 1
    below = np.array([2, 10, 1e30], dtype) * dtype_of(dtype, lowest)
    _exp_of(below, below)
    assert (below == found[x == dtype_of(dtype, lowest)][0]).all() and (below > 0).all()


@pytest.mark.parametrize("dtype", RANGES)
def test_log(dtype: str) -> None:
    """log x of normal numbers to 4 eps |log x|, around x = 1 too."""
    lowest, highest = np.log2(np.finfo(dtype).tiny), np.log2(np.finfo(dtype).max)
    x = 2.0 ** np.linspace(lowest, np.nextafter(highest, 0), 1500)
    x = np.concatenate([x, 1 + np.linspace(-0.4, 0.5, 301)]).astype(dtype)
    found = np.empty_like(x)
    _log_of(x, found)
    with mpmath.workdps(30):
        true = [mpmath.log(mpmath.mpf(float(value))) for value in x]
    size = np.abs(np.array(true, dtype=np.float64))
    near = size < 0.3
    assert (
        units(
            found[~near], [t for t, n in zip(true, near, strict=True) if not n], size[~near], dtype
        )
        < 4
    )
    known = near & (size > 0)
    assert (
        units(found[known], [t for t, n in zip(true, known, strict=True) if n], size[known], dtype)
        < 4
    )
    assert (found[x == 1] == 0).all()


def dtype_of(dtype: str, value: float) -> float:
    return np.dtype(dtype).type(value)
