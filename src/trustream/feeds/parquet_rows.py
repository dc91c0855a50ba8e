"""Read the rows of Parquet files, some at a time, or whole columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from trustream.feeds.csv_rows import Row, check_names
from trustream.feeds.errors import FeedError
from trustream.feeds.items import Mark
from trustream.feeds.options import Options
from trustream.feeds.sources import FileSource, Source
from trustream.file_errors import readable

SUFFIXES = (".parquet", ".pq")
# Stands at the start and at the end of every Parquet file.
_MAGIC = b"PAR1"
_BLOCK = 4096
# Blocks grow up to these numbers of rows and bytes where each costs much to begin with.
_MAX_BLOCK = 2**17
_MAX_SIZE = 2**23


class Table(Protocol):
    """A Parquet file, whichever library reads it."""

    names: list[str]
    n_rows: int

    def blocks(self, start: int, columns: list[str]) -> Iterator[list[dict[str, Any]]]:
        """Rows from `start` on, in blocks."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All columns, each as one array."""


def is_parquet(source: Source) -> bool:
    """Whether a table is Parquet: by its suffix, or by its first and last bytes.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    ...     is_parquet(FileSource(file.name))
    False
    """
    if source.suffix in SUFFIXES:
        return True
    if not isinstance(source, FileSource) or source.compressed:
        return False
    n = len(_MAGIC)
    return source.raw(0, n) == _MAGIC and source.raw(max(0, source.size() - n), n) == _MAGIC


def open_parquet(source: Source, options: Options) -> Table:
    """The file, read by pyarrow or polars.

    Raises:
        FeedError: neither is there, or this is no Parquet file, or it has too many columns.
    """
    if not isinstance(source, FileSource) or source.compressed:
        raise FeedError(f"{source.name} is no plain file, and Parquet needs one")
    for kind in (_Arrow, _Polars):
        try:
            # Each library has exceptions of its own.
            with readable(source.name, FeedError):
                table: Table = kind(source)
        except ImportError:
            continue
        check_names(source, table.names, options)
        source.rows = table.n_rows
        return table
    raise FeedError(f"reading {source.name} needs pyarrow or polars: pip install polars")


def parquet_rows(source: Source, table: Table, mark: Mark, columns: Sequence[str]) -> Iterator[Row]:
    """The rows after a mark, which counts rows.

    Raises:
        FeedError: the file is damaged, or has fewer rows than it says.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> class Small:
    ...     names, n_rows = ["id"], 3
    ...     def blocks(self, start, columns):
    ...         yield [{"id": row} for row in range(start, 3)]
    >>> source = StreamSource(io.BytesIO())
    >>> [row.values for row in parquet_rows(source, Small(), Mark(1, 1), ["id"])]
    [{'id': 1}, {'id': 2}]
    """
    place = mark.offset
    blocks = table.blocks(place, list(columns))
    while True:
        with readable(source.name, FeedError):
            block = next(blocks, None)
        if block is None:
            break
        for values in block:
            place += 1
            yield Row(Mark(place, place), place, values)
    if place < table.n_rows:
        raise FeedError(f"{source.name} says that it has {table.n_rows} rows, and has {place}")


class _Arrow:
    def __init__(self, source: FileSource) -> None:
        from pyarrow import parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]

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

    def arrays(self) -> dict[str, NDArray[Any]]:
        table = self._file.read()
        return {name: table[name].to_numpy() for name in self.names}


class _Polars:
    def __init__(self, source: FileSource) -> None:
        import polars

        self._frame = polars.scan_parquet(source.path)
        self.names = self._frame.collect_schema().names()
        self.n_rows = self._frame.select(polars.len()).collect().item()

    def blocks(self, start: int, columns: list[str]) -> Iterator[list[dict[str, Any]]]:
        size = _BLOCK
        while start < self.n_rows:
            block = self._frame.select(columns).slice(start, size).collect()
            if not block.height:
                return
            yield from (part.to_dicts() for part in block.iter_slices(_BLOCK))
            start += block.height
            # Polars reads a column's dictionary again for every block.
            if block.estimated_size() < _MAX_SIZE:
                size = min(2 * size, _MAX_BLOCK)

    def arrays(self) -> dict[str, NDArray[Any]]:
        frame = self._frame.collect()
        return {name: frame[name].to_numpy() for name in self.names}
