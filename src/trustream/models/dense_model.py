"""Defaults for models in which a batch touches every parameter.

There a Natural is all of lambda_, a named tuple of arrays, and what algorithms do with it is
linear: blends, sums and differences, entry by entry. What is not linear, the bound, follows from
the family's log-normaliser a(lambda) and its gradient E_q[t(beta)],

    KL(q_lambda || q_other) = <E_q[t], lambda - other> - a(lambda) + a(other),

so that a model says what its prior, its family and its local beliefs are, and has all capabilities
of `models.capabilities` but learnable priors, late gains, smoothing, dividing and seeding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from trustream.array_types import Float64
from trustream.families import exponential
from trustream.models.protocol import Batch

NaturalT = TypeVar("NaturalT", bound=tuple[Any, ...])
PriorT = TypeVar("PriorT")
BatchT = TypeVar("BatchT", bound=Batch)


def like(natural: NaturalT, other: NaturalT) -> NaturalT:
    """`other` with the shapes of `natural`."""
    return type(natural)(
        *(np.broadcast_to(b, a.shape) for a, b in zip(natural, other, strict=True))
    )


class DenseModel(ABC, Generic[NaturalT, PriorT, BatchT]):
    """A model whose Natural is all of lambda_; see `ConjugateModel` for what is left to say:

    n_components, batch, beliefs, local_step, local_bound, expected, and the methods below that are
    abstract. `expected_statistics` and `log_normaliser` are needed unless `kl` and `inner` are
    given.
    """

    @abstractmethod
    def eta(self, prior: PriorT) -> NaturalT:
        """The prior as a Natural, entries broadcastable to lambda_'s."""

    @abstractmethod
    def initial(self, prior: PriorT, rng: np.random.Generator) -> NaturalT:
        """A random lambda_ to start from, whatever the data."""

    @abstractmethod
    def zero_statistics(self) -> NaturalT:
        """A total of nothing, in float64."""

    # --- the family

    def expected_statistics(self, natural: NaturalT) -> NaturalT:
        """E_q[t(beta)], the gradient of a(lambda), shaped like `natural`."""
        raise NotImplementedError(f"{type(self).__name__} has no expected_statistics")

    def log_normaliser(self, natural: NaturalT) -> float:
        """a(lambda) in nats."""
        raise NotImplementedError(f"{type(self).__name__} has no log_normaliser")

    def kl(self, natural: NaturalT, other: NaturalT) -> float:
        """KL(q_natural || q_other) in nats; entries of `other` may be broadcastable."""
        natural, other = _float64(natural), _float64(like(natural, other))
        difference = type(natural)(*(a - b for a, b in zip(natural, other, strict=True)))
        normalisers = self.log_normaliser(natural) - self.log_normaliser(other)
        return self.inner(natural, None, difference) - normalisers

    def inner(self, natural: NaturalT, batch: BatchT | None, statistics: NaturalT) -> float:
        """<E_q[t(beta)], s>."""
        pairs = zip(self.expected_statistics(natural), statistics, strict=True)
        return float(sum(np.sum(t * s, dtype=np.float64) for t, s in pairs))

    def divergence(
        self,
        natural: NaturalT,
        prior: PriorT,
        batch: BatchT | None = None,
        anchor: NaturalT | None = None,
    ) -> float:
        """KL(q_natural || q_anchor), or from the prior when anchor is None, in nats; exact."""
        return self.kl(natural, self.eta(prior) if anchor is None else anchor)

    def global_bound(self, lambda_: NaturalT, prior: PriorT) -> float:
        """E_q[log p(beta) / q(beta)] = -KL(q || prior), in nats."""
        return -self.divergence(lambda_, prior)

    # --- global parameters

    def restrict(self, lambda_: NaturalT, prior: PriorT, batch: BatchT) -> NaturalT:
        """All of lambda_: a batch touches everything."""
        return lambda_

    def blend(
        self,
        anchor: NaturalT,
        prior: PriorT,
        batch: BatchT,
        statistics: NaturalT,
        rho: float,
        scale: float,
    ) -> NaturalT:
        """(1 - rho) lambda_t + rho (eta + scale s), entry by entry."""
        return exponential.blend(anchor, self.eta(prior), statistics, float(rho), float(scale))

    def materialise(self, natural: NaturalT) -> NaturalT:
        """The arrays themselves."""
        return natural

    def is_finite(self, value: NaturalT) -> bool:
        """Whether every number is finite."""
        return all(bool(np.isfinite(part).all()) for part in value)

    def commit(
        self, lambda_: NaturalT, prior: PriorT, batch: BatchT, natural: NaturalT, rho: float
    ) -> NaturalT:
        """`natural`, which is all of the new lambda_."""
        return natural

    def savepoint(self, lambda_: NaturalT, prior: PriorT, batch: BatchT) -> Callable[[], None]:
        """Nothing to put back: a step makes a new lambda_."""
        return lambda: None

    # --- what is shown

    @property
    def can_average(self) -> bool:
        """Always."""
        return True

    def commit_averaged(
        self,
        mean: NaturalT,
        lambda_: NaturalT,
        prior: PriorT,
        batch: BatchT,
        natural: NaturalT,
        rho: float,
        weight: float,
    ) -> tuple[NaturalT, NaturalT]:
        """`natural`, and (1 - w) mean + (w / rho) (natural - (1 - rho) lambda), entry by entry."""
        gain = weight / rho
        parts = zip(mean, lambda_, natural, strict=True)
        means = (
            ((1 - weight) * a + gain * (new - (1 - rho) * old)).astype(a.dtype)
            for a, old, new in parts
        )
        return natural, type(mean)(*means)

    def rescaled(self, lambda_: NaturalT, prior: PriorT, factor: float) -> NaturalT:
        """eta + factor (lambda - eta), entry by entry."""
        pairs = zip(lambda_, self.eta(prior), strict=True)
        return type(lambda_)(
            *((eta + factor * (part - eta)).astype(part.dtype) for part, eta in pairs)
        )

    # --- streaming VB

    def add(self, anchor: NaturalT, prior: PriorT, batch: BatchT, statistics: NaturalT) -> NaturalT:
        """lambda_t + s, entry by entry."""
        return type(anchor)(*(old + s for old, s in zip(anchor, statistics, strict=True)))

    def random_start(self, prior: PriorT, batch: BatchT, rng: np.random.Generator) -> NaturalT:
        """What `initial` draws.

        It owes nothing to lambda_t, but the lambda that follows does: there component k has all
        that component k has seen, and draws the batch's points to where they belong. A start near
        lambda_t finds fewer of the components in the data (a test of streaming VB shows it).
        """
        return self.initial(prior, rng)

    # --- adaptive learning rate

    def gradient(
        self,
        lambda_: NaturalT,
        prior: PriorT,
        batch: BatchT,
        statistics: NaturalT,
        scale: float,
    ) -> Float64:
        """eta + scale s - lambda, part after part."""
        parts = zip(lambda_, self.eta(prior), statistics, strict=True)
        return np.concatenate(
            [np.ravel(eta + scale * s - old) for old, eta, s in parts], dtype=float
        )

    # --- whole-data statistics

    def add_statistics(self, total: NaturalT, batch: BatchT, statistics: NaturalT) -> NaturalT:
        """total + statistics, in place."""
        for whole, part in zip(total, statistics, strict=True):
            np.add(whole, part, out=whole)
        return total

    def posterior(self, prior: PriorT, total: NaturalT) -> NaturalT:
        """eta + total, in the parameters' own types."""
        eta = self.eta(prior)
        return type(eta)(
            *(
                np.add(whole, part).astype(part.dtype)
                for whole, part in zip(total, eta, strict=True)
            )
        )

    # --- running totals: Statistics in float64, over everything

    @property
    def exact_local(self) -> bool:
        """Taken as False, the safe answer: beliefs are kept from visit to visit."""
        return False

    def running_total(self) -> NaturalT:
        """Zeros."""
        return self.zero_statistics()

    def exchange(
        self, total: NaturalT, batch: BatchT, old: NaturalT | None, new: NaturalT
    ) -> NaturalT:
        """total - old + new, in place."""
        if old is not None:
            for whole, part in zip(total, old, strict=True):
                np.subtract(whole, part, out=whole)
        return self.add_statistics(total, batch, new)

    def restrict_total(self, total: NaturalT, prior: PriorT, batch: BatchT) -> NaturalT:
        """eta + total, all of it."""
        return self.posterior(prior, total)

    def lambda_of_total(self, total: NaturalT, prior: PriorT) -> NaturalT:
        """eta + total."""
        return self.posterior(prior, total)

    def inner_total(self, lambda_: NaturalT, prior: PriorT, total: NaturalT) -> float:
        """<E[t], total>."""
        return self.inner(lambda_, None, total)


def _float64(natural: NaturalT) -> NaturalT:
    return type(natural)(*(np.asarray(part, dtype=np.float64) for part in natural))
