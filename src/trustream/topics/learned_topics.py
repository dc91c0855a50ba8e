"""What a topic model of texts has learned: words, and topics that can be merged and named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Self, TypeVar, cast

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from trustream.array_types import Array
from trustream.estimators import LatentDirichletAllocation
from trustream.topic_names import TopicNames
from trustream.topics.editing import merging
from trustream.topics.kept_documents import KeptDocuments, NotedTexts
from trustream.topics.texts import text_chunks
from trustream.topics.topic_model_files import Words
from trustream.topics.topic_set import TopicSet, as_topics
from trustream.topics.vocabulary import Counted, batches

T = TypeVar("T")


class PendingStep(NamedTuple):
    """A step that is being taken.

    Attributes:
        found: counts and new words of its texts.
        noted: what is kept of its texts.
        n_before: documents that the estimator has seen before it; None if it has none to take.
    """

    found: Counted
    noted: NotedTexts
    n_before: int | None


class LearnedTopics:
    """Base of `TopicModel` that holds what was learned.

    A fitted model has `_lda`, the estimator, with the ids and labels of its topics; `_words`, which
    counts texts for it; `_kept`, some of its documents; and `_seed`, of new words. `_pending` is
    what is left to do after a step of the estimator, which may have been interrupted just then.
    """

    _lda: LatentDirichletAllocation
    _words: Words
    _kept: KeptDocuments
    _seed: int
    _cached: dict[str, tuple[Any, Any]]
    _pending: PendingStep | None

    @property
    def _is_fitted(self) -> bool:
        return hasattr(self, "_lda")

    def _set(self, seed: int, words: Any, lda: Any, kept: KeptDocuments) -> None:
        """All that was learned, in one call, which no interrupt divides."""
        # One object, by which results that are kept are known to be of these names.
        lda._topic_names = lda.topic_names_
        self.__dict__.update(
            _seed=seed,
            _words=words,
            _lda=lda,
            _kept=kept,
            _cached={},
            _pending=None,
        )

    @property
    def _names(self) -> TopicNames:
        return self._lda.topic_names_

    @property
    def estimator_(self) -> LatentDirichletAllocation:
        """The fitted estimator, with words, tokeniser, and the ids and labels of its topics."""
        self._check_fitted()
        return self._lda

    @property
    def topics_(self) -> TopicSet:
        """The topics with their words, ids and labels, as they are now."""
        self._check_fitted()
        return self._of_now(
            "topics",
            (self._names,),
            lambda: as_topics(self._lda, self._words.words),
        )

    @property
    def words_(self) -> list[str]:
        """Words by column; new ones come last."""
        self._check_fitted()
        return list(self._words.words)

    @property
    def n_topics_(self) -> int:
        """Topics that there are now."""
        self._check_fitted()
        return self._lda.n_components

    @property
    def n_documents_(self) -> int:
        """Documents that it has learned from."""
        self._check_fitted()
        return self._words.n_documents

    def count(self, texts: Iterable[str]) -> sparse.csr_array:
        """Return how often each word of the model is in texts, for functions that take counts.

        Parameters
        ----------
        texts : iterable of str

        Returns
        -------
        sparse array of shape (n_texts, n_words)

        Examples
        --------
        >>> from trustream import TopicModel
        >>> model = TopicModel(2, random_state=0).fit(["cats and dogs", "bank rates"] * 20)
        >>> model.count(["dogs and more dogs", "birds"]).toarray().tolist()
        [[0, 0, 2, 0], [0, 0, 0, 0]]
        """
        self._check_fitted()
        found = [counts for counts, _ in batches(self._words, text_chunks(texts))]
        return sparse.csr_array(sparse.vstack(found, format="csr"))

    def transform(self, texts: Iterable[str]) -> Array:
        """Return the topic proportions of texts; the model does not learn from them.

        Parameters
        ----------
        texts : iterable of str

        Returns
        -------
        array of shape (n_texts, n_topics)
            Columns are in the order of ``topics_.names.ids``; rows sum to one. A text without a
            word that the model knows has the proportions of the prior.

        Examples
        --------
        >>> from trustream import TopicModel
        >>> model = TopicModel(2, random_state=0).fit(["cats and dogs", "bank rates"] * 20)
        >>> model.transform(["my dogs and cats", "the rates"]).shape
        (2, 2)
        """
        self._check_fitted()
        parts = batches(self._words, text_chunks(texts))
        return np.concatenate([self._lda.transform(counts) for counts, _ in parts])

    # --- changing topics

    def merge_topics(self, topics: Iterable[int]) -> Self:
        """Make several topics one, which keeps id and label of the first; learning goes on from it.

        Parameters
        ----------
        topics : iterable of int
            Ids of two topics or more.

        Examples
        --------
        >>> from trustream import TopicModel
        >>> model = TopicModel(4, random_state=0).fit(["cats and dogs", "bank rates"] * 20)
        >>> model.merge_topics([3, 0]).topics_.names.ids
        (1, 2, 3)
        """
        self._check_fitted()
        edit = merging(self._names, topics)
        self._lda = edit.of_estimator(self._lda)
        return self

    def set_labels(self, labels: Mapping[int, str | None]) -> Self:
        """Name topics by id, beside those that have a name; None takes a name away.

        Labels stay with their topics when others are merged, and while the model learns on.

        Examples
        --------
        >>> from trustream import TopicModel
        >>> model = TopicModel(2, random_state=0).fit(["cats and dogs", "bank rates"] * 20)
        >>> model.set_labels({1: "my favourite"}).topic_info().topic(1).label
        'my favourite'
        """
        self._check_fitted()
        self._lda.set_labels(labels)
        return self

    # --- inside

    def _check_fitted(self) -> None:
        if not self._is_fitted:
            raise NotFittedError("this TopicModel has no topics yet: call fit(texts) first")
        self._settle()

    def _settle(self) -> None:
        """Take in the words and documents of a step that was taken; drop those of one that was not.

        Whatever was done already may be done again.
        """
        pending = self._pending
        if pending is None:
            return
        if pending.n_before is None or self._lda._n_samples_seen != pending.n_before:
            self._words.take(pending.found)
            if pending.found.new or pending.found.source is not None:
                self._lda.set_words(self._words.words, tokenise=self._words.specification)
            self._kept.take(pending.noted, pending.found.counts)
        self._pending = None

    def _of_now(self, name: str, now: tuple[Any, ...], make: Callable[[], T]) -> T:
        """What is computed from the model as it is now, until it or one of these changes."""
        now = (self._lda._state, *now)
        if name in self._cached:
            before, found = self._cached[name]
            if all(a is b for a, b in zip(before, now, strict=True)):
                return cast(T, found)
        made = make()
        self._cached[name] = now, made
        return made
