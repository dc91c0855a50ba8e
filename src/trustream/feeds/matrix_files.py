"""Read data files as matrices: numbers, or counts of words; and the words of their columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from trustream import matrices, text
from trustream.feeds import matrix_market
from trustream.feeds.feed import open_feed
from trustream.feeds.formats import SUFFIXES
from trustream.feeds.sources import FileSource, open_source
from trustream.file_errors import lines_of, readable


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

    Everything else is read as `read_documents` reads it, ``.txt`` and ``.jsonl`` among others: one
    row per document, which needs the vocabulary.

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
    opened = open_source(source)
    if format is None and isinstance(opened, FileSource):
        read = _matrix_reader(opened)
        if read is not None:
            with readable(opened.path.name):
                return read(opened.path)
    if vocabulary is None:
        raise ValueError(
            f"{opened.name} is text, and nothing says which word each column of the model is: "
            "give a vocabulary (a file with one word per line)"
        )
    options = {"require_id": False, "vocabulary": list(vocabulary), **options}
    feed = open_feed(opened, format=format, **options)
    return text.count_matrix((document.words for document in feed.documents()), vocabulary)


def read_vocabulary(path: str | Path) -> list[str]:
    """Return the words of a file with one word per line.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("cat\\ndog\\n")
    ...     file.flush()
    ...     read_vocabulary(file.name)
    ['cat', 'dog']
    """
    words = [line.strip() for line in lines_of(Path(path))]
    words = [word for word in words if word]
    seen: set[str] = set()
    for word in words:
        if word in seen:
            raise ValueError(f"{Path(path).name} has the word {word!r} twice; a column has one")
        seen.add(word)
    return words


def _matrix_reader(source: FileSource) -> Callable[[Path], Any] | None:
    """What reads a file of numbers; None if it is one of documents."""
    for suffix, read in _READERS.items():
        if source.name.lower().endswith(suffix):
            return read
    if source.suffix in _DOCUMENTS:
        return None
    known = ", ".join([*_READERS, *_DOCUMENTS])
    raise ValueError(f"cannot tell the format of {source.name} by its name; known are {known}")


def _read_npz(path: Path) -> Any:
    with np.load(path, allow_pickle=False) as parts:
        names = set(parts.files)
        if {"data", "shape"} <= names:
            return matrices.from_parts(parts, path.name)
        if len(names) == 1:
            return parts[names.pop()]
    raise ValueError(
        f"{path.name} holds {sorted(names)}; expected a sparse matrix saved by SciPy, the parts "
        "data, indices, indptr and shape, or a single array"
    )


def _read_npy(path: Path) -> Any:
    return np.load(path, allow_pickle=False)


def _read_mtx(path: Path) -> Any:
    matrix = matrix_market.read(path)
    return matrices.csr(matrix, path.name) if sparse.issparse(matrix) else matrix


def _read_csv(path: Path) -> Any:
    with path.open(encoding="utf-8") as lines:
        first = lines.readline()
    if not first:
        raise ValueError(f"{path.name} is empty")
    return np.loadtxt(path, delimiter=",", ndmin=2, skiprows=0 if _is_numbers(first) else 1)


def _is_numbers(line: str) -> bool:
    try:
        [float(part) for part in line.split(",")]
    except ValueError:
        return False
    return True


_READERS: dict[str, Callable[[Path], Any]] = {
    ".npz": _read_npz,
    ".npy": _read_npy,
    ".mtx": _read_mtx,
    ".mtx.gz": _read_mtx,
    ".csv": _read_csv,
}
# Tables of documents have to be asked for by their format: their names are those of matrices.
_DOCUMENTS = [suffix for suffix, format in SUFFIXES.items() if format != "csv"]
