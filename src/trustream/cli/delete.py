"""The command ``trustream delete``."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import click

from trustream.cli.file_parameters import InputOrStandardInput
from trustream.cli.number_parameters import Real
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, opened, repeatable, store_argument

_EPILOG = """\b
Examples:
  trustream delete topics.db "review 7" "review 8"
  trustream delete topics.db --from ids.txt         # one id a line
  trustream delete topics.db "review 7" --rewrite   # leave no copy
"""
_SHOWN = 20


@click.command(epilog=_EPILOG, short_help="Delete documents from a STORE for good.")
@store_argument
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--from", "source", type=InputOrStandardInput(), help="File of ids, one a line.")
@click.option(
    "--append-ids-older-than",
    "days",
    type=Real(0),
    help="Also forget append ids noted so many days ago; their records count as new then.",
)
@click.option("--rewrite", is_flag=True, help="Write all files anew; others wait meanwhile.")
@json_option
def delete(
    store: str,
    ids: tuple[str, ...],
    source: Any,
    days: float | None,
    rewrite: bool,
    as_json: bool,
) -> None:
    """Delete documents from a STORE by their ids, all or nothing, and overwrite them.

    The exit code is 1 if there were ids that no document has; the others are deleted all the same.
    Words that no other document has are deleted too, also from the saved model. What the model has
    learned stays.
    """
    from trustream.streaming.forgetting import forget

    if not (ids or source or rewrite or days is not None):
        raise click.UsageError("nothing says what to delete; give ids, or --from a file of them.")
    keys = [*ids, *(_read_ids(str(source)) if source else ())]
    # None was noted before 1970.
    before = None if days is None else max(0.0, time.time() - 86400 * days)
    with opened(store) as found:
        result = forget(found, keys, append_ids_before=before, rewrite=rewrite)
        name, server = found.name, "://" in found.url
    if as_json:
        echo_json(dataclasses.asdict(result))
    else:
        _print(name, result, server, repeatable(store))
    if result.unknown:
        some = ", ".join(map(repr, result.unknown[:_SHOWN]))
        more = ", ... (--json has all)" if len(result.unknown) > _SHOWN else ""
        n = len(result.unknown)
        raise click.ClickException(f"no document has {n:,} of these ids: {some}{more}")


def _read_ids(source: str) -> list[str]:
    """The lines of a file or of standard input that are not empty."""
    keys = []
    with click.open_file(source, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                key = line.rstrip(b"\r\n").decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise ValueError(
                    f"{source}, line {number} is not UTF-8; nothing was deleted"
                ) from None
            if key.strip():
                keys.append(key)
    return keys


def _print(name: str, result: Any, server: bool, store: str) -> None:
    forgotten = f", {result.n_append_ids:,} append ids forgotten" if result.n_append_ids else ""
    n = result.n_documents
    echo(f"{name}: {n:,} document{'s' * (n != 1)} deleted{forgotten}")
    if not (n or result.n_append_ids or result.rewritten):
        return
    if server and result.overwritten:
        echo("The tables were written anew; the server's log, standbys and backups may keep it.")
    elif server and result.rewritten:
        echo("The server has not written the tables anew: only their owner may do so.", err=True)
    elif server:
        echo(
            "PostgreSQL keeps deleted rows in its files until they are overwritten after a VACUUM; "
            "--rewrite writes the tables anew. Its log, standbys and backups keep them longer."
        )
    elif not result.overwritten:
        echo(
            "Another process kept on reading, and what was deleted may still stand in the "
            f"write-ahead log; run trustream delete {store} --rewrite later.",
            err=True,
        )
    elif not result.rewritten:
        echo(
            "It was overwritten in the file, and the write-ahead log is empty; --rewrite also "
            "removes copies that SQLite leaves now and then, and earlier versions often."
        )
    if result.n_phrases and n:
        echo(
            f"The {result.n_phrases:,} phrases of the tokeniser stay, also those that were found "
            f"in what was deleted: trustream tokeniser {store} --json shows them, --phrases FILE "
            "sets others."
        )
    if result.models and n:
        echo(
            "The model has learned from what was deleted: a trace stays, perhaps for ever where "
            f"the learning rate falls; trustream retrain {store} learns afresh without it. "
            "Exported files and copies are as they were."
        )
