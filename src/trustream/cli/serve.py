"""The command ``trustream serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trustream.cli.file_parameters import InputFile
from trustream.cli.number_parameters import LARGEST_JOBS, Real, Whole
from trustream.cli.output import echo
from trustream.cli.shared_parameters import model_option, opened, repeatable, store_argument

_EPILOG = """\b
Examples:
  trustream serve topics.db
  trustream serve topics.db --train --port 8080
  trustream serve env:DATABASE --host 0.0.0.0 --token-file /run/secrets/token
  trustream serve topics.db --allow-host topics.example.org --https
"""
# Characters of a token in a file, at most.
_LONGEST_TOKEN = 10_000


@click.command(epilog=_EPILOG, short_help="Serve a STORE by HTTP, with a dashboard.")
@store_argument
@click.option("--train", is_flag=True, help="Run a trainer, too, in a process of its own.")
@click.option("--host", default="127.0.0.1", help="Address to listen at.")
@click.option("--port", default=8000, type=Whole(0, 65535), help="Port; 0 chooses a free one.")
@click.option(
    "--token-file",
    type=InputFile(),
    help="File with a token that may do everything, at least 20 characters.",
)
@click.option("--require-token", is_flag=True, help="Ask for tokens on loopback, too.")
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name by which browsers call the service, as behind a proxy. Asks for tokens.",
)
@click.option("--https", is_flag=True, help="Browsers come by https, through a proxy.")
@click.option(
    "--rate-limit",
    type=Real(0, min_open=True),
    help="Requests per second of one address, on average.  [default: no limit]",
)
@click.option("--max-body", default=64.0, type=Real(0, min_open=True), help="Largest request, MiB.")
@click.option(
    "--sample",
    default=5000,
    type=Whole(1),
    help="Documents that topics are looked at through, at most; more are sampled.",
)
@click.option(
    "--idle-after",
    default=60.0,
    type=Real(0, min_open=True),
    help="Seconds after which the process that computes with topics ends, if nobody needs it.",
)
@click.option(
    "--checkpoint-every",
    default=10.0,
    type=Real(0),
    help="Seconds between two checkpoints of --train.",
)
@click.option(
    "--jobs", type=Whole(1, LARGEST_JOBS), help="Threads of --train.  [default: all cores]"
)
@model_option
def serve(
    store: str,
    train: bool,
    host: str,
    port: int,
    token_file: Path | None,
    require_token: bool,
    hosts: tuple[str, ...],
    https: bool,
    rate_limit: float | None,
    max_body: float,
    sample: int,
    idle_after: float,
    checkpoint_every: float,
    jobs: int | None,
    name: str,
) -> None:
    """Serve a STORE by HTTP: documents in, topics out, and a dashboard for a browser.

    On loopback no token is needed. At any other address, or with --allow-host, the service asks for
    tokens: that of --token-file, or those of trustream token. If there is none, one is made at the
    first start, and shown once. Ctrl-C and SIGTERM end it.
    """
    with opened(store) as found:
        if train:
            _check_prepared(found, store, name)
        if token_file is not None:
            _keep_file_token(found, token_file)
    try:
        from trustream.service.server import serve as run
    except ImportError as error:
        raise ImportError(
            f'{error}: trustream serve needs more packages: pip install "trustream[serve]"'
        ) from error
    from trustream.service.settings import ServiceSettings

    settings = ServiceSettings(
        store,
        name,
        requires_token=require_token or token_file is not None,
        hosts=hosts,
        secure=https,
        train=train,
        checkpoint_every=checkpoint_every,
        n_jobs=jobs,
        sample=sample,
        compute_apart=True,
        idle_seconds=idle_after,
        max_body=int(max_body * 2**20),
        requests_per_second=rate_limit,
        burst=max(int(2 * (rate_limit or 0)), 20),
    )
    run(settings, host=host, port=port, on_ready=_ready, on_token=_show_token)


def _ready(address: str) -> None:
    echo(f"serving at {address} (Ctrl-C ends)", err=True)


def _show_token(secret: str) -> None:
    echo("This service asks for tokens. Keep this one, it is not shown again:", err=True)
    echo(f"  {secret}", err=True)


def _keep_file_token(store: Any, path: Path) -> None:
    from trustream.service.access import keep_token

    try:
        with path.open(encoding="utf-8") as file:
            secret = file.read(_LONGEST_TOKEN + 1).strip()
        if len(secret) > _LONGEST_TOKEN:
            raise ValueError(f"it has more than {_LONGEST_TOKEN:,} characters, expected a token")
        keep_token(store, secret, "token file", ["admin"])
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _check_prepared(found: Any, store: str, name: str) -> None:
    """Refuse a model that nobody prepared; what trains is not loaded for that."""
    from trustream.streaming.saved_names import SETTINGS

    if found.saved_version(name + SETTINGS) is None:
        from trustream.streaming.published import MissingModelError, models_there

        raise MissingModelError(
            f"{found.name} has no settings for a model {name!r} ({models_there(found)}): prepare "
            f"it first (trustream init {repeatable(store)})"
        )
