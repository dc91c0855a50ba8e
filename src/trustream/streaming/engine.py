"""Where a trainer draws its batches and computes: in this process, or elsewhere.

A trainer keeps the clock, the words, the parameters and the checkpoints. Its engine draws batches,
computes steps on them and scores held-out documents. `Here` does so in this process; an engine for
a cluster (`trustream.cluster.engine`) does so on workers, and documents never come to the trainer.
"""

from __future__ import annotations

from dataclasses import replace
from types import EllipsisType
from typing import Any, Protocol

import numpy as np

from trustream.inference.state import State
from trustream.learning import algorithms
from trustream.learning.learner import Learner
from trustream.learning.recipe import Recipe
from trustream.store.protocol import Store
from trustream.streaming.batches import (
    Arrivals,
    BatchSize,
    Direct,
    Drawn,
    Prefetcher,
    drawing,
    order_from_json,
)
from trustream.streaming.cluster_progress import ClusterProgress
from trustream.streaming.stream_model import Score, StreamModel


class StaleBatchError(RuntimeError):
    """Documents of a batch were changed or removed while it was computed: it is drawn again."""


class BatchSource(Protocol):
    """Where batches come from."""

    def next(self, timeout: float | None = None) -> Drawn | None:
        """The next batch; None if it is not there after `timeout` seconds."""

    def close(self) -> None:
        """Let go of what it holds."""


class Engine(Protocol):
    """Draws, computes and scores for a trainer."""

    def recipe(self, recipe: Recipe) -> Recipe:
        """How to learn from now on, given how it was so far."""

    def learner(self, learner: Learner) -> Learner:
        """The learner with who computes for it."""

    def source(
        self,
        model: StreamModel,
        store: Store,
        batch_size: BatchSize,
        draws: dict[str, Any],
        arrival: int,
        ahead: bool,
    ) -> BatchSource:
        """Batches from a store, going on from draws, or an arrival, of a checkpoint."""

    def data(self, model: StreamModel, documents: Any, n_words: int) -> Any:
        """Drawn documents as the learner's `batch` takes them."""

    def held_out(self, model: StreamModel, store: Store, rng: np.random.Generator) -> Any:
        """Held-out documents to score."""

    def score(
        self, model: StreamModel, learner: Learner, state: State, documents: Any
    ) -> Score | None:
        """How well held-out documents are predicted."""

    def progress(self) -> ClusterProgress | None:
        """How workers are doing; None without workers."""


def with_parts(
    recipe: Recipe, n_parts: int | None, exact_steps: int | EllipsisType | None
) -> Recipe:
    """A recipe with so many parts, and steps after which these take steps of their own.

    Args:
        n_parts: None are as many as there were.
        exact_steps: None never; ... is as before.
    """
    exact = recipe.exact_steps if isinstance(exact_steps, EllipsisType) else exact_steps
    return replace(recipe, n_parts=n_parts or recipe.n_parts, exact_steps=exact)


class Here:
    """Draws and computes in this process.

    Args:
        n_parts, exact_steps: of the recipe from now on; left out, they are as they were.
    """

    def __init__(
        self, n_parts: int | None = None, exact_steps: int | EllipsisType | None = ...
    ) -> None:
        self._n_parts, self._exact_steps = n_parts, exact_steps

    def recipe(self, recipe: Recipe) -> Recipe:
        """With the parts that were asked for."""
        return with_parts(recipe, self._n_parts, self._exact_steps)

    def learner(self, learner: Learner) -> Learner:
        """As it is."""
        return learner

    def source(
        self,
        model: StreamModel,
        store: Store,
        batch_size: BatchSize,
        draws: dict[str, Any],
        arrival: int,
        ahead: bool,
    ) -> Prefetcher | Direct | Arrivals:
        """By a connection to the store."""
        if algorithms.get(model.recipe.method).takes_each_once:
            return Arrivals(store, batch_size, arrival, draws)
        return drawing(store, batch_size, order_from_json(draws), ahead=ahead)

    def data(self, model: StreamModel, documents: Any, n_words: int) -> Any:
        """What the model makes of them."""
        return model.data(documents, n_words)

    def held_out(self, model: StreamModel, store: Store, rng: np.random.Generator) -> Any:
        """Drawn from the store."""
        return store.draw(model.score_documents, rng, held_out=True)

    def score(
        self, model: StreamModel, learner: Learner, state: State, documents: Any
    ) -> Score | None:
        """By the model."""
        return model.score(learner, state, documents)

    def progress(self) -> None:
        """There are no workers."""
        return None
