"""Load a fitted model from a file or a store, and export one from a store to a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trustream import persist
from trustream._open_databases import is_in_use
from trustream.store import open_store
from trustream.store.protocol import Store
from trustream.streaming.published import (
    DEFAULT_NAME,
    MissingModelError,
    load_model,
    model_names,
    models_there,
)
from trustream.tokenisers import Specification

_SQLITE_HEADER = b"SQLite format 3"


@dataclass(frozen=True)
class FittedModel:
    """A fitted estimator, with the words of its columns beside it.

    The estimator itself has no names of columns, so that it takes matrices and arrays without
    scikit-learn's warning that these have no names.

    Attributes:
        title: name of the file or store that it was loaded from, without a password.
        estimator: the fitted estimator.
        words: words by column; None if the model has no names of columns.
        tokeniser: what makes words of texts; None if the model does not say.
        in_store: whether it comes from a store.
    """

    title: str
    estimator: Any
    words: list[str] | None
    tokeniser: Specification | None = None
    in_store: bool = False

    def with_words(self, words: Sequence[str], source: str = "the vocabulary") -> FittedModel:
        """Return the model with other words by column; an error names their source.

        >>> import trustream
        >>> lda = trustream.LatentDirichletAllocation(2, random_state=0).fit([[2, 1], [0, 2]])
        >>> model = FittedModel("small", lda, None)
        >>> model.with_words(["cat", "dog"]).words
        ['cat', 'dog']
        >>> model.with_words(["cat"], "words.txt")
        Traceback (most recent call last):
        ...
        ValueError: words.txt has 1 words, the model has 2
        """
        n_features = self.estimator.n_features_in_
        if len(words) != n_features:
            raise ValueError(f"{source} has {len(words)} words, the model has {n_features}")
        return replace(self, words=list(words))

    def check_scores(self) -> None:
        """Raise a ValueError unless documents or data points can be scored by this.

        >>> import trustream
        >>> likes = trustream.TopicRecommender(1, random_state=0).fit([[1, 0], [1, 1]])
        >>> FittedModel("likes", likes, None).check_scores()
        Traceback (most recent call last):
        ...
        ValueError: likes holds a TopicRecommender, whose lists are scored by its method evaluate \
in Python; give a model of documents or data points
        """
        if not hasattr(self.estimator, "elbo"):
            raise ValueError(
                f"{self.title} holds a {type(self.estimator).__name__}, whose lists are scored by "
                "its method evaluate in Python; give a model of documents or data points"
            )

    def check_topics(self) -> None:
        """Raise a ValueError unless this is a topic model.

        >>> import trustream
        >>> mixture = trustream.BernoulliMixture(2, random_state=0).fit([[1, 0], [0, 1]])
        >>> FittedModel("bits", mixture, None).check_topics()
        Traceback (most recent call last):
        ...
        ValueError: bits holds a BernoulliMixture, which has no topics; give a topic model, or \
