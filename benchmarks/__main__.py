"""`python -m benchmarks NAME`: run one benchmark."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from benchmarks import core as core_package
from benchmarks import evaluation as evaluation_package
from benchmarks import recommend as recommend_package
from benchmarks import stream as stream_package
from benchmarks.data import require


def _default_data() -> Path:
    return Path(os.environ.get("TRUSTREAM_DATA") or Path("..") / "shared" / "data")


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of every benchmark."""
    options = [
        click.option(
            "--data",
            type=click.Path(file_okay=False, path_type=Path),
            default=_default_data,
            show_default="$TRUSTREAM_DATA or ../shared/data",
            help="Directory with the data sets.",
        ),
        click.option(
            "--out",
            type=click.Path(dir_okay=False, path_type=Path),
            help="Where to write the results.  [default: bench-results/NAME.json]",
        ),
        click.option("--quick", is_flag=True, help="Less data and fewer repetitions."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _run(module: str, files: Iterable[str] = (), /, **arguments: Any) -> None:
    # Loaded here, so that --help is quick and one benchmark does not need the others.
    try:
        require(arguments["data"], files)
        importlib.import_module(module).run(**arguments)
    except FileNotFoundError as error:
        raise click.ClickException(str(error)) from error


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Benchmarks of trustream. Each prints a table and writes JSON."""


def measurements(names: Iterable[str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options of a benchmark that is a list of measurements."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        only = click.option(
            "--only",
            multiple=True,
            type=click.Choice(list(names)),
            help="Run this measurement only; may be given several times.",
        )
        threads = click.option(
            "--threads", default=2, show_default=True, type=click.IntRange(min=1)
        )
        return common(only(threads(command)))

    return decorate


def _measure(
    name: str, data: Path, out: Path | None, quick: bool, only: tuple[str, ...], threads: int
) -> None:
    _run(
        "benchmarks.harness.command",
        package=f"benchmarks.{name}",
        data=data,
        out=out or Path("bench-results") / f"{name}.json",
        quick=quick,
        only=only,
        n_threads=threads,
    )


@main.command()
@measurements(core_package.MEASUREMENTS)
def core(**options: Any) -> None:
    """Speed and memory of the three models, side by side with peers."""
    _measure("core", **options)


@main.command()
@measurements(evaluation_package.MEASUREMENTS)
def evaluation(**options: Any) -> None:
    """Speed and errors of held-out likelihood and coherence."""
    _measure("evaluation", **options)


@main.command()
@measurements(recommend_package.MEASUREMENTS)
@click.option("--study", is_flag=True, help="Also trust region against natural gradient; minutes.")
def recommend(study: bool, only: tuple[str, ...], **options: Any) -> None:
    """Speed and quality of recommendations, side by side with peers."""
    on_request = () if study else recommend_package.ON_REQUEST
    only = only or tuple(name for name in recommend_package.MEASUREMENTS if name not in on_request)
    _measure("recommend", only=only, **options)


@main.command()
@measurements(stream_package.MEASUREMENTS)
def stream(**options: Any) -> None:
    """Speed of the document store and of training from it."""
    _measure("stream", **options)


@main.command()
@common
@click.option(
    "--settings",
    "n_settings",
    default=20,
    show_default=True,
    type=click.IntRange(min=1),
    help="Random settings on each corpus; --quick tries three.",
)
def defaults(data: Path, out: Path | None, quick: bool, n_settings: int) -> None:
    """How good the defaults are, next to random settings on three corpora."""
    out = out or Path("bench-results") / "defaults.json"
    files = ("wiki_en.npz", "wiki_simple.npz", "newsgroups20.jsonl.xz")
    _run("benchmarks.defaults", files, data=data, out=out, quick=quick, n_settings=n_settings)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
