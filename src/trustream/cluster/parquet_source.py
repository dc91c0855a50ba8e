"""Documents in Parquet files, read by row groups.

A file has either the counts of documents, in the columns `indices` (lists of column numbers) and
`counts` (lists of as many numbers), or words, in a column of lists of words or of texts. Rows are
numbered through all files in the order of their names.

Workers read the row groups that they need and keep them in memory, up to a limit. Batches of a fit
are in the order of rows, so that the same part of each batch is in about the same row groups, and a
worker soon has those of its parts.
"""

from __future__ import annotations

import glob
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from trustream.cluster.parquet_counts import (
    COUNTS,
    INDICES,
    checked_rows,
    said_columns,
    stored_counts,
    write_counts,
)
from trustream.cluster.sources import Numbers, OpenSource
from trustream.file_errors import readable, reason
from trustream.store.records import Documents
from trustream.text import Tokeniser
from trustream.tokenisers import Tokenise

__all__ = ["ParquetSource", "RowGroup", "write_counts"]

# Columns of words and of texts that are looked for if none is named.
_WORD_COLUMNS = ("words", "tokens", "text")
# Bytes of row groups that a worker keeps in memory.
_MEMORY = 2**30


class RowGroup(NamedTuple):
    """A row group of a file, and how many rows it has."""

    path: str
    number: int
    n_rows: int


class ParquetSource:
    """Documents of Parquet files, as rows over columns.

    `ParquetSource.of` looks at files; what it gives travels to workers.

    Attributes:
        groups: row groups of all files, in order.
        n_words: columns.
        words: by column, None if files have column numbers and nobody says the words.
        column: of words or texts; None where files have counts.
        tokenise: makes words of texts.
        memory: bytes of row groups that a worker keeps.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_counts(f"{folder}/a.parquet", np.array([[1, 0, 2], [0, 3, 0]]))
    ...     source = ParquetSource.of(f"{folder}/*.parquet")
    ...     documents, _ = source.open().read(np.array([1]))
    >>> source.n_documents, source.n_words, documents.indices.tolist(), documents.counts.tolist()
    (2, 3, [1], [3.0])
    """

    only_here = False

    def __init__(
        self,
        groups: Sequence[RowGroup],
        n_words: int,
        words: Sequence[str] | None,
        column: str | None,
        tokenise: Tokenise,
        memory: int,
        name: str,
    ) -> None:
        self.groups, self.n_words, self.column = tuple(groups), n_words, column
        self.words = None if words is None else tuple(words)
        self.tokenise, self.memory, self.name = tokenise, memory, name

    @classmethod
    def of(
        cls,
        files: str | Path | Sequence[str | Path],
        *,
        words: Sequence[str] | None = None,
        n_words: int | None = None,
        column: str | None = None,
        tokenise: Tokenise | None = None,
        memory: int = _MEMORY,
    ) -> ParquetSource:
        """Look at files.

        Args:
            files: a pattern such as "docs/*.parquet", a folder, or a list of files. All workers
                must find them under the same names.
            words: by column; needed where files have words or texts.
            n_words: columns; None is what the files, or `words`, say.
            column: of words or texts; None looks for counts, then for words, tokens or text.
            tokenise: makes words of texts; None is the usual tokeniser.
            memory: bytes of row groups that each worker keeps.

        Raises:
            ValueError: there are no such files, or they do not have what is needed.
        """
        paths = _paths(files)
        groups: list[RowGroup] = []
        said: list[int] = []
        has_counts = column is None
        for path in paths:
            file = _opened(path)
            names = set(file.schema_arrow.names)
            has_counts = has_counts and {INDICES, COUNTS} <= names
            if not has_counts:
                column = _word_column(path, names, column)
            said.append(said_columns(file.schema_arrow, path) or _largest_index(file) + 1)
            for number in range(file.num_row_groups):
                groups.append(RowGroup(path, number, file.metadata.row_group(number).num_rows))
        if not has_counts and words is None:
            raise ValueError(
                f"{paths[0]} has words and no column numbers: give words, the vocabulary by column"
            )
        if n_words is None:
            n_words = max(said) if words is None else len(words)
        if words is not None and len(words) != n_words:
            raise ValueError(f"there are {len(words)} words for {n_words} columns")
        if not sum(group.n_rows for group in groups):
            raise ValueError(f"{files} has no documents")
        if n_words < 1:
            raise ValueError(
                f"{paths[0]} does not say how many columns there are: give n_words, or words"
            )
        tokenise = Tokeniser() if tokenise is None else tokenise
        name = str(files) if isinstance(files, str | Path) else f"{len(paths)} files"
        column = None if has_counts else column
        return cls(groups, n_words, words, column, tokenise, memory, name)

    @property
    def n_documents(self) -> int:
        """Rows of all files."""
        return sum(group.n_rows for group in self.groups)

    def open(self) -> OpenSource:
        """Read row groups as they are needed."""
        return _OpenFiles(self)


