"""The command ``trustream train``."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.number_parameters import Real, Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import (
    jobs_option,
    json_option,
    model_option,
    opened,
    repeatable,
    store_argument,
)

if TYPE_CHECKING:
    from trustream.streaming.training_run import TrainingProgress

_EPILOG = """\b
Examples:
  trustream train topics.db                # until Ctrl-C, while others ingest
  trustream train topics.db --until-idle   # until all there is was learned
  trustream train topics.db --seconds 60 --json
"""
# Seconds between two lines of progress if standard error is not a terminal.
_REPORT_EVERY = 5.0


@click.command(epilog=_EPILOG, short_help="Learn from a STORE, going on where it stopped.")
@store_argument
@click.option("--steps", type=Whole(1), help="Stop after so many steps.")
@click.option("--seconds", type=Real(0, min_open=True), help="Stop after so long.")
@click.option(
    "--until-idle",
    is_flag=True,
    help="Stop when nothing new came in as many passes as a fit makes.",
)
@click.option(
    "--checkpoint-every",
    default=60.0,
    type=Real(0),
    help="Seconds between two checkpoints.",
)
@jobs_option
@model_option
@json_option
def train(
    store: str,
    steps: int | None,
    seconds: float | None,
    until_idle: bool,
    checkpoint_every: float,
    jobs: int | None,
    name: str,
    as_json: bool,
) -> None:
    """Learn from a STORE, going on where the last run stopped.

    Runs until it is stopped if no end is given. Ctrl-C and SIGTERM end it after the step it is at,
    with a checkpoint. Killed, it loses what came after the last checkpoint.
    """
    from trustream.streaming.published import MissingModelError
    from trustream.streaming.training_run import prepared_trainer, train

    with opened(store) as found:
        try:
            trainer = prepared_trainer(found, name, checkpoint_every=checkpoint_every, n_jobs=jobs)
        except MissingModelError as error:
            hint = f"{found.name} has no settings for a model: trustream init {repeatable(store)}"
            raise MissingModelError(hint) from error
        with trainer, _stop_signals() as stopped, _reporter() as report:
            result = train(
                trainer,
                steps=steps,
                seconds=seconds,
                until_idle=until_idle,
                callback=report,
                stop=lambda: bool(stopped),
            )
    if as_json:
        echo_json(
            {
                "steps": result.n_steps,
                "rho": result.rho,
                "documents": None if result.totals is None else result.totals.documents,
                "heldout": result.last_score,
            }
        )
    elif result.rho is None:
        echo("nothing to learn from yet")
    else:
        scored = "" if result.last_score is None else f", held-out {result.last_score:.4f}"
        echo(f"{result.n_steps:,} steps, rate {result.rho:.4f}{scored}")


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """Collect the stop signals that are received, so that a run can end after its step."""
    stopped: list[int] = []

    def stop(number: int, frame: Any) -> None:
        if stopped:  # a second signal ends the run at once
            raise KeyboardInterrupt
        stopped.append(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _reporter() -> Iterator[Callable[[TrainingProgress], None]]:
    """Show progress on standard error: a line that changes on a terminal, new lines elsewhere."""
    if sys.stderr is None or not sys.stderr.isatty():
        due = time.monotonic() + _REPORT_EVERY

        def print_sometimes(progress: TrainingProgress) -> None:
            nonlocal due
            if time.monotonic() >= due:
                print(_line(progress), file=sys.stderr, flush=True)
                due = time.monotonic() + _REPORT_EVERY

        yield print_sometimes
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:
        yield lambda progress: live.update(_line(progress))


def _line(progress: TrainingProgress) -> str:
    totals, score = progress.totals, progress.last_score
    assert totals is not None  # progress is reported after a step
    end = "" if score is None else f", held-out {score:.4f} nats per word"
    return (
        f"step {progress.n_steps:,}, rate {progress.rho:.4f}, {totals.documents:,} documents, "
        f"{totals.tokens:,} tokens, {progress.n_words:,} words{end}"
    )
