"""How an estimator learns, with every default filled in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from trustream.inference import (
    adaptive,
    driver,
    empirical_bayes,
    natural_gradient,
    schedules,
    trust_region,
)
from trustream.inference.state import Info, State
from trustream.models.protocol import Batch, ConjugateModel


@dataclass(frozen=True)
class Effort:
    """Most iterations of a step.

    Attributes:
        n_inner: pairs of local and global update in a trust-region step; pairs or passes on a
            batch of the streaming algorithms.
        n_local: iterations of a local step.
    """

    n_inner: int
    n_local: int


@dataclass(frozen=True)
class Settings:
    """How to learn, with every default filled in.

    Attributes:
        method: "trust-region", "natural-gradient", "batch", "streaming-vb", "streaming-batch" or
            "memoized".
        rate: "decaying" or "adaptive", of trust-region and natural-gradient steps.
        tau, kappa: of the schedule rho = (tau + t)^-kappa.
        cooldown: share of a fit's steps, at its end, over which the rate falls to zero.
        batch_size, max_iter: B, and passes over the data.
        effort, local_tol: of a step.
        first: (t, effort) of a model's first t stochastic steps, if it is another.
        late: (share, effort) of the stochastic steps after that share of a fit, if it is another.
        tol: what goes on until it converges stops when a pass over its data raises the bound by
            less, in nats a data point.
        learn: names of the priors to learn.
    """

    method: str
    rate: str
    tau: float
    kappa: float
    cooldown: float
    batch_size: int
    max_iter: int
    effort: Effort
    local_tol: float
    tol: float
    learn: tuple[str, ...]
    first: tuple[int, Effort] | None = None
    late: tuple[float, Effort] | None = None

    @property
    def local(self) -> dict[str, Any]:
        """Arguments of a step that say how long its local steps are."""
        return self._local(self.effort)

    def step(self, late_from: float = np.inf) -> driver.Step:
        """The stochastic step; for batch VB, which has none, the trust-region step.

        Args:
            late_from: steps of the model after which the late ones begin, if there are any.
        """
        first, after = self.first, self._step(self.effort)
        if first is None and self.late is None:
            return after
        n_first, early = (0, after) if first is None else (first[0], self._step(first[1]))
        late = after if self.late is None else self._step(self.late[1])

        def step(
            model: ConjugateModel, state: State, batch: Any, **rate: Any
        ) -> tuple[State, Info]:
            if state.n_steps < n_first:
                chosen = early
            else:
                chosen = after if state.n_steps < late_from else late
            return chosen(model, state, batch, **rate)

        return step

    def fit_step(self, state: State, n_documents: int) -> driver.Step:
        """The steps of a fit that starts from `state`."""
        share = 1.0 if self.late is None else self.late[0]
        return self.step(state.n_steps + share * self._n_steps(n_documents))

    def _step(self, effort: Effort) -> driver.Step:
        local = self._local(effort)
        if self.method == "natural-gradient":
            step: driver.Step = partial(natural_gradient.step, **local)
        else:
            step = partial(trust_region.step, n_inner=effort.n_inner, **local)
        return partial(adaptive.step, inner=step, **local) if self.rate == "adaptive" else step

    def _local(self, effort: Effort) -> dict[str, Any]:
        return {"n_local": effort.n_local, "local_tol": self.local_tol}

    @property
    def schedule(self) -> schedules.Schedule:
        """The learning rate of data that go on for ever."""
        return schedules.decaying(self.tau, self.kappa)

    def fit_schedule(self, state: State, n_documents: int) -> schedules.Schedule:
        """The learning rate of a fit that starts from `state`."""
        last = state.n_steps + self._n_steps(n_documents)
        return schedules.cooling(self.schedule, state.n_steps, last, self.cooldown)

    def _n_steps(self, n_documents: int) -> int:
        return self.n_passes(n_documents) * self.steps_a_pass(n_documents)

    def prior_update(self, rng: np.random.Generator) -> driver.PriorUpdate | None:
        """Empirical Bayes after each step, or None."""
        if not self.learn:
            return None

        def update(model: ConjugateModel, state: State, batch: Batch, info: Info) -> State:
            return empirical_bayes.update(
                model, state, batch, [info.local], rho=info.rho, rng=rng, learn=self.learn
            )

        return update

    def steps_a_pass(self, n_documents: int) -> int:
        """Steps that one pass over the data takes."""
        whole = self.method in ("batch", "streaming-batch")
        return 1 if whole else -(-n_documents // self.batch_size)

    def n_passes(self, n_documents: int) -> int:
        """Most passes of a fit.

        Streaming VB counts what it sees, so it sees each data point once. The streaming batch
        algorithm gains nothing from drawing all data again.
        """
        once = self.method == "streaming-vb" or (
            self.method == "streaming-batch" and self.batch_size >= n_documents
        )
        return 1 if once else self.max_iter
