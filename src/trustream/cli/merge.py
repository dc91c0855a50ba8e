"""The command ``trustream merge``."""

from __future__ import annotations

import dataclasses

import click

from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, model_option, opened, store_argument
from trustream.cli.topic_parameters import named, topics_argument

_EPILOG = """\b
Examples:
  trustream merge topics.db 3 7
  trustream merge topics.db sports 7 12 --model fine
"""


@click.command(epilog=_EPILOG, short_help="Make several topics of a STORE one.")
@store_argument
@topics_argument(2)
@model_option
@json_option
def merge(store: str, topics: tuple[str, ...], name: str, as_json: bool) -> None:
    """Make several topics of a STORE one, which keeps the id and the label of the first.

    Topics are given by id or by label. Ids of the other topics stay as they are. The model goes
    on learning with fewer topics. No trainer of it may run meanwhile.
    """
    from trustream.topics.stored_topics import merge_stored_topics

    with opened(store) as found:
        result = merge_stored_topics(found, topics, name)
    if as_json:
        echo_json(dataclasses.asdict(result))
        return
    (after,) = result.after
    gone = " and ".join(named(topic) for topic in result.before)
    echo(f"{gone} are one topic: {named(after)}; {result.n_topics} topics now")
