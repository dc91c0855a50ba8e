"""Rows of Parquet files, some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from trustream.feeds.csv_rows import Row
from trustream.feeds.items import FeedError, Mark
from trustream.feeds.sources import FileSource, Source

_BLOCK = 4096


class Table(Protocol):
    """A Parquet file, whichever library reads it."""

    names: list[str]
    n_rows: int

    def blocks(self, start: int, columns: list[str]) -> Iterator[list[dict[str, Any]]]:
        """Rows from `start` on, in blocks."""


def open_parquet(source: Source) -> Table:
    """The file, read by pyarrow or polars.

    Raises:
        FeedError: neither is there, or this is no Parquet file.
    """
    if not isinstance(source, FileSource) or source.compressed:
        raise FeedError(f"{source.name} is no plain file, and Parquet needs one")
    for kind in (_Arrow, _Polars):
        try:
            table: Table = kind(source)
            source.rows = table.n_rows
            return table
        except ImportError:
            continue
        except Exception as error:  # each library has exceptions of its own
            raise FeedError(f"cannot read {source.name}: {error}") from error
    raise FeedError(f"reading {source.name} needs pyarrow or polars: pip install polars")


def parquet_rows(table: Table, mark: Mark, columns: Sequence[str]) -> Iterator[Row]:
    """The rows after a mark, which counts rows.

    >>> class Small:
    ...     names, n_rows = ["id"], 3
    ...     def blocks(self, start, columns):
    ...         yield [{"id": row} for row in range(start, 3)]
    >>> [row.values for row in parquet_rows(Small(), Mark(1, 1), ["id"])]
    [{'id': 1}, {'id': 2}]
    """
    place = mark.offset
    for block in table.blocks(place, list(columns)):
        for values in block:
            place += 1
            yield Row(Mark(place, place), place, values)


class _Arrow:
    def __init__(self, source: FileSource) -> None:
        from pyarrow import parquet  # type: ignore[import-not-found,unused-ignore]

        self._file = parquet.ParquetFile(source.path)
        self.names = list(self._file.schema_arrow.names)
        self.n_rows = self._file.metadata.num_rows

    def blocks(self, start: int, columns: list[str]) -> Iterator[list[dict[str, Any]]]:
        groups: list[int] = []
        for group in range(self._file.num_row_groups):  # those that are done with are not opened
            size = self._file.metadata.row_group(group).num_rows
            if groups or start < size:
                groups.append(group)
            else:
                start -= size
        if not groups:
            return
        for batch in self._file.iter_batches(_BLOCK, row_groups=groups, columns=columns):
            if start < batch.num_rows:
                yield batch.slice(start).to_pylist()
            start = max(0, start - batch.num_rows)


class _Polars:
    def __init__(self, source: FileSource) -> None:
        import polars

        self._frame = polars.scan_parquet(source.path)
        self.names = self._frame.collect_schema().names()
        self.n_rows = self._frame.select(polars.len()).collect().item()

    def blocks(self, start: int, columns: list[str]) -> Iterator[list[dict[str, Any]]]:
        while start < self.n_rows:
            block = self._frame.select(columns).slice(start, _BLOCK).collect()
            yield block.to_dicts()
            start += _BLOCK
