"""The source distribution contains everything that its tests import or read."""

from __future__ import annotations

import ast
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What a source distribution contains whatever its settings say.
ALWAYS = {"pyproject.toml", ".gitignore"}


def tracked() -> set[str]:
    """Return the files and folders at the top of the repository that git knows."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs a clone: a source distribution has only what it includes")
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True
    )
    return {path.partition("/")[0] for path in listed.stdout.split("\0") if path}


def mentioned(code: str) -> set[str]:
    """Return the first parts of the modules that the code imports and of the strings in it.

    >>> sorted(mentioned('import a.b; from c import d; e = "f/g"; importorskip("h.i")'))
    ['a', 'c', 'f', 'f/g', 'h', 'h.i']
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            found |= {text, text.partition("/")[0], text.partition(".")[0]}
    return found


def needed() -> set[str]:
    """Return the top-level files and folders that tests or their settings name."""
    names = set(settings()["pytest"]["ini_options"]["testpaths"])
    for path in (ROOT / "tests").rglob("*.py"):
        if path != Path(__file__):  # which names them all
            names |= mentioned(path.read_text(encoding="utf-8"))
    return {name.partition("/")[0] for name in names} & tracked()


def settings() -> dict:
    """Return the tables of tools in pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]


def test_the_source_distribution_covers_what_tests_import_or_read() -> None:
    included = settings()["hatch"]["build"]["targets"]["sdist"]["only-include"]
    assert needed() <= {*included, *ALWAYS}
    for name in included:
        assert (ROOT / name).exists(), name


def test_what_tests_need_is_found() -> None:
    """A folder that is imported, one that is only read, and files."""
    found = needed()
    assert {"benchmarks", "experiments", "scripts", ".ci", "docs", "CONTRIBUTING.md"} <= found
