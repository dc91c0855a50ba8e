"""Print text, JSON, tables and progress, so that no word or name can command the terminal."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import click

from trustream.terminal import Advance, shown


def echo(text: str, *, err: bool = False) -> None:
    """Print a line of text, in which control characters are escaped.

    The line is the same on a terminal, in a file and in a pipe; programs read JSON.
    """
    with writing("standard error" if err else "standard output"):
        click.echo(shown(text), err=err)


def echo_json(value: Any, indent: int | None = None) -> None:
    """Print JSON on standard output, in one line unless `indent` is given.

    It is plain ASCII and so safe on a terminal too. A number that is not finite, which JSON does
    not have, becomes null.
    """
    with writing("standard output"):
        click.echo(json.dumps(_finite(value), indent=indent))


def echo_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: with lines on a terminal; elsewhere cells with tabs between, not wrapped.

    Parameters
    ----------
    title : str
        A line above the table.
    columns : sequence of str
        Headings; one that ends in ">" has its cells on the right.
    rows : iterable of sequences of str
        Cells; control characters in them are escaped.
    """
    headings = [shown(heading.removesuffix(">")) for heading in columns]
    safe = [[shown(cell) for cell in row] for row in rows]
    if sys.stdout is None or not sys.stdout.isatty():
        with writing("standard output"):
            for line in ([shown(title)], headings, *safe):
                click.echo("\t".join(line))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(shown(title)), title_justify="left")
    for heading, column in zip(headings, columns, strict=True):
        table.add_column(heading, justify="right" if column.endswith(">") else "left")
    for row in safe:
        table.add_row(*map(Text, row))
    with writing("standard output"):
        Console().print(table)


def progress(
    title: str, total: int | None, unit: str = "documents"
) -> AbstractContextManager[Advance]:
    """Show progress on standard error; entering it gives a function of how much is done."""
    from rich.console import Console

    from trustream import terminal

    return terminal.progress(Console(stderr=True), title, total, unit)


@contextmanager
def writing(stream: str) -> Iterator[None]:
    """Name the stream in errors that are raised while it is written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, stream) from error


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value
