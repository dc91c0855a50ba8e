"""What the commands on a store's topics share: arguments, progress, and how topics are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from trustream.cli.output import progress
from trustream.cli.shared_parameters import Decorator

# With fewer documents there is nothing to wait for.
_MANY = 20_000

topic_argument: Decorator = click.argument("topic", metavar="TOPIC")


def topics_argument(least: int) -> Decorator:
    """Return the argument TOPIC..., of which so many are needed."""
    metavar = "TOPIC " * (least - 1) + "TOPIC..."
    return click.argument("topics", nargs=-1, required=True, metavar=metavar)


def watching(store: Any) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return what passes on the batches of a store, and shows how many of its documents it has."""
    total = store.totals().documents

    def watched(batches: Iterable[Any]) -> Iterator[Any]:
        if total < _MANY:
            yield from batches
            return
        done = 0
        with progress(store.name, total) as advance:
            for batch in batches:
                yield batch
                done += batch.size
                advance(done)

    return watched


def percent(share: float) -> str:
    """Return a share as a text.

    >>> percent(0.0712), percent(0.00004), percent(float("nan"))
    ('7.1 %', '0.0 %', '-')
    """
    return "-" if share != share else f"{100 * share:.1f} %"


def named(topic: Any) -> str:
    """Return a topic of a store for people: its id, and its label or words.

    >>> from trustream.topics.stored_topics import StoredTopic
    >>> named(StoredTopic(3, "sports", True))
    '3 (sports)'
    """
    return f"{topic.topic} ({topic.label})"
