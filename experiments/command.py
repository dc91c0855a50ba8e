"""The command line of the experiments."""

from __future__ import annotations

import importlib
import os
import time
from pathlib import Path
from typing import Any

import click

from trustream.cli.command_group import CommandGroup
from trustream.cli.interruption import if_interrupted

# Loaded when run, so that --help is quick.
EXPERIMENTS = {
    "mnist": "Figure 2A, 2B: mixture of Bernoullis on MNIST.",
    "patches": "Figure 2C: mixture of Gaussians on image patches.",
    "search-text": "Figure 3A: random hyperparameters for LDA on Wikipedia.",
    "search-ratings": "Figure 3B: random hyperparameters for LDA on ratings of movies.",
    "stream-text": "Figure 4: LDA on articles that arrive word by word.",
    "stream-ratings": "Figure 5: LDA on users in the order in which they first rated.",
    "stream-gap": "Whether a model of a stream is as good as fit on the same documents.",
    "regimes": "Where trust region matters: by batch size, articles and population.",
    "local-steps": "What local steps of a cluster cost, next to exact ones.",
    "gibbs-gap": "Whether fit is as good as tomotopy after 1,000 iterations.",
    "robustness": "Random hyperparameters for trustream, scikit-learn and gensim.",
}
# What says most about the paper's claims comes first, in case that time runs out.
_FIRST = ["stream-text", "search-text", "search-ratings", "stream-ratings", "mnist", "patches"]
ORDER = [*_FIRST, *(name for name in EXPERIMENTS if name not in _FIRST)]
_EPILOG = "A command that was stopped goes on where it was: finished runs are not repeated."


def _default_data() -> Path:
    return Path(os.environ.get("TRUSTREAM_DATA") or Path("..") / "shared" / "data")


def _options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--scale"],
            type=click.Choice(["quick", "full", "paper"]),
            default="quick",
            show_default=True,
            help="Minutes on two cores, all data that there are (hours), or as much as in the "
            "paper.",
        ),
        click.Option(
            ["--data"],
            type=click.Path(file_okay=False, path_type=Path),
            default=_default_data,
            show_default="$TRUSTREAM_DATA or ../shared/data",
            help="Directory with the data sets.",
        ),
        click.Option(
            ["--seeds", "n_seeds"],
            type=click.IntRange(min=1),
            help="Runs of each method, or random draws of a search.  [default: by scale]",
        ),
        click.Option(
            ["--hours"],
            type=click.FloatRange(min=0, min_open=True),
            help="Begin no further run after so many hours.",
        ),
        _out(),
        _kept(),
    ]


def _out() -> click.Option:
    return click.Option(
        ["--out"],
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("results"),
        show_default=True,
        help="Directory for results.",
    )


def _kept() -> click.Option:
    return click.Option(
        ["--kept"],
        type=click.Path(file_okay=False, path_type=Path),
        default=Path(__file__).parent / "results",
        show_default="experiments/results",
        help="Directory for the finished runs of scale full, which go into the repository.",
    )


def _run(names: list[str], hours: float | None, scale: str, **arguments: Any) -> None:
    from rich.console import Console

    from experiments.runner import Setup, complete

    console = Console(stderr=True)
    until = float("inf") if hours is None else time.monotonic() + 3600 * hours
    setup = Setup(scale=scale, until=until, **arguments)
    for name in names:
        experiment = experiment_of(name)
        if scale not in experiment.settings:
            click.echo(f"{name} has no scale {scale}: quick is all that it needs", err=True)
            continue
        if_interrupted("The same command goes on from the last finished run.")
        result = complete(experiment, setup, console)
        if len(result.runs) < result.n_planned:
            click.echo(f"{name}: {len(result.runs)} of {result.n_planned} runs are done")
        if not result.runs:
            continue
        for what, paper, ours in experiment.summarise(result).rows:
            click.echo(f"{what}: {ours}" + (f" (paper: {paper})" if paper else ""))
        click.echo(f"wrote {setup.folder / name}.json, .png and .svg")


def experiment_of(name: str) -> Any:
    """The experiment of a command."""
    return importlib.import_module(f"experiments.{name.replace('-', '_')}").EXPERIMENT


def _command(name: str, names: list[str], about: str) -> click.Command:
    def callback(**arguments: Any) -> None:
        _run(names, **arguments)

    return click.Command(name, callback=callback, params=_options(), help=about, epilog=_EPILOG)


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """The paper's experiments. Each writes JSON and a figure with the paper's curves beside."""


for _name, _about in EXPERIMENTS.items():
    main.add_command(_command(_name, [_name], _about))
main.add_command(_command("all", ORDER, "All of them, one after the other."))


@main.command(params=[_out(), _kept()])
@click.option(
    "--docs",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("docs"),
    show_default=True,
    help="Where reproduction.md goes.",
)
def report(out: Path, kept: Path, docs: Path) -> None:
    """Write docs/reproduction.md from the results that are there.

    Sections of the page whose results are not there stay as they are.
    """
    from experiments import report as writing

    path = writing.write(out, kept, docs, EXPERIMENTS)
    click.echo(f"wrote {path}")
