"""Read files of numbers as matrices, and the words of their columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray
from scipy import sparse

from trustream import matrices
from trustream.feeds import matrix_market
from trustream.feeds.claimed_rows import check_rows
from trustream.feeds.formats import SUFFIXES
from trustream.feeds.sources import FileSource
from trustream.file_errors import lines_of, readable

# The first bytes of .npy and of .npz, which is a zip file, perhaps an empty one.
_NPY, _ZIP = b"\x93NUMPY", b"PK"


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


def read_seed_words(path: str | Path) -> dict[str, list[str]]:
    """Return the seeds of a JSON file: lists of words by the names of topics.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    ...     _ = file.write('{"sports": ["team", "game"]}')
    ...     file.flush()
    ...     read_seed_words(file.name)
    {'sports': ['team', 'game']}
    """
    name = Path(path).name
    expected = 'expected JSON such as {"sports": ["team", "game"]}'

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError(f"{name} has a name twice; a seed has one list of words")
        return found

    try:
        lines = "\n".join(lines_of(Path(path)))
        seeds = json.loads(lines, object_pairs_hook=unique)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{name} is no JSON ({error}): {expected}") from None
    if not isinstance(seeds, dict) or not all(isinstance(words, list) for words in seeds.values()):
        raise ValueError(f"{name} does not hold lists of words by name: {expected}")
    return seeds


def matrix_reader(
    source: FileSource, options: Mapping[str, Any] | None = None
) -> Callable[[Path], Any] | None:
    """Return what reads a file of numbers; None if it is one of documents.

    Args:
        source: the file; its name decides, and the first lines of a CSV file.
        options: those that say which columns of a table are what.

    Raises:
        ValueError: its name does not tell.
    """
    for suffix, read in _READERS.items():
        if source.name.lower().endswith(suffix):
            if suffix == ".csv" and _is_table_of_texts(source, options or {}):
                return None
            return read
    if source.suffix in SUFFIXES:
        return None
    known = ", ".join([*_READERS, *(suffix for suffix in SUFFIXES if suffix not in _READERS)])
    raise ValueError(f"cannot tell the format of {source.name} by its name; known are {known}")


def column_names(source: FileSource) -> list[str] | None:
    """Return the names of columns in the first line of a CSV file of numbers, if it has some.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("cat,dog\\n1,2\\n")
    ...     file.flush()
    ...     column_names(FileSource(file.name))
    ['cat', 'dog']
    """
    if source.suffix != ".csv" or source.compressed:
        return None
    with readable(source.name), source.path.open(encoding="utf-8-sig") as lines:
        first = lines.readline()
    if _is_numbers(first):
        return None
    return [name.strip().strip('"') for name in first.removeprefix("#").split(",")]


def _is_table_of_texts(source: FileSource, options: Mapping[str, Any]) -> bool:
    """Whether a CSV file has texts in it: its first row under the names is not of numbers."""
    if options.get("delimiter") is not None:
        return True
    with readable(source.name), source.path.open(encoding="utf-8-sig") as lines:
        first, second = lines.readline(), lines.readline()
    names = [name.strip().strip('"') for name in first.split(",")]
    column = options.get("text_column")
    if column is not None and column in names:
        return True
    if not first.strip() or _is_numbers(first):
        return False
    return not _is_numbers(second) if second.strip() else "text" in names


def _read_numpy(path: Path) -> Any:
    """An .npz or .npy file: NumPy tells them by their first bytes, and names may be wrong."""
    loaded = _loaded(path)
    if not isinstance(loaded, NpzFile):
        return _array(loaded, path)
    with loaded as parts:
        names = set(parts.files)
        if {"data", "shape"} <= names:
            if "format" in names:
                _check_claim(parts, path)
            return matrices.from_parts(parts, path.name)
        if len(names) == 1:
            return _array(parts[names.pop()], path)
    raise ValueError(
        f"{path.name} holds {sorted(names)}; expected a sparse matrix saved by SciPy, the parts "
        "data, indices, indptr and shape, or a single array"
    )


def _check_claim(parts: NpzFile, path: Path) -> None:
    """Refuse rows that stand nowhere but in the shape, as in all formats but CSR."""
    shape, format = parts["shape"], parts["format"].tolist()
    # What is wrong with the shape or the format is said by `matrices.from_parts`.
    whole = shape.shape == (2,) and shape.dtype.kind in "iu"
    if whole and format not in (b"csr", "csr"):
        check_rows(int(shape[0]), path)


def _loaded(path: Path) -> Any:
    """What NumPy finds in a file of either kind."""
    with path.open("rb") as file:
        start = file.read(len(_NPY))
    if start and not start.startswith((_NPY, _ZIP)):
        # NumPy would take it for pickled objects, and say how to load them unsafely.
        raise ValueError("it is no file of NumPy, as .npy and .npz are")
    return np.load(path, allow_pickle=False)


def _array(array: NDArray[Any], path: Path) -> NDArray[Any]:
    if not array.ndim:
        raise ValueError(
            f"{path.name} holds a single number or value, expected a matrix with a row for each "
            "data point"
        )
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{path.name} holds values of type {array.dtype.name}, expected a matrix of numbers"
        )
    return array


def _read_mtx(path: Path) -> Any:
    matrix = matrix_market.read(path)
    return matrices.csr(matrix, path.name) if sparse.issparse(matrix) else matrix


def _read_csv(path: Path) -> Any:
    # A spreadsheet may begin with a mark of the order of bytes, which is not a part of a number.
    with path.open(encoding="utf-8-sig") as lines:
        first = lines.readline()
    if not first:
        raise ValueError(f"{path.name} is empty")
    skipped = 0 if _is_numbers(first) else 1
    return np.loadtxt(path, delimiter=",", ndmin=2, skiprows=skipped, encoding="utf-8-sig")


def _is_numbers(line: str) -> bool:
    try:
        [float(part) for part in line.split(",")]
    except ValueError:
        return False
    return True


_READERS: dict[str, Callable[[Path], Any]] = {
    ".npz": _read_numpy,
    ".npy": _read_numpy,
    ".mtx": _read_mtx,
    ".mtx.gz": _read_mtx,
    ".csv": _read_csv,
}
