"""Corpora that workers read part by part: Parquet files, or all documents of a store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trustream.cluster.corpus_parts import Corpus
from trustream.cluster.parquet_corpus import ParquetCorpus
from trustream.cluster.store_corpus import StoreCorpus
from trustream.store.addresses import shown_address
from trustream.streaming.fitted_models import is_store


def open_corpus(
    source: str | Path | Sequence[str | Path], *, n_documents: int | None = None, **options: Any
) -> Corpus:
    """Look at a corpus: Parquet files, or a store.

    Parameters
    ----------
    source : str, Path or sequence of them
        A Parquet file, a folder of them, a pattern such as "docs/*.parquet", a list of files; or
        the address of a store, all of whose documents are meant, held-out ones too. Workers must
        find files under the same names, so that those of several machines need shared storage.
    n_documents : int, default=None
        Take the first so many documents only.
    **options
        How Parquet files of texts or words are read, see `trustream.feeds.Options`.

    Examples
    --------
    >>> import pyarrow, tempfile
    >>> from pyarrow import parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pyarrow.table({"id": ["a", "b"], "text": ["A cat.", "Dogs bark"]})
    ...     parquet.write_table(table, f"{folder}/pets.parquet")
    ...     corpus = open_corpus(f"{folder}/*.parquet")
    >>> [(part.first, part.n_documents) for part in corpus.parts]
    [(0, 2)]
    """
    if isinstance(source, str | Path) and is_store(str(source)):
        if options:
            raise ValueError(
                f"{', '.join(sorted(options))} say how files are read, and {shown_address(source)} "
                "is a store"
            )
        return StoreCorpus(str(source), n_documents)
    return ParquetCorpus(source, n_documents, options)
