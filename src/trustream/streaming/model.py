"""The model that a store holds, as an estimator for people and programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from trustream import persist
from trustream.store.protocol import Store
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.settings import TrainerSettings

if TYPE_CHECKING:
    from trustream.estimators import LatentDirichletAllocation

DEFAULT_NAME = "model"


def load_checkpoint(store: Store, name: str = DEFAULT_NAME) -> Checkpoint | None:
    """The last checkpoint of a trainer, None if there is none."""
    content = store.load(name)
    if content is None:
        return None
    return Checkpoint.from_bytes(content, f"the checkpoint {name!r} of {store.name}")


def save_settings(store: Store, settings: TrainerSettings, name: str = DEFAULT_NAME) -> None:
    """Keep what the model of that name is to be made with."""
    store.save(f"{name}.settings", json.dumps(asdict(settings)).encode())


def load_settings(store: Store, name: str = DEFAULT_NAME) -> TrainerSettings | None:
    """What `save_settings` kept, None if nothing was."""
    content = store.load(f"{name}.settings")
    if content is None:
        return None
    advice = "restore the store from a copy, or choose another name for another model"
    with persist.refusing_damage(f"the settings of the model {name!r} in the store", advice):
        return TrainerSettings.of(json.loads(content))


def load_model(store: Store, name: str = DEFAULT_NAME) -> LatentDirichletAllocation:
    """The model of the last checkpoint as a fitted estimator, with the words as its columns' names.

    Evicted columns have the name "". The estimator can do all that one from `fit` can: transform,
    score, save. Its own `partial_fit` goes on from here, apart from the store.
    """
    checkpoint = load_checkpoint(store, name)
    if checkpoint is None:
        raise ValueError(
            f"{store.name} holds no model {name!r} yet: run `trustream train` on it first"
        )
    return as_estimator(checkpoint)


def as_estimator(checkpoint: Checkpoint) -> LatentDirichletAllocation:
    """A fitted estimator that takes over the checkpoint's parameters."""
    from trustream.estimators import LatentDirichletAllocation

    settings: dict[str, Any] = asdict(checkpoint.settings)
    shared = (
        "n_components", "batch_size", "learning_offset", "learning_decay", "inner_iter",
        "max_doc_update_iter", "mean_change_tol", "tol", "doc_topic_prior", "topic_word_prior",
        "learn_priors", "dtype", "random_state",
    )  # fmt: skip
    model = LatentDirichletAllocation(
        learning_method=settings["method"],
        max_doc_topics=None,
        **{key: settings[key] for key in shared},
    )
    state = checkpoint.state
    model._state = state
    model._rng = persist.generator_from_json(checkpoint.others)
    model._n_samples_seen = checkpoint.clock.arrived
    model.n_iter_ = 1
    model.n_features_in_ = len(checkpoint.words)
    model.feature_names_in_ = np.array([word or "" for word in checkpoint.words], dtype=object)
    return model
