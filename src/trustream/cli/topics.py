"""The command ``trustream topics``."""

from __future__ import annotations

import dataclasses

import click

from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, model_option, opened, store_argument

_EPILOG = """\b
Examples:
  trustream topics topics.db
  trustream topics topics.db -n 20
  trustream topics topics.db --json > topics.jsonl
"""


@click.command(epilog=_EPILOG, short_help="Print the topics of a STORE as words.")
@store_argument
@click.option("-n", default=10, type=Whole(1), help="Words per topic.")
@model_option
@json_option
def topics(store: str, n: int, name: str, as_json: bool) -> None:
    """Print the topics of a STORE's model as words, the largest topic first."""
    from trustream.streaming.published import load_model
    from trustream.topics.summary import summarise

    with opened(store) as found:
        model = load_model(found, name)
    for topic in summarise(model, n):
        if as_json:
            echo_json(dataclasses.asdict(topic))
        else:
            echo(f"{topic.topic:4d} {100 * topic.share:5.1f} %  {' '.join(topic.words)}")
