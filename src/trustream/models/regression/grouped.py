"""Regressions with groups: every group has weights of its own, drawn from one population.

    Sigma ~ IW(Psi, nu),   mu | Sigma ~ N(0, Sigma / s),   w_g ~ N(mu, Sigma)

Groups are the data points. Their weights are local, mu and Sigma are global with a
normal-inverse-Wishart posterior (`families.normal_inverse_wishart`), into which groups enter as

    f(w_g) = (1, E[w_g], E[w_g w_g'], 1).

q(mu) alone takes the weights of the groups for known, and is too narrow where groups have few rows.
Given Sigma (and the noise), w_g can be integrated out exactly, which leaves

    Cov[mu] = ( (s + G) Q - Q V Q )^-1,    Q = E[Sigma^-1],   V = sum_g Cov[w_g].

So that it is known without another look at the data, V is kept as one more part of lambda,
`spread`, which is blended and added like the rest and has no part in q. What is not known of mu is
not known of the weights of a group either, whose covariance is then

    Cov[w_g] + Cov[w_g] Q Cov[mu] Q Cov[w_g].
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from trustream.array_types import Float64
from trustream.families import normal_inverse_wishart as niw
from trustream.families import symmetric
from trustream.models.dense_model import BatchT, like
from trustream.models.regression.model import RegressionModel
from trustream.models.regression.priors import PopulationPrior

GroupedT = TypeVar("GroupedT", bound=Any)
# s (1,), sm (1, P), C (1, P, P), nu (1,) and spread (1, P, P).
Population = tuple[Float64, Float64, Float64, Float64, Float64]


@dataclass(frozen=True, kw_only=True)
class GroupedModel(RegressionModel[GroupedT, PopulationPrior, BatchT]):
    """A regression with groups; see the module, and `RegressionModel` for attributes.

    A Natural begins with s (1,), sm (1, P), C (1, P, P), nu (1,) and spread (1, P, P).
    """

    @abstractmethod
    def posteriors(
        self, natural: GroupedT, prior: PopulationPrior, batch: BatchT, local: Any
    ) -> tuple[Float64, Float64]:
        """E[w_g] (B, P) and Cov[w_g] (B, P, P) given mu and Sigma, at given beliefs."""

    # --- the population

    def population(self, natural: GroupedT) -> niw.Natural:
        """The part of lambda that is q(mu, Sigma)."""
        return niw.Natural(natural.s, natural.sm, natural.C, natural.nu)

    def population_of_prior(self, prior: PopulationPrior) -> Population:
        """s, sm, C, nu and spread of the prior."""
        p = self.n_weights
        eta = niw.natural(np.zeros((1, p)), np.array([prior.s]), prior.Psi[None], [prior.nu])
        return (*eta, np.zeros((1, p, p)))

    def expected_linear(self, natural: GroupedT) -> tuple[Float64, Float64]:
        """E[Sigma^-1] (P, P) and E[Sigma^-1 mu] (P,)."""
        t = niw.expected(self.population(natural))
        return np.ascontiguousarray(t.precision[0]), np.ascontiguousarray(t.linear[0])

    def precision_alone(self, prior: PopulationPrior) -> Float64:
        """The precision of the weights of a group by itself, mu not being known, (P, P).

        w_g ~ N(0, (1 + 1/s) Sigma) under the prior: s / (1 + s) E[Sigma^-1]. Beliefs with it owe
        nothing to lambda, and little to the prior where s is small.
        """
        return np.asarray(prior.s / (1 + prior.s) * prior.nu * np.linalg.inv(prior.Psi))

    def random_population(self, prior: PopulationPrior, rng: np.random.Generator) -> Population:
        """The same after one imagined group, with weights as the prior has them."""
        p = self.n_weights
        m = rng.multivariate_normal(np.zeros(p), prior.Psi / prior.nu, method="cholesky")
        s, nu = np.array([prior.s + 1]), np.array([prior.nu + 1])
        return (*niw.natural(m[None], s, prior.Psi[None], nu), np.zeros((1, p, p)))

    def zero_population(self) -> Population:
        """Zeros."""
        p = self.n_weights
        square = np.zeros((1, p, p))
        return np.zeros(1), np.zeros((1, p)), square, np.zeros(1), square.copy()

    def population_statistics(self, sums: Float64, n_groups: int) -> Population:
        """Statistics from sum_g m_g (P), sum_g E[w_g w_g'] (P P), sum_g Cov[w_g] (P P)."""
        p, count = self.n_weights, np.array([float(n_groups)])
        first, second, spread = sums[:p], sums[p : p + p * p], sums[p + p * p :]
        shape = (1, p, p)
        return count, first[None], second.reshape(shape), count.copy(), spread.reshape(shape)

    def kl(self, natural: GroupedT, other: GroupedT) -> float:
        """KL(q_natural || q_other) in nats."""
        other = like(natural, other)
        return float(niw.kl(self.population(natural), self.population(other))[0])

    def inner(self, natural: GroupedT, batch: BatchT | None, statistics: GroupedT) -> float:
        """<E_q[t(mu, Sigma)], s>."""
        t = niw.expected(self.population(natural))
        value = -t.quadratic @ statistics.s / 2 + (t.linear * statistics.sm).sum()
        value += -(t.precision * statistics.C).sum() / 2
        return float(value + t.log_det_precision @ statistics.nu / 2)

    # --- for people

    def expected(
        self, lambda_: GroupedT, prior: PopulationPrior
    ) -> tuple[Float64, Float64, Float64]:
        """E[mu] (P,), E[Sigma] (P, P) and E[v] (1,), in the coordinates of the prior.

        A probit has v = 1.
        """
        mean, covariance = niw.mean(self.population(lambda_))
        return mean[0], covariance[0], np.ones(1)

    def mean_covariance(self, lambda_: GroupedT) -> Float64:
        """Cov[mu] (P, P); see the module."""
        precision = niw.expected(self.population(lambda_)).precision[0]
        information = lambda_.s[0] * precision - precision @ lambda_.spread[0] @ precision
        noise = symmetric.rounding_noise(lambda_.s[0] * precision)
        return symmetric.inverse(symmetric.cholesky(information, noise)[1])

    def weights_of_new_group(
        self, lambda_: GroupedT, prior: PopulationPrior
    ) -> tuple[Float64, Float64]:
        """E[w] (P,) and Cov[w] = E[Sigma] + Cov[mu] (P, P) of a group that was not seen."""
        mean, covariance, _ = self.expected(lambda_, prior)
        return mean, covariance + self.mean_covariance(lambda_)

    def weights_of_groups(
        self, lambda_: GroupedT, prior: PopulationPrior, batch: BatchT, local: Any
    ) -> tuple[Float64, Float64]:
        """E[w_g] (B, P) and Cov[w_g] (B, P, P), what is not known of mu included."""
        m, V = self.posteriors(lambda_, prior, batch, local)
        gain = V @ niw.expected(self.population(lambda_)).precision[0]
        return m, V + gain @ self.mean_covariance(lambda_) @ gain.swapaxes(-1, -2)
