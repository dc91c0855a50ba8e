"""``trustream simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trustream.cli.files import InputFile
from trustream.cli.numbers import Real, Whole, seed_option
from trustream.cli.options import (
    Method,
    echo,
    echo_json,
    json_option,
    opened,
    repeatable,
    store_argument,
)

_EPILOG = """\b
Example:
  trustream simulate stream.db counts.npz --vocabulary words.txt --topics 20 --rate 10 -p 0.2
"""


@click.command(epilog=_EPILOG)
@store_argument
@click.argument("data", type=InputFile())
@click.option(
    "--vocabulary",
    required=True,
    type=InputFile(),
    help="Words by column, one a line.",
)
@click.option("--topics", default=20, show_default=True, type=Whole(1), help="Topics.")
@click.option(
    "--rate",
    default=10.0,
    show_default=True,
    type=Real(0, min_open=True),
    help="Documents that begin in a tick, on average.",
)
@click.option(
    "-p",
    default=0.2,
    show_default=True,
    type=Real(0, 1, min_open=True),
    help="Probability that a document shows its next word in a tick.",
)
@click.option("--steps", default=1, show_default=True, type=Whole(0), help="Steps a tick.")
@click.option("--ticks", type=Whole(1), help="Stop after so many ticks.")
@click.option("--rows", type=Whole(1), help="Take the first ROWS documents only.")
@click.option("--batch", default=50, show_default=True, type=Whole(1), help="Batch size.")
@click.option(
    "--method",
    default="trust-region",
    show_default=True,
    type=Method(),
    help="Name of the algorithm.",
)
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
    """Play DATA, a matrix of documents, into a new STORE word by word, learning meanwhile.

    At each tick some documents begin, and each that has begun shows its next word with some
    probability (section 4.3 of the paper).
    """
    import numpy as np

    from trustream import feeds
    from trustream.streaming import simulator
    from trustream.streaming.published import save_settings
    from trustream.streaming.trainer import StreamTrainer

    words = feeds.read_vocabulary(vocabulary)
    counts = feeds.read_matrix(data, words)[:rows]
    with opened(store, create=True, min_documents=1) as found:
        if found.totals().documents:
            raise ValueError(f"{found.name} has documents already: a simulation starts with none")
        options: dict[str, Any] = {"method": method, "batch_size": batch, "random_state": seed}
        with StreamTrainer(found, topics, prefetch=False, **options) as trainer:
            save_settings(found, trainer.model)
            stream = simulator.ticks(
                counts,
                words,
                rate=rate,
                p=p,
                rng=np.random.default_rng(seed),
                # The paper's concession: it cannot use single words.
                whole=method == "streaming-vb",
            )
            steps_taken = simulator.simulate(
                found, trainer, stream, steps_a_tick=steps, n_ticks=ticks
            )
            for tick, info in steps_taken:
                if tick.number % 100 and info is not None and info.score is None:
                    continue
                values = {
                    "tick": tick.number,
                    "begun": tick.n_begun,
                    "active": tick.n_active,
                    "steps": trainer.n_steps,
                    "rho": None if info is None else info.step.rho,
                    "heldout": trainer.last_score,
                }
                if as_json:
                    echo_json(values)
                elif info is not None and info.score is not None:
                    echo(
                        f"tick {tick.number:,}: {tick.n_begun:,} documents begun, "
                        f"{tick.n_active:,} not complete, rate {info.step.rho:.4f}, "
                        f"held-out {info.score.per_word:.4f} nats a word"
                    )
            trainer.save()
            totals = found.totals()
    final = {"documents": totals.documents, "tokens": totals.tokens, "steps": trainer.n_steps,
             "heldout": trainer.last_score}  # fmt: skip
    if as_json:
        echo_json(final)
    else:
        echo(f"{totals.documents:,} documents, {totals.tokens:,} tokens, "
                   f"{trainer.n_steps:,} steps; trustream topics {repeatable(store)}")  # fmt: skip
