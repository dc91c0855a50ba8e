"""The command line: each command is a thin call of a public function.

Command modules import the libraries they need inside the command, so that ``--help`` is quick.
"""

from __future__ import annotations

import click

from trustream import __version__
from trustream.cli.check import check
from trustream.cli.commands import Commands
from trustream.cli.demo import demo
from trustream.cli.evaluate import evaluate
from trustream.cli.ingest import ingest
from trustream.cli.recommend import recommend
from trustream.cli.simulate import simulate
from trustream.cli.stores import export, init, status, topics, transform
from trustream.cli.train import train


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="trustream")
def main() -> None:
    """Topic models and mixtures, learned from streams of data."""


for command in (
    demo, init, ingest, train, status, topics, transform, evaluate, recommend, export, simulate,
    check,
):  # fmt: skip
    main.add_command(command)
