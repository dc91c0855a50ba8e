"""Read a corpus that every machine has: the docstrings of the installed Python packages.

Files are parsed, not imported, so that none of their code runs.
"""

from __future__ import annotations

import ast
import os
import sys
import sysconfig
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trustream import text

_SITE = ("site-packages", "dist-packages")
_SKIPPED = {"__pycache__", "node_modules", "test", "tests", "testing", "idle_test", *_SITE}
_LARGEST_FILE = 1_000_000  # bytes; larger ones are generated tables


@dataclass(frozen=True, slots=True)
class Docstring:
    """What is said about one module, class or function.

    Attributes:
        name: its module and what it describes there, as in ``email.message:Message.walk``.
        text: the docstring.
        words: its words, as `tokenise` finds them.
    """

    name: str
    text: str
    words: list[str]


def default_roots() -> list[Path]:
    """Return the standard library and the site directories on ``sys.path``, in that order.

    Other entries, such as the current directory, are left out: the corpus should not depend on
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


def docstrings_of(source: bytes, module: str = "") -> list[tuple[str, str]]:
    """Return the docstrings of a module, its classes and functions, in the order of the source.

    Each comes after the name of what it describes. A source that cannot be parsed has none.

    Examples
    --------
    >>> docstrings_of(b'"Module."\\nclass A:\\n def f():\\n  "Function."\\n', "m")
    [('m', 'Module.'), ('m:A.f', 'Function.')]
    >>> docstrings_of(b"not python")
    []
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other people's invalid escapes
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[tuple[str, str]] = []
    pending: list[tuple[str, ast.AST]] = [(module, tree)]
    while pending:
        name, node = pending.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if not isinstance(node, ast.Module):
                name = f"{name}{':' if name == module else '.'}{node.name}"
            docstring = ast.get_docstring(node)
            if docstring:
                found.append((name, docstring))
        # Only statements contain definitions; most of the tree is expressions.
        pending += [
            (name, child)
            for child in reversed([*ast.iter_child_nodes(node)])
            if isinstance(child, _HOLDERS)
        ]
    return found


def module_name(path: Path, root: Path) -> str:
    """Return the name by which a file under a root is imported.

    Examples
    --------
    >>> module_name(Path("/lib/email/mime/__init__.py"), Path("/lib"))
    'email.mime'
    """
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


_HOLDERS = (ast.stmt, ast.excepthandler, ast.match_case)


def tokenise(docstring: str) -> list[str]:
    """Return the words of a docstring as `text.tokenise` does, without interactive examples.

    Examples
    --------
    >>> tokenise("The Größe of n_samples2 arrays, isn't it?")
    ['größe', 'samples', 'arrays']
    """
    prose = "\n".join(
        line for line in docstring.splitlines() if not line.lstrip().startswith((">>>", "..."))
    )
    return text.tokenise(prose)


def stream(
    roots: Sequence[Path] | None = None, *, min_words: int = 20
) -> Iterator[list[Docstring]]:
    """Yield the docstrings of one file after another, without duplicates.

    The top-level packages of all roots take turns, one file each, so that a reader who stops early
    has something of all of them. The order depends on the files alone. Names are different: of
    several with one name, the later ones get a number.

    Parameters
    ----------
    roots : sequence of paths, optional
        Directories to walk; `default_roots` if not given.
    min_words : int
        Shorter docstrings are left out.

    Examples
    --------
    >>> next(found for found in stream() if found)[0].name
    '__future__'
    """
    seen: set[tuple[str, ...]] = set()
    uses: dict[str, int] = {}
    for path, root in _by_turns(default_roots() if roots is None else roots):
        try:
            if path.stat().st_size > _LARGEST_FILE:
                continue
            source = path.read_bytes()
        except OSError:
            continue
        found = []
        for name, docstring in docstrings_of(source, module_name(path, root)):
            words = tuple(tokenise(docstring))
            if len(words) >= min_words and words not in seen:
                seen.add(words)
                uses[name] = uses.get(name, 0) + 1
                if uses[name] > 1:
                    name = f"{name} ({uses[name]})"
                found.append(Docstring(name, docstring, list(words)))
        yield found


def _by_turns(roots: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield the files of all top-level packages with their roots, one file of each in turn."""
    packages: dict[tuple[Path, str], list[Path]] = {}
    for root in roots:
        for path in source_files(root):
            parts = path.relative_to(root).parts
            packages.setdefault((root, parts[0] if len(parts) > 1 else ""), []).append(path)
    queues = [(root, iter(files)) for (root, _), files in packages.items()]
    while queues:
        remaining = []
        for root, queue in queues:
            for path in queue:
                yield path, root
                remaining.append((root, queue))
                break
        queues = remaining
