"""Steps on batches in parts, which others may compute, with the same result whoever does.

A batch of B data points is divided into P parts of B_p each. Everything that a step needs of the
data is a sum over data points: statistics s, sums of E[log theta], bounds. So each part computes
its sums, and they are added in the order of parts. There are two ways to step:

- *exact*: every local step of an algorithm is shared by all parts,

      s = sum_p s_p(phi_p),   phi_p = argmax given lambda,

  which is the algorithm itself but for rounding. Parts are asked once for each local step.

- *local*: each part solves the subproblem of Algorithm 1 for itself, as if it were the batch,

      lambda_p = argmax_lambda { L_p(lambda) - xi KL(lambda, lambda_t) }   at scale N / B_p,

  and its statistics at the end are combined by one blend,

      lambda = (1 - rho) lambda_t + rho (eta + N/B sum_p s_p).

  Parts are asked once in a step. While topics come apart and rho is large, the topics that two
  parts find may not correspond, so that the first steps of a model have to be exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from trustream.array_types import Float64
from trustream.inference import trust_region
from trustream.inference.algorithm import StepOptions
from trustream.inference.driver import Step
from trustream.inference.state import Info, State, advance
from trustream.inference.stochastic import StochasticAlgorithm
from trustream.models.capabilities import Dividing, require
from trustream.models.protocol import Batch


class Work(Protocol):
    """What a part is asked to do, in an excerpt of lambda."""

    def __call__(self, model: Any, excerpt: Any, part: Any, local: Any | None) -> tuple[Any, Any]:
        """(Local, Statistics) of the part, from beliefs that it has; None are uniform ones."""


@dataclass(frozen=True, slots=True)
class LocalStep:
    """At most `n_local` ascent steps on the beliefs of a part."""

    n_local: int
    tol: float

    def __call__(self, model: Any, excerpt: Any, part: Any, local: Any | None) -> tuple[Any, Any]:
        lambda_, prior = excerpt.lambda_, excerpt.prior
        natural = model.restrict(lambda_, prior, part)
        if local is None:
            local, _ = model.beliefs(prior, part, None)
        found: tuple[Any, Any] = model.local_step(
            natural, prior, part, local, self.n_local, self.tol
        )
        return found


@dataclass(frozen=True, slots=True)
class Subproblem:
    """Algorithm 1 on a part alone, which stands for all data."""

    rho: float
    n_documents: float
    n_inner: int
    n_local: int
    tol: float

    def __call__(self, model: Any, excerpt: Any, part: Any, local: Any | None) -> tuple[Any, Any]:
        lambda_, prior = excerpt.lambda_, excerpt.prior
        found = trust_region.solve(
            model,
            model.restrict(lambda_, prior, part),
            prior,
            part,
            rho=self.rho,
            n_documents=self.n_documents,
            n_inner=self.n_inner,
            n_local=self.n_local,
            local_tol=self.tol,
        )
        return found.local, found.statistics


# What a part has done since its beliefs were uniform: each work, and what the excerpt was.
Chain = tuple[tuple[Work, Any], ...]


class Parts(Protocol):
    """Who computes the parts of a batch."""

    def excerpt(self, excerpt: Any) -> Any:
        """An excerpt as chains have it: itself, or a name by which those elsewhere know it."""

    def compute(self, model: Any, chain: Chain) -> Sequence[Any]:
        """The contributions of all parts after the last work of a chain, in their order."""

    def bounds(self, model: Any, chain: Chain, excerpt: Any) -> Float64:
        """Bounds of all data points, (B,), with the beliefs after a chain."""


def compute_part(model: Any, excerpt: Any, work: Work, batch: Any, local: Any | None) -> Any:
    """Do some work on a part, from the beliefs that it has: (Local, contribution)."""
    part = excerpt.part(batch)
    local, statistics = work(model, excerpt, part, local)
    return local, model.contribution(excerpt.prior, part, local, statistics)


def part_bounds(model: Any, excerpt: Any, batch: Any, local: Any | None) -> Float64:
    """Bounds of the data points of a part, (B_p,)."""
    lambda_, prior, part = excerpt.lambda_, excerpt.prior, excerpt.part(batch)
    if local is None:
        local, _ = model.beliefs(prior, part, None)
    bounds: Float64 = model.local_bound(model.restrict(lambda_, prior, part), prior, part, local)
    return bounds


class PartsHere:
    """Parts that this process computes, one after the other.

    Args:
        batches: of the parts, in their order.
    """

    def __init__(self, batches: Sequence[Any]) -> None:
        self._batches = batches
        self._locals: list[tuple[Chain, Any]] = [((), None)] * len(batches)

    def excerpt(self, excerpt: Any) -> Any:
        """Itself."""
        return excerpt

    def compute(self, model: Any, chain: Chain) -> list[Any]:
        """The contributions after the last work, each part going on from what it has."""
        contributions = []
        for number, batch in enumerate(self._batches):
            work, excerpt = chain[-1]
            local = self._local(number, chain[:-1])
            local, contribution = compute_part(model, excerpt, work, batch, local)
            self._locals[number] = chain, local
            contributions.append(contribution)
        return contributions

    def bounds(self, model: Any, chain: Chain, excerpt: Any) -> Float64:
        """Bounds of all data points."""
        found = [
            part_bounds(model, excerpt, batch, self._local(number, chain))
            for number, batch in enumerate(self._batches)
        ]
        return np.concatenate(found)

    def _local(self, number: int, chain: Chain) -> Any:
        if not chain:
            return None
        known, local = self._locals[number]
        if [id(excerpt) for _, excerpt in known] != [id(excerpt) for _, excerpt in chain]:
            raise ValueError(
                "these beliefs of a batch in parts are not the newest ones, and the parts keep no "
                "others: use what the last local step on the batch has returned, or begin again "
                "with uniform beliefs"
            )
        return local


class DividedBatch:
    """A batch in parts: what the model's `joined` gave, and who computes the parts."""

    def __init__(self, joined: Any, parts: Parts) -> None:
        self.joined, self.parts = joined, parts

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.joined, name)


