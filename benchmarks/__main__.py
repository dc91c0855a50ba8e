"""`python -m benchmarks NAME`: run one benchmark."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from benchmarks import against as against_package
from benchmarks import cluster as cluster_package
from benchmarks import core as core_package
from benchmarks import evaluation as evaluation_package
from benchmarks import explore as explore_package
from benchmarks import models as models_package
from benchmarks import peers as peers_package
from benchmarks import recommend as recommend_package
from benchmarks import service as service_package
from benchmarks import stream as stream_package
from benchmarks.data import require

_FILES = {
    "wiki_en": "wiki_en.npz",
    "wiki_simple": "wiki_simple.npz",
    "newsgroups20": "newsgroups20.jsonl.xz",
}


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
@measurements(service_package.MEASUREMENTS)
def service(**options: Any) -> None:
    """The service against the library called directly, idle, and under load."""
    _measure("service", **options)


@main.command()
@measurements(cluster_package.MEASUREMENTS)
def cluster(**options: Any) -> None:
    """Steps on Ray next to one process, a model of larger clusters, and Spark."""
    _measure("cluster", **options)


@main.command()
@measurements(explore_package.MEASUREMENTS)
def explore(**options: Any) -> None:
    """Speed and memory of exploring the topics of a large store."""
    _measure("explore", **options)


@main.command()
@measurements(models_package.MEASUREMENTS)
def models(**options: Any) -> None:
    """Speed of the models beside topics and mixtures, side by side with peers."""
    _measure("models", **options)


@main.command()
@measurements(peers_package.MEASUREMENTS)
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    type=click.Choice(["all", *peers_package.WORKLOADS]),
    help="Documents and topics; may be given several times.  [default: wiki-100]",
)
@click.option(
    "--method", "chosen", multiple=True, help="Run this method only; may be given several times."
)
@click.option("--spark", is_flag=True, help="Also Spark, which needs pyspark and Java.")
@click.option("--grid", "search", is_flag=True, help="Look for the peers' best settings; minutes.")
@click.option("--tries", default=math.inf, help="Most settings of a peer that --grid tries now.")
@click.option("--fresh", is_flag=True, help="Repeat what is stored.")
@click.option("--write", "only_write", is_flag=True, help="Run nothing, write the document.")
@click.option(
    "--docs",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the document goes.  [default: docs; bench-results with --quick]",
)
def peers(
    out: Path | None,
    quick: bool,
    only: tuple[str, ...],
    threads: int,
    workloads: tuple[str, ...],
    only_write: bool,
    docs: Path | None,
    search: bool,
    **options: Any,
) -> None:
    """Held-out score against time, side by side with other libraries; writes docs/benchmarks.md.

    What is finished is stored and not run again: in benchmarks/peers/results.json, which is
    committed, so that a part that is repeated is written beside the others. With --only, --grid or
    --write workloads run only if they are named.
    """
    if "all" in workloads:
        workloads = tuple(peers_package.WORKLOADS)
    elif not (workloads or only or search or only_write):
        workloads = (peers_package.MAIN,)
    results = Path("bench-results")
    _run(
        "benchmarks.peers.command",
        out=out or (results / "peers-quick.json" if quick else peers_package.RESULTS),
        docs=docs or (results if quick else Path("docs")),
        quick=quick,
        only=only,
        n_threads=threads,
        workloads=() if only_write else workloads,
        search=search,
        **options,
    )


@main.command()
@common
@click.argument("revision")
@click.option("--rounds", default=30, show_default=True, type=click.IntRange(min=1))
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(list(against_package.PIECES)),
    help="Compare this piece of work only; may be given several times.",
)
def against(out: Path | None, **options: Any) -> None:
    """Speed next to another REVISION of trustream, both in turn; needs a git clone."""
    out = out or Path("bench-results") / "against.json"
    _run("benchmarks.against.command", ("wiki_en.npz",), out=out, **options)


@main.command()
@common
@click.argument("revision")
@click.option(
    "--seed",
    "seeds",
    multiple=True,
    type=int,
    default=(0, 1, 2),
    show_default=True,
    help="Of a pair of fits; may be given several times.",
)
@click.option(
    "--corpus",
    "names",
    multiple=True,
    type=click.Choice(list(_FILES)),
    help="May be given several times.  [default: all]",
)
@click.option("--documents", "sizes", multiple=True, type=int, help="[default: 500 to 20,000]")
@click.option("--topics", multiple=True, type=int, help="[default: 10, 50, 100, 400]")
def fits(out: Path | None, names: tuple[str, ...], **options: Any) -> None:
    """How good `fit` is next to another REVISION of trustream, paired; needs a git clone."""
    out = out or Path("bench-results") / "fits.json"
    files = [*_FILES.values()] if not names else [_FILES[name] for name in names]
    _run("benchmarks.against.fits", files, out=out, names=names, **options)


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
    files = _FILES.values()
    _run("benchmarks.defaults", files, data=data, out=out, quick=quick, n_settings=n_settings)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
