"""The command ``trustream report``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, model_option, opened, store_argument
from trustream.cli.topic_parameters import reading

_EPILOG = """\b
Examples:
  trustream report topics.db topics.html
  trustream report topics.db topics.html --title "News of 2024" -n 10
"""


class PageFile(click.Path):
    """Accept the path of a new page, or of one that will be replaced; its name ends in .html.

    >>> PageFile().convert("topics.html", None, None) == Path("topics.html")
    True
    """

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Called by click."""
        path: Any = super().convert(value, param, ctx)
        if path.suffix.lower() not in (".html", ".htm"):
            # So that no store or feed is overwritten by mistake.
            self.fail(f"{value!r} is no name of a page; give one that ends in .html.", param, ctx)
        return path


@click.command(epilog=_EPILOG, short_help="Write a page about topics, for a browser.")
@store_argument
@click.argument("path", type=PageFile())
@click.option("--title", help="Of the page.  [default: the store's name]")
@click.option("-n", default=5, type=Whole(0), help="Documents shown of each topic.")
@click.option("--bins", type=Whole(2, 1000), help="Most bins of time.")
@model_option
@json_option
def report(
    store: str,
    path: Path,
    title: str | None,
    n: int,
    bins: int | None,
    name: str,
    as_json: bool,
) -> None:
    """Write a page about the topics of a STORE to PATH, one file for any browser, offline.

    It has a map of topics, their words, their shares over time and the documents that are most
    about them: look whether what it shows of documents may be given away.
    """
    from trustream.topics.stored_report import write_stored_report

    with opened(store) as found, reading(found) as progress:
        result = write_stored_report(
            found, path, name, title=title, bins=bins, n_documents=n, progress=progress
        )
    if as_json:
        echo_json(dataclasses.asdict(result))
    else:
        echo(
            f"{result.path}: {result.n_topics} topics, {result.n_documents:,} documents read, "
            f"{result.n_bytes / 1000:,.0f} kB"
        )
