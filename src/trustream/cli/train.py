"""The command ``trustream train``."""

from __future__ import annotations

import dataclasses
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
    suggested_model,
)
from trustream.cli.training_progress import reporter, summary

_EPILOG = """\b
Examples:
  trustream train topics.db                # until Ctrl-C, while others ingest
  trustream train topics.db --until-idle   # five looks at each document
  trustream train topics.db --model fine   # one of several models
  trustream train topics.db --seconds 60 --json
  trustream train topics.db --cluster local --workers 4
  trustream train postgresql://db/news --cluster auto   # on a cluster
"""


@click.command(epilog=_EPILOG, short_help="Learn from a STORE, going on where it stopped.")
@store_argument
@click.option("--steps", type=Whole(1), help="Stop after so many steps of this run.")
@click.option("--seconds", type=Real(0, min_open=True), help="Stop after so many seconds.")
@click.option(
    "--until-idle",
    is_flag=True,
    help="Stop when four passes in a row over the documents brought nothing new. With the first "
    "pass these are as many looks at each document as a fit makes, five.",
)
@click.option(
    "--checkpoint-every",
    default=60.0,
    type=Real(0),
    help="Seconds between two checkpoints.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help='Compute on a cluster of Ray: "local" starts one on this machine, "auto" is the one that '
    "this machine belongs to, HOST:PORT the head node of another.",
)
@click.option("--workers", type=Whole(1), help="Workers of the cluster.  [default: one per CPU]")
@click.option(
    "--parts",
    type=Whole(1),
    help="Parts of a batch from now on; the same number gives the same model on any number of "
    "workers.  [default: as before; 8 on a cluster]",
)
@click.option(
    "--combine",
    type=click.Choice(["exact", "local"]),
    help="How parts make a step: they share each iteration (exact), or each takes a step of its "
    "own, after the first steps (local).  [default: as before; exact at first]",
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
    cluster: str | None,
    workers: int | None,
    parts: int | None,
    combine: str | None,
    jobs: int | None,
    name: str,
    as_json: bool,
) -> None:
    """Learn from a STORE, going on where the last run stopped.

    Runs until it is stopped if no end is given, and waits while there is nothing to learn from.
    Ctrl-C and SIGTERM end it after the step it is at, with a checkpoint. Killed, it loses what came
    after the last checkpoint. One trainer at a time learns a model; a second one is refused.

    With --cluster, workers on its nodes read the documents and compute; --jobs is the number of
    threads of each. Workers and nodes may die or be added meanwhile.
    """
    from trustream.streaming.training_run import nothing_to_learn, train

    again = f"trustream train {repeatable(store)}{suggested_model(name)}"
    add = f"trustream ingest {repeatable(store)} FILE..."
    if workers is not None and cluster is None:
        raise ValueError('workers are those of a cluster: give --cluster, "local" for this machine')
    with (
        opened(store) as found,
        _engine(found, cluster, workers, parts, combine, jobs, name) as engine,
    ):
        trainer = _prepared(
            found, store, name, checkpoint_every, jobs if cluster is None else None, engine
        )

        def wait() -> str:
            why = nothing_to_learn(found)
            return f"nothing new in {found.name}" if why is None else f"{found.name}: {why}"

        with trainer, _stop_signals() as stopped, reporter(wait, add) as report:
            try:
                result = train(
                    trainer,
                    steps=steps,
                    seconds=seconds,
                    until_idle=until_idle,
                    callback=report.step,
                    stop=lambda: bool(stopped),
                    waiting=None if until_idle else report.waiting,
                )
            except KeyboardInterrupt:
                safe = f"{found.name} holds a whole model, that of its last checkpoint"
                echo(f"{safe}. Go on with: {again}", err=True)
                raise
        why = nothing_to_learn(found) if result.rho is None else None
        if until_idle and why is not None and not stopped:
            raise ValueError(
                f"nothing was learned from {found.name}: {why}. Add documents with {add}, or leave "
                "out --until-idle to wait for them"
            )
    if as_json:
        echo_json(
            {
                "steps": result.n_steps,
                "rho": result.rho,
                "documents": None if result.totals is None else result.totals.documents,
                "heldout": result.last_score,
                "looks": result.looks,
                "replaced": result.n_replaced,
                "cluster": None if result.cluster is None else dataclasses.asdict(result.cluster),
            }
        )
    elif result.rho is None:
        echo("nothing to learn from yet" if why else "nothing new to learn from")
    else:
        echo(summary(result))
    if stopped:
        saved = f"all {result.n_steps:,} steps are saved" if result.n_steps else "nothing is lost"
        echo(f"Stopped; {saved}. Go on with: {again}", err=True)


@contextmanager
def _engine(
    found: Any,
    cluster: str | None,
    workers: int | None,
    parts: int | None,
    combine: str | None,
    jobs: int | None,
    name: str,
) -> Iterator[Any]:
    """Where to compute: here, or on a cluster."""
    from trustream.learning.defaults import EXACT_STEPS

    exact: Any = {None: ..., "exact": None, "local": EXACT_STEPS}[combine]
    if cluster is None:
        from trustream.streaming.engine import Here

        yield Here(parts, exact)
        return
    from trustream.cli.cluster_parameters import say_start
    from trustream.cluster.training import cluster_engine

    say_start(cluster)
    with cluster_engine(
        found,
        cluster,
        workers=workers,
        worker_threads=jobs or 1,
        n_parts=parts,
        exact_steps=exact,
        name=name,
    ) as engine:
        ready = f"{engine.n_workers} of {engine.n_wanted} workers are ready on {cluster}"
        echo("; ".join(filter(None, [ready, engine.memory])), err=True)
        yield engine


def _prepared(
    found: Any,
    store: str,
    name: str,
    checkpoint_every: float,
    jobs: int | None,
    engine: Any,
) -> Any:
    """A trainer of the store's model; errors name options of the command."""
    from trustream.streaming.published import MissingModelError, model_names
    from trustream.streaming.training_run import prepared_trainer

    try:
        return prepared_trainer(
            found, name, checkpoint_every=checkpoint_every, n_jobs=jobs, engine=engine
        )
    except MissingModelError as error:
        init = f"trustream init {repeatable(store)}"
        names = model_names(found)
        if not names:
            hint = f"{found.name} has no settings for a model: {init}{suggested_model(name)}"
            raise MissingModelError(hint) from error
        raise MissingModelError(
            f"{found.name} has no settings for a model {name!r}; its models are "
            f"{', '.join(map(repr, names))} (--model NAME). To add it: {init} --model "
            f"{shlex.quote(name)} --topics K"
        ) from error


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
