"""What commands share."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from trustream.terminal import shown

Command = Callable[..., Any]


class Method(click.ParamType):
    """The name of an algorithm that can learn from a stream.

    Not a `click.Choice`, which would have to know the algorithms, and load what they need, to
    print a help text.
    """

    name = "method"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Called by click."""
        from trustream.learning import algorithms

        known = algorithms.streaming()
        if value not in known:
            self.fail(f"{value!r} is not one of {', '.join(known)}.", param, ctx)
        return str(value)


def store_argument(command: Command) -> Command:
    """STORE, a file or an address."""
    return click.argument("store", metavar="STORE")(command)


def json_option(command: Command) -> Command:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")(command)


def model_option(command: Command) -> Command:
    """--model NAME."""
    return click.option(
        "--model",
        "name",
        default="model",
        show_default=True,
        help="Name of the model in the store.",
    )(command)


def echo(text: str, *, err: bool = False) -> None:
    """A line of text, in which words, keys and names are nothing but text.

    It is the same on a terminal, in a file and in a pipe; programs read JSON.
    """
    with writing("standard error" if err else "standard output"):
        click.echo(shown(text), err=err)


def echo_json(value: Any, indent: int | None = None) -> None:
    """JSON on standard output, in one line unless `indent` is given.

    It is plain ASCII, so that it is safe to look at too. A number that is not finite, which JSON
    does not have, is null.
    """
    with writing("standard output"):
        click.echo(json.dumps(_finite(value), indent=indent))


def echo_table(table: Any) -> None:
    """A table of rich on standard output; its cells must be `rich.text.Text` of `shown` texts."""
    from rich.console import Console

    with writing("standard output"):
        Console().print(table)


@contextmanager
def writing(stream: str) -> Iterator[None]:
    """Say of an error inside that it is this stream which cannot be written."""
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


def repeatable(store: str) -> str:
    """A STORE as the user wrote it, for the next command, without its password."""
    from trustream.store import shown_address

    return shown_address(store)


def is_address(store: str) -> bool:
    """Whether a STORE is an address, or says where one stands, and not the path of a file.

    >>> [is_address(text) for text in ("topics.db", "postgresql://host/db", "env:NEWS", "@file")]
    [False, True, True, True]
    """
    return "://" in store or store.startswith(("env:", "@"))


def looks_like_store(path: str) -> bool:
    """Whether a path or address is a store's, and not a saved model's."""
    if is_address(path):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(15) == b"SQLite format 3"
    except OSError:
        return False


@contextmanager
def opened(store: str, **options: Any) -> Iterator[Any]:
    """The store, closed at the end; it must exist unless `create` is given."""
    from trustream.store import open_store

    found = open_store(store, **{"create": False, **options})
    try:
        yield found
    finally:
        found.close()
