"""Read files of ratings as columns, which `TopicRecommender.fit` takes."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trustream.feeds.csv_rows import csv_rows
from trustream.feeds.errors import RECORD_ERRORS, BadRecordError, FeedError, bad_record
from trustream.feeds.items import Mark
from trustream.feeds.options import Options, RatingColumns
from trustream.feeds.parquet_rows import is_parquet, open_parquet
from trustream.feeds.sources import FileSource, Source, open_source
from trustream.feeds.tables import check_columns, make_rating, optional_columns
from trustream.file_errors import readable

_SUFFIXES = (".csv", ".tsv", ".parquet", ".pq")


def read_ratings(
    source: str | Path | IO[bytes], columns: RatingColumns | None = None, **options: Any
) -> dict[str, NDArray[Any]]:
    """Return the columns of a table with one row per rating, CSV or Parquet.

    In CSV the first line has the names of the columns, ids are integers if all of a column look
    like one (``007`` does not), and times are seconds since 1970 or dates. Rows are checked as
    `ingest` checks those of ratings. Parquet needs pyarrow or polars, and its columns come as they
    are.

    Args:
        source: a path, `-` for standard input, or a binary stream of CSV.
        columns: names of its columns, "user", "item", "rating" and "timestamp" if not given.
        options: see `Options`.

    Raises:
        BadRecordError: a row is wrong.
        FeedError: the file cannot be read.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("user,item,rating\\nann,7,4.5\\nbob,9,3\\n")
    ...     file.flush()
    ...     ratings = read_ratings(file.name)
    >>> ratings["user"].tolist(), ratings["item"].tolist(), ratings["rating"].tolist()
    (['ann', 'bob'], [7, 9], [4.5, 3.0])
    """
    opened, settings = open_source(source), Options(**options)
    if is_parquet(opened):
        table = open_parquet(opened, settings)
        with readable(opened.name, FeedError):
            return table.arrays()
    if isinstance(opened, FileSource) and opened.suffix not in _SUFFIXES:
        raise FeedError(
            f"cannot tell the format of {opened.name} by its name; known are {', '.join(_SUFFIXES)}"
        )
    return _read_csv(opened, columns or RatingColumns(), settings)


def _read_csv(source: Source, columns: RatingColumns, options: Options) -> dict[str, NDArray[Any]]:
    found: dict[str, list[Any]] = {}

    def begin(names: list[str]) -> None:
        check_columns(source, names, columns, optional_columns(columns))
        found.update((name, []) for name in names)

    for row in csv_rows(source, Mark(), options, begin):
        if row is None:
            continue
        try:
            values = row.checked()
            rating = make_rating(values, columns)
        except RECORD_ERRORS as error:
            raise BadRecordError(bad_record(error, source.name, row.line)) from None
        if columns.rating is not None:
            values[columns.rating] = rating.value
        if columns.timestamp is not None and rating.time is not None:
            values[columns.timestamp] = rating.time
        for name, value in values.items():
            found[name].append(value)
    numbers = (columns.rating, columns.timestamp)
    return {
        name: np.array(values, np.float64) if name in numbers else _ids(values)
        for name, values in found.items()
    }


def _ids(values: list[str]) -> NDArray[Any]:
    """Integers if all values are, as they are written; else strings, None where there is none."""
    try:
        integers = [int(value) for value in values]
    except ValueError:
        integers = []
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
