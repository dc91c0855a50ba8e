"""The model that a service shows: the one that was published last, and a report on it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from trustream.store.protocol import Store
from trustream.streaming.saved_names import LABELS
from trustream.terminal import shown
from trustream.text import tokenise as usual
from trustream.tokenisers import function_of

# What computes with topics is loaded with the first model: a service without one stays small.
if TYPE_CHECKING:
    from trustream.topics.nearest import NearestDocuments
    from trustream.topics.representatives import RunningTop
    from trustream.topics.topic_set import TopicSet

# Documents of each topic that are kept, and those that a report shows.
_MOST_DOCUMENTS, _SHOWN_DOCUMENTS = 50, 5


@dataclass(frozen=True, eq=False)
class LiveModel:
    """A published model.

    Attributes:
        name: in the store.
        versions: of the checkpoint and of the labels, by which a change is noticed.
        topics: its topics with ids, labels and words.
        tokenise: makes words of texts as the store does; None if that cannot be done here.
        n_steps, last_score, best_score: how far it was.
    """

    name: str
    versions: tuple[int, int]
    topics: TopicSet
    tokenise: Callable[[str], Sequence[str]] | None
    n_steps: int
    last_score: float | None
    best_score: float | None

    @property
    def version(self) -> int:
        """Rises with every change of the model or of its labels."""
        return sum(self.versions)

    def label(self, topic: int) -> str:
        """The label of a topic, as it may be shown."""
        found = self._labels.get(topic)
        if found is None:
            from trustream.topics.characteristic_words import label

            found = self._labels[topic] = shown(label(self.topics, self.topics.row(topic)))
        return found

    @cached_property
    def _labels(self) -> dict[int, str]:
        return {}

    @cached_property
    def columns(self) -> dict[str, int]:
        """Columns of words."""
        return {word: column for column, word in enumerate(self.topics.words) if word}


def versions(store: Store, name: str) -> tuple[int, int] | None:
    """Versions of what is saved of a model, cheaply; None if there is no model."""
    model = store.saved_version(name)
    return None if model is None else (model, store.saved_version(name + LABELS) or 0)


def load_live(store: Store, name: str) -> LiveModel | None:
    """The model of a store as it was saved last; None if there is none yet."""
    from trustream.streaming.published import as_estimator, load_checkpoint
    from trustream.streaming.topic_labels import load_names
    from trustream.topics.topic_set import as_topics

    found = versions(store, name)
    checkpoint = load_checkpoint(store, name)
    if found is None or checkpoint is None:
        return None
    estimator, kept = as_estimator(checkpoint), store.tokeniser()
    if not hasattr(estimator, "topic_names_"):
        raise ValueError(f"the model {name!r} of {store.name} has no topics")
    names = load_names(store, checkpoint, name)
    tokenise: Callable[[str], Sequence[str]] | None = None
    with suppress(ValueError, ImportError):
        function = usual if kept is None else function_of(kept)
        function("")
        tokenise = function
    return LiveModel(
        name,
        found,
        as_topics(estimator, names=names),
        tokenise,
        checkpoint.state.n_steps,
        checkpoint.last_score,
        checkpoint.best_score,
    )


@dataclass(frozen=True, eq=False)
class LiveReport:
    """A report on a published model, and what else was found in the same pass.

    Attributes:
        model: the model.
        data: see `trustream.topics.report_data`.
        best: documents of each topic.
        nearest: documents by their topics.
        computed: when, in seconds since 1970.
        n_documents: documents that were read.
        n_stored: documents that the store had.
        sequence: that of the store when it began.
    """

    model: LiveModel
    data: dict[str, Any]
    best: RunningTop
    nearest: NearestDocuments
    computed: float
    n_documents: int
    n_stored: int
    sequence: int

    @property
    def is_sample(self) -> bool:
        """Whether only a sample of the documents was read."""
        return self.n_documents < self.n_stored

    @property
    def state(self) -> dict[str, Any]:
        """What it was computed from, see `schemas.ReportState`."""
        return {
            "version": self.model.version,
            "computed": self.computed,
            "n_documents": self.n_documents,
            "n_stored": self.n_stored,
            "is_sample": self.is_sample,
        }


def compute_report(store: Store, model: LiveModel, sample: int, title: str) -> LiveReport:
    """Read documents of a store, at most so many, and report on the topics of a model."""
    from trustream.topics.nearest import NearestDocuments
    from trustream.topics.representatives import RunningTop
    from trustream.topics.stored_report import stored_report_data

    best, nearest = RunningTop(model.topics, _MOST_DOCUMENTS), NearestDocuments()
    totals, began = store.totals(), time.time()
    data = stored_report_data(
        store,
        model.topics,
        sample=sample,
        n_documents=_SHOWN_DOCUMENTS,
        into=[best, nearest],
        title=title,
    )
    n_read = int(data["n_documents"] or 0)
    return LiveReport(
        model, data, best, nearest, began, n_read, max(totals.documents, n_read), totals.sequence
    )


def number(value: Any, digits: int = 7) -> float | None:
    """A number for JSON, with so many digits; None for what JSON does not have.

    >>> number(1 / 3, 3), number(float("nan")), number(None)
    (0.333, None, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return float(f"{float(value):.{digits}g}")
