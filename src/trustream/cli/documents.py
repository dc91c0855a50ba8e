"""The command ``trustream documents``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, model_option, opened, store_argument
from trustream.cli.topic_parameters import of_documents, percent, reading, sample_option

if TYPE_CHECKING:
    from trustream.topics.document_view import DocumentView
    from trustream.topics.topic_set import TopicSet

_EPILOG = """\b
Examples:
  trustream documents topics.db 3
  trustream documents topics.db sports -n 20 --json
  trustream documents topics.db --document "review 7"   # its topics
"""
# Topics and words of a document that are printed at most, and the least share of those topics.
_TOPICS, _WORDS, _LEAST = 5, 12, 0.005


@click.command(epilog=_EPILOG, short_help="Print the documents of a topic, or the reverse.")
@store_argument
@click.argument("topic", metavar="[TOPIC]", required=False)
@click.option("-n", default=5, type=Whole(1), help="Documents, those most about TOPIC.")
@click.option("--document", metavar="ID", help="Print the topics of this document instead.")
@sample_option
@model_option
@json_option
def documents(
    store: str,
    topic: str | None,
    n: int,
    document: str | None,
    sample: int | None,
    name: str,
    as_json: bool,
) -> None:
    """Print the documents of a STORE that are most about a TOPIC, given by its id or its label.

    All documents are read, and those with the largest proportion of the topic are printed with
    their ids, and the beginning of their texts where the store keeps texts. With --document it is
    the reverse: the topics of one document, and which of its words speak for which topic.
    """
    from trustream.topics.exploring import explore
    from trustream.topics.stored_topics import stored_topics
    from trustream.topics.topic_search import find_topic

    if (topic is None) == (document is None):
        raise click.UsageError("give either a TOPIC or --document.")
    with opened(store) as found:
        topics = stored_topics(found, name)
        if document is not None:
            _print_view(_view(found, topics, document), topics, as_json)
            return
        wanted = find_topic(topics, topic)
        with reading(found, sample) as progress:
            result = explore(
                found,
                topics,
                n_documents=n,
                bins=None,
                sample=sample,
                coherence=False,
                progress=progress,
            )
    if result.is_sample:
        echo(f"Chosen from {of_documents(result)}.", err=True)
    for one in result.documents[wanted]:
        if as_json:
            echo_json(dataclasses.asdict(one))
        else:
            echo(f"{percent(one.proportion):>7}  {one.key}{_title(one.title)}")


def _view(store: Any, topics: TopicSet, key: str) -> DocumentView:
    from trustream.topics import view_documents
    from trustream.topics.stored_documents import stored_document

    return next(view_documents(topics, stored_document(store, topics.words, key)))


def _print_view(view: DocumentView, topics: TopicSet, as_json: bool) -> None:
    from trustream.topics.characteristic_words import label

    if as_json:
        echo_json({"ids": list(topics.names.ids), **dataclasses.asdict(view)})
        return
    if not view.words:
        echo(f"{view.key}: the model knows none of its words, and nothing about its topics")
        return
    echo(f"{view.key}{_title(view.title)}: {view.n_tokens:,.0f} words that the model knows")
    shown = set()
    for place, part in enumerate(view.topics[:_TOPICS]):
        if place and part.proportion < _LEAST:
            break
        shown.add(part.topic)
        words = [_counted(word) for word in view.words if word.topic == part.topic]
        more = " ..." if len(words) > _WORDS else ""
        speaking = f": {' '.join(words[:_WORDS])}{more}" if words else ""
        name = label(topics, topics.row(part.topic))
        echo(f"{percent(part.proportion):>7}  {part.topic} ({name}){speaking}")
    rest = [word for word in view.words if word.topic not in shown]
    if rest:
        echo(f"{len(rest)} more words speak for other topics; --json has all")


def _counted(word: Any) -> str:
    return word.word if word.count == 1 else f"{word.word} x{word.count:g}"


def _title(title: Any) -> str:
    return "" if title is None else f"  {title}"
