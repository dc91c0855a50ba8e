"""Hierarchical linear regression: weights of groups from one population, one noise variance.

    v ~ IG(noise_nu/2, noise_Psi/2),   y_gi ~ N(x_gi' w_g, v),   (mu, Sigma), w_g as in `grouped`

q(w_g) = N(m_g, V_g) is known in closed form given lambda (`kernels.regression.linear_groups`), and
needs of a group only its moments X_g' X_g, X_g' y_g, y_g' y_g and n_g.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from trustream import kernels
from trustream.array_types import Array, Float64
from trustream.families import inverse_wishart
from trustream.families import normal_inverse_wishart as niw
from trustream.models.dense_model import like
from trustream.models.protocol import Rows
from trustream.models.regression.data import Moments, MomentsBatch, over_groups
from trustream.models.regression.grouped import GroupedModel
from trustream.models.regression.priors import PopulationPrior


class GroupedLinearNatural(NamedTuple):
    """lambda: s (1,), sm (1, P), C (1, P, P), nu (1,) of the population, spread (1, P, P), and

    noise_Psi (1,) and noise_nu (1,) of the noise variance.
    """

    s: Float64
    sm: Float64
    C: Float64
    nu: Float64
    spread: Float64
    noise_Psi: Float64
    noise_nu: Float64


@dataclass(frozen=True, kw_only=True)
class GroupedLinearModel(GroupedModel[GroupedLinearNatural, MomentsBatch]):
    """See the module; attributes as in `RegressionModel`.

    >>> from trustream.models.regression import GroupedData
    >>> model = GroupedLinearModel(n_weights=1, backend="reference")
    >>> prior = PopulationPrior(np.zeros(1), np.ones(1), 0.0, 1.0, 1.0, np.eye(1), 3.0)
    >>> data = GroupedData(np.ones((3, 1)), np.array([1.0, 1.0, 2.0]), np.array([0, 2, 3]))
    >>> means, statistics = model.beliefs(prior, model.batch(data, slice(None)), None)
    >>> means.shape, statistics.s, statistics.noise_nu
    ((2, 1), array([2.]), array([3.]))
    """

    def batch(self, data: Any, rows: Rows | slice) -> MomentsBatch:
        """The moments of the given groups of `GroupedData`, or of `Moments` themselves."""
        if not isinstance(data, Moments):
            data = data.moments(self.dtype, self.backend, self.n_threads)
        return MomentsBatch(data.rows(rows))

    def eta(self, prior: PopulationPrior) -> GroupedLinearNatural:
        """The prior as a Natural."""
        noise = np.array([prior.noise_Psi]), np.array([prior.noise_nu])
        return GroupedLinearNatural(*self.population_of_prior(prior), *noise)

    def initial(self, prior: PopulationPrior, rng: np.random.Generator) -> GroupedLinearNatural:
        """The posterior after one imagined group of one row, which agrees with the prior."""
        nu = prior.noise_nu + 1
        noise = np.array([prior.noise_Psi * nu / prior.noise_nu]), np.array([nu])
        return GroupedLinearNatural(*self.random_population(prior, rng), *noise)

    def zero_statistics(self) -> GroupedLinearNatural:
        """Zeros."""
        return GroupedLinearNatural(*self.zero_population(), np.zeros(1), np.zeros(1))

    # --- the noise, an inverse-Wishart of dimension one

    def kl(self, natural: GroupedLinearNatural, other: GroupedLinearNatural) -> float:
        """KL of the population and of the noise variance, in nats."""
        one, two = (
            (np.sqrt(part.noise_Psi)[:, None, None], part.noise_nu)
            for part in (natural, like(natural, other))
        )
        return super().kl(natural, other) + float(inverse_wishart.kl(*one, *two)[0])

    def inner(
        self,
        natural: GroupedLinearNatural,
        batch: MomentsBatch | None,
        statistics: GroupedLinearNatural,
    ) -> float:
        """<E_q[t], s>, with t(v) = (-1/(2 v), -log(v) / 2)."""
        precision, log_precision = self._noise(natural)
        value = log_precision * statistics.noise_nu[0] - precision * statistics.noise_Psi[0]
        return super().inner(natural, batch, statistics) + float(value) / 2

    def _noise(self, natural: GroupedLinearNatural) -> tuple[float, float]:
        """E[1/v] and E[-log v]."""
        Psi, nu = natural.noise_Psi, natural.noise_nu
        log_precision = inverse_wishart.expected_log_det_precision(np.sqrt(Psi)[:, None, None], nu)
        return float(nu[0] / Psi[0]), float(log_precision[0])

    def _given(self, natural: GroupedLinearNatural) -> tuple[Float64, Float64, float]:
        """What the weights of groups depend on: E[Sigma^-1], E[Sigma^-1 mu] and E[1/v]."""
        return *self.expected_linear(natural), self._noise(natural)[0]

    # --- weights of groups

    @property
    def exact_local(self) -> bool:
        """The best q(w_g) is known in closed form."""
        return True

    def _fitted(
        self,
        precision: Float64,
        linear: Float64,
        noise: float,
        batch: MomentsBatch,
        wanted: bool = False,
    ) -> tuple[Float64, Float64, Float64, Float64]:
        """Means (B, P), covariances if wanted, values (B,) and sums of `linear_groups`."""
        p, n = self.n_weights, batch.size
        means, values = np.empty((n, p)), np.empty(n)
        covariances = np.empty((n if wanted else 0, p, p))
        moments = [np.ascontiguousarray(part) for part in batch.moments[:3]]
        kernel = kernels.get("regression", self.backend).linear_groups

        def work(start: int, stop: int, sums: Float64) -> None:
            kernel(
                *moments, precision, linear, noise, start, stop, means, covariances, values, sums
            )

        sums = over_groups(work, n, 1 + p + 2 * p * p, self.n_threads)
        return means, covariances, values, sums

    def _statistics(self, sums: Float64, batch: MomentsBatch) -> GroupedLinearNatural:
        population = self.population_statistics(sums[1:], batch.size)
        count = np.array([float(batch.moments.counts.sum())])
        return GroupedLinearNatural(*population, sums[:1], count)

    def beliefs(
        self, prior: PopulationPrior, batch: MomentsBatch, phi: Array | None
    ) -> tuple[Array, GroupedLinearNatural]:
        """(E[w] (B, P), Statistics) as each group has them by itself, under the prior.

        Given `phi` (B, P) they are the means, with the covariances that groups have by themselves.
        """
        alone = self.precision_alone(prior), np.zeros(self.n_weights)
        noise = prior.noise_nu / prior.noise_Psi
        means, covariances, _, sums = self._fitted(*alone, noise, batch, wanted=phi is not None)
        if phi is None:
            return means, self._statistics(sums, batch)
        phi = np.array(phi, np.float64)
        if phi.shape != means.shape:
            raise ValueError(f"phi must have shape {means.shape}, got {phi.shape}")
        products, shifts, squares, _ = batch.moments
        second = covariances + phi[:, :, None] * phi[:, None, :]
        residual = squares.sum() - 2 * (phi * shifts).sum() + (products * second).sum()
        parts = [[residual], phi.sum(axis=0), second.sum(axis=0), covariances.sum(axis=0)]
        return phi, self._statistics(np.concatenate([np.ravel(part) for part in parts]), batch)

    def local_step(
        self,
        natural: GroupedLinearNatural,
        prior: PopulationPrior,
        batch: MomentsBatch,
        local: Array | None = None,
        n_local: int = 1,
        tol: float = 0.0,
    ) -> tuple[Array, GroupedLinearNatural]:
        """(E[w] (B, P), Statistics) at the optimum, wherever `local` is."""
        means, _, _, sums = self._fitted(*self._given(natural), batch)
        return means, self._statistics(sums, batch)

    def local_bound(
        self,
        natural: GroupedLinearNatural,
        prior: PopulationPrior,
        batch: MomentsBatch,
        local: Array | None = None,
    ) -> Float64:
        """E_q[log p(y_g, w_g | mu, Sigma, v) / q(w_g)] at the optimum, in nats, shape (B,).

        (n_g (E[-log v] - log 2 pi) - E[1/v] y_g'y_g + E[log |Sigma^-1|] - E[mu' Sigma^-1 mu]
         + h_g' m_g - log |K_g|) / 2 - n_g log y_scale,   h, K as in `linear_groups`
        """
        values = self._fitted(*self._given(natural), batch)[2]
        t = niw.expected(self.population(natural))
        noise, log_precision = self._noise(natural)
        _, _, squares, counts = batch.moments
        rows = counts * (log_precision - np.log(2 * np.pi)) - noise * squares
        rows = rows / 2 - counts * np.log(prior.y_scale)
        return np.asarray(values + rows + (t.log_det_precision - t.quadratic) / 2)

    def posteriors(
        self,
        natural: GroupedLinearNatural,
        prior: PopulationPrior,
        batch: MomentsBatch,
        local: Array | None = None,
    ) -> tuple[Float64, Float64]:
        """E[w_g] (B, P) and Cov[w_g] (B, P, P) at the optimum."""
        means, covariances, _, _ = self._fitted(*self._given(natural), batch, wanted=True)
        return means, covariances

    def expected(
        self, lambda_: GroupedLinearNatural, prior: PopulationPrior
    ) -> tuple[Float64, Float64, Float64]:
        """E[mu] (P,), E[Sigma] (P, P) and E[v] (1,), in the coordinates of the prior."""
        mean, covariance, _ = super().expected(lambda_, prior)
        spare = lambda_.noise_nu - 2
        v = np.where(spare > 0, lambda_.noise_Psi / np.where(spare > 0, spare, 1.0), np.inf)
        return mean, covariance, v

    def memory(
        self,
        natural: GroupedLinearNatural,
        prior: PopulationPrior,
        batch: MomentsBatch,
        local: Array | None,
    ) -> Moments:
        """What is kept of groups for their next rows: all moments so far, with which nothing is
        lost."""
        return batch.moments
