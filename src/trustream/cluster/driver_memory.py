"""What the driver of a cluster has to hold in memory, and whether it can.

The driver holds lambda, K x V numbers, and on a stream the mean that is shown beside it. While a
checkpoint is saved, its bytes are there as well. Documents are not: workers hold them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trustream.cluster.errors import ClusterError

_MEMORY = Path("/proc/meminfo")
# Where the system says what a container may take, by the two versions of control groups: the limit,
# what is taken, and what of it are pages of files that go when memory is needed.
_GROUPS = Path("/sys/fs/cgroup")
_LIMITS = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    (
        "memory/memory.limit_in_bytes",
        "memory/memory.usage_in_bytes",
        "memory/memory.stat",
        "total_inactive_file",
    ),
)


def driver_bytes(n_topics: int, n_words: int, dtype: str = "float32", *, mean: bool = True) -> int:
    """Bytes of the tables of K x V numbers that the driver holds: lambda, and perhaps its mean.

    >>> driver_bytes(1_000, 1_000_000) / 1e9
    8.0
    """
    return (2 if mean else 1) * n_topics * n_words * np.dtype(dtype).itemsize


def available_bytes() -> int | None:
    """Memory that this process may still take; None if the system does not say."""
    found: list[int] = []
    if _MEMORY.exists():
        lines = dict(line.split(":", 1) for line in _MEMORY.read_text().splitlines() if ":" in line)
        if "MemAvailable" in lines:
            found.append(int(lines["MemAvailable"].split()[0]) * 1024)
    found += [left for names in _LIMITS if (left := _left_in_group(*names)) is not None]
    return min(found, default=None)


def _left_in_group(limit: str, used: str, statistics: str, files: str) -> int | None:
    """What a container may still take; None if it has no limit."""
    try:
        most = (_GROUPS / limit).read_text().strip()
        if not most.isdigit():
            return None
        taken = int((_GROUPS / used).read_text())
        lines = (_GROUPS / statistics).read_text().splitlines()
        said = dict(line.split(maxsplit=1) for line in lines if " " in line)
        return max(0, int(most) - taken + int(said.get(files, 0)))
    except (OSError, ValueError):
        return None


def check_driver(
    n_topics: int, n_words: int, dtype: str = "float32", *, mean: bool = True, saves: bool = True
) -> str:
    """Say what the driver will hold, for people.

    Args:
        n_topics, n_words: K and V.
        mean: whether there is a mean beside lambda.
        saves: whether checkpoints are saved, whose bytes are in memory as well.

    Raises:
        ClusterError: that is more than this machine has left.
    """
    tables = driver_bytes(n_topics, n_words, dtype, mean=mean)
    needed, available = (2 if saves else 1) * tables, available_bytes()
    what = (
        f"{n_topics:,} topics x {n_words:,} words x {np.dtype(dtype).itemsize} bytes"
        f"{' x 2 (with the published mean)' if mean else ''} = {_size(tables)} in the driver"
    )
    if saves:
        what += f", {_size(needed)} while a checkpoint is saved"
    if available is not None and needed > available:
        raise ClusterError(
            f"{what}, and this machine has {_size(available)} left: run the driver on a machine "
            "with more memory, or learn fewer topics or words"
        )
    return what


def _size(n_bytes: int) -> str:
    """
    >>> _size(8_000_000_000), _size(2_500_000)
    ('8.0 GB', '2.5 MB')
    """
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.1f} MB"
