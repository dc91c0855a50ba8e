"""Change the topics of a store's model under its lease, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from trustream.store.lease import SECONDS, LeaseHeldError
from trustream.store.protocol import Store
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.held_model import HeldModel
from trustream.streaming.published import (
    SETTINGS,
    as_estimator,
    load_settings,
    required_checkpoint,
    settings_bytes,
)
from trustream.streaming.topic_labels import load_names
from trustream.topics.characteristic_words import label
from trustream.topics.editing import TopicEdit
from trustream.topics.topic_set import TopicSet, as_topics


@dataclass(frozen=True, slots=True)
class StoredTopic:
    """A topic of a store's model.

    Attributes:
        topic: its id.
        label: the label that it was given or, without one, its three most relevant words.
        labelled: whether it was given one.
    """

    topic: int
    label: str
    labelled: bool


@dataclass(frozen=True, slots=True)
class TopicsChange:
    """What was done to the topics of a store's model.

    Attributes:
        before: the topics that it was done to, as they were.
        after: what has become of them: none of topics that were deleted, one of topics that were
            merged, two of a topic that was split.
        n_topics: topics that the model has now.
        shares: of a split topic's tokens, those of its parts; None elsewhere.
    """

    before: list[StoredTopic]
    after: list[StoredTopic]
    n_topics: int
    shares: tuple[float, float] | None = None


@dataclass(frozen=True)
class Edited:
    """An edit, the ids of topics before and after it, and shares of a split."""

    edit: TopicEdit
    before: list[int]
    after: list[int]
    shares: tuple[float, float] | None = None


def edit_topics(store: Store, name: str, edit_of: Callable[[TopicSet], Edited]) -> TopicsChange:
    """Edit the topics of a model under its lease; all or nothing."""
    # Errors first that need no lease: another process may hold it for years.
    required_checkpoint(store, name)
    with _held(store, name) as held:
        checkpoint = held.load()
        assert checkpoint is not None  # nobody deletes it
        topics = topics_of(store, checkpoint, name)
        done = edit_of(topics)
        edited = done.edit.of_checkpoint(checkpoint)
        settings = load_settings(store, name)
        beside = None if settings is None else {name + SETTINGS: settings_bytes(edited.model)}
        if held.save(edited, beside) is not None:
            raise ValueError(
                f"the model {name!r} of {store.name} was replaced meanwhile, by a retraining: it "
                "has other topics now, and nothing was changed"
            )
        after = topics_of(store, edited, name)
    before, found = listed(topics, done.before), listed(after, done.after)
    return TopicsChange(before, found, after.n_topics, done.shares)


@contextmanager
def _held(store: Store, name: str) -> Iterator[HeldModel]:
    try:
        held = HeldModel(store, name, SECONDS)
    except LeaseHeldError as error:
        raise LeaseHeldError(
            f"a trainer of the model {name!r:.60} of {store.name} is running: {error.lease}; it "
            "has topics of its own in memory, so stop it first (Ctrl-C saves what it has learned), "
            "and start it again afterwards. Labels can be given while it runs",
            error.lease,
        ) from None
    try:
        yield held
    finally:
        held.release()


def topics_of(store: Store, checkpoint: Checkpoint, name: str) -> TopicSet:
    """The topics of a checkpoint, with their labels."""
    estimator = as_estimator(checkpoint)
    if not hasattr(estimator, "topic_names_"):
        raise ValueError(
            f"the model {name!r} of {store.name} is of kind {checkpoint.model.kind!r}, which has "
            "no topics"
        )
    return as_topics(estimator, names=load_names(store, checkpoint, name))


def listed(topics: TopicSet, ids: Iterable[int]) -> list[StoredTopic]:
    """Some of the topics, for people."""
    return [
        StoredTopic(i, label(topics, topics.row(i)), i in topics.names.labels)
        for i in map(int, ids)
    ]
