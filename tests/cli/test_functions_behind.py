"""Every command has a public function, which the documents name and which has an example."""

from __future__ import annotations

import dataclasses
import importlib
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trustream.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
# Commands that help a shell, and have nothing to offer to a program.
OF_THE_SHELL = {"completion"}
ROW = re.compile(r"^\| `trustream ([\w-]+)` \| (.*) \| (.*) \|$", re.MULTILINE)


def rows() -> dict[str, tuple[list[Any], list[str]]]:
    """By command: its functions, and the names of what they return."""
    table = PAGE.read_text(encoding="utf-8").partition("## The same from Python")[2]
    return {
        command: (
            [resolved(name) for name in re.findall(r"`(trustream\.[\w.]+)`", functions)],
            re.findall(r"`(\w+)`", results),
        )
        for command, functions, results in ROW.findall(table)
    }


def resolved(name: str) -> Any:
    """The function or method of a dotted name."""
    module, _, rest = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), rest)
    except ModuleNotFoundError:
        return getattr(resolved(module), rest)


def test_every_command_has_a_row() -> None:
    assert set(rows()) == set(main.commands) - OF_THE_SHELL


@pytest.mark.parametrize("command", sorted(set(main.commands) - OF_THE_SHELL))
def test_functions_return_dataclasses(command: str) -> None:
    functions, results = rows()[command]
    assert functions and results
    classes = {found for function in functions for found in returned(function)}
    names = {found.__name__ for found in classes if dataclasses.is_dataclass(found)}
    assert results[0] in names, (command, names)
    for function in functions:
        assert function.__doc__, function


def returned(function: Any) -> Iterator[Any]:
    """The classes in a function's annotation of what it returns."""
    annotation = typing.get_type_hints(function)["return"]
    yield annotation
    yield from typing.get_args(annotation)


def test_the_names_of_results_exist() -> None:
    for functions, results in rows().values():
        homes = [importlib.import_module(function.__module__) for function in functions]
        for name in results:
            assert any(hasattr(home, name) for home in homes), name
