"""Rating files as columns, for `TopicRecommender.fit`."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.file_errors import readable
from trustream.recommender.ratings import RatingColumns

SUFFIXES = (".csv", ".tsv", ".parquet", ".pq")
# Names of columns that an error lists.
_MANY = 20


def read_ratings(path: str | Path, columns: RatingColumns | None = None) -> Any:
    """Return the ratings of a file, as a frame or a dictionary of columns.

    A ``.csv`` or ``.tsv`` file has the names of its columns in the first line, and ids in it are
    integers if all of a column look like one (``007`` does not). A ``.parquet`` or ``.pq`` file
    needs polars, or pandas with pyarrow.

    Args:
        path: the file.
        columns: names of its columns, "user", "item", "rating" and "timestamp" if not given.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("user,item,rating\\nann,7,4.5\\nbob,9,3\\n")
    ...     file.flush()
    ...     ratings = read_ratings(file.name)
    >>> ratings["user"].tolist(), ratings["item"].tolist(), ratings["rating"].tolist()
    (['ann', 'bob'], [7, 9], [4.5, 3.0])
    """
    path, columns = Path(path), columns or RatingColumns()
    suffix = path.suffix.lower()
    with readable(path.name):
        if not path.is_file():
            raise ValueError(f"there is no file {path}")
        if suffix in (".csv", ".tsv"):
            return _read_text(path, "\t" if suffix == ".tsv" else ",", columns)
        if suffix in (".parquet", ".pq"):
            return _read_parquet(path)
    raise ValueError(
        f"cannot tell the format of {path.name} by its name; known are {', '.join(SUFFIXES)}"
    )


def _read_text(path: Path, delimiter: str, columns: RatingColumns) -> dict[str, NDArray[Any]]:
    # utf-8-sig: spreadsheets put a mark before the first name.
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, delimiter=delimiter)
        names = next(lines, [])
        twice = [name for name, n in Counter(names).items() if n > 1]
        if twice:
            raise ValueError(f"{path.name} has a column twice: {_listed(twice)}")
        rows = []
        for row in lines:
            if len(row) == len(names):
                rows.append(row)
            elif row:
                raise ValueError(
                    f"{path.name}, line {lines.line_num}: {len(row)} values, expected "
                    f"{len(names)}, for {_listed(names)}"
                )
    text = dict(zip(names, zip(*rows, strict=True) if rows else [()] * len(names), strict=True))
    return {name: _parsed(path, name, list(values), columns) for name, values in text.items()}


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
    return ", ".join(f"{name:.60}" for name in names[:_MANY]) + more


def _parsed(path: Path, name: str, values: list[str], columns: RatingColumns) -> NDArray[Any]:
    if name == columns.rating:
        return _numbers(path, name, values)
    if name == columns.timestamp and _all(float, values) is not None:
        return _numbers(path, name, values)
    integers = _all(int, values)
    # An id must come back as it was written, and fit.
    if (
        integers
        and list(map(str, integers)) == values
        and max(map(abs, integers)) <= np.iinfo(np.int64).max
    ):
        return np.array(integers, dtype=np.int64)
    array = np.empty(len(values), dtype=object)
    array[:] = [value or None for value in values]
    return array


def _numbers(path: Path, name: str, values: list[str]) -> NDArray[Any]:
    numbers = _all(lambda value: float(value or "nan"), values)
    if numbers is None:
        wrong = next(i for i, value in enumerate(values) if _all(float, [value or "nan"]) is None)
        raise ValueError(
            f"{path.name}: {name} {wrong + 1} is {values[wrong]!r:.60}, expected a number"
        )
    return np.array(numbers, dtype=np.float64)


def _all(kind: Callable[[str], Any], values: list[str]) -> list[Any] | None:
    """All values as numbers, or None."""
    try:
        return [kind(value) for value in values]
    except ValueError:
        return None


def _read_parquet(path: Path) -> Any:
    # By pyarrow if it is there: polars ends the process on some damaged files.
    for read in (_by_pyarrow, _by_polars, _by_pandas):
        try:
            return read(path)
        except ImportError:
            continue
    raise ValueError(
        f"reading {path.name} needs polars, or pandas with pyarrow: pip install polars"
    )


def _by_pyarrow(path: Path) -> Any:
    from pyarrow import parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]

    try:
        import polars
    except ImportError:
        import pandas  # noqa: F401

        return parquet.ParquetFile(path).read().to_pandas()
    return polars.from_arrow(parquet.ParquetFile(path).read())


def _by_polars(path: Path) -> Any:
    import polars

    return polars.read_parquet(path)


def _by_pandas(path: Path) -> Any:
    import pandas

    return pandas.read_parquet(path)
