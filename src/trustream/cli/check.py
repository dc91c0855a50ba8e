"""The command ``trustream check``."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from trustream.cli.interruption import if_interrupted
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, opened, repeatable, store_argument

_EPILOG = """\b
Examples:
  trustream check topics.db
  trustream check topics.db --repair
  trustream check topics.db --json     # with every document to ingest again
"""


@click.command(epilog=_EPILOG, short_help="Compare the counts of a STORE with its documents.")
@store_argument
@click.option("--repair", is_flag=True, help="Write anew what counting the documents gives.")
@json_option
def check(store: str, repair: bool, as_json: bool) -> None:
    """Compare what a STORE counts with its documents, and say what is missing.

    The exit code is 1 if something is wrong that was not repaired. A repair is all or nothing; it
    changes counts, columns and places, and of documents only those whose contents are damaged.
    """

    def print_suspect(key: str) -> None:
        if as_json:
            echo_json({"suspect": key})

    with opened(store) as found:
        if repair:
            if_interrupted(
                "A repair is done as a whole or not at all: trustream check "
                f"{repeatable(store)} tells."
            )
        result = found.check(repair=repair, on_suspect=print_suspect)
        name = found.name
    if as_json:
        echo_json({**dataclasses.asdict(result), "ok": result.ok})
    else:
        _print(name, result)
    if not result.ok:
        raise click.exceptions.Exit(1)


def _print(name: str, result: Any) -> None:
    verdict = "damaged" if not result.ok else "repaired" if result.damage else "all is well"
    echo(f"{name}: {result.n_documents:,} documents, {result.n_tokens:,} tokens: {verdict}")
    for damage in result.damage:
        echo(f"{damage}")
    if result.faulty and not result.missing_tokens:
        echo("It was written by a version that could lose words; none are missing.")
    if result.n_suspects:
        keys = ", ".join(map(repr, result.suspects))
        more = ", ... (--json has all)" if result.n_suspects > len(result.suspects) else ""
        echo(
            f"{result.n_suspects:,} documents may lack words; delete them and ingest them again: "
            f"{keys}{more}"
        )
