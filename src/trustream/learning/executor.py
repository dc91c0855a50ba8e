"""Who computes the steps of a learner: this process, or others.

A `Learner` hands every batch and every step to an executor. `InProcess`, the default, calls the
algorithm here, where the model's own threads share the work. `InParts` does so with batches in
parts (`inference.divided`), for recipes that have them. An executor for a cluster prepares parts on
its workers and has them computed there; neither the learner nor an algorithm knows.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from trustream.inference.algorithm import Algorithm, StepOptions
from trustream.inference.divided import (
    DividedBatch,
    DividedModel,
    PartsHere,
)
from trustream.inference.state import Info, State
from trustream.models.protocol import Rows


class Executor(Protocol):
    """Prepares batches and takes steps on them."""

    def model(self, model: Any) -> Any:
        """The model as steps on its batches see it."""

    def batch(self, algorithm: Algorithm, model: Any, data: Any, rows: Rows | slice) -> Any:
        """Rows of the data as `step` takes them."""

    def step(
        self, algorithm: Algorithm, model: Any, state: State, batch: Any, options: StepOptions
    ) -> tuple[State, Info]:
        """The state after one step; the one passed in is consumed."""


class InProcess:
    """Computes everything in this process, on the threads of the model."""

    def model(self, model: Any) -> Any:
        """The model itself."""
        return model

    def batch(self, algorithm: Algorithm, model: Any, data: Any, rows: Rows | slice) -> Any:
        """What the algorithm makes of the rows."""
        return algorithm.batch(model, data, rows)

    def step(
        self, algorithm: Algorithm, model: Any, state: State, batch: Any, options: StepOptions
    ) -> tuple[State, Info]:
        """The algorithm's step."""
        return algorithm.step(model, state, batch, options)


class InParts:
    """Computes batches in parts, one part after the other, in this process.

    A cluster computes the same parts elsewhere, and gets the same numbers.

    Args:
        n_parts: P, of a batch; a batch of fewer data points has as many parts as these.
        exact_steps: steps of a model after which each part solves its own subproblem
            (`inference.divided`), for algorithms that can; None never.
    """

    def __init__(self, n_parts: int, exact_steps: int | None = None) -> None:
        self.n_parts, self.exact_steps = n_parts, exact_steps

    def model(self, model: Any) -> Any:
        """The model, its local steps being those of parts."""
        return DividedModel(model)

    def batch(self, algorithm: Algorithm, model: Any, data: Any, rows: Rows | slice) -> Any:
        """The parts as batches of their own, and what they are together."""
        parts = [
            algorithm.batch(model, data, part) for part in split(data.shape[0], rows, self.n_parts)
        ]
        joined = model.joined([model.outline(part) for part in parts])
        return DividedBatch(joined, PartsHere(parts))

    def step(
        self, algorithm: Algorithm, model: Any, state: State, batch: Any, options: StepOptions
    ) -> tuple[State, Info]:
        """The algorithm's step, shared by the parts or taken by each of them."""
        if self.exact_steps is not None and state.n_steps >= self.exact_steps:
            algorithm = algorithm.divided()
        return algorithm.step(self.model(model), state, batch, options)


def split(n_rows: int, rows: Rows | slice, n_parts: int) -> list[Rows | slice]:
    """Some of the rows of data in even parts, none of them empty if there are any.

    >>> split(5, slice(None), 2), split(5, np.array([1, 4]), 3)
    ([slice(0, 3, None), slice(3, 5, None)], [array([1]), array([4])])
    """
    if not isinstance(rows, slice):
        return list(np.array_split(rows, max(1, min(n_parts, rows.size))))
    start, stop, _ = rows.indices(n_rows)
    size = max(0, stop - start)
    parts = np.array_split(np.arange(start, start + size), max(1, min(n_parts, size)))
    first = [int(part[0]) if part.size else start for part in parts]
    return [slice(a, a + part.size) for a, part in zip(first, parts, strict=True)]
