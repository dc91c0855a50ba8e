"""The command line: each command parses, calls a public function, and prints what it returns.

Commands import what they need when they run, so that ``--help`` is quick. The functions are listed
in ``docs/commands.md``.
"""

from __future__ import annotations

import click

from trustream.cli.check import check
from trustream.cli.choose_k import choose_k
from trustream.cli.command_group import CommandGroup
from trustream.cli.completion import completion
from trustream.cli.delete import delete
from trustream.cli.delete_topics import delete_topics
from trustream.cli.demo import demo
from trustream.cli.documents import documents
from trustream.cli.evaluate import evaluate
from trustream.cli.export import export
from trustream.cli.ingest import ingest
from trustream.cli.init import init
from trustream.cli.label import label
from trustream.cli.merge import merge
from trustream.cli.phrases import phrases
from trustream.cli.recommend import recommend
from trustream.cli.report import report
from trustream.cli.retrain import retrain
from trustream.cli.serve import serve
from trustream.cli.simulate import simulate
from trustream.cli.split import split
from trustream.cli.status import status
from trustream.cli.token import token
from trustream.cli.tokeniser import tokeniser
from trustream.cli.topics import topics
from trustream.cli.train import train
from trustream.cli.transform import transform
from trustream.cli.trends import trends
from trustream.cli.versions import version_option

_EPILOG = """\b
A first walk:
  trustream init topics.db --topics 20
  trustream ingest topics.db articles.jsonl
  trustream train topics.db --until-idle
  trustream topics topics.db
"""


@click.group(
    cls=CommandGroup,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@version_option()
def main() -> None:
    """Topic models and mixtures, learned from streams of data."""


for command in (
    demo, init, ingest, train, retrain, serve, token, status, topics, documents, trends, report,
    label, merge, split, delete_topics, choose_k, transform, evaluate, export, check, delete,
    tokeniser, phrases, recommend, simulate, completion,
):  # fmt: skip
    main.add_command(command)
