"""Numba's `njit` with a cache that may fail: then kernels are compiled anew, and a warning says so.

Numba itself lets a kernel fail that was compiled and could not be written to its cache: on a full
disk, or in a folder that may not be written to, nothing would work any more.
"""

# Numba's decorators and its cache carry no types.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,no-any-return,misc"
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import FunctionCache

from trustream.kernels import compilation
from trustream.kernels.kernel_files import KernelFiles
from trustream.kernels.whole_kernel import WholeKernelCompiler

# Whether the warning was given: once a process.
_told = False


def njit(signature: Any = None, *, cache: Any = False, **options: Any) -> Callable[..., Any]:
    """A decorator that compiles a function, as `numba.njit` does.

    Args:
        signature: types of result and arguments, to compile at once; None compiles when called.
        cache: whether to keep what was compiled on the disk, as a kernel that is complete
            (`whole_kernel`).
        options: of `numba.njit`.

    >>> @njit(cache=False)
    ... def twice(x):
    ...     return 2 * x
    >>> twice(4)
    8
    """

    def decorate(function: Callable[..., Any]) -> Any:
        whole = {"pipeline_class": WholeKernelCompiler} if cache else {}
        kernel = numba.njit(**options, **whole)(function)
        if cache:
            try:
                kernel._cache = _Cache(function)
            except (RuntimeError, OSError) as error:  # no folder may be written to
                _tell(str(error))
        if signature is not None:
            kernel.compile(signature)
            kernel.disable_compile()
        return kernel

    return decorate


class _Cache(FunctionCache):
    """Numba's cache of a function with files of our own, of which no failure is passed on."""

    def __init__(self, function):
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = KernelFiles(self.cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig, target_context):
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # a damaged file may raise anything; it will be written anew
            found = None
        if found is None:
            compilation.begin()
        return found

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _tell(f"{self.cache_path}: {error}")


def _tell(problem: str) -> None:
    global _told
    if not _told:
        _told = True
        warnings.warn(
            f"compiled code cannot be kept for the next start ({problem}), so that each start "
            "takes longer; free some space, or name another folder in NUMBA_CACHE_DIR",
            UserWarning,
            stacklevel=2,
        )
