"""Arguments and options that several commands share, and how the given STORE is opened."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from trustream.cli.completion import file_names
from trustream.cli.number_parameters import LARGEST_JOBS, LARGEST_SEED, Whole
from trustream.streaming.saved_names import DEFAULT_NAME

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

store_argument: Decorator = click.argument("store", metavar="STORE", shell_complete=file_names)
json_option: Decorator = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for programs."
)
model_option: Decorator = click.option(
    "--model", "name", default=DEFAULT_NAME, help="Name of the model in the store."
)
seed_option: Decorator = click.option(
    "--seed", default=0, type=Whole(0, LARGEST_SEED), help="Random seed."
)
jobs_option: Decorator = click.option(
    "--jobs", type=Whole(1, LARGEST_JOBS), help="Threads.  [default: all cores]"
)


def topics_option(default: int) -> Decorator:
    """Return the option --topics with a default number of topics."""
    return click.option("--topics", default=default, type=Whole(1), help="Topics.")


class Method(click.ParamType):
    """Accept the name of an algorithm that can learn from a stream.

    It is not a `click.Choice`, which would have to load all algorithms to print a help text.
    """

    name = "method"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Called by click."""
        from trustream.learning import algorithms

        known = algorithms.streaming()
        if value not in known:
            self.fail(f"{value!r} is not one of {', '.join(known)}.", param, ctx)
        return str(value)


method_option: Decorator = click.option(
    "--method",
    default="trust-region",
    type=Method(),
    help="Name of the algorithm.",
)


def opened(store: str, **options: Any) -> Any:
    """Open a STORE, which must exist unless `create=True` is given; `with` closes it."""
    from trustream.store import open_store

    with naming_init(store):
        return open_store(store, **{"create": False, **options})


@contextmanager
def naming_init(store: str) -> Iterator[None]:
    """Let the error for a STORE or a model that is not there name the command that makes one."""
    from trustream.store.errors import MissingStoreError, StoreError

    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{error}; trustream init makes a store, trustream export a model file"
        ) from error
    except MissingStoreError as error:
        make = f"make the store first (trustream init {repeatable(store)})"
        raise StoreError(f"{error.problem}; {make}, {error.advice}") from error


def repeatable(store: str) -> str:
    """Return a STORE as the user wrote it, without a password, to suggest the next command.

    >>> repeatable("topics.db"), repeatable("my topics.db")
    ('topics.db', "'my topics.db'")
    """
    from trustream.store import shown_address

    return shlex.quote(shown_address(store))


def suggested_model(name: str) -> str:
    """Return the option that names a model, to suggest the next command; "" for the default one.

    >>> suggested_model("model"), suggested_model("two words")
    ('', " --model 'two words'")
    """
    return "" if name == DEFAULT_NAME else f" --model {shlex.quote(name)}"
