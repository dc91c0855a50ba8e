"""Options of commands that can compute on a cluster, and data that its workers read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.file_parameters import InputOrStandardInput
from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo, progress

if TYPE_CHECKING:
    from trustream.streaming.fitted_models import FittedModel

# Before the argument that may then be more than a file.
cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    is_eager=True,
    help='Compute on a cluster of Ray: "local" starts one on this machine, "auto" is the one that '
    "this machine belongs to, HOST:PORT the head node of another.",
)


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --cluster and --workers."""
    workers = click.option(
        "--workers", type=Whole(1), help="Workers of the cluster.  [default: one per CPU]"
    )
    return cluster_option(workers(command))


def check_workers(cluster: str | None, workers: int | None) -> None:
    """Refuse workers without a cluster."""
    if workers is not None and cluster is None:
        raise click.UsageError('--workers needs --cluster; "local" is this machine.')


def say_start(cluster: str) -> None:
    """Say on a terminal what takes its time before anything else can be shown."""
    if sys.stderr is not None and sys.stderr.isatty():
        what = "starting Ray on this machine" if cluster == "local" else f"joining {cluster}"
        echo(f"{what} ...", err=True)


class ClusterData(InputOrStandardInput):
    """Accept a file or `-`; with --cluster also a folder, a pattern or the address of a store."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Called by click."""
        # Until all parameters are read, click may have a mark of its own where nothing was given.
        if ctx is not None and isinstance(ctx.params.get("cluster"), str):
            if value == "-":
                self.fail("workers cannot read standard input: give Parquet files.", param, ctx)
            return value
        return super().convert(value, param, ctx)


def read_by_workers(
    model: FittedModel, options: dict[str, Any]
) -> tuple[FittedModel, dict[str, Any]]:
    """Return the model with words, and how workers read the data of a command."""
    from trustream import feeds
    from trustream.cli.tokeniser_parameters import taken_tokeniser

    options = dict(options)
    tokeniser = taken_tokeniser(options, model.tokeniser)
    if options.pop("format_") not in (None, "parquet"):
        raise click.UsageError("Workers read Parquet files or a store: leave out --format.")
    options.pop("delimiter", None)
    vocabulary = options.pop("vocabulary")
    if vocabulary is not None:
        model = model.with_words(feeds.read_vocabulary(vocabulary), vocabulary.name)
    given = {name: value for name, value in options.items() if value is not None}
    if tokeniser is not None:
        given["tokenise"] = tokeniser
    if "id_column" in given:
        given["require_id"] = True
    return model, given


@contextmanager
def documents_done(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many documents workers have done; yields `progress` of a function."""
    shown: list[Any] = []

    def moved(done: int, total: int) -> None:
        if not shown:
            context = progress(title, total)
            shown.extend((context, context.__enter__()))
        shown[1](done)

    try:
        yield moved
    finally:
        if shown:
            shown[0].__exit__(None, None, None)
