"""Every command has a public function, which the documents name and which has an example."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from trustream.cli import main
from trustream.cli.option_names import option_names

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
# Commands that help a shell, and have nothing to offer to a program.
OF_THE_SHELL = {"completion"}
# Options whose letter stands for another parameter of the function: documents, not words.
OF_ANOTHER_MEANING = {("documents", "n_words")}
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


@pytest.mark.parametrize("command", sorted(set(main.commands) - OF_THE_SHELL))
def test_defaults_are_those_of_the_functions(command: str) -> None:
    """A default is written down again in the command, so that --help does not load the library."""
    options = {
        max(option.opts, key=len): option.default
        for option in main.commands[command].params
        if isinstance(option, click.Option) and not option.is_flag
    }
    names = option_names(main.commands[command])
    for function in rows()[command][0]:
        for name, parameter in inspect.signature(function).parameters.items():
            default, option = parameter.default, options.get(names.get(name, ""))
            are_given = isinstance(default, int | float | str) and isinstance(option, type(default))
            if are_given and (command, name) not in OF_ANOTHER_MEANING:
                assert option == default, (command, function.__name__, name)
