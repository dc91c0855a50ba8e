"""Parquet files as a corpus: texts, lists of words, or counts that were made before."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from trustream.cluster.corpus_parts import (
    BLOCK,
    PART,
    CorpusBlock,
    CorpusPart,
    OpenCorpus,
    row_sums,
)
from trustream.cluster.errors import ClusterError
from trustream.cluster.parquet_counts import COUNTS, INDICES, said_columns
from trustream.cluster.parquet_source import ParquetSource
from trustream.cluster.text_tables import WORDS, words_digest
from trustream.feeds import NamedFile, find_files
from trustream.feeds.items import Mark
from trustream.feeds.parquet_rows import SUFFIXES
from trustream.file_errors import readable
from trustream.models.lda.batch import CountRows
from trustream.streaming.fitted_models import FittedModel
from trustream.streaming.model_data import read_for_model
from trustream.topics.documents import DocumentBatch
from trustream.topics.time_bins import as_seconds
from trustream.word_counts import column_counts, word_columns


class ParquetCorpus:
    """Documents of Parquet files, in the order of their names and rows.

    Files have texts or lists of words, as for `trustream ingest`, or `indices` and `counts`, as
    `trustream.cluster.tokenise` writes them.
    """

    only_here = False

    def __init__(
        self,
        source: str | Path | Sequence[str | Path],
        n_documents: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.options = dict(options or {})
        self.files = [_File.of(file.path, file.name) for file in parquet_files(source)]
        one = isinstance(source, str | Path)
        self.name = str(source) if one else f"{len(self.files)} files"
        self.is_counted = all(file.is_counted for file in self.files)
        if not self.is_counted and any(file.is_counted for file in self.files):
            raise ValueError(
                f"some files of {self.name} have {INDICES} and {COUNTS}, others have not: read "
                "them one after the other"
            )
        self.parts = _file_parts([file.groups for file in self.files], n_documents)

    def identity(self) -> list[Any]:
        """Names, sizes and times of change of all files."""
        return [[file.path, file.size, file.changed] for file in self.files]

    def check(self, model: FittedModel) -> None:
        """Read the first document, if there is one."""
        if self.parts:
            next(_OpenParquet(self).read(self.parts[0], model, 1))

    def open(self) -> OpenCorpus:
        """Read what parts need."""
        return _OpenParquet(self)


class _OpenParquet:
    is_fixed = True

    def __init__(self, corpus: ParquetCorpus) -> None:
        self._corpus = corpus
        self._known: tuple[Any, dict[str, int]] = None, {}

    def read(
        self, part: CorpusPart, model: FittedModel, block: int = BLOCK
    ) -> Iterator[CorpusBlock]:
        file = self._corpus.files[part.file]
        file.check_unchanged()
        if self._corpus.is_counted:
            yield from self._counted(file, part, model, block)
            return
        data = read_for_model(
            model, file.path, format="parquet", **{"name": file.name, **self._corpus.options}
        ).data
        assert data.feed is not None
        documents = data.feed.documents(Mark(part.begin, part.begin))
        left = islice(documents, part.end - part.begin)
        columns = self._columns(model)
        while some := list(islice(left, block)):
            words = [document.words for document in some]
            times = [np.nan if document.time is None else document.time for document in some]
            yield CorpusBlock(
                DocumentBatch(
                    column_counts(words, columns, len(model.words or ())),
                    keys=[document.key for document in some],
                    times=np.array(times) if self._corpus.options.get("time_column") else None,
                ),
                np.array([len(found) for found in words], np.float64),
            )

    def _columns(self, model: FittedModel) -> dict[str, int]:
        words, columns = self._known
        if words is not model.words:
            columns = word_columns(model.words or ())
            self._known = model.words, columns
        return columns

    def _counted(
        self, file: _File, part: CorpusPart, model: FittedModel, block: int
    ) -> Iterator[CorpusBlock]:
        file.check_columns(model)
        n_words, options = model.estimator.n_features_in_, self._corpus.options
        # It keeps the row group that was read last, and no more.
        opened = ParquetSource.of([file.path], n_words=n_words, memory=0).open()
        keys = file.values(options.get("id_column", "id"), part.begin, part.end)
        times = file.values(options.get("time_column"), part.begin, part.end)
        if keys is None:
            keys = [f"{file.name}:{row + 1}" for row in range(part.begin, part.end)]
        for first in range(part.begin, part.end, block):
            last = min(first + block, part.end)
            here = slice(first - part.begin, last - part.begin)
            found, _ = opened.read(np.arange(first, last))
            batch = DocumentBatch(
                CountRows(found.indptr, found.indices, found.counts, (last - first, n_words)),
                keys=[str(key) for key in keys[here]],
                times=None if times is None else as_seconds(times[here]),
            )
            yield CorpusBlock(batch, row_sums(found))

    def close(self) -> None:
        """Nothing is open between two parts."""


@dataclass(frozen=True, slots=True)
class _File:
    """A Parquet file as it was when the corpus was looked at."""

    path: str
    name: str
    size: int
    changed: int
    groups: tuple[int, ...]
    is_counted: bool
    n_words: int | None
    words: str | None

    @classmethod
    def of(cls, path: Path, name: str) -> _File:
        absolute = os.path.abspath(path)
        with readable(name):
            from pyarrow import parquet

            status = os.stat(absolute)
            file = parquet.ParquetFile(absolute)
            metadata = file.metadata
            groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
            is_counted = {INDICES, COUNTS} <= set(file.schema_arrow.names)
            n_words = said_columns(file.schema_arrow, name)
            said = file.schema_arrow.metadata or {}
            words = said[WORDS].decode() if WORDS in said else None
        return cls(
            path=absolute,
            name=name,
            size=status.st_size,
            changed=status.st_mtime_ns,
            groups=tuple(groups),
            is_counted=is_counted,
            n_words=n_words,
            words=words,
        )

    def check_columns(self, model: FittedModel) -> None:
        """Raise an error if the columns of a file with counts are not those of a model."""
        n_words = model.estimator.n_features_in_
        if self.n_words is not None and self.n_words != n_words:
            raise ValueError(
                f"{self.name} has counts of {self.n_words} words, and {model.title} has {n_words}: "
                "tokenise texts with the words of the model"
            )
        if self.words is not None and model.words and self.words != words_digest(model.words):
            raise ValueError(
                f"{self.name} has counts of other words than {model.title} knows: tokenise texts "
                "with the words of the model"
            )

    def check_unchanged(self) -> None:
        """Raise an error if there is no such file on this machine, or another one."""
        try:
            status = os.stat(self.path)
        except OSError as error:
            raise ClusterError(
                f"the worker on {socket.gethostname()} cannot read {self.path} ({error.strerror}): "
                "files must be on storage that all machines share, under the same name"
            ) from error
        # Times of change may differ between the machines of a file system.
        if status.st_size != self.size:
            raise ClusterError(
                f"{self.path} has {status.st_size} bytes on {socket.gethostname()}, and had "
                f"{self.size} when the work began: leave files as they are until it is done"
            )

    def values(self, column: str | None, begin: int, end: int) -> list[Any] | None:
        """Values of some rows in a column; None if there is no such column."""
        from pyarrow import parquet

        file = parquet.ParquetFile(self.path)
        if column is None or column not in file.schema_arrow.names:
            return None
        starts = np.cumsum([0, *self.groups])
        within = (starts[1:] > begin) & (starts[:-1] < end)
        groups = np.flatnonzero(within).tolist()
        first = begin - int(starts[groups[0]])
        found = file.read_row_groups(groups, [column])[column]
        values: list[Any] = found.slice(first, end - begin).to_pylist()
        return values


def parquet_files(source: str | Path | Sequence[str | Path]) -> list[NamedFile]:
    """Return the Parquet files of files, folders and patterns, in order, each once.

    Raises
    ------
    ValueError
        If there are none, or some that cannot be read.
    """
    files: dict[Path, NamedFile] = {}
    for one in [source] if isinstance(source, str | Path) else source:
        found = find_files(one, "parquet")
        if found.unreadable:
            why = "; ".join(f"{path}: {reason}" for path, reason in found.unreadable)
            raise ValueError(f"cannot read {why}")
        listed = found.files
        if Path(one).is_dir():
            # Names that begin so are about the others, by the custom of Parquet's readers.
            named = (file for file in listed if not file.path.name.startswith("_"))
            listed = [file for file in named if file.path.suffix.lower() in SUFFIXES]
        for file in listed:
            files.setdefault(file.path.absolute(), file)
    if not files:
        raise ValueError(f"there are no Parquet files (.parquet, .pq) in {source}")
    return list(files.values())


def _file_parts(groups: Sequence[Sequence[int]], n_documents: int | None) -> list[CorpusPart]:
    """Parts of files with so many rows in each row group.

    >>> [(part.file, part.begin, part.end) for part in _file_parts([[3000, 2000, 10], [7]], None)]
    [(0, 0, 5000), (0, 5000, 5010), (1, 0, 7)]
    >>> [part.n_documents for part in _file_parts([[3000, 2000, 10], [7]], 4001)]
    [4001]
    """
    parts: list[CorpusPart] = []
    first = 0
    for file, sizes in enumerate(groups):
        begin = end = 0
        for i, size in enumerate(sizes):
            end += size
            if end > begin and (end - begin >= PART or i == len(sizes) - 1):
                left = end - begin if n_documents is None else min(end - begin, n_documents - first)
                if left <= 0:
                    return parts
                parts.append(CorpusPart(len(parts), first, left, file, begin, begin + left))
                first, begin = first + left, end
    return parts
