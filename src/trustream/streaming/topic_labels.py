"""The labels of a model's topics, which a store keeps by id beside the model.

A checkpoint has the ids of its topics, and a trainer writes it again and again. Labels are saved
apart from it, so that people can give them while the model is trained. Ids are not given twice:
a label never comes to stand for another topic, whatever becomes of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trustream import persist
from trustream.store.protocol import Store
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.saved_names import LABELS
from trustream.topic_names import TopicNames


def load_names(store: Store, checkpoint: Checkpoint, name: str) -> TopicNames:
    """Return ids and labels of the topics of a checkpoint, which is that of the model `name`."""
    return _names(checkpoint, store.load(name + LABELS), name)


def change_labels(
    store: Store, checkpoint: Checkpoint, name: str, labels: Mapping[Any, str | None]
) -> TopicNames:
    """Give topics labels by id, or take them away (None); returns ids and labels afterwards.

    The topics are those of the checkpoint, the last of the model `name`. It may be trained
    meanwhile, and others may label topics at the same time.

    Raises:
        UnknownTopicError: there is no topic of such an id; nothing was changed.
        ValueError: a label cannot be one; nothing was changed.
    """
    changed: list[TopicNames] = []

    def change(content: bytes) -> bytes:
        names = _names(checkpoint, content, name).with_labels(labels)
        changed.append(names)
        # Labels of topics that are not there: those of other versions of the model stay.
        kept = {**_labels(content, name), **{str(i): None for i in names.ids}}
        kept.update({str(i): label for i, label in names.labels.items()})
        return json.dumps({i: label for i, label in kept.items() if label is not None}).encode()

    store.change_saved(name + LABELS, change, missing=b"{}")
    return changed[-1]


def _names(checkpoint: Checkpoint, content: bytes | None, name: str) -> TopicNames:
    names = checkpoint.topic_names
    labels = _labels(content or b"{}", name)
    return names.with_labels({i: labels[str(i)] for i in names.ids if str(i) in labels})


def _labels(content: bytes, name: str) -> dict[str, str]:
    advice = "restore the store from a copy, or train a model by another name"
    with persist.refusing_damage(f"what is saved of the labels of the model {name!r}", advice):
        found = json.loads(content)
        if not isinstance(found, dict):
            raise ValueError("labels are expected by id")
        return found
