"""Hierarchical probit regression: weights of groups from one population (Albert and Chib 1993).

    z_gi ~ N(x_gi' w_g, 1),   y_gi = 1 if z_gi > 0 and -1 if not,   (mu, Sigma), w_g as in `grouped`

Weights and latent responses of a group are local, with beliefs that keep them together,

    q(w_g, z_g) = p(w_g | z_g) prod_i q(z_gi)

(Fasano, Durante and Zanella 2022): the weights are integrated out when the z are fitted
(`kernels.regression.probit_groups`). For a group of one row this is exact, and with few rows for
the number of weights nearly so; q(w_g) q(z_g) would be too sure of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trustream.array_types import Array, Float64
from trustream.families import normal_inverse_wishart as niw
from trustream.kernels import get
from trustream.models.protocol import Rows
from trustream.models.regression.data import GroupBatch, GroupedData, Moments, over_groups
from trustream.models.regression.grouped import GroupedModel
from trustream.models.regression.priors import PopulationPrior


class GroupedProbitNatural(NamedTuple):
    """lambda: s (1,), sm (1, P), C (1, P, P), nu (1,) of the population, and spread (1, P, P)."""

    s: Float64
    sm: Float64
    C: Float64
    nu: Float64
    spread: Float64


@dataclass(frozen=True, kw_only=True)
class GroupedProbitModel(GroupedModel[GroupedProbitNatural, GroupBatch]):
    """See the module; attributes as in `RegressionModel`.

    Beliefs are an array with a row (E[z], Var[z], mu) for each row of the data, mu being the
    location of the normal that q(z) is one side of.

    >>> model = GroupedProbitModel(n_weights=1, backend="reference")
    >>> prior = PopulationPrior(np.zeros(1), np.ones(1), 0.0, 1.0, 1.0, np.eye(1), 3.0)
    >>> data = GroupedData(np.ones((3, 1)), np.array([1.0, 1.0, -1.0]), np.array([0, 2, 3]))
    >>> latent, statistics = model.beliefs(prior, model.batch(data, slice(None)), None)
    >>> latent[:, 0].round(2), statistics.s
    (array([ 0.8,  0.8, -0.8]), array([2.]))
    """

    def batch(self, data: GroupedData, rows: Rows | slice) -> GroupBatch:
        """The given groups of `GroupedData`, y being -1 or 1."""
        return data.rows(rows, self.dtype)

    def eta(self, prior: PopulationPrior) -> GroupedProbitNatural:
        """The prior as a Natural."""
        return GroupedProbitNatural(*self.population_of_prior(prior))

    def initial(self, prior: PopulationPrior, rng: np.random.Generator) -> GroupedProbitNatural:
        """The posterior after one imagined group, which agrees with the prior."""
        return GroupedProbitNatural(*self.random_population(prior, rng))

    def zero_statistics(self) -> GroupedProbitNatural:
        """Zeros."""
        return GroupedProbitNatural(*self.zero_population())

    def _fitted(
        self,
        natural: GroupedProbitNatural,
        batch: GroupBatch,
        latent: Float64,
        n_local: int,
        tol: float,
        wanted: bool = False,
    ) -> tuple[Float64, Float64, Float64, Float64]:
        """Means, covariances if wanted, values and sums of `probit_groups`; latent is changed."""
        t = niw.expected(self.population(natural))
        p, n = self.n_weights, batch.size
        means, values = np.empty((n, p)), np.empty(n)
        covariances = np.empty((n if wanted else 0, p, p))
        precision, linear = (np.ascontiguousarray(part[0]) for part in (t.precision, t.linear))
        products, shifts = np.empty((0, p, p)), np.empty((0, p))
        if batch.earlier is not None:
            products, shifts = (np.ascontiguousarray(part) for part in batch.earlier[:2])
        kernel = get("regression", self.backend).probit_groups

        def work(start: int, stop: int, sums: Float64) -> None:
            kernel(
                batch.X, batch.y, batch.offsets, products, shifts, precision, linear, n_local,
                float(tol), start, stop, latent, means, covariances, values, sums,
            )  # fmt: skip

        sums = over_groups(work, n, p + 2 * p * p, self.n_threads)
        return means, covariances, values, sums

    def _statistics(self, sums: Float64, batch: GroupBatch) -> GroupedProbitNatural:
        return GroupedProbitNatural(*self.population_statistics(sums, batch.size))

    def beliefs(
        self, prior: PopulationPrior, batch: GroupBatch, phi: Array | None
    ) -> tuple[Array, GroupedProbitNatural]:
        """(beliefs, Statistics) for z ~ N(phi, 1) on the side of y, and weights given z under the
        prior; `phi` has a number for each row, None is 0."""
        n_rows = batch.y.size
        location = np.zeros(n_rows) if phi is None else np.array(phi, np.float64)
        if location.shape != (n_rows,):
            raise ValueError(f"phi must have shape {(n_rows,)}, got {location.shape}")
        mean, variance, log_mass = (np.empty(n_rows) for _ in range(3))
        kernel = get("regression", self.backend).truncated
        kernel(location, batch.y, 0, n_rows, mean, variance, log_mass)
        latent = np.column_stack([mean, variance, location])
        sums = self._fitted(self.eta(prior), batch, latent, 0, 0.0)[3]
        return latent, self._statistics(sums, batch)

    def local_step(
        self,
        natural: GroupedProbitNatural,
        prior: PopulationPrior,
        batch: GroupBatch,
        local: Array,
        n_local: int,
        tol: float,
    ) -> tuple[Array, GroupedProbitNatural]:
        """(beliefs, Statistics) after at most `n_local` sweeps over the rows of each group."""
        latent = np.array(local)
        sums = self._fitted(natural, batch, latent, max(1, n_local), tol)[3]
        return latent, self._statistics(sums, batch)

    def local_bound(
        self,
        natural: GroupedProbitNatural,
        prior: PopulationPrior,
        batch: GroupBatch,
        local: Array,
    ) -> Float64:
        """E_q[log p(y_g, z_g, w_g | mu, Sigma) / q(w_g, z_g)] in nats, shape (B,).

        values[g] of `probit_groups` + (E[log |Sigma^-1|] - E[mu' Sigma^-1 mu]) / 2, at beliefs as
        a local step with the same `natural` left them.
        """
        values = self._fitted(natural, batch, np.array(local), 0, 0.0)[2]
        t = niw.expected(self.population(natural))
        return np.asarray(values + (t.log_det_precision - t.quadratic) / 2)

    def posteriors(
        self,
        natural: GroupedProbitNatural,
        prior: PopulationPrior,
        batch: GroupBatch,
        local: Array,
    ) -> tuple[Float64, Float64]:
        """E[w_g] (B, P) and Cov[w_g] (B, P, P)."""
        means, covariances, _, _ = self._fitted(
            natural, batch, np.array(local), 0, 0.0, wanted=True
        )
        return means, covariances

    def memory(
        self,
        natural: GroupedProbitNatural,
        prior: PopulationPrior,
        batch: GroupBatch,
        local: Array,
    ) -> Moments:
        """What is kept of groups for their next rows: the Gaussian that all rows so far amount to.

        exp(-w' J w / 2 + h' w) with J = Cov[w_g]^-1 - E[Sigma^-1] and
        h = Cov[w_g]^-1 E[w_g] - E[Sigma^-1 mu], which gives back q(w_g).
        """
        means, covariances = self.posteriors(natural, prior, batch, local)
        t = niw.expected(self.population(natural))
        inverse = np.linalg.inv(covariances)
        products = (inverse + inverse.swapaxes(-1, -2)) / 2 - t.precision
        shifts = (inverse @ means[:, :, None])[:, :, 0] - t.linear
        counts = np.diff(batch.offsets).astype(np.float64)
        if batch.earlier is not None:
            counts = counts + batch.earlier.counts
        return Moments(products, shifts, np.zeros(batch.size), counts)
