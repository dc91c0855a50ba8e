"""Prepare a store for a model, so that trainers know what to learn from it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trustream import presets
from trustream.estimators.seed_topics import STRENGTH, SeedTopics, listed
from trustream.store import open_store
from trustream.store.protocol import Store
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.published import (
    DEFAULT_NAME,
    check_model_name,
    load_settings,
    model_names,
    save_settings,
)
from trustream.streaming.stream_model import StreamModel
from trustream.text import Tokeniser
from trustream.tokenisers import CustomTokeniser, Tokenise, function_of


@dataclass(frozen=True, slots=True)
class PreparedStore:
    """A store that is ready for documents and for a trainer.

    Attributes:
        store: name of the store, without a password.
        n_topics: number of topics that will be learned.
        method: name of the algorithm.
        name: name of the model in the store.
        others: names of the other models that the store has.
    """

    store: str
    n_topics: int
    method: str
    name: str = DEFAULT_NAME
    others: tuple[str, ...] = ()


def init_store(
    url: str | Path,
    n_topics: int = 100,
    *,
    method: str = "trust-region",
    preset: str | None = None,
    batch_size: int | None = None,
    random_state: int = 0,
    name: str = DEFAULT_NAME,
    tokeniser: Tokenise | None = None,
    seed_words: Mapping[str, Any] | None = None,
    seed_strength: float | None = None,
    **options: Any,
) -> PreparedStore:
    """Make a store for documents, and for a model with a given number of topics.

    A store that is there already is kept with its documents and its other models, if the settings
    of the store that are given are those that it was made with.

    Parameters
    ----------
    url : str or Path
        File name (SQLite) or ``postgresql://`` address, as `open_store` takes it.
    n_topics : int, default=100
    method : str, default="trust-region"
        Name of the algorithm.
    preset : str, default=None
        Settings of the paper's streams (`trustream.presets`): batch size, learning rate,
        iterations and priors.
    batch_size : int, default=None
        Documents of a step; None is that of the preset, or is chosen by their lengths.
    random_state : int, default=0
    name : str, default="model"
        Name of the model in the store; other names are other models, with settings of their own.
    tokeniser : Tokeniser or callable, default=None
        How texts become words, which the store keeps; None is the usual way in a new store, and
        what was kept in one that is there.
    seed_words : dict of str to list of str, default=None
        Words by which topics begin, ``{"sports": ["team", "game"]}``: each counts for its topic as
        soon as it is active, and the topic is labelled by the name.
    seed_strength : float, default=None
        Tokens that each token of a seed word counts more in its topic; None is 0.5.
    **options
        Settings of the store: `held_out`, `min_documents`, `max_words`, `vocabulary`, `keep_text`
        and `keep_order` of `open_store`.

    Raises
    ------
    ValueError
        If a setting is invalid (then no store is made), or if the store or its model has others.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     prepared = init_store(f"{folder}/topics.db", 20, min_documents=2)
    >>> prepared.n_topics, prepared.method
    (20, 'trust-region')
    """
    check_model_name(name)
    settings: dict[str, Any] = {"n_components": n_topics, "method": method}
    if preset is not None:
        settings = presets.trainer(preset, method, n_topics)
    if batch_size is not None:
        settings["batch_size"] = batch_size
    if seed_words is not None:
        settings["seed_words"] = seed_words
        settings["seed_strength"] = STRENGTH if seed_strength is None else seed_strength
    elif seed_strength is not None:
        raise ValueError("seed_strength is of use with seed_words only: give both, or none")
    model = TopicStream(**settings, random_state=random_state)
    with open_store(url, tokeniser=tokeniser, **options) as store:
        if tokeniser is None and not store.totals().documents:
            store.set_tokeniser(Tokeniser(), before=None)
        prepare(store, model, name)
        _warn_of_seeds(store, model.seed_words)
        others = tuple(other for other in model_names(store) if other != name)
        return PreparedStore(store.name, n_topics, method, name, others)


def _warn_of_seeds(store: Store, seeds: SeedTopics | None) -> None:
    """Warn of seed words that no text can have, for they would wait for ever without a word."""
    kept = store.tokeniser() or Tokeniser()
    if seeds is None or isinstance(kept, CustomTokeniser):
        return
    if store.settings.fixed:
        unknown = seeds.not_among({*store.vocabulary().words}.__contains__)
        reason = "not in the vocabulary of the store"
    else:
        split = function_of(kept)
        unknown = seeds.not_among(lambda word: [*split(word)] == [word])
        reason = (
            "not what texts are split into here (case and word pattern matter, stop words are left "
            "out), and only count in documents that come as words"
        )
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        warnings.warn(f"{listed(unknown)} of seed_words {verb} {reason}", UserWarning, stacklevel=3)


def prepare(store: Store, model: StreamModel, name: str = DEFAULT_NAME) -> None:
    """Tell a store which model trainers shall learn from it.

    Parameters
    ----------
    store : Store
    model : StreamModel
        Its settings are kept.
    name : str, default="model"
        Name of the model in the store.

    Raises
    ------
    ValueError
        If the store has a model of that name with other settings, or no model can have that name.

    Examples
    --------
    >>> import tempfile, trustream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db") as store:
    ...         prepare(store, TopicStream(n_components=20), "coarse")
    ...         load_settings(store, "coarse").n_components
    20
    """
    check_model_name(name)
    before = load_settings(store, name)
    if before is not None and before != model:
        kind = before.kind if before.n_topics is None else f"{before.n_topics} topics"
        raise ValueError(
            f"{store.name} has a model {name!r} with other settings already "
            f"({kind}, {before.recipe.method}): "
            "choose another store, or add a model by another name (--model NAME)"
        )
    save_settings(store, model, name)
