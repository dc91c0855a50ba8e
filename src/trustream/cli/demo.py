"""The command ``trustream demo``."""

from __future__ import annotations

from pathlib import Path

import click

from trustream.cli.number_parameters import Real, Whole
from trustream.cli.shared_parameters import seed_option, topics_option

_EPILOG = """\b
Examples:
  trustream demo
  trustream demo --seconds 20 --store demo.db
  trustream demo --serve                   # with the dashboard, until Ctrl-C
"""


@click.command(epilog=_EPILOG, short_help="Watch topics form, from docstrings on this machine.")
@topics_option(20)
@click.option(
    "--documents",
    default=10_000,
    type=Whole(100),
    help="Use at most this many docstrings.",
)
@click.option("--words", default=8, type=Whole(1), help="Words shown per topic.")
@click.option("--seconds", default=60.0, type=Real(1), help="How long to learn.")
@click.option(
    "--store",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The new SQLite file to make.  [default: one in a temporary folder]",
)
@click.option("--serve", is_flag=True, help="Show the dashboard in a browser, too, until Ctrl-C.")
@seed_option
def demo(
    topics: int,
    documents: int,
    words: int,
    seconds: float,
    store: Path | None,
    serve: bool,
    seed: int,
) -> None:
    """Learn topics from a stream: the docstrings of the installed Python packages."""
    from trustream.demo import run

    run(
        n_components=topics,
        max_documents=documents,
        n_words=words,
        seconds=seconds,
        store=store,
        seed=seed,
        serve=serve,
    )
