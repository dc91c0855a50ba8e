"""What the commands on a store's topics share: arguments, progress, and how topics are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from trustream.cli.number_parameters import Whole
from trustream.cli.output import progress
from trustream.cli.shared_parameters import Decorator

# With fewer documents there is nothing to wait for.
_MANY = 20_000

sample_option: Decorator = click.option(
    "--sample", type=Whole(1), help="Read only so many documents, a random sample."
)
topic_argument: Decorator = click.argument("topic", metavar="TOPIC")


def topics_argument(least: int) -> Decorator:
    """Return the argument TOPIC..., of which so many are needed."""
    metavar = "TOPIC " * (least - 1) + "TOPIC..."
    return click.argument("topics", nargs=-1, required=True, metavar=metavar)


@contextmanager
def reading(store: Any, sample: int | None = None) -> Iterator[Callable[[int, int], None] | None]:
    """Show how many documents of a store were read, if there are many; yields `progress`."""
    total = store.totals().documents
    total = total if sample is None else min(total, sample)
    if total < _MANY:
        yield None
        return
    with progress(store.name, total) as advance:
        yield lambda done, _: advance(done)


def of_documents(found: Any) -> str:
    """Return how many documents were looked at, and of how many they are a sample."""
    if not found.is_sample:
        return f"{found.n_documents:,} documents"
    return f"a random sample of {found.n_documents:,} of {found.n_stored:,} documents"


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
