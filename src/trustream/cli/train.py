"""``trustream train``."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from trustream.cli.numbers import Real, Whole, jobs_option
from trustream.cli.options import (
    echo,
    echo_json,
    json_option,
    model_option,
    opened,
    repeatable,
    store_argument,
)

_EPILOG = """\b
Examples:
  trustream train topics.db                 # until Ctrl-C, while others add documents
  trustream train topics.db --until-idle    # until all there is has been learned
  trustream train topics.db --seconds 60 --json
"""
# Seconds between two lines where there is no terminal.
_REPORT_EVERY = 5.0


@click.command(epilog=_EPILOG)
@store_argument
@click.option("--steps", type=Whole(1), help="Stop after so many steps.")
@click.option("--seconds", type=Real(0, min_open=True), help="Stop after so long.")
@click.option("--until-idle", is_flag=True, help="Stop when nothing new came for a whole pass.")
@click.option(
    "--checkpoint-every",
    default=60.0,
    show_default=True,
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
    from trustream.streaming.published import load_settings
    from trustream.streaming.trainer import StreamTrainer

    with opened(store) as found:
        model = load_settings(found, name)
        if model is None:
            raise ValueError(
                f"{found.name} has no settings for a model: trustream init {repeatable(store)}"
            )
        trainer = StreamTrainer(
            found, model=model, checkpoint_every=checkpoint_every, name=name, n_jobs=jobs
        )
        with trainer, _stop_signals() as stopped, _reporter() as report:
            last = trainer.run(
                steps=steps,
                seconds=seconds,
                until_idle=until_idle,
                callback=lambda info: report(info, trainer.last_score),
                stop=lambda: bool(stopped),
            )
        values = {
            "steps": trainer.n_steps,
            "rho": None if last is None else last.step.rho,
            "documents": None if last is None else last.totals.documents,
            "heldout": trainer.last_score,
        }
    if as_json:
        echo_json(values)
    elif last is None:
        echo("nothing to learn from yet")
    else:
        scored = "" if trainer.last_score is None else f", held-out {trainer.last_score:.4f}"
        echo(f"{trainer.n_steps:,} steps, rate {last.step.rho:.4f}{scored}")


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """A list that is no longer empty once somebody asks to stop."""
    stopped: list[int] = []

    def stop(number: int, frame: Any) -> None:
        if stopped:  # asked twice: at once
            raise KeyboardInterrupt
        stopped.append(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _reporter() -> Iterator[Any]:
    """report(info, score): one line that changes on a terminal, a line now and then elsewhere."""
    if sys.stderr is None or not sys.stderr.isatty():
        due = time.monotonic() + _REPORT_EVERY

        def lines(info: Any, scored: float | None) -> None:
            nonlocal due
            if time.monotonic() >= due:
                print(_line(info, scored), file=sys.stderr, flush=True)
                due = time.monotonic() + _REPORT_EVERY

        yield lines
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:
        yield lambda info, scored: live.update(_line(info, scored))


def _line(info: Any, scored: float | None) -> str:
    totals = info.totals
    end = "" if scored is None else f", held-out {scored:.4f} nats a word"
    return (
        f"step {info.step.n_steps:,}, rate {info.step.rho:.4f}, {totals.documents:,} documents, "
        f"{totals.tokens:,} tokens, {info.n_words:,} words{end}"
    )
