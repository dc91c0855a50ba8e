"""Read the data that a model is shown, whatever the file: documents with ids, or a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from scipy import sparse

from trustream.feeds.errors import FeedError
from trustream.feeds.feed import Feed, open_feed
from trustream.feeds.matrix_files import column_names, matrix_reader
from trustream.feeds.sources import FileSource, open_source
from trustream.file_errors import readable
from trustream.store.records import Record
from trustream.text import count_matrix

# Documents that are counted together.
_CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Data:
    """Documents of a file or a stream, or a matrix of numbers.

    Attributes:
        name: of the file or stream, by which rows without an id of their own are named.
        matrix: (rows, columns) CSR array or dense array; None if these are documents.
        feed: where the documents come from; None if this is a matrix.
        columns: names of a matrix's columns, if the file has a line of them.
    """

    name: str
    matrix: Any = None
    feed: Feed | None = None
    columns: list[str] | None = None

    @property
    def rows(self) -> Any:
        """The matrix, or the documents one by one, as `trustream.topics.inference.infer` takes."""
        return self.matrix if self.feed is None else self.feed.documents()

    def counts(self, vocabulary: Sequence[str] | None, n: int | None = None) -> Any:
        """Return all rows as one matrix, or the first n of them.

        Args:
            vocabulary: the words of the columns, for documents; others are left out.
            n: how many rows; None is all.

        Raises:
            ValueError: there are documents, and no vocabulary.
        """
        if self.feed is None:
            return self.matrix[:n]
        if vocabulary is None:
            raise ValueError(
                f"{self.name} is text, and nothing says which word each column of the model is: "
                "give a vocabulary (a file with one word per line)"
            )
        documents = islice(self.feed.documents(), n)
        parts = [count_matrix((d.words for d in chunk), vocabulary) for chunk in _chunks(documents)]
        if not parts:
            return count_matrix([], vocabulary)
        return sparse.vstack(parts, format="csr")


def read_data(source: str | Path | IO[bytes], *, format: str | None = None, **options: Any) -> Data:
    """Open a file or stream of documents, or read a matrix.

    What it is is told by its name, as for `read_matrix`: ``.npz``, ``.npy``, ``.mtx`` and tables
    of numbers (``.csv``) are matrices, all else that `ingest` reads are documents, tables of texts
    among them. Documents are read when they are asked for, once.

    Args:
        source: a path, `-` for standard input, or a binary stream.
        format: read it as documents in this format of `FORMATS`, whatever its name.
        options: how documents are read, see `Options`. Ids are optional.

    Raises:
        FeedError: it cannot be read, or its format is not known. Ratings are refused, each of which
            is a part of a document.

    >>> import io
    >>> lines = io.BytesIO(b'{"id": "a", "text": "The cat."}\\n{"text": "A dog and a cat"}\\n')
    >>> data = read_data(lines, format="jsonl", name="pets")
    >>> [(document.key, document.words) for document in data.rows]
    [('a', ['cat']), ('pets:2', ['dog', 'cat'])]
    """
    opened = open_source(source)
    if format is None and isinstance(opened, FileSource):
        read = matrix_reader(opened, options)
        if read is not None:
            with readable(opened.path.name):
                matrix = read(opened.path)
                return Data(opened.name, matrix, columns=column_names(opened))
    feed = open_feed(opened, format=format, **{"require_id": False, **options})
    if feed.format == "ratings":
        raise FeedError(
            f"{opened.name} has ratings, parts of documents: ingest them into a store, or use "
            "`trustream recommend`"
        )
    return Data(feed.name, feed=feed)


def read_matrix(
    source: str | Path | IO[bytes],
    vocabulary: Sequence[str] | None = None,
    *,
    format: str | None = None,
    **options: Any,
) -> Any:
    """Return the rows of a file as a CSR array or a dense array.

    Matrices of numbers are told by the file's name:

    ======================  =====================================================================
    ``.npz``                a matrix that SciPy saved, the arrays data, indices, indptr and shape
                            of a CSR matrix, or one dense array
    ``.npy``                a dense array
    ``.mtx``, ``.mtx.gz``   Matrix Market
    ``.csv``                numbers separated by commas, perhaps with a line of names first
    ======================  =====================================================================

    Everything else is read as `read_documents` reads it, ``.txt``, ``.jsonl`` and tables of texts
    (``.csv``) among others: one row per document, which needs the vocabulary.

    Parameters
    ----------
    source : str, path or binary stream
        "-" is standard input.
    vocabulary : sequence of str, optional
        The words of the columns, for documents. Words that are not among them are left out.
    format : str, optional
        Read the file as documents in this format of `trustream.feeds`, whatever its name.
    **options
        How documents are read, see `trustream.feeds.Options`.

    Returns
    -------
    (rows, columns) CSR array or dense array

    Raises
    ------
    ValueError
        What is wrong with the file; a `BadRecordError` names the document.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("a cat\\ncat and dog, dog\\n")
    ...     file.flush()
    ...     read_matrix(file.name, ["cat", "dog"]).toarray()
    array([[1, 0],
           [1, 2]])
    """
    if vocabulary is not None:
        options = {"vocabulary": list(vocabulary), **options}
    return read_data(source, format=format, **options).counts(vocabulary)


def _chunks(documents: Iterator[Record]) -> Iterator[list[Record]]:
    while chunk := list(islice(documents, _CHUNK)):
        yield chunk
