"""What a trainer may ask of a model: its only view of it.

A trainer draws documents from a store, keeps the clock, saves and publishes. It never knows which
model it trains. To train another kind of model, write a `StreamModel` and register it, so that
checkpoints can name it; `trustream.streaming.lda` is the one for topics.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from trustream.inference.restoring import Undo
from trustream.inference.state import State
from trustream.learning.learner import Learner
from trustream.learning.recipe import Recipe
from trustream.learning.state_formats import StateFormat
from trustream.store.records import Documents

# (column, word) pairs that are new or mean another word now; None where a column has none.
Changes = Sequence[tuple[int, "str | None"]]


@dataclass(frozen=True, slots=True)
class Score:
    """How well a model predicts held-out documents.

    Attributes:
        per_word: nats per word of a random half of each document given the other half.
        frequencies: the same by word frequencies alone, as the model has them. Both fall as the
            vocabulary grows; their difference can be compared over time.
        n_documents: how many had words to score.
        n_tokens: words scored.
    """

    per_word: float
    frequencies: float
    n_documents: int
    n_tokens: int

    @property
    def gain(self) -> float:
        """How much better than word frequencies the model predicts, in nats per word."""
        return self.per_word - self.frequencies


class StreamModel(ABC):
    """A model that can be learned from a store. It holds settings; what is learned is a `State`.

    Attributes:
        kind: its name in checkpoints.
        recipe: how it is learned.
        random_state: seed of all random numbers.
        score_every: steps between two scores of held-out documents, less at the beginning (after
            steps 1, 2, 4, 8, ...); 0 is never.
        score_documents: most held-out documents that are scored.
    """

    kind: ClassVar[str]
    recipe: Recipe
    random_state: int
    score_every: int
    score_documents: int

    @property
    def n_topics(self) -> int | None:
        """Number of topics; None for a model that has none."""
        return None

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """All that decides the model's path, as JSON can hold it."""

    @classmethod
    @abstractmethod
    def from_settings(cls, values: Any) -> StreamModel:
        """The model with these settings; a ValueError says what is wrong with them."""

    @abstractmethod
    def with_recipe(self, recipe: Recipe) -> StreamModel:
        """The same model, learned by another recipe: that of a checkpoint."""

    # --- learning

    @abstractmethod
    def start(self) -> State:
        """The state before the first word."""

    @abstractmethod
    def learner(self, n_words: int, n_threads: int) -> Learner:
        """What learns, for so many columns."""

    @abstractmethod
    def data(self, documents: Documents, n_words: int) -> Any:
        """Stored documents as the learner's `batch` takes them."""

    @abstractmethod
    def follow(self, state: State, changes: Changes) -> State:
        """The state after columns came to mean other words, perhaps in the same memory."""

    @abstractmethod
    def follow_savepoint(self, state: State, changes: Changes) -> Undo:
        """What puts the memory of the state back after `follow`."""

    @abstractmethod
    def score(self, learner: Learner, state: State, documents: Documents) -> Score | None:
        """How well held-out documents are predicted; None if they have too few words."""

    def warm_up(self) -> None:  # noqa: B027
        """Compile what a step and a score need, so that the first ones are as quick as any."""

    # --- results

    @abstractmethod
    def format(self, n_words: int) -> StateFormat:
        """What the arrays of a saved state must be."""

    @abstractmethod
    def estimator(
        self, state: State, words: Sequence[str | None], rng: np.random.Generator, n_seen: int
    ) -> Any:
        """A fitted estimator that takes over the state."""

    def is_scored(self, n_steps: int) -> bool:
        """Whether held-out documents are scored after that step."""
        if not self.score_every:
            return False
        early = n_steps < self.score_every and n_steps & (n_steps - 1) == 0
        return early or n_steps % self.score_every == 0


T = TypeVar("T", bound=type[StreamModel])
_KINDS: dict[str, type[StreamModel]] = {}
# The kind of a model that nobody has named: topics.
_USUAL = "lda"


def register(cls: T) -> T:
    """Let checkpoints name this kind of model."""
    _KINDS[cls.kind] = cls
    return cls


def usual(**settings: Any) -> StreamModel:
    """A model of the kind that is learned unless somebody gives another: topics.

    Raises:
        ValueError: the settings are wrong.

    >>> usual(n_components=20).n_topics
    20
    """
    return _kinds()[_USUAL](**settings)


def from_json(values: Mapping[str, Any]) -> StreamModel:
    """The model that `to_json` wrote down.

    Raises:
        ValueError: no such kind of model is registered, or its settings are wrong.
    """
    kinds = _kinds()
    # Settings of versions that knew one kind of model do not name it.
    kind = values.get("kind", _USUAL) if isinstance(values, Mapping) else _USUAL
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"there is no kind of model {kind!r}: known are {', '.join(kinds)}")
    return kinds[kind].from_settings(values)


def to_json(model: StreamModel) -> dict[str, Any]:
    """Kind and settings of a model."""
    return {"kind": model.kind, **model.settings()}


def _kinds() -> dict[str, type[StreamModel]]:
    """Classes of models by their kind."""
    # Not at the top: what it registers is made of what stands here.
    importlib.import_module("trustream.streaming.lda.model")
    return _KINDS
