"""The executor of a cluster: parts of batches are computed by workers.

Its results are those of `learning.executor.InParts` with the same number of parts, bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from trustream.array_types import Float64
from trustream.cluster import part_calls
from trustream.cluster.calls import Call
from trustream.cluster.part_calls import PartRequest
from trustream.cluster.pool import Pool
from trustream.cluster.progress import Meter
from trustream.cluster.rows import FetchedRows, by_worker, excerpt_bytes, new_name
from trustream.inference.algorithm import Algorithm, StepOptions
from trustream.inference.divided import Chain, DividedBatch, DividedModel
from trustream.inference.state import Info, State
from trustream.learning.executor import InParts
from trustream.models.lda.smoothing import n_batches
from trustream.models.protocol import Rows


class _Put(NamedTuple):
    """An excerpt that workers get from shared memory."""

    name: str
    reference: Any


class PartsElsewhere:
    """Parts that workers compute; see `inference.divided.Parts`."""

    def __init__(self, pool: Pool, requests: Sequence[PartRequest], meter: Meter) -> None:
        self._pool, self._requests, self._meter = pool, requests, meter

    def excerpt(self, excerpt: Any) -> _Put:
        """Put where all workers of a node share it."""
        self._meter.sent += excerpt_bytes(excerpt)
        with self._meter.exchanging():
            return _Put(new_name(), self._pool.put(excerpt))

    def compute(self, model: Any, chain: Chain) -> list[Any]:
        """Contributions of the parts, in their order."""
        works = tuple(work for work, _ in chain)
        excerpts = [excerpt for _, excerpt in chain]
        found = self._ask(part_calls.compute, model, works, excerpts)
        self._meter.received += sum(part.statistics.rows.nbytes for part in found)
        return found

    def bounds(self, model: Any, chain: Chain, excerpt: Any) -> Float64:
        """Bounds of all documents."""
        works = tuple(work for work, _ in chain)
        excerpts = [*(excerpt for _, excerpt in chain), excerpt]
        return np.concatenate(self._ask(part_calls.bounds, model, works, excerpts))

    def _ask(
        self, function: Any, model: Any, works: tuple[Any, ...], excerpts: Sequence[_Put]
    ) -> list[Any]:
        names = tuple(excerpt.name for excerpt in excerpts)
        references = [excerpt.reference for excerpt in excerpts]

        def make(some: list[PartRequest]) -> Call:
            return Call(function, (model, some, names, works, *references))

        start = time.monotonic()
        pending = self._pool.start(by_worker(self._pool, self._requests, make))
        answers = self._pool.finish(pending)
        self._meter.asked(time.monotonic() - start, pending.seconds)
        return [part for some in answers for part in some]


class ClusterModel(DividedModel):
    """A model whose data are `FetchedRows`."""

    def smoothing(
        self,
        lambda_: Any,
        prior: Any,
        data: Any,
        weight: Any,
        before: float | None,
        rng: np.random.Generator,
    ) -> float | None:
        """As that of the model, found by a worker."""
        if not self._model.can_smooth(prior):
            return None
        if not data.n_pairs:
            return before
        found: float = data.smoothing(self._model, lambda_, prior, weight, before or prior.eta, rng)
        return found

    def smoothing_batches(self, data: Any) -> int:
        """As those of the model."""
        return n_batches(self._model.n_components, data.n_pairs)


class ClusterExecutor(InParts):
    """Has workers compute the parts of batches.

    Args:
        pool: of workers.
        n_parts, exact_steps: as in the recipe.
        meter: what it takes is noted there.
    """

    def __init__(
        self, pool: Pool, n_parts: int, exact_steps: int | None, meter: Meter | None = None
    ) -> None:
        super().__init__(n_parts, exact_steps)
        self.pool, self.meter = pool, meter or Meter()

    def model(self, model: Any) -> ClusterModel:
        """The model, its local steps and its smoothing being those of workers."""
        return ClusterModel(model)

    def batch(
        self, algorithm: Algorithm, model: Any, data: Any, rows: Rows | slice
    ) -> DividedBatch:
        """Documents that workers have read, or read now."""
        found: FetchedRows = data.fetched(model, rows, self.n_parts)
        return DividedBatch(found.joined, PartsElsewhere(self.pool, found.requests, self.meter))

    def step(
        self, algorithm: Algorithm, model: Any, state: State, batch: Any, options: StepOptions
    ) -> tuple[State, Info]:
        """As in one process."""
        self.meter.begin()
        start = time.monotonic()
        state, info = super().step(algorithm, model, state, batch, options)
        self.meter.stepped(time.monotonic() - start, info.batch_size)
        return state, info
