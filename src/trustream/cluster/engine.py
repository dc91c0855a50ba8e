"""The engine of a trainer on a cluster: workers draw, compute and score.

The driver draws slots of documents, workers read them. What comes to the driver of a document are
its words, as those of a part.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np

from trustream.cluster import part_calls
from trustream.cluster.calls import Call
from trustream.cluster.errors import ClusterError, StaleRowsError
from trustream.cluster.executor import ClusterExecutor
from trustream.cluster.pool import Pool
from trustream.cluster.progress import Meter
from trustream.cluster.rows import FetchedRows, Fetching
from trustream.inference.state import State
from trustream.learning import algorithms
from trustream.learning.learner import Learner
from trustream.learning.recipe import Recipe
from trustream.models.lda import LdaModel
from trustream.models.lda.parts import excerpt_of_lambda
from trustream.store.document_slots import draw_places
from trustream.store.protocol import Store
from trustream.store.records import Totals
from trustream.streaming.batches import (
    BatchSize,
    Drawn,
    Order,
    newcomers,
    order_from_json,
    order_to_json,
)
from trustream.streaming.cluster_progress import ClusterProgress
from trustream.streaming.engine import with_parts
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.stream_model import Score, StreamModel

# Parts of a batch, where a model has none yet and nobody says how many.
N_PARTS = 8


def check_trainable(model: StreamModel) -> None:
    """Refuse models that cannot be trained on a cluster.

    Raises:
        ClusterError: says which can.
    """
    if not isinstance(model, TopicStream):
        raise ClusterError(f"a cluster trains topics, and this is a model of kind {model.kind!r}")
    if algorithms.get(model.recipe.method).data != "batches":
        others = algorithms.choice(lambda algorithm: algorithm.data == "batches")
        raise ClusterError(
            f"{model.recipe.method} looks at documents once and in their order: on a cluster use "
            f"{others}"
        )


def check_parts(n_parts: int) -> None:
    """Refuse fewer parts than two: a batch in one part is computed in one process.

    Raises:
        ValueError: says what came.

    >>> check_parts(1)
    Traceback (most recent call last):
    ...
    ValueError: n_parts is 1; on a cluster give 2 or more, such as the number of workers
    """
    if n_parts < 2:
        raise ValueError(
            f"n_parts is {n_parts}; on a cluster give 2 or more, such as the number of workers"
        )


class ClusterEngine:
    """Draws, computes and scores on the workers of a pool; see `streaming.engine.Engine`.

    Args:
        pool: of workers that read the store.
        n_parts: P, parts of a batch; None is what the model has, or 8.
        exact_steps: steps of the model after which parts solve their own subproblems; None never,
            ... is what the model has.
        memory: what the driver holds, for people.
    """

    def __init__(
        self,
        pool: Pool,
        n_parts: int | None = None,
        exact_steps: int | EllipsisType | None = ...,
        memory: str = "",
    ) -> None:
        self._pool, self._n_parts, self._exact_steps = pool, n_parts, exact_steps
        self.memory = memory
        self._meter = Meter()

    @property
    def n_workers(self) -> int:
        """Workers that are ready."""
        return self._pool.n_workers

    @property
    def n_wanted(self) -> int:
        """Workers that there should be; there may be no room for some."""
        return self._pool.size

    def recipe(self, recipe: Recipe) -> Recipe:
        """With parts."""
        n_parts = self._n_parts or (recipe.n_parts if recipe.n_parts > 1 else N_PARTS)
        check_parts(n_parts)
        return with_parts(recipe, n_parts, self._exact_steps)

    def learner(self, learner: Learner) -> Learner:
        """Steps are computed by workers."""
        recipe = learner.recipe
        executor = ClusterExecutor(self._pool, recipe.n_parts, recipe.exact_steps, self._meter)
        return replace(learner, executor=executor)

    def source(
        self,
        model: StreamModel,
        store: Store,
        batch_size: BatchSize,
        draws: dict[str, Any],
        arrival: int,
        ahead: bool,
    ) -> ClusterDraws:
        """Slots drawn here, and read by workers, one batch ahead."""
        check_trainable(model)
        return ClusterDraws(
            self._pool, _model_of(model), model.recipe.n_parts, store, batch_size,
            order_from_json(draws),
        )  # fmt: skip

    def data(self, model: StreamModel, documents: Any, n_words: int) -> FetchedRows:
        """What workers have read."""
        found: FetchedRows = documents
        return found

    def held_out(self, model: StreamModel, store: Store, rng: np.random.Generator) -> FetchedRows:
        """Read by one worker."""
        n_there = store.totals().held_out
        slots = ~draw_places(model.score_documents, n_there, rng, held_out=True)
        return Fetching(self._pool, _model_of(model), slots, 1, held_out=True).finish()

    def score(
        self, model: StreamModel, learner: Learner, state: State, documents: FetchedRows
    ) -> Score | None:
        """By the worker that has the documents."""
        excerpt = excerpt_of_lambda(state.lambda_, state.prior, documents.joined.words)
        arguments = (_model_of(model), documents.requests[0], self._pool.put(excerpt))
        calls = [Call(part_calls.score, (*arguments, model.random_state))]
        found: Score | None = self._pool.run(calls)[0]
        return found

    def progress(self) -> ClusterProgress | None:
        """Of the last steps; None before the first."""
        return self._meter.progress(self._pool)


def _model_of(model: StreamModel) -> LdaModel:
    """The model that workers compute with; its number of words does not matter."""
    found: LdaModel = model.learner(0, 1).model
    return found


class _Begun(NamedTuple):
    """A draw that workers are reading."""

    fetching: Fetching
    totals: Totals
    generator: dict[str, Any]
    n_new: int
    new_share: float


class ClusterDraws:
    """Draws of slots, read by workers, each while the batch before is learned from."""

    def __init__(
        self,
        pool: Pool,
        model: LdaModel,
        n_parts: int,
        store: Store,
        batch_size: BatchSize,
        order: Order,
    ) -> None:
        self._pool, self._model, self._n_parts = pool, model, n_parts
        self._store, self._batch_size, self._order = store, batch_size, order
        self._ahead: deque[_Begun] = deque()

    def next(self, timeout: float | None = None) -> Drawn:
        """The batch that was drawn ahead; the next one is begun.

        Raises:
            StaleRowsError: documents were removed since it was drawn.
        """
        begun = self._ahead.popleft() if self._ahead else self._begin()
        if isinstance(begun, Drawn):
            return begun
        rows = begun.fetching.finish()
        totals = begun.totals
        if rows.states != {totals.added - totals.training}:
            raise StaleRowsError("documents were removed since a batch was drawn")
        following = self._begin()
        if isinstance(following, _Begun):
            self._ahead.append(following)
        return Drawn(rows, totals, begun.generator, -1, begun.n_new, begun.new_share)

    def _begin(self) -> _Begun | Drawn:
        totals, order = self._store.totals(), self._order
        if not totals.training:
            return Drawn(None, totals, order_to_json(order))
        slots = draw_places(self._batch_size(totals), totals.training, order, held_out=False)
        fetching = Fetching(self._pool, self._model, slots, self._n_parts)
        return _Begun(fetching, totals, order_to_json(order), *newcomers(order))

    def close(self) -> None:
        """Forget what was drawn ahead."""
        while self._ahead:
            self._ahead.popleft().fetching.abandon()
