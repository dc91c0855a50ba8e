"""The command ``trustream retrain``."""

from __future__ import annotations

import dataclasses
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.number_parameters import Real
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import (
    jobs_option,
    json_option,
    model_option,
    opened,
    repeatable,
    store_argument,
    suggested_model,
)
from trustream.cli.training_progress import REPORT_EVERY

if TYPE_CHECKING:
    from trustream.streaming.training_run import TrainingProgress

_EPILOG = """\b
Examples:
  trustream retrain topics.db              # after trustream delete
  trustream retrain topics.db --model fine --force
"""


@click.command(epilog=_EPILOG, short_help="Learn a model afresh, and replace the old one.")
@store_argument
@click.option("--force", is_flag=True, help="Replace the model also if the new one is worse.")
@click.option(
    "--tolerance",
    default=0.01,
    type=Real(0),
    help="How much worse the new model may be, in nats per word of held-out documents.",
)
@click.option(
    "--passes",
    type=Real(0, min_open=True),
    help="Looks at each document.  [default: 5, as many as a fit makes]",
)
@jobs_option
@model_option
@json_option
def retrain(
    store: str,
    force: bool,
    tolerance: float,
    passes: float | None,
    jobs: int | None,
    name: str,
    as_json: bool,
) -> None:
    """Learn a STORE's model afresh, and replace the old one if the new one is as good.

    The new model learns only from the documents that are in the store now: nothing is left of
    documents that were deleted. The old model, and its trainer if one is running, goes on
    meanwhile; the trainer takes the new one up at its next checkpoint. The new topics are others,
    with new ids and without labels. Both models are compared on the held-out documents. If the new
    one is worse by more than --tolerance and by more than two standard errors, or if there are
    fewer than 20 held-out documents, the old one stays, and the exit code is 1. The same holds
    after Ctrl-C or a kill; start it again, it begins afresh.
    """
    from trustream.streaming.retraining import retrain as run

    again = f"trustream retrain {repeatable(store)}{suggested_model(name)}"
    with opened(store) as found:
        try:
            result = run(
                found,
                name,
                force=force,
                tolerance=tolerance,
                passes=passes,
                n_jobs=jobs,
                callback=_LineReporter(),
            )
        except KeyboardInterrupt:
            echo(f"The model of {found.name} is as it was. Begin again with: {again}", err=True)
            raise
    if as_json:
        echo_json(dataclasses.asdict(result))
    else:
        done = "replaced the model" if result.replaced else "kept the old model"
        echo(f"{done} after {result.n_steps:,} steps: {result.reason}")
        if not result.replaced:
            echo(f"To replace it all the same: {again} --force", err=True)
    if result.n_deleted:
        echo(
            f"Note: {result.n_deleted:,} documents were deleted meanwhile, of which the new model "
            f"may have a trace. To be rid of that too: {again}",
            err=True,
        )
    if not result.replaced:
        sys.exit(1)


class _LineReporter:
    """Prints a line of progress on standard error now and then."""

    def __init__(self) -> None:
        self._due = time.monotonic() + REPORT_EVERY

    def __call__(self, progress: TrainingProgress) -> Any:
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + REPORT_EVERY
            score = progress.last_score
            end = "" if score is None else f", held-out {score:.4f} nats per word"
            echo(
                f"{progress.n_steps:,} steps, {progress.looks:.1f} looks at each document{end}",
                err=True,
            )
