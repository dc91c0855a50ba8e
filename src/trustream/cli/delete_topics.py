"""The command ``trustream delete-topics``."""

from __future__ import annotations

import dataclasses

import click

from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, model_option, opened, store_argument
from trustream.cli.topic_parameters import named, topics_argument

_EPILOG = """\b
Examples:
  trustream delete-topics topics.db 3
  trustream delete-topics topics.db boilerplate 12
"""


@click.command("delete-topics", epilog=_EPILOG, short_help="Delete topics of a STORE.")
@store_argument
@topics_argument(1)
@model_option
@json_option
def delete_topics(store: str, topics: tuple[str, ...], name: str, as_json: bool) -> None:
    """Delete topics of a STORE, given by id or by label; its documents stay.

    Ids of the other topics stay as they are; they take over the words as the model learns on. No
    trainer of it may run meanwhile. Documents are deleted by `trustream delete`.
    """
    from trustream.topics.stored_topics import delete_stored_topics

    with opened(store) as found:
        result = delete_stored_topics(found, topics, name)
    if as_json:
        echo_json(dataclasses.asdict(result))
        return
    gone = ", ".join(named(topic) for topic in result.before)
    echo(f"deleted {gone}; {result.n_topics} topics now")
