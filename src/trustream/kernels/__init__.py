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

# LDA's local step with all topics to the end, in place of the most topics of a document.
ALL_TOPICS = 0
# Where there is a most, it holds after this many iterations: before, what a document is about
# does not show yet.
ALL_TOPICS_FIRST = 3
# A topic with less than this, times an even share of the document's tokens, is not used.
UNUSED = 0.05
# With so many topics left or fewer, a document's part of the table is copied topic by topic, where
# it has room: no sums across a vector, and topics that are left out later leave without another
# copy. With more the table itself is read.
NARROW = 512
COLUMNS_ROOM = 1 << 20
# There topics that are not used leave if so large a share is left, or less; before, if half is.
WORTH_LEAVING = 0.75
# With strides every second move of gamma after so many iterations is extrapolated, by at most
# LONGEST_STRIDE times itself.
STRIDES_FROM = 3
LONGEST_STRIDE = 30.0
# With a smaller alpha exp(psi(alpha)) is below 1e-4 (a topic with n tokens has about n): a topic
# without tokens explains next to nothing.
NEGLIGIBLE_ALPHA = 0.11


def get(backend: str) -> ModuleType:
    """The kernel module of that name.

    >>> get("reference").__name__
    'trustream.kernels.reference'
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {BACKENDS}, got {backend!r}")
    return importlib.import_module(f"trustream.kernels.{backend}")
