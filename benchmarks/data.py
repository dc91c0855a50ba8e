"""Find out which data sets are available."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def require(data: Path, files: Iterable[str]) -> None:
    """Say what is missing before anything is run.

    Raises:
        FileNotFoundError: one of the files is not in the directory.
    """
    needed = sorted(set(files))
    missing = [file for file in needed if not (data / file).is_file()]
    if missing:
        raise FileNotFoundError(
            f"no {', '.join(missing)} in {data}: this benchmark reads {', '.join(needed)}. "
            "Name their directory with --data or TRUSTREAM_DATA."
        )
