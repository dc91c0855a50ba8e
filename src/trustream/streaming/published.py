"""The model that a store holds, for people and programs."""

from __future__ import annotations

import json
from typing import Any

from trustream import persist
from trustream.inference.population import published
from trustream.store.errors import StoreError
from trustream.store.protocol import Store
from trustream.streaming import stream_model
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.saved_names import CLUSTER, DEFAULT_NAME, LABELS, RETRAINING, SETTINGS
from trustream.streaming.stream_model import StreamModel
from trustream.streaming.topic_labels import load_names

_TAKEN = SETTINGS, LABELS, CLUSTER, RETRAINING


class MissingModelError(ValueError):
    """A store has no model of that name, or no settings to train one with."""


def check_model_name(name: str) -> None:
    """Raise a ValueError for a name that no model may have.

    >>> check_model_name("fine.settings")
    Traceback (most recent call last):
    ...
    ValueError: a model cannot be called 'fine.settings': names that end in .settings, ...
    """
    if not name or not name.isprintable() or len(name) > 100:
        raise ValueError(
            f"a model cannot be called {name!r:.120}: give 1 to 100 characters that can be printed"
        )
    if name.endswith(_TAKEN):
        raise ValueError(
            f"a model cannot be called {name!r}: names that end in {', '.join(_TAKEN[:-1])} or "
            f"{RETRAINING} are for what belongs to a model; choose another"
        )


def model_names(store: Store) -> list[str]:
    """The names of the models that a store was prepared for, or that were trained on it.

    >>> import tempfile, trustream
    >>> from trustream.streaming.lda.model import TopicStream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db") as store:
    ...         save_settings(store, TopicStream(n_components=20), "coarse")
    ...         save_settings(store, TopicStream(n_components=200), "fine")
    ...         model_names(store)
    ['coarse', 'fine']
    """
    saved = store.saved_names()
    names = {name.removesuffix(SETTINGS) for name in saved if name.endswith(SETTINGS)}
    others = (name for name in saved if name not in names and not name.endswith(SETTINGS))
    return sorted(names | {name for name in others if _is_checkpoint(store, name)})


def _is_checkpoint(store: Store, name: str) -> bool:
    """Whether what is saved under a name begins like a checkpoint."""
    try:
        return "stream" in persist.Contents.of(store.load(name) or b"", name).header
    except (ValueError, KeyError, TypeError, EOFError, OSError, StoreError):
        return False


def models_there(store: Store) -> str:
    """Which models a store has, as the end of a message."""
    names = ", ".join(repr(name) for name in model_names(store))
    return f"its models are {names}" if names else "it has no models"


def load_checkpoint(store: Store, name: str = DEFAULT_NAME) -> Checkpoint | None:
    """The last checkpoint of a trainer, None if there is none."""
    content = store.load(name)
    if content is None:
        return None
    return Checkpoint.from_bytes(content, f"the checkpoint {name!r} of {store.name}")


def save_settings(store: Store, model: StreamModel, name: str = DEFAULT_NAME) -> None:
    """Keep the settings of a model in the store, under its name."""
    store.save(name + SETTINGS, settings_bytes(model))


def settings_bytes(model: StreamModel) -> bytes:
    """What is saved of the settings of a model."""
    return json.dumps(stream_model.to_json(model)).encode()


def load_settings(store: Store, name: str = DEFAULT_NAME) -> StreamModel | None:
    """The model that `save_settings` kept the settings of; None if there is none."""
    content = store.load(name + SETTINGS)
    if content is None:
        return None
    advice = "restore the store from a copy, or choose another name for another model"
    with persist.refusing_damage(f"the settings of the model {name!r} in the store", advice):
        return stream_model.from_json(json.loads(content))


def load_model(store: Store, name: str = DEFAULT_NAME) -> Any:
    """The model of the last checkpoint as a fitted estimator, with the words as its columns' names.

    Evicted columns have the name "", `tokeniser_` is the store's, and `topic_names_` has the ids
    and labels of its topics. The estimator can do all that one from `fit` can: transform, score,
    save. Its own `partial_fit` goes on from here, apart from the store.

    Raises:
        MissingModelError: the store has no such model, or it was not trained yet.
    """
    checkpoint = required_checkpoint(store, name)
    model = as_estimator(checkpoint)
    model._tokeniser = store.tokeniser()
    if checkpoint.model.n_topics is not None:
        model._topic_names = load_names(store, checkpoint, name)
    return model


def required_checkpoint(store: Store, name: str = DEFAULT_NAME) -> Checkpoint:
    """The last checkpoint of a trainer; a MissingModelError says what to do if there is none."""
    checkpoint = load_checkpoint(store, name)
    if checkpoint is None:
        if load_settings(store, name) is None and model_names(store):
            raise MissingModelError(
                f"{store.name} holds no model {name!r} yet: {models_there(store)}"
            )
        option = "" if name == DEFAULT_NAME else f" --model {name}"
        raise MissingModelError(
            f"{store.name} holds no model {name!r} yet: run `trustream train{option}` on it first"
        )
    return checkpoint


def as_estimator(checkpoint: Checkpoint) -> Any:
    """A fitted estimator that takes over the checkpoint's parameters."""
    rng = persist.generator_from_json(checkpoint.others)
    model = checkpoint.model.learner(len(checkpoint.words), 1).model
    state = published(model, checkpoint.state)
    found = checkpoint.model.estimator(state, checkpoint.words, rng, checkpoint.clock.arrived)
    if checkpoint.names is not None:
        found._topic_names = checkpoint.names
    return found