@dataclass(frozen=True, slots=True)
class DividedLocal:
    """Beliefs of a batch in parts, which stay where the parts are.

    Attributes:
        chain: how they came about.
        summed: what the model's `summed` gave; None of uniform beliefs.
    """

    chain: Chain = ()
    summed: Any = None


class DividedModel:
    """A model whose batches are in parts; algorithms do not know."""

    def __init__(self, model: Any) -> None:
        self._model: Any = require(model, Dividing, "a batch in parts")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._model, name)

    def beliefs(self, prior: Any, batch: DividedBatch, phi: Any | None) -> tuple[DividedLocal, Any]:
        """Uniform beliefs; parts need not be asked for their statistics."""
        if phi is not None:
            raise ValueError("the beliefs of a batch in parts start uniform")
        _, statistics = self._model.beliefs(prior, batch.joined, None)
        return DividedLocal(), statistics

    def local_step(
        self,
        natural: Any,
        prior: Any,
        batch: DividedBatch,
        local: DividedLocal,
        n_local: int,
        tol: float,
    ) -> tuple[DividedLocal, Any]:
        """The same local step on all parts."""
        return self.work(natural, prior, batch, local, LocalStep(n_local, tol))

    def work(
        self, natural: Any, prior: Any, batch: DividedBatch, local: DividedLocal, work: Work
    ) -> tuple[DividedLocal, Any]:
        """(Local, Statistics) of the batch after all parts have done some work."""
        model, parts = self._model, batch.parts
        excerpt = parts.excerpt(model.excerpt(natural, prior, batch.joined))
        chain = (*local.chain, (work, excerpt))
        summed, statistics = model.summed(batch.joined, parts.compute(model, chain))
        return DividedLocal(chain, summed), statistics

    def local_bound(
        self, natural: Any, prior: Any, batch: DividedBatch, local: DividedLocal
    ) -> Float64:
        """The bound of each data point, part after part."""
        excerpt = batch.parts.excerpt(self._model.excerpt(natural, prior, batch.joined))
        return batch.parts.bounds(self._model, local.chain, excerpt)

    def prior_evidence(
        self, lambda_: Any, prior: Any, batch: Any, locals_: Sequence[Any], *rest: Any
    ) -> Any:
        """From what the parts have summed."""
        summed = [local.summed for local in locals_]
        return self._model.prior_evidence(lambda_, prior, batch, summed, *rest)


def step(
    model: Any,
    state: State,
    batch: Batch,
    *,
    rho: float,
    n_documents: float,
    n_inner: int,
    n_local: int,
    local_tol: float = 0.0,
) -> tuple[State, Info]:
    """One local step: all parts solve their own subproblems, and one blend combines them.

    Args:
        model: a `DividedModel`.
        state: consumed; go on with the returned one.
        batch: a `DividedBatch`.
        rho, n_documents, n_inner, n_local, local_tol: as in `trust_region.solve`.
    """
    prior = state.prior
    anchor = model.restrict(state.lambda_, prior, batch)
    work = Subproblem(rho, n_documents, n_inner, n_local, local_tol)
    local, statistics = model.work(anchor, prior, batch, DividedLocal(), work)
    natural = model.blend(anchor, prior, batch, statistics, rho, n_documents / batch.size)
    state = advance(model, state, batch, natural, rho)
    return state, Info(state.n_steps, rho, n_documents, batch.size, n_inner, local)


class DividedTrustRegion(StochasticAlgorithm):
    """Trust-region steps in which each part solves its own subproblem."""

    name = "divided-trust-region"

    def update(self, options: StepOptions) -> Step:
        """`step` with its settings filled in."""
        return partial(step, n_inner=options.n_inner, **options.local)
