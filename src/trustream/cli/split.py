"""The command ``trustream split``."""

from __future__ import annotations

import dataclasses

import click

from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import (
    json_option,
    model_option,
    opened,
    seed_option,
    store_argument,
)
from trustream.cli.topic_parameters import named, percent, topic_argument

_EPILOG = """\b
Examples:
  trustream split topics.db 3
  trustream split topics.db sports --documents 50000
"""


@click.command(epilog=_EPILOG, short_help="Split a topic of a STORE in two.")
@store_argument
@topic_argument
@click.option(
    "--documents",
    default=10_000,
    type=Whole(10, 10_000_000),
    metavar="NUMBER",
    help="Documents with the topic that decide, a random sample.",
)
@seed_option
@model_option
@json_option
def split(store: str, topic: str, documents: int, seed: int, name: str, as_json: bool) -> None:
    """Split a TOPIC of a STORE in two, by what its documents have of it.

    TOPIC is an id or a label. Both parts have new ids and no label; merging them gives the topic
    back. The model goes on learning with one topic more. No trainer of it may run meanwhile.
    """
    from trustream.topics.stored_topics import split_stored_topic

    with opened(store) as found:
        result = split_stored_topic(found, topic, name, max_documents=documents, random_state=seed)
    if as_json:
        echo_json(dataclasses.asdict(result))
        return
    (before,) = result.before
    shares = result.shares or (0.0, 0.0)
    parts = " and ".join(
        f"{named(topic)}, {percent(share)}"
        for topic, share in zip(result.after, shares, strict=True)
    )
    echo(f"{named(before)} is two topics: {parts}; {result.n_topics} topics now")
