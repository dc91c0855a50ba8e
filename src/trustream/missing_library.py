"""Load libraries as if another one were not there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without(library: str) -> Iterator[None]:
    """Load other libraries as if one were not there, which takes its time and is not needed.

    If it is loaded already, nothing changes.

    >>> with without("tabnanny"):
    ...     try:
    ...         import tabnanny
    ...     except ImportError:
    ...         print("not there")
    not there
    """
    if library in sys.modules:
        yield
        return
    sys.modules[library] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[library]
