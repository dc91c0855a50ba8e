"""The command ``trustream simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trustream.cli.file_parameters import InputFile
from trustream.cli.interruption import if_interrupted
from trustream.cli.number_parameters import Real, Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import (
    json_option,
    method_option,
    opened,
    repeatable,
    seed_option,
    store_argument,
    topics_option,
)

if TYPE_CHECKING:
    from trustream.streaming.simulation import SimulationProgress

_EPILOG = """\b
Examples:
  trustream simulate stream.db counts.npz --vocabulary words.txt
  trustream simulate stream.db counts.npz --vocabulary words.txt --ticks 100
"""


@click.command(epilog=_EPILOG, short_help="Play a matrix of documents into a new STORE.")
@store_argument
@click.argument("data", type=InputFile())
@click.option(
    "--vocabulary",
    required=True,
    type=InputFile(),
    help="Words by column, one per line.",
)
@topics_option(20)
@click.option(
    "--rate",
    default=10.0,
    type=Real(0, min_open=True),
    help="Documents that begin in a tick, on average.",
)
@click.option(
    "-p",
    default=0.2,
    type=Real(0, 1, min_open=True),
    help="Probability that a document shows its next word in a tick.",
)
@click.option("--steps", default=1, type=Whole(0), help="Steps per tick.")
@click.option("--ticks", type=Whole(1), help="Stop after so many ticks.")
@click.option("--rows", type=Whole(1), help="Take the first ROWS documents only.")
@click.option("--batch", default=50, type=Whole(1), help="Batch size.")
@method_option
@seed_option
@json_option
def simulate(
    store: str,
    data: Path,
    vocabulary: Path,
    topics: int,
    rate: float,
    p: float,
    steps: int,
    ticks: int | None,
    rows: int | None,
    batch: int,
    method: str,
    seed: int,
    as_json: bool,
) -> None:
    """Play DATA, a matrix or documents, into a new STORE word by word, learning meanwhile.

    At each tick some documents begin, and each that has begun shows its next word with some
    probability (section 4.3 of the paper).
    """
    from trustream import feeds
    from trustream.streaming.simulation import run_simulation

    words = feeds.read_vocabulary(vocabulary)
    with opened(store, create=True, min_documents=1) as found:
        tokenise = feeds.agreed_tokeniser(found, None, data.name)
        counts = feeds.read_matrix(data, words, tokenise=tokenise)[:rows]
        if_interrupted(
            f"What was played so far is in {found.name}, and trustream train {repeatable(store)} "
            "learns from it. A simulation cannot go on: begin again with another STORE."
        )
        result = run_simulation(
            found,
            counts,
            words,
            n_topics=topics,
            method=method,
            batch_size=batch,
            rate=rate,
            p=p,
            steps_per_tick=steps,
            n_ticks=ticks,
            random_state=seed,
            callback=_print_json if as_json else _print_line,
        )
    if as_json:
        echo_json(
            {
                "documents": result.n_documents,
                "tokens": result.n_tokens,
                "steps": result.n_steps,
                "heldout": result.last_score,
            }
        )
    else:
        echo(
            f"{result.n_documents:,} documents, {result.n_tokens:,} tokens, {result.n_steps:,} "
            f"steps; trustream topics {repeatable(store)}"
        )


def _print_json(progress: SimulationProgress) -> None:
    """Print every hundredth tick, and each that had no step or a score."""
    if progress.tick % 100 == 0 or progress.rho is None or progress.is_scored:
        echo_json(
            {
                "tick": progress.tick,
                "begun": progress.n_begun,
                "active": progress.n_active,
                "steps": progress.n_steps,
                "rho": progress.rho,
                "heldout": progress.last_score,
            }
        )


def _print_line(progress: SimulationProgress) -> None:
    """Print each tick that had a score."""
    if progress.is_scored:
        echo(
            f"tick {progress.tick:,}: {progress.n_begun:,} documents begun, "
            f"{progress.n_active:,} not complete, rate {progress.rho:.4f}, "
            f"held-out {progress.last_score:.4f} nats per word"
        )
