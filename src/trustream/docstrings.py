"""A corpus that every machine has: the docstrings of the installed Python packages.

Files are parsed, never imported, so that nothing runs and nothing is changed.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import sysconfig
import time
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from trustream._stop_words import STOP_WORDS

_SITE = ("site-packages", "dist-packages")
_SKIPPED = {"__pycache__", "node_modules", "test", "tests", "testing", "idle_test", *_SITE}
_LARGEST_FILE = 1_000_000  # bytes; longer ones are generated tables
_WORD = re.compile(r"[^\W\d_]{3,}")


def default_roots() -> list[Path]:
    """Return the standard library and the site directories on ``sys.path``, in that order.

    Other entries (the current directory, say) are left out: the corpus should not depend on
    where the command is run.

    Examples
    --------
    >>> default_roots()[0].joinpath("ast.py").exists()
    True
    """
    found = [Path(sysconfig.get_path("stdlib"))]
    found += [Path(entry) for entry in sys.path if Path(entry).name in _SITE]
    return [root for root in dict.fromkeys(path.resolve() for path in found) if root.is_dir()]


def source_files(root: Path) -> Iterator[Path]:
    """Yield the Python files under ``root`` in sorted order, without those of tests.

    Examples
    --------
    >>> files = source_files(default_roots()[0])
    >>> next(files).name
    '__future__.py'
    """
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(
            name for name in subfolders if name not in _SKIPPED and not name.startswith(".")
        )
        for name in sorted(names):
            if name.endswith(".py") and not name.startswith("test_") and name != "conftest.py":
                yield Path(folder, name)


def docstrings_of(source: bytes) -> list[str]:
    """Return the docstrings of a module, its classes and functions, in the order of the source.

    A source that cannot be parsed has none.

    Examples
    --------
    >>> docstrings_of(b'"Module."\\ndef f():\\n    "Function."\\n')
    ['Module.', 'Function.']
    >>> docstrings_of(b"not python")
    []
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other people's invalid escapes
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[str] = []
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                found.append(text)
        # Only statements hold definitions; expressions are most of the tree.
        pending += [
            child
            for child in reversed([*ast.iter_child_nodes(node)])
            if isinstance(child, _HOLDERS)
        ]
    return found


_HOLDERS = (ast.stmt, ast.excepthandler, ast.match_case)


def tokenise(text: str) -> list[str]:
    """Return the words of ``text``: Unicode letters, lower case, three or more, no stop words.

    Lines of interactive examples (``>>>``) are left out.

    Examples
    --------
    >>> tokenise("The Größe of n_samples2 arrays, isn't it?")
    ['größe', 'samples', 'arrays']
    """
    prose = "\n".join(
        line for line in text.splitlines() if not line.lstrip().startswith((">>>", "..."))
    )
    words = _WORD.findall(unicodedata.normalize("NFC", prose).lower())
    return [word for word in words if word not in STOP_WORDS]


def collect(
    roots: Sequence[Path] | None = None,
    *,
    max_documents: int = 10_000,
    min_words: int = 20,
    max_seconds: float = 60.0,
    progress: Callable[[int], None] | None = None,
) -> list[list[str]]:
    """Return the docstrings under ``roots`` as lists of words, without duplicates.

    The top-level packages of all roots take turns, one file each, so that a bound on the number
    of documents thins all of them and drops none. The order depends on the files alone;
    ``max_seconds`` is a safety net for slow disks, and where it cuts depends on the machine.

    Parameters
    ----------
    roots : sequence of paths, optional
        Directories to walk; `default_roots` if not given.
    max_documents, min_words, max_seconds
        Stop after this many documents or seconds; leave out shorter documents.
    progress : callable, optional
        Called with the number of documents so far after each file.

    Examples
    --------
    >>> documents = collect(max_documents=5)
    >>> len(documents), min(map(len, documents)) >= 20
    (5, True)
    """
    deadline = time.monotonic() + max_seconds
    documents: dict[tuple[str, ...], None] = {}  # a dict keeps the order and drops repetitions
    for path in _in_turns(default_roots() if roots is None else roots):
        try:
            if path.stat().st_size > _LARGEST_FILE:
                continue
            source = path.read_bytes()
        except OSError:
            continue
        for text in docstrings_of(source):
            words = tuple(tokenise(text))
            if len(words) >= min_words:
                documents.setdefault(words)
        if progress is not None:
            progress(min(len(documents), max_documents))
        if len(documents) >= max_documents or time.monotonic() > deadline:
            break
    return [list(words) for words in documents][:max_documents]


def _in_turns(roots: Sequence[Path]) -> Iterator[Path]:
    """Yield the files of all top-level packages, a file of each in turn."""
    packages: dict[tuple[Path, str], list[Path]] = {}
    for root in roots:
        for path in source_files(root):
            parts = path.relative_to(root).parts
            packages.setdefault((root, parts[0] if len(parts) > 1 else ""), []).append(path)
    queues = [iter(files) for files in packages.values()]
    while queues:
        remaining = []
        for queue in queues:
            for path in queue:
                yield path
                remaining.append(queue)
                break
        queues = remaining


def build_vocabulary(
    documents: Iterable[Sequence[str]],
    *,
    min_documents: int = 5,
    max_fraction: float = 0.3,
    max_words: int = 10_000,
) -> list[str]:
    """Return the words, sorted, that are in neither too few nor too many documents.

    If more than ``max_words`` are left, those in most documents stay (ties by the alphabet).

    Examples
    --------
    >>> build_vocabulary([["a", "b"], ["a", "c"], ["a", "b"]], min_documents=2, max_fraction=0.9)
    ['b']
    """
    count = 0
    frequency: Counter[str] = Counter()
    for words in documents:
        count += 1
        frequency.update(set(words))
    kept = [w for w, n in frequency.items() if min_documents <= n <= max_fraction * count]
    kept.sort(key=lambda word: (-frequency[word], word))
    return sorted(kept[:max_words])


def count_matrix(documents: Iterable[Sequence[str]], vocabulary: Sequence[str]) -> sparse.csr_array:
    """Return the counts of the vocabulary's words as a (documents, words) CSR array of int64.

    Examples
    --------
    >>> count_matrix([["b", "a", "b"], ["z"]], ["a", "b"]).toarray()
    array([[1, 2],
           [0, 0]])
    """
    column = {word: index for index, word in enumerate(vocabulary)}
    rows: list[int] = []
    columns: list[int] = []
    number = 0
    for number, words in enumerate(documents, start=1):
        known = [column[word] for word in words if word in column]
        columns += known
        rows += [number - 1] * len(known)
    ones = np.ones(len(rows), dtype=np.int64)
    # COO to CSR adds up what is in the same place.
    return sparse.coo_array((ones, (rows, columns)), shape=(number, len(column))).tocsr()