class _OpenFiles:
    """Row groups as matrices of counts, those that were used last in memory."""

    def __init__(self, source: ParquetSource) -> None:
        self._source, self._lock = source, Lock()
        self._starts = np.cumsum([0, *(group.n_rows for group in source.groups)])
        self._groups: OrderedDict[int, Any] = OrderedDict()
        self._n_bytes = 0
        words = source.words or ()
        self._columns = {word: column for column, word in enumerate(words)}

    def read(self, numbers: Numbers, held_out: bool = False) -> tuple[Documents, int]:
        """The rows, in this order; files do not change."""
        if held_out:
            raise ValueError("Parquet files have no held-out documents")
        numbers = np.asarray(numbers, np.int64)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < self._starts[-1]:
            raise ValueError(f"there are {self._starts[-1]} rows, and other numbers were asked for")
        of_group = np.searchsorted(self._starts, numbers, side="right") - 1
        pieces, places = [], []
        for group in np.unique(of_group).tolist():
            place = np.flatnonzero(of_group == group)
            pieces.append(self._group(group)[numbers[place] - self._starts[group]])
            places.append(place)
        found = sparse.vstack(pieces, format="csr") if pieces else self._empty()
        order = np.concatenate(places) if places else np.empty(0, np.int64)
        if (np.diff(order) < 0).any():
            found = found[np.argsort(order)]
        documents = Documents(
            keys=[str(number) for number in numbers.tolist()],
            indptr=found.indptr.astype(np.int64, copy=False),
            indices=found.indices.astype(np.int32, copy=False),
            counts=found.data.astype(np.float32, copy=False),
            sequence=0,
            vocabulary=0,
        )
        return documents, 0

    def close(self) -> None:
        """Forget what is in memory."""
        self._groups.clear()

    def _empty(self) -> Any:
        return sparse.csr_array((0, self._source.n_words), dtype=np.float32)

    def _group(self, number: int) -> Any:
        with self._lock:
            if number in self._groups:
                self._groups.move_to_end(number)
                return self._groups[number]
        found = self._read(self._source.groups[number])
        with self._lock:
            if number not in self._groups:
                self._groups[number] = found
                self._n_bytes += _n_bytes(found)
            while self._n_bytes > self._source.memory and len(self._groups) > 1:
                _, dropped = self._groups.popitem(last=False)
                self._n_bytes -= _n_bytes(dropped)
        return found

    def _read(self, group: RowGroup) -> Any:
        """Counts of a row group (rows, columns), entries in order and summed."""
        source, file = self._source, _opened(group.path)
        with readable(group.path):
            if source.column is None:
                table = file.read_row_group(group.number, columns=[INDICES, COUNTS])
                counts, indices, indptr = stored_counts(table)
            else:
                values = file.read_row_group(group.number, columns=[source.column])[source.column]
                indptr, indices = self._words(values.to_pylist())
                counts = np.ones(indices.size, np.float32)
            shape = (group.n_rows, source.n_words)
            return checked_rows(counts, indices, indptr, shape, group.path)

    def _words(self, values: list[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Columns of the known words of each document."""
        found: list[int] = []
        ends = [0]
        for value in values:
            words = self._source.tokenise(value) if isinstance(value, str) else value or ()
            if not (isinstance(words, Sequence) and all(isinstance(word, str) for word in words)):
                raise ValueError(
                    f"{self._source.column} has {words!r:.60}, expected a text or a list of words"
                )
            found += [self._columns[word] for word in words if word in self._columns]
            ends.append(len(found))
        return np.array(ends, np.int64), np.array(found, np.int32)


def _paths(files: str | Path | Sequence[str | Path]) -> list[str]:
    if not isinstance(files, str | Path):
        paths = [str(file) for file in files]
    elif Path(files).is_dir():
        paths = sorted(str(path) for path in Path(files).glob("*.parquet"))
    else:
        paths = sorted(glob.glob(str(files), recursive=True))
    if not paths:
        raise ValueError(f"there are no Parquet files at {files}")
    return [str(Path(path).absolute()) for path in paths]


def _opened(path: str) -> Any:
    try:
        from pyarrow import lib, parquet
    except ImportError as error:
        raise ValueError(f"Parquet files need pyarrow ({error}): pip install pyarrow") from error
    try:
        return parquet.ParquetFile(path, page_checksum_verification=True)
    except (OSError, lib.ArrowException) as error:
        raise ValueError(f"{path} cannot be read as Parquet: {reason(error)}") from error


def _word_column(path: str, names: set[str], column: str | None) -> str:
    wanted = _WORD_COLUMNS if column is None else (column,)
    for name in wanted:
        if name in names:
            return name
    raise ValueError(
        f"{path} has the columns {', '.join(sorted(names))}, and neither {INDICES} and {COUNTS} "
        f"nor {' nor '.join(wanted)}: name the column of words or texts"
    )


def _largest_index(file: Any) -> int:
    """The largest column number by the statistics of a file; -1 if it has none."""
    found = -1
    for group in range(file.num_row_groups):
        metadata = file.metadata.row_group(group)
        for column in range(metadata.num_columns):
            chunk = metadata.column(column)
            if chunk.path_in_schema.split(".")[0] == INDICES:
                if chunk.statistics is None or not chunk.statistics.has_min_max:
                    return -1
                found = max(found, int(chunk.statistics.max))
    return found


def _n_bytes(rows: Any) -> int:
    return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)
