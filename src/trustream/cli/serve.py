"""The command ``trustream serve``."""

from __future__ import annotations

import click

from trustream.cli.number_parameters import Whole
from trustream.cli.shared_parameters import model_option, opened, store_argument

_EPILOG = """\b
Examples:
  trustream serve topics.db
  trustream serve topics.db --port 8080
"""


@click.command(epilog=_EPILOG, short_help="Serve a STORE by HTTP, with a dashboard.")
@store_argument
@click.option("--host", default="127.0.0.1", help="Address to listen at.")
@click.option("--port", default=8000, type=Whole(0, 65535), help="Port; 0 chooses a free one.")
@model_option
def serve(store: str, host: str, port: int, name: str) -> None:
    """Serve a STORE by HTTP: documents in, topics out, and a dashboard for a browser."""
    with opened(store):
        pass
    try:
        from trustream.service import ServiceSettings
        from trustream.service import serve as run
    except ImportError as error:
        raise click.ClickException(
            f'{error}: trustream serve needs more packages: pip install "trustream[serve]"'
        ) from error
    run(ServiceSettings(store, name), host=host, port=port)
