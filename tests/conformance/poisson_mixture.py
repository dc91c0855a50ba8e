"""A mixture of Poissons, as small as a model can be: what the conformance suite asks of a new one.

    pi ~ Dir(alpha),  beta_kd ~ Gamma(a, rate b),  z_n ~ pi,  x_nd ~ Poisson(beta_{z_n d})
    q(pi) = Dir(gamma),  q(beta_kd) = Gamma(a_kd, rate b_k)

`DenseModel` makes of this what batch VB, streaming VB, memoized inference and an adaptive learning
rate need. Beliefs are kept as the model likes them: log phi with a row for each component.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from trustream.models.dense_model import DenseModel

Array = np.ndarray[Any, Any]


class PoissonNatural(NamedTuple):
    """lambda_, a Natural or Statistics: gamma (K,) in float64, a (K, D) and b (K,) in the dtype."""

    gamma: Array
    a: Array
    b: Array


class PoissonExpected(NamedTuple):
    """weights E[pi] (K,) and rates E[beta] (K, D)."""

    weights: Array
    rates: Array


@dataclass(frozen=True)
class PoissonPrior:
    """alpha of the weights; a and b of the rates."""

    alpha: float
    a: float
    b: float


@dataclass(frozen=True)
class PoissonBatch:
    """Counts x (B, D)."""

    x: Array

    @property
    def size(self) -> int:
        return len(self.x)


@dataclass(frozen=True)
class PoissonBeliefs:
    """log phi, (K, B)."""

    log_phi: Array


@dataclass(frozen=True)
class PoissonMixture(DenseModel[PoissonNatural, PoissonPrior, PoissonBatch]):
    """K products of Poissons over D features; backend and threads make no difference."""

    n_components: int
    n_features: int
    dtype: str = "float32"
    backend: str = "reference"
    n_threads: int = 1

    def batch(self, data: Any, rows: Any) -> PoissonBatch:
        return PoissonBatch(np.asarray(data[rows], self.dtype))

    # --- prior and family

    def eta(self, prior: PoissonPrior) -> PoissonNatural:
        a, b = np.array([[prior.a]], self.dtype), np.array([prior.b], self.dtype)
        return PoissonNatural(np.array([prior.alpha]), a, b)

    def initial(self, prior: PoissonPrior, rng: np.random.Generator) -> PoissonNatural:
        k, a = self.n_components, rng.gamma(10.0, 0.5, (self.n_components, self.n_features))
        return PoissonNatural(np.ones(k), a.astype(self.dtype), np.ones(k, self.dtype))

    def zero_statistics(self) -> PoissonNatural:
        k, d = self.n_components, self.n_features
        return PoissonNatural(np.zeros(k), np.zeros((k, d)), np.zeros(k))

    def expected_statistics(self, natural: PoissonNatural) -> PoissonNatural:
        """E[log pi_k], E[log beta_kd] and -sum_d E[beta_kd]."""
        gamma, a, b = natural
        log_weights = special.digamma(gamma) - special.digamma(gamma.sum())
        log_rates = special.digamma(a) - np.log(b)[:, np.newaxis]
        return PoissonNatural(log_weights, log_rates, -a.sum(axis=1) / b)

    def log_normaliser(self, natural: PoissonNatural) -> float:
        """Of the Dirichlet and of all Gammas."""
        gamma, a, b = natural
        weights = special.gammaln(gamma).sum() - special.gammaln(gamma.sum())
        return float(weights + special.gammaln(a).sum() - a.sum(axis=1) @ np.log(b))

    # --- local beliefs

    def log_joint(self, natural: PoissonNatural, batch: PoissonBatch) -> Array:
        """E[log pi_k p(x_n | beta_k)], (K, B)."""
        log_weights, log_rates, minus_rates = self.expected_statistics(natural)
        products = log_rates @ batch.x.T - special.gammaln(batch.x + 1).sum(axis=1)
        return np.asarray(products + (log_weights + minus_rates)[:, np.newaxis])

    def statistics(self, batch: PoissonBatch, phi: Array) -> PoissonNatural:
        """sum_n phi_kn, sum_n phi_kn x_n and again sum_n phi_kn, phi being (K, B)."""
        counts = phi.sum(axis=1, dtype=np.float64)
        a = phi.astype(self.dtype) @ batch.x
        return PoissonNatural(counts, a, counts.astype(self.dtype))

    def beliefs(
        self, prior: PoissonPrior, batch: PoissonBatch, phi: Array | None
    ) -> tuple[PoissonBeliefs, PoissonNatural]:
        """For phi given as (B, K), or 1/K."""
        k = self.n_components
        phi = np.full((k, batch.size), 1 / k) if phi is None else np.transpose(phi)
        log_phi = np.log(np.maximum(phi, np.finfo(self.dtype).tiny)).astype(self.dtype)
        return PoissonBeliefs(log_phi), self.statistics(batch, phi)

    def local_step(
        self, natural: Any, prior: Any, batch: Any, local: Any, n_local: int, tol: float
    ) -> tuple[PoissonBeliefs, PoissonNatural]:
        """The optimum, known in closed form."""
        log_phi = special.log_softmax(self.log_joint(natural, batch), axis=0)
        return PoissonBeliefs(log_phi.astype(self.dtype)), self.statistics(batch, np.exp(log_phi))

    def local_bound(self, natural: Any, prior: Any, batch: Any, local: Any) -> Array:
        return np.asarray(special.logsumexp(self.log_joint(natural, batch), axis=0))

    # --- for people

    def expected(self, lambda_: PoissonNatural, prior: PoissonPrior) -> PoissonExpected:
        gamma, a, b = lambda_
        return PoissonExpected(gamma / gamma.sum(), a / b[:, np.newaxis])
