"""What commands on stores share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

Command = Callable[..., Any]

# Written out, so that --help does not load the library; a test compares them.
METHODS = ("trust-region", "natural-gradient", "streaming-vb", "streaming-batch")


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


def echo_json(value: Any) -> None:
    """A JSON object on one line of standard output."""
    click.echo(json.dumps(value))


@contextmanager
def clear_errors() -> Iterator[None]:
    """What a user can put right is said in a sentence, with exit code 1."""
    from trustream.store.errors import StoreError

    try:
        yield
    except (ValueError, OSError, StoreError) as error:
        raise click.ClickException(str(error)) from error


def looks_like_store(path: str) -> bool:
    """Whether a path or address is a store's, and not a saved model's."""
    if "://" in path:
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

    with clear_errors():
        found = open_store(store, **{"create": False, **options})
        try:
            yield found
        finally:
            found.close()
