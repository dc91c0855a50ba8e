"""Merge, split, delete and name the topics of a store's model, which then goes on learning.

Labels can be given at any time, also while a trainer runs. The other changes are of lambda, of
which a running trainer has its own copy: they are made by whoever holds the model's lease, and are
refused while a trainer does (`stored_edits`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trustream.store.protocol import Store
from trustream.streaming.published import DEFAULT_NAME, required_checkpoint
from trustream.streaming.topic_labels import change_labels
from trustream.topics import editing
from trustream.topics.splitting import split_topic
from trustream.topics.stored_documents import stored_batches
from trustream.topics.stored_edits import (
    Edited,
    StoredTopic,
    TopicsChange,
    edit_topics,
    listed,
    topics_of,
)
from trustream.topics.topic_search import find_topics
from trustream.topics.topic_set import TopicSet

__all__ = [
    "StoredTopic",
    "TopicsChange",
    "delete_stored_topics",
    "label_stored_topics",
    "merge_stored_topics",
    "split_stored_topic",
    "stored_topics",
]


def stored_topics(store: Store, name: str = DEFAULT_NAME) -> TopicSet:
    """Return the topics of a store's model as they were saved last, with ids, labels and words.

    Parameters
    ----------
    store : Store
    name : str, default="model"
        Name of the model in the store.

    Examples
    --------
    >>> folder, store = _example()
    >>> stored_topics(store).names.ids
    (0, 1, 2)
    >>> store.close(); folder.cleanup()
    """
    return topics_of(store, required_checkpoint(store, name), name)


def label_stored_topics(
    store: Store, labels: Mapping[Any, str | None], name: str = DEFAULT_NAME
) -> TopicsChange:
    """Give topics of a store's model labels; None takes one away. A trainer may run meanwhile.

    Parameters
    ----------
    store : Store
    labels : mapping from int or str to str or None
        By id, or by the label that the topic has. No two topics can have the same label, by which
        they are found.
    name : str, default="model"
        Name of the model in the store.

    Examples
    --------
    >>> folder, store = _example()
    >>> label_stored_topics(store, {2: "pets"}).after
    [StoredTopic(topic=2, label='pets', labelled=True)]
    >>> stored_topics(store).names.labels
    {2: 'pets'}
    >>> store.close(); folder.cleanup()
    """
    checkpoint = required_checkpoint(store, name)
    topics = topics_of(store, checkpoint, name)
    ids = find_topics(topics, labels)
    given = dict(zip(ids, labels.values(), strict=True))
    names = change_labels(store, checkpoint, name, given)
    return TopicsChange(listed(topics, ids), listed(topics.with_names(names), ids), topics.n_topics)


def merge_stored_topics(
    store: Store, topics: Iterable[Any], name: str = DEFAULT_NAME
) -> TopicsChange:
    """Make several topics of a store's model one, which keeps id, label and place of the first.

    Parameters
    ----------
    store : Store
    topics : iterable of int or str
        Ids or labels of two topics or more.
    name : str, default="model"
        Name of the model in the store.

    Raises
    ------
    UnknownTopicError
        If there is no such topic. The message names near ones.
    LeaseHeldError
        If a trainer of the model is running; the message names it.

    Examples
    --------
    >>> folder, store = _example()
    >>> change = merge_stored_topics(store, [2, 0])
    >>> change.n_topics, [topic.topic for topic in change.after]
    (2, [2])
    >>> stored_topics(store).names.ids
    (1, 2)
    >>> store.close(); folder.cleanup()
    """

    def merge(found: TopicSet) -> Edited:
        ids = find_topics(found, topics)
        return Edited(editing.merging(found.names, ids), ids, ids[:1])

    return edit_topics(store, name, merge)


def delete_stored_topics(
    store: Store, topics: Iterable[Any], name: str = DEFAULT_NAME
) -> TopicsChange:
    """Delete topics of a store's model; its other topics take over their words as it learns on.

    Parameters
    ----------
    store : Store
    topics : iterable of int or str
        Ids or labels of topics, not of all.
    name : str, default="model"
        Name of the model in the store.

    Raises
    ------
    UnknownTopicError, LeaseHeldError
        As for `merge_stored_topics`.

    Examples
    --------
    >>> folder, store = _example()
    >>> delete_stored_topics(store, [1]).n_topics
    2
    >>> stored_topics(store).names.ids
    (0, 2)
    >>> store.close(); folder.cleanup()
    """

    def delete(found: TopicSet) -> Edited:
        ids = find_topics(found, topics)
        return Edited(editing.deleting(found.names, ids), ids, [])

    return edit_topics(store, name, delete)


def split_stored_topic(
    store: Store,
    topic: Any,
    name: str = DEFAULT_NAME,
    *,
    max_documents: int = 10_000,
    random_state: Any = 0,
) -> TopicsChange:
    """Split a topic of a store's model in two, by the store's documents; both have new ids.

    Parameters
    ----------
    store : Store
    topic : int or str
        Id or label of the topic.
    name : str, default="model"
        Name of the model in the store.
    max_documents : int, default=10000
        Of the documents with at least two tokens of the topic a random sample of so many decides.
        All documents are read.
    random_state : int, RandomState, Generator or None, default=0

    Raises
    ------
    UnknownTopicError, LeaseHeldError
        As for `merge_stored_topics`.

    Examples
    --------
    >>> folder, store = _example()
    >>> change = split_stored_topic(store, stored_topics(store).shares.argmax())
    >>> change.n_topics, [topic.topic for topic in change.after]
    (4, [3, 4])
    >>> store.close(); folder.cleanup()
    """

    def split(found: TopicSet) -> Edited:
        ids = find_topics(found, [topic])
        parts = split_topic(
            found,
            ids[0],
            stored_batches(store, found.words, texts=False),
            max_documents=max_documents,
            random_state=random_state,
        )
        return Edited(parts.edit, ids, list(parts.ids), parts.shares)

    return edit_topics(store, name, split)


def _example() -> tuple[Any, Store]:
    """A folder with a store and its model of three topics, for the examples."""
    import tempfile

    from trustream.store import Record, open_store
    from trustream.streaming.trainer import StreamTrainer

    folder = tempfile.TemporaryDirectory()
    store = open_store(f"{folder.name}/topics.db", min_documents=1)
    texts = [["cat", "dog", "bird"], ["bond", "bank", "rate"]] * 50
    store.append(Record(str(i), words) for i, words in enumerate(texts))
    with StreamTrainer(store, n_components=3, batch_size=20) as trainer:
        trainer.run(steps=20)
    return folder, store
