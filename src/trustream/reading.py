"""Data files as matrices: what the command line reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from trustream import matrices, matrix_market, text
from trustream.file_errors import lines_of, readable, reason

MATRIX_SUFFIXES = (".npz", ".npy", ".mtx", ".mtx.gz", ".csv")
TEXT_SUFFIXES = (".txt", ".jsonl")


def read_matrix(path: str | Path, vocabulary: Sequence[str] | None = None) -> Any:
    """Return a file's rows as a CSR array or a dense array, by the file's name.

    ======================  =====================================================================
    ``.npz``                a matrix that SciPy saved, the arrays data, indices, indptr and shape
                            of a CSR matrix, or one dense array
    ``.npy``                a dense array
    ``.mtx``, ``.mtx.gz``   Matrix Market
    ``.csv``                numbers separated by commas, perhaps with a line of names first
    ``.txt``                a document a line; needs the vocabulary
    ``.jsonl``              an object a line with a ``text``, or ``tokens``; needs the vocabulary
    ======================  =====================================================================

    Parameters
    ----------
    path : str or path
    vocabulary : sequence of str, optional
        The words of the columns, for text. Words that are not among them are left out.

    Returns
    -------
    (rows, columns) CSR array or dense array

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
    path = Path(path)
    with readable(path.name):
        if not path.is_file():
            raise ValueError(f"there is no file {path}")
    suffix = _suffix(path)
    if suffix in TEXT_SUFFIXES and vocabulary is None:
        raise ValueError(
            f"{path.name} is text, and nothing says which word each column of the model is: "
            "give a vocabulary (a file with a word a line)"
        )
    with readable(path.name):
        if suffix in TEXT_SUFFIXES:
            return text.count_matrix(read_documents(path), vocabulary)  # type: ignore[arg-type]
        return _READERS[suffix](path)


def read_vocabulary(path: str | Path) -> list[str]:
    """Return the words of a file with a word a line.

    Examples
    --------
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


def read_documents(path: str | Path) -> Iterator[list[str]]:
    """Yield the words of each document of a ``.txt`` or ``.jsonl`` file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     _ = file.write('{"text": "The cat."}\\n{"tokens": ["a", "dog"]}\\n')
    ...     file.flush()
    ...     list(read_documents(file.name))
    [['cat'], ['a', 'dog']]
    """
    path = Path(path)
    plain = path.suffix.lower() == ".txt"
    with readable(path.name), path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if plain:
                yield text.tokenise(line)
            elif line.strip():
                yield _document(path, number, line)


def _document(path: Path, number: int, line: str) -> list[str]:
    try:
        value = json.loads(line)
        if isinstance(value, dict) and isinstance(value.get("tokens"), list):
            return [str(token) for token in value["tokens"]]
    except json.JSONDecodeError as error:
        raise ValueError(f"{path.name}, line {number}: not JSON ({error})") from error
    except (ValueError, RecursionError, MemoryError) as error:  # a huge number, deep brackets
        raise ValueError(f"{path.name}, line {number}: {reason(error)}") from error
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return text.tokenise(value["text"])
    raise ValueError(f'{path.name}, line {number}: expected an object with "text" or "tokens"')


def _suffix(path: Path) -> str:
    name = path.name.lower()
    for suffix in (".mtx.gz", *MATRIX_SUFFIXES, *TEXT_SUFFIXES):
        if name.endswith(suffix):
            return suffix
    known = ", ".join((*MATRIX_SUFFIXES, *TEXT_SUFFIXES))
    raise ValueError(f"cannot tell the format of {path.name} by its name; known are {known}")


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
