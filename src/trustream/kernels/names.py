"""Names as kernels take them: one after the other, and where each ends."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray


def joined(names: Collection[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Names one after the other, and where each ends.

    >>> joined([b"cat", b"mouse"])[1]
    array([3, 8])
    """
    ends = np.cumsum([len(name) for name in names], dtype=np.int64)
    return np.array(np.frombuffer(b"".join(names), np.uint8)), ends
