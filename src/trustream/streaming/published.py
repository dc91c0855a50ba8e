"""The model that a store holds, for people and programs."""

from __future__ import annotations

import json
from typing import Any

from trustream import persist
from trustream.inference.population import published
from trustream.store.protocol import Store
from trustream.streaming import stream_model
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.stream_model import StreamModel

DEFAULT_NAME = "model"


class MissingModelError(ValueError):
    """A store has no model of that name, or no settings to train one with."""


def load_checkpoint(store: Store, name: str = DEFAULT_NAME) -> Checkpoint | None:
    """The last checkpoint of a trainer, None if there is none."""
    content = store.load(name)
    if content is None:
        return None
    return Checkpoint.from_bytes(content, f"the checkpoint {name!r} of {store.name}")


def save_settings(store: Store, model: StreamModel, name: str = DEFAULT_NAME) -> None:
    """Keep the settings of a model in the store, under its name."""
    store.save(f"{name}.settings", json.dumps(stream_model.to_json(model)).encode())


def load_settings(store: Store, name: str = DEFAULT_NAME) -> StreamModel | None:
    """The model that `save_settings` kept the settings of; None if there is none."""
    content = store.load(f"{name}.settings")
    if content is None:
        return None
    advice = "restore the store from a copy, or choose another name for another model"
    with persist.refusing_damage(f"the settings of the model {name!r} in the store", advice):
        return stream_model.from_json(json.loads(content))


def load_model(store: Store, name: str = DEFAULT_NAME) -> Any:
    """The model of the last checkpoint as a fitted estimator, with the words as its columns' names.

    Evicted columns have the name "", and `tokeniser_` is the store's. The estimator can do all that
    one from `fit` can: transform, score, save. Its own `partial_fit` goes on from here, apart from
    the store.
    """
    checkpoint = load_checkpoint(store, name)
    if checkpoint is None:
        raise MissingModelError(
            f"{store.name} holds no model {name!r} yet: run `trustream train` on it first"
        )
    model = as_estimator(checkpoint)
    model._tokeniser = store.tokeniser()
    return model


def as_estimator(checkpoint: Checkpoint) -> Any:
    """A fitted estimator that takes over the checkpoint's parameters."""
    rng = persist.generator_from_json(checkpoint.others)
    model = checkpoint.model.learner(len(checkpoint.words), 1).model
    state = published(model, checkpoint.state)
    return checkpoint.model.estimator(state, checkpoint.words, rng, checkpoint.clock.arrived)
