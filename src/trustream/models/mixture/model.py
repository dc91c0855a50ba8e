"""What all mixtures share: weights with a Dirichlet prior, beliefs and moments (supplement 4).

    pi ~ Dir(alpha),  z_n ~ pi,  beta_k ~ prior(eta),  x_n ~ p(x | beta_{z_n})
    q(pi) = Dir(gamma),  q(z_n = k) = phi_nk,  q(beta_k) with natural parameters lambda_k

A batch touches every parameter, so a mixture's Natural is all of lambda_: a named tuple of arrays
that starts with gamma (K,). Given lambda the best phi is known in closed form,

    phi_nk = softmax_k( psi(gamma_k) - psi(sum_j gamma_j) + E_q[log p(x_n | beta_k)] ),

so a local step needs no iterations, and the local bound is the logarithm of what softmax divides
by. The priors stay as given: one draw of the weights says nothing about their prior.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustream.families import dirichlet, exponential
from trustream.kernels import BACKENDS
from trustream.models.mixture import feature_blocks
from trustream.models.protocol import Batch, DirichletEvidence

Array = NDArray[Any]
Float64 = NDArray[np.float64]

NaturalT = TypeVar("NaturalT", bound=tuple[Any, ...])
PriorT = TypeVar("PriorT")
BatchT = TypeVar("BatchT", bound=Batch)


def positive(name: str, value: ArrayLike) -> Float64:
    """`value` as float64, refused unless finite and above zero.

    >>> positive("alpha", 2)
    array(2.)
    """
    array = np.array(value, dtype=np.float64)
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise ValueError(f"{name} must be positive and finite, got {value!r}")
    return array


@dataclass(frozen=True, kw_only=True)
class MixtureModel(ABC, Generic[NaturalT, PriorT, BatchT]):
    """A mixture; see `models.protocol.Model` for the methods that algorithms call.

    Attributes:
        n_components: K.
        n_features: D.
        dtype: "float32" or "float64".
        backend: which kernels compute special functions, "compiled" or "reference".
        n_threads: threads to use; they change the time only.
    """

    n_components: int
    n_features: int
    dtype: str = "float32"
    backend: str = "compiled"
    n_threads: int = 1

    def __post_init__(self) -> None:
        for name in ("n_components", "n_features", "n_threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}")
        if self.backend not in BACKENDS:
            raise ValueError(f"backend must be one of {BACKENDS}, got {self.backend!r}")

    # --- what a particular mixture says about itself

    @abstractmethod
    def eta(self, prior: PriorT) -> NaturalT:
        """The prior as a Natural, entries broadcastable to lambda_'s."""

    @abstractmethod
    def assign(self, natural: NaturalT, prior: PriorT, batch: BatchT) -> tuple[Array, NaturalT]:
        """(phi, Statistics) at the best phi (B, K) given `natural`."""

    @abstractmethod
    def log_joint(self, natural: NaturalT, prior: PriorT, batch: BatchT) -> Float64:
        """E_q[log pi_k] + E_q[log p(x_n | beta_k)], shape (B, K)."""

    @abstractmethod
    def given_statistics(self, prior: PriorT, batch: BatchT, phi: Float64) -> NaturalT:
        """Statistics for the given phi (B, K)."""

    @abstractmethod
    def uniform_statistics(self, prior: PriorT, batch: BatchT) -> NaturalT:
        """Statistics for phi = 1/K."""

    @abstractmethod
    def component_divergence(self, natural: NaturalT, other: NaturalT) -> float:
        """sum_k KL(q(beta_k) || other(beta_k)) in nats."""

    @abstractmethod
    def initial(self, prior: PriorT, rng: np.random.Generator) -> NaturalT:
        """A random lambda_ to start from, whatever the data."""

    @abstractmethod
    def zero_statistics(self) -> NaturalT:
        """A total of nothing, in float64."""

    @abstractmethod
    def component_inner(self, natural: NaturalT, statistics: NaturalT) -> float:
        """sum_k <E_q[t(beta_k)], s_k> in nats."""

    # --- global parameters

    def random_start(self, prior: PriorT, batch: BatchT, rng: np.random.Generator) -> NaturalT:
        """What `initial` draws.

        It owes nothing to lambda_t, but the lambda that follows does: there component k has all
        that component k has seen, and draws the batch's points to where they belong. A start near
        lambda_t finds fewer of the components in the data (a test of streaming VB shows it).
        """
        return self.initial(prior, rng)

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

    def add(self, anchor: NaturalT, prior: PriorT, batch: BatchT, statistics: NaturalT) -> NaturalT:
        """lambda_t + s, entry by entry."""
        return type(anchor)(*(old + s for old, s in zip(anchor, statistics, strict=True)))

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

    def commit(
        self, lambda_: NaturalT, prior: PriorT, batch: BatchT, natural: NaturalT, rho: float
    ) -> NaturalT:
        """`natural`, which is all of the new lambda_."""
        return natural

    def savepoint(self, lambda_: NaturalT, prior: PriorT, batch: BatchT) -> Callable[[], None]:
        """Nothing to put back: a step makes a new lambda_."""
        return lambda: None

    def is_finite(self, natural: NaturalT) -> bool:
        """Whether every number is finite."""
        return all(bool(np.isfinite(part).all()) for part in natural)

    # --- local beliefs

    @property
    def exact_local(self) -> bool:
        """The best phi is known in closed form."""
        return True

    def beliefs(self, prior: PriorT, batch: BatchT, phi: Array | None) -> tuple[Array, NaturalT]:
        """(phi, Statistics) for the given phi (B, K), whose rows sum to one, or for 1/K."""
        shape = (batch.size, self.n_components)
        if phi is None:
            uniform = np.full(shape, 1 / self.n_components, dtype=self.dtype)
            return uniform, self.uniform_statistics(prior, batch)
        phi = np.asarray(phi, dtype=np.float64)
        if phi.shape != shape:
            raise ValueError(f"phi must have shape {shape}, got {phi.shape}")
        phi = phi / phi.sum(axis=1, keepdims=True)
        return phi.astype(self.dtype), self.given_statistics(prior, batch, phi)

    def local_step(
        self,
        natural: NaturalT,
        prior: PriorT,
        batch: BatchT,
        local: Array | None = None,
        n_local: int = 1,
        tol: float = 0.0,
    ) -> tuple[Array, NaturalT]:
        """(phi, Statistics) at the optimum, which does not depend on where `local` is."""
        return self.assign(natural, prior, batch)

    def local_bound(
        self, natural: NaturalT, prior: PriorT, batch: BatchT, local: Array | None = None
    ) -> Float64:
        """E_q[log p(x_n, z_n | beta, pi) / q(z_n)] at the best phi, in nats, shape (B,).

        log sum_k exp( E_q[log pi_k] + E_q[log p(x_n | beta_k)] )
        """
        return feature_blocks.log_sum(self.log_joint(natural, prior, batch))

    # --- terms of the bound

    def divergence(
        self,
        natural: NaturalT,
        prior: PriorT,
        batch: BatchT | None = None,
        anchor: NaturalT | None = None,
    ) -> float:
        """KL(q_natural || q_anchor), or from the prior when anchor is None, in nats; exact."""
        other = self.eta(prior) if anchor is None else anchor
        weights = float(dirichlet.kl(natural[0], other[0]))
        return weights + self.component_divergence(natural, other)

    def global_bound(self, lambda_: NaturalT, prior: PriorT) -> float:
        """E_q[log p(beta, pi) / q(beta, pi)] = -KL(q || prior), in nats."""
        return -self.divergence(lambda_, prior)

    def inner(self, natural: NaturalT, batch: BatchT | None, statistics: NaturalT) -> float:
        """sum_k E[log pi_k] s_k + sum_k <E[t(beta_k)], s_k>."""
        weights = float(dirichlet.expected_log(natural[0]) @ statistics[0])
        return weights + self.component_inner(natural, statistics)

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

    def keep(self, statistics: NaturalT) -> NaturalT:
        """The arrays themselves, in whatever type the statistics have."""
        return statistics

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

    # --- empirical Bayes: there is nothing to learn

    def prior_evidence(
        self,
        lambda_: NaturalT,
        prior: PriorT,
        batch: BatchT | None,
        locals_: list[Any],
        rng: np.random.Generator | None,
    ) -> dict[str, DirichletEvidence]:
        """Empty: a mixture has one draw of its weights, so their prior has no best value."""
        return {}

    def replace_prior(
        self, lambda_: NaturalT, prior: PriorT, batch: BatchT | None, values: dict[str, Float64]
    ) -> tuple[NaturalT, PriorT]:
        """lambda_ and prior as they are."""
        return lambda_, prior
