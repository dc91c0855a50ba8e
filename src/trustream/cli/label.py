"""The command ``trustream label``."""

from __future__ import annotations

import dataclasses

import click

from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, model_option, opened, store_argument
from trustream.cli.topic_parameters import named, topic_argument

_EPILOG = """\b
Examples:
  trustream label topics.db 3 "ball games"
  trustream label topics.db "ball games" "team sports"   # another label
  trustream label topics.db 3 --remove
"""


@click.command(epilog=_EPILOG, short_help="Give a topic a label.")
@store_argument
@topic_argument
@click.argument("label", metavar="[LABEL]", required=False)
@click.option("--remove", is_flag=True, help="Take the label away: its words are shown again.")
@model_option
@json_option
def label(
    store: str, topic: str, label: str | None, remove: bool, name: str, as_json: bool
) -> None:
    """Give a TOPIC of a STORE a LABEL, by which commands show it and find it from then on.

    TOPIC is the id of a topic or the label that it has. A trainer may run meanwhile. The label
    stays with its topic while the model learns on; a topic that is learned afresh has none.
    """
    from trustream.topics.stored_topics import label_stored_topics

    if (label is None) != remove:
        raise click.UsageError("give either a LABEL or --remove.")
    with opened(store) as found:
        result = label_stored_topics(found, {topic: label}, name)
    if as_json:
        echo_json(dataclasses.asdict(result))
        return
    (after,) = result.after
    echo(f"topic {named(after)}{' has no label now' if remove else ''}")
