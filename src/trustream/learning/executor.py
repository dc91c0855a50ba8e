"""Who computes the steps of a learner: this process, or others.

A `Learner` hands every batch and every step to an executor. `InProcess`, the default, calls the
algorithm here, where the model's own threads share the work. An executor for a cluster prepares
batches on its workers and answers the algorithm's calls for local steps from there; neither the
learner nor an algorithm knows.
"""

from __future__ import annotations

from typing import Any, Protocol

from trustream.inference.algorithm import Algorithm, StepOptions
from trustream.inference.state import Info, State
from trustream.models.protocol import Rows


class Executor(Protocol):
    """Prepares batches and takes steps on them."""

    def batch(self, algorithm: Algorithm, model: Any, data: Any, rows: Rows | slice) -> Any:
        """Rows of the data as `step` takes them."""

    def step(
        self, algorithm: Algorithm, model: Any, state: State, batch: Any, options: StepOptions
    ) -> tuple[State, Info]:
        """The state after one step; the one passed in is consumed."""


class InProcess:
    """Computes everything in this process, on the threads of the model."""

    def batch(self, algorithm: Algorithm, model: Any, data: Any, rows: Rows | slice) -> Any:
        """What the algorithm makes of the rows."""
        return algorithm.batch(model, data, rows)

    def step(
        self, algorithm: Algorithm, model: Any, state: State, batch: Any, options: StepOptions
    ) -> tuple[State, Info]:
        """The algorithm's step."""
        return algorithm.step(model, state, batch, options)
