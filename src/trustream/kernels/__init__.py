"""Number crunching, twice: `reference` (NumPy, the equations as they stand) and `compiled` (Numba).

Both modules have the same functions with the same signatures, and tests run both.
"""

from __future__ import annotations

import importlib
from types import ModuleType

BACKENDS = ("compiled", "reference")
# Numbers in a vector of the compiled kernels; `table` and `theta` are padded to a multiple of it.
LANES = 8
# Words in a block of partial sums: blocks are summed in order, so threads do not change a result.
BLOCK = 64
# What exp(psi) is raised to, relative to the largest of its row, so that no sum over topics is 0.
FLOOR = {"float32": 1e-30, "float64": 1e-200}


def get(backend: str) -> ModuleType:
    """The kernel module of that name.

    >>> get("reference").__name__
    'trustream.kernels.reference'
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {BACKENDS}, got {backend!r}")
    return importlib.import_module(f"trustream.kernels.{backend}")
