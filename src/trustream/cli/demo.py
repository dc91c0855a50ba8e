"""``trustream demo``."""

from __future__ import annotations

import click


@click.command()
@click.option("--topics", default=20, show_default=True, type=click.IntRange(1), help="Topics.")
@click.option(
    "--documents",
    default=10_000,
    show_default=True,
    type=click.IntRange(100),
    help="Use at most this many docstrings.",
)
@click.option(
    "--words", default=8, show_default=True, type=click.IntRange(1), help="Words shown a topic."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Random seed.")
def demo(topics: int, documents: int, words: int, seed: int) -> None:
    """Fit topics to the docstrings of the installed Python packages."""
    from trustream.demo import run

    try:
        run(n_components=topics, max_documents=documents, n_words=words, seed=seed)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