use trustream.load in Python
        """
        if not hasattr(self.estimator, "top_words"):
            raise ValueError(
                f"{self.title} holds a {type(self.estimator).__name__}, which has no topics; give "
                "a topic model, or use trustream.load in Python"
            )


@dataclass(frozen=True, slots=True)
class ExportedModel:
    """A model that was written to a file.

    Attributes:
        path: the file.
        n_topics: number of topics.
        n_words: number of words; columns whose word has left the store are not counted.
    """

    path: str
    n_topics: int
    n_words: int


def load_fitted(source: str | Path, name: str = DEFAULT_NAME) -> FittedModel:
    """Load a fitted model from a file that an estimator saved, or from a store.

    Parameters
    ----------
    source : str or Path
        Path of a model file or of a SQLite store, or the address of a store: ``postgresql://``,
        ``env:NAME`` or ``@path``.
    name : str, default="model"
        Name of the model in a store.

    Raises
    ------
    FileNotFoundError
        If there is no file.
    MissingModelError
        If the store holds no model of that name yet.
    ValueError
        If the file is not a model file.

    Examples
    --------
    >>> import tempfile, trustream
    >>> lda = trustream.LatentDirichletAllocation(2, random_state=0).fit([[2, 1, 0], [0, 1, 2]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lda.save(f"{folder}/topics.safetensors")
    ...     model = load_fitted(f"{folder}/topics.safetensors")
    >>> model.title, model.estimator.n_components, model.words
    ('topics.safetensors', 2, None)
    """
    source = str(source)
    title, in_store = Path(source).name, is_store(source)
    if not in_store:
        if name != DEFAULT_NAME:
            raise MissingModelError(
                f"{title} is a file with one model, or there is none: names such as {name!r:.60} "
                "are for the models of a store"
            )
        estimator = persist.load(source)
        # That of a model of texts, which says its words and its tokeniser.
        estimator = getattr(estimator, "estimator_", estimator)
    else:
        with open_store(source, create=False) as store:
            estimator = load_model(store, name)
            # An address may contain a password, and env:NAME says little.
            title = store.name if _is_address(source) else title
    words, tokeniser = column_words(estimator), getattr(estimator, "_tokeniser", None)
    return FittedModel(title, without_column_names(estimator), words, tokeniser, in_store)


def trained_models(source: str | Path) -> list[str]:
    """Return the names of the models of a store that have been trained, for `load_fitted`.

    Raises
    ------
    MissingModelError
        If there is none, or the source is not a store.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", min_documents=1) as store:
    ...         _ = store.append(Record(str(i), ["cat", "dog"]) for i in range(20))
    ...         with trustream.StreamTrainer(store, 2, batch_size=5, name="small") as trainer:
    ...             _ = trainer.run(steps=3)
    ...     trained_models(f"{folder}/topics.db")
    ['small']
    """
    source = str(source)
    if not is_store(source):
        raise MissingModelError(
            f"{Path(source).name} is not a store, which may have several models"
        )
    with open_store(source, create=False) as store:
        names = [name for name in model_names(store) if store.saved_version(name) is not None]
        if not names:
            raise MissingModelError(f"{store.name} has no trained models: {models_there(store)}")
        return names


def export_model(store: Store, path: str | Path, name: str = DEFAULT_NAME) -> ExportedModel:
    """Write a store's model to a file, which `trustream.load` and the commands read.

    The file has its words, and the store's tokeniser.

    Parameters
    ----------
    store : Store
    path : str or Path
        A file that is there already is replaced.
    name : str, default="model"
        Name of the model in the store.

    Raises
    ------
    MissingModelError
        If the store holds no model of that name yet.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", min_documents=1) as store:
    ...         _ = store.append(Record(str(i), ["cat", "dog"]) for i in range(20))
    ...         with trustream.StreamTrainer(store, n_components=2, batch_size=5) as trainer:
    ...             _ = trainer.run(steps=3)
    ...         exported = export_model(store, f"{folder}/topics.safetensors")
    ...     sorted(trustream.load(exported.path).feature_names_in_)
    ['cat', 'dog']
    >>> exported.n_topics, exported.n_words
    (2, 2)
    """
    model = load_model(store, name)
    model.save(path)
    n_words = sum(1 for word in column_words(model) or () if word)
    return ExportedModel(str(path), model.n_components, n_words)


def column_words(estimator: Any) -> list[str] | None:
    """Return the words by column of a fitted estimator; None if it has no names of columns.

    >>> import trustream
    >>> lda = trustream.LatentDirichletAllocation(2, random_state=0).fit([[2, 1], [0, 2]])
    >>> column_words(lda) is None
    True
    """
    given = getattr(estimator, "_words", None)
    names = getattr(estimator, "feature_names_in_", None) if given is None else given
    return None if names is None else [str(name) for name in names]


def without_column_names(estimator: Any) -> Any:
    """Return a fitted estimator that shares everything but the names of its columns.

    scikit-learn warns if a matrix without names is given to an estimator with names. The given
    estimator is not changed.

    >>> import numpy as np, trustream
    >>> lda = trustream.LatentDirichletAllocation(2, random_state=0).fit([[2, 1, 0], [0, 1, 2]])
    >>> lda.feature_names_in_ = np.array(["cat", "dog", "bird"], dtype=object)
    >>> hasattr(without_column_names(lda), "feature_names_in_"), hasattr(lda, "feature_names_in_")
    (False, True)
    """
    if not hasattr(estimator, "feature_names_in_"):
        return estimator
    view = object.__new__(type(estimator))
    view.__dict__.update(vars(estimator))
    del view.feature_names_in_
    return view


def is_store(source: str) -> bool:
    """Return whether this is the address of a store, or a file that is one.

    >>> is_store("postgresql://localhost/topics"), is_store("articles.jsonl")
    (True, False)
    """
    return _is_address(source) or _is_sqlite(source)


def _is_address(source: str) -> bool:
    return "://" in source or source.startswith(("env:", "@"))


def _is_sqlite(path: str) -> bool:
    # Not a pipe, which would be waited for.
    if not os.path.isfile(path):
        return False
    if is_in_use(path):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER
    except OSError:
        return False
