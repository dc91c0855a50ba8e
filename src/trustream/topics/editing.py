"""Merge, delete and label topics, in a set of topics or in a model that goes on learning.

An edit says which old topics each new one is made of. What data have put into lambda adds up, and
the prior counts once:

    lambda = lambda_i + lambda_j - eta,   alpha = alpha_i + alpha_j.

The proportions that documents have are then, before anything is inferred again, exactly the sums
of those that they had: gamma = gamma_i + gamma_j. What is left of a topic that is deleted is what
other topics make of its words when documents are read again.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trustream.array_types import Array, Float64
from trustream.inference.state import State
from trustream.models.lda import LazyRows, LdaPrior
from trustream.models.lda.seeds import SeedRows
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.lda.model import TopicStream
from trustream.topic_names import TopicNames
from trustream.topics.documents import as_batches, read
from trustream.topics.topic_set import TopicSet, as_topics


@dataclass(frozen=True, eq=False)
class TopicEdit:
    """What becomes of topics: of their lambda, alpha, gamma, ids and labels.

    Attributes:
        groups: for each new topic, the rows of the old ones that it is the sum of.
        names: ids and labels afterwards.
        parts: for new topics that get only a part of the old one, by row: (V,) shares of each
            word's weight, and the share of alpha.
    """

    groups: tuple[tuple[int, ...], ...]
    names: TopicNames
    parts: Mapping[int, tuple[Float64, float]] = field(default_factory=dict)

    def of_gamma(self, gamma: Any) -> Array:
        """Return Dirichlet parameters, or proportions, of documents, (documents, K) afterwards.

        Raises
        ------
        ValueError
            A topic is split: then documents have to be read again.
        """
        if self.parts:
            raise ValueError("a topic was split: infer the topics of the documents again")
        given = np.asarray(gamma)
        return np.stack([given[:, list(rows)].sum(axis=1) for rows in self.groups], axis=1)

    def of_topics(self, topics: TopicSet) -> TopicSet:
        """Return the topics afterwards."""
        lambda_, prior = self._of(topics.lambda_, topics.prior)
        most = topics.model.max_doc_topics
        # A reader of all topics reads all of them afterwards too.
        most = len(self.groups) if most == topics.n_topics else most
        model = replace(topics.model, n_components=len(self.groups), max_doc_topics=most)
        return replace(topics, lambda_=lambda_, prior=prior, model=model, names=self.names)

    def of_state(self, state: State) -> State:
        """Return a state of LDA afterwards, from which learning can go on.

        The mean beside lambda is edited too. What an algorithm keeps for itself is dropped, for it
        is of other topics. The given state is not changed.
        """
        lambda_, prior = self._of(state.lambda_, state.prior)
        mean = state.mean
        if mean is not None:
            mean = replace(mean, lambda_=self._of(mean.lambda_, state.prior)[0])
        return replace(state, lambda_=lambda_, prior=prior, mean=mean, memory=None)

    def of_estimator(self, estimator: Any) -> Any:
        """Return a fitted LatentDirichletAllocation afterwards; the given one is not changed.

        It has another `n_components`, and `partial_fit` goes on from here.
        """
        as_topics(estimator)  # refuses what is not fitted
        edited = copy.deepcopy(estimator)
        edited._state = self.of_state(estimator._state)
        edited.n_components = len(self.groups)
        edited._topic_names = self.names
        if edited._seeds is not None:
            edited._seeds = edited._seeds.edited(self.groups, self.parts)
        # The priors that were given for each topic, so that they are of the topics there are.
        if np.ndim(edited.doc_topic_prior) == 1:
            edited.doc_topic_prior = self._alpha(np.asarray(edited.doc_topic_prior, np.float64))
        if np.ndim(edited.topic_word_prior) == 2:
            seeds = np.asarray(edited.topic_word_prior, np.float64).T
            edited.topic_word_prior = self._pattern(seeds).T
        vars(edited).pop("_model", None)
        return edited

    def of_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint:
        """Return a trainer's checkpoint of topics afterwards, from which a trainer goes on.

        Its settings have another `n_components`. It has the ids of the topics, and no labels, which
        a store keeps beside it. To edit the model of a store use `trustream.topics.stored_topics`.
        """
        if not isinstance(checkpoint.model, TopicStream):
            raise ValueError(
                f"the checkpoint is of a model of kind {checkpoint.model.kind!r}, expected topics"
            )
        seeds = checkpoint.model.seed_words
        seeds = None if seeds is None else seeds.edited(self.groups, self.parts)
        model = replace(checkpoint.model, n_components=len(self.groups), seed_words=seeds)
        state = self.of_state(checkpoint.state)
        return replace(checkpoint, model=model, state=state, names=self.names)

    def _alpha(self, alpha: Float64) -> Float64:
        sums = np.array([alpha[list(rows)].sum() for rows in self.groups])
        for row, (_, share) in self.parts.items():
            sums[row] *= share
        return sums

    def _pattern(self, pattern: Float64) -> Float64:
        """Of seeded topics the larger eta of each word, so that seeds stay; (V, K)."""
        if pattern.shape[1] == 1:
            return pattern
        return np.stack([pattern[:, list(rows)].max(axis=1) for rows in self.groups], axis=1)

    def _of(self, lambda_: LazyRows, prior: LdaPrior) -> tuple[LazyRows, LdaPrior]:
        stored = np.empty((len(lambda_.stored), len(self.groups)), lambda_.stored.dtype)
        for new, rows in enumerate(self.groups):
            column = lambda_.stored[:, list(rows)].sum(axis=1, dtype=np.float64)
            if new in self.parts:
                column *= self.parts[new][0]
            stored[:, new] = column
        pattern = self._pattern(prior.pattern)
        if pattern.shape[1] == 1:
            pattern_sums = np.full(len(self.groups), prior.pattern_sums[0])
        else:
            pattern_sums = pattern.sum(axis=0)
        totals = lambda_.scale * stored.sum(axis=0, dtype=np.float64)
        totals += lambda_.shift * pattern_sums
        edited = LazyRows(stored, lambda_.scale, lambda_.shift, totals)
        alpha = self._alpha(prior.alpha)
        return edited, replace(
            prior,
            alpha=alpha,
            pattern=pattern.copy(),
            pattern_sums=pattern_sums,
            seeds=self._seeds(prior.seeds),
        )

    def _seeds(self, seeds: SeedRows | None) -> SeedRows | None:
        """Weights of seed words add up like the tokens that they stand for."""
        if seeds is None:
            return None
        columns = [seeds.weights[:, list(rows)].sum(axis=1) for rows in self.groups]
        for row, (shares, _) in self.parts.items():
            columns[row] = columns[row] * shares[seeds.places]
        return SeedRows(seeds.places, np.stack(columns, axis=1))


def merging(names: TopicNames, topics: Iterable[Any]) -> TopicEdit:
    """Return the edit by which topics become one, in the place and with the id of the first.

    >>> merging(TopicNames.of(4), [2, 0]).groups
    ((1,), (2, 0), (3,))
    """
    rows = tuple(names.rows(topics, 2))
    groups = [(row,) for row in range(len(names.ids)) if row not in rows[1:]]
    place = groups.index((rows[0],))
    return TopicEdit(
        (*groups[:place], rows, *groups[place + 1 :]), names.merged(topics_of(names, rows))
    )


def deleting(names: TopicNames, topics: Iterable[Any]) -> TopicEdit:
    """Return the edit by which topics are deleted.

    >>> deleting(TopicNames.of(4), [2, 0]).groups
    ((1,), (3,))
    """
    rows = names.rows(topics)
    if len(rows) == len(names.ids):
        raise ValueError("all topics would be deleted: leave at least one")
    kept = tuple((row,) for row in range(len(names.ids)) if row not in rows)
    return TopicEdit(kept, names.without(topics_of(names, rows)))


def topics_of(names: TopicNames, rows: Iterable[int]) -> list[int]:
    """Return the ids of the topics in these rows."""
    return [names.ids[row] for row in rows]


def merge_topics(model: Any, topics: Iterable[Any]) -> TopicSet:
    """Return the topics of a model with some of them merged into one.

    For a model that goes on learning use ``merging(names, topics).of_estimator(model)``.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
    topics : iterable of int
        Ids of two topics or more. What they become keeps id, label and place of the first.

    Examples
    --------
    >>> topics = TopicSet.of([[5.0, 1.0], [1.0, 9.0], [4.0, 4.0]], [0.1, 0.2, 0.3], eta=0.5)
    >>> merged = merge_topics(topics, [2, 0])
    >>> merged.names.ids, merged.weights.tolist(), merged.alpha.tolist()
    ((1, 2), [[1.0, 9.0], [8.5, 4.5]], [0.2, 0.4])
    """
    found = as_topics(model)
    return merging(found.names, topics).of_topics(found)


def delete_topics(model: Any, topics: Iterable[Any]) -> TopicSet:
    """Return the topics of a model without some of them.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
    topics : iterable of int
        Ids of topics, not all of them.

    Examples
    --------
    >>> topics = TopicSet.of([[5.0, 1.0], [1.0, 9.0], [4.0, 4.0]], 0.1)
    >>> delete_topics(topics, [1]).names.ids
    (0, 2)
    """
    found = as_topics(model)
    return deleting(found.names, topics).of_topics(found)


def set_labels(model: Any, labels: Mapping[Any, str | None]) -> TopicSet:
    """Return the topics of a model with labels, beside those that they have.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
    labels : mapping from int to str or None
        Labels by id; None takes a label away, so that the topic is called by its words again.

    Examples
    --------
    >>> topics = set_labels(TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1), {1: "money"})
    >>> dict(topics.names.labels)
    {1: 'money'}
    """
    found = as_topics(model)
    return found.with_names(found.names.with_labels(labels))


@dataclass(frozen=True, slots=True)
class EditChange:
    """By how much the topics of documents change when they are inferred again after an edit.

    Attributes:
        mean: mean over documents of half the sum over topics of the absolute differences between
            the proportions that the edit gives them and those that are inferred again; from 0, no
            change, to 1.
        largest: the largest of any document.
        n_documents: documents with words.
    """

    mean: float
    largest: float
    n_documents: int


def change_after(edit: TopicEdit, model: Any, documents: Any) -> EditChange:
    """Tell how much the topics of documents change when they are inferred again after an edit.

    Parameters
    ----------
    edit : TopicEdit
        From `merging` or `deleting`. What a document has of a deleted topic is shared out among the
        others in proportion.
    model : LatentDirichletAllocation or TopicSet
        Before the edit.
    documents : matrix of shape (n_documents, n_words), or batches of documents
        As in `trustream.topics.documents.as_batches`.

    Examples
    --------
    >>> topics = TopicSet.of([[50.0, 1.0], [1.0, 90.0], [60.0, 1.0]], 0.1)
    >>> change = change_after(merging(topics.names, [0, 2]), topics, np.array([[3, 1], [0, 2]]))
    >>> change.mean < 0.05
    True
    """
    before = as_topics(model)
    after = edit.of_topics(before)
    total, largest, count = 0.0, 0.0, 0
    for batch in as_batches(documents):
        (old,), (new,) = read(before, batch), read(after, batch)
        filled = old.lengths > 0
        given = edit.of_gamma(old.gamma[filled].astype(np.float64))
        given /= given.sum(axis=1, keepdims=True)
        change = np.abs(given - new.proportions[filled]).sum(axis=1) / 2
        total, count = total + float(change.sum()), count + change.size
        largest = max(largest, float(change.max(initial=0.0)))
    if count == 0:
        raise ValueError("no document has a word that the model knows: nothing can be inferred")
    return EditChange(total / count, largest, count)
