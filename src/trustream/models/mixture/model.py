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

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from trustream.array_types import Array, Float64
from trustream.families import dirichlet
from trustream.kernels import BACKENDS
from trustream.models.dense_model import BatchT, DenseModel, NaturalT, PriorT
from trustream.models.mixture import feature_blocks


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
class MixtureModel(DenseModel[NaturalT, PriorT, BatchT]):
    """A mixture as a `ConjugateModel`, with all capabilities but learnable priors.

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
    def component_log_density(self, lambda_: NaturalT, prior: PriorT, batch: BatchT) -> Float64:
        """log E_q[p(x_n | beta_k)], shape (B, K)."""

    @abstractmethod
    def component_divergence(self, natural: NaturalT, other: NaturalT) -> float:
        """sum_k KL(q(beta_k) || other(beta_k)) in nats."""

    @abstractmethod
    def component_inner(self, natural: NaturalT, statistics: NaturalT) -> float:
        """sum_k <E_q[t(beta_k)], s_k> in nats."""

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

    def component_log_likelihood(self, natural: NaturalT, prior: PriorT, batch: BatchT) -> Float64:
        """E_q[log p(x_n | beta_k)], shape (B, K)."""
        return self.log_joint(natural, prior, batch) - dirichlet.expected_log(natural[0])

    def predictive_log_density(self, lambda_: NaturalT, prior: PriorT, batch: BatchT) -> Float64:
        """log E_q[p(x_n | beta, pi)] = log sum_k E[pi_k] E_q[p(x_n | beta_k)], shape (B,).

        Exact, because q's factors are independent and each enters once.
        """
        values = self.component_log_density(lambda_, prior, batch)
        return feature_blocks.log_sum(values + np.log(dirichlet.mean(lambda_[0])))

    # --- terms of the bound

    def kl(self, natural: NaturalT, other: NaturalT) -> float:
        """KL of the weights and of all components, in nats."""
        weights = float(dirichlet.kl(natural[0], other[0]))
        return weights + self.component_divergence(natural, other)

    def inner(self, natural: NaturalT, batch: BatchT | None, statistics: NaturalT) -> float:
        """sum_k E[log pi_k] s_k + sum_k <E[t(beta_k)], s_k>."""
        weights = float(dirichlet.expected_log(natural[0]) @ statistics[0])
        return weights + self.component_inner(natural, statistics)
