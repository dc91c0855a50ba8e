"""The command ``trustream status``."""

from __future__ import annotations

import dataclasses

import click

from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import (
    json_option,
    model_option,
    opened,
    repeatable,
    store_argument,
)

_EPILOG = """\b
Examples:
  trustream status topics.db
  watch -n 5 trustream status topics.db       # every five seconds
  trustream status topics.db --json
"""


@click.command(epilog=_EPILOG)
@store_argument
@model_option
@json_option
def status(store: str, name: str, as_json: bool) -> None:
    """Say what is in a STORE and how far its model is."""
    from trustream.streaming.status import status as status_of

    with opened(store) as found:
        result = status_of(found, name)
    totals, model = result.totals, result.model
    if as_json:
        echo_json(
            {
                **dataclasses.asdict(totals),
                "steps": 0 if model is None else model.n_steps,
                "rho": None if model is None else model.rho,
                "heldout": None if model is None else model.last_score,
                "best_heldout": None if model is None else model.best_score,
                "topics": None if model is None else model.n_topics,
            }
        )
        return
    echo(
        f"{totals.documents:,} documents ({totals.held_out:,} held out), {totals.tokens:,} tokens, "
        f"{totals.words:,} active words"
    )
    if model is None:
        echo(f"no model yet: trustream train {repeatable(store)}")
    else:
        scored = "not scored yet"
        if model.last_score is not None:
            scored = f"held-out {model.last_score:.4f} nats per word"
        echo(f"{model.n_topics} topics, {model.n_steps:,} steps, rate {model.rho:.4f}, {scored}")
