"""Hierarchical probit regression: weights of groups from one population (Albert and Chib 1993).

    z_gi ~ N(x_gi' w_g, 1),   y_gi = 1 if z_gi > 0 and -1 if not,   (mu, Sigma), w_g as in `grouped`

Weights and latent responses of a group are local, with beliefs that keep them together,

    q(w_g, z_g) = N(w_g | m_g, C_g) p(z_g | w_g, y_g):

the latent responses are as they are given the weights, so that C_g is as wide as the data leave it
(`kernels.regression.probit_groups`). Beliefs q(w_g) q(z_g), which take each for known when they fit
the other, would be too sure of the weights, and the more so of how little groups differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trustream import kernels
from trustream.array_types import Array, Float64
from trustream.families import normal_inverse_wishart as niw
from trustream.models.protocol import Rows
from trustream.models.regression.data import GroupBatch, GroupedData, Moments, over_groups
from trustream.models.regression.grouped import GroupedModel
from trustream.models.regression.priors import PopulationPrior

# Nodes and weights by which functions of a standard normal are averaged.
_HERMITE = np.polynomial.hermite_e.hermegauss(20)
_HERMITE = (_HERMITE[0], _HERMITE[1] / np.sqrt(2 * np.pi))
# Steps on the beliefs of a group by itself, and the change of a weight that ends them.
_STEPS_ALONE, _TOL_ALONE = 30, 1e-6


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

    Beliefs are an array with a row for each group, m_g (P) and then C_g (P P).

    >>> model = GroupedProbitModel(n_weights=1, backend="reference")
    >>> prior = PopulationPrior(np.zeros(1), np.ones(1), 0.0, 1.0, 1.0, np.eye(1), 3.0)
    >>> data = GroupedData(np.ones((3, 1)), np.array([1.0, 1.0, -1.0]), np.array([0, 2, 3]))
    >>> beliefs, statistics = model.beliefs(prior, model.batch(data, slice(None)), None)
    >>> beliefs.shape, bool(beliefs[0, 0] > 0 > beliefs[1, 0]), statistics.s
    ((2, 2), True, array([2.]))
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
        precision: Float64,
        linear: Float64,
        batch: GroupBatch,
        beliefs: Float64,
        n_local: int,
        tol: float,
    ) -> tuple[Float64, Float64]:
        """Values (B,) and sums of `probit_groups`; beliefs are changed in place."""
        p, n = self.n_weights, batch.size
        values = np.empty(n)
        products, shifts = np.empty((0, p, p)), np.empty((0, p))
        if batch.earlier is not None:
            products, shifts = (np.ascontiguousarray(part) for part in batch.earlier[:2])
        kernel = kernels.get("regression", self.backend).probit_groups

        def work(start: int, stop: int, sums: Float64) -> None:
            kernel(
                batch.X, batch.y, batch.offsets, products, shifts, precision, linear, *_HERMITE,
                n_local, float(tol), start, stop, beliefs, values, sums,
            )  # fmt: skip

        return values, over_groups(work, n, p + 2 * p * p, self.n_threads)

    def _statistics(self, sums: Float64, batch: GroupBatch) -> GroupedProbitNatural:
        return GroupedProbitNatural(*self.population_statistics(sums, batch.size))

    def beliefs(
        self, prior: PopulationPrior, batch: GroupBatch, phi: Array | None
    ) -> tuple[Array, GroupedProbitNatural]:
        """(beliefs, Statistics) as each group has them by itself, under the prior, or given phi."""
        p, n = self.n_weights, batch.size
        precision = self.precision_alone(prior)
        if phi is None:
            beliefs = np.zeros((n, p + p * p))
            beliefs[:, p:] = np.linalg.inv(precision).ravel()
        else:
            beliefs = np.array(phi, np.float64)
            if beliefs.shape != (n, p + p * p):
                raise ValueError(f"phi must have shape {(n, p + p * p)}, got {beliefs.shape}")
        n_local = _STEPS_ALONE if phi is None else 0
        _, sums = self._fitted(precision, np.zeros(p), batch, beliefs, n_local, _TOL_ALONE)
        return beliefs, self._statistics(sums, batch)

    def local_step(
        self,
        natural: GroupedProbitNatural,
        prior: PopulationPrior,
        batch: GroupBatch,
        local: Array,
        n_local: int,
        tol: float,
    ) -> tuple[Array, GroupedProbitNatural]:
        """(beliefs, Statistics) after at most `n_local` steps on the beliefs of each group."""
        beliefs = np.array(local)
        _, sums = self._fitted(*self.expected_linear(natural), batch, beliefs, n_local, tol)
        return beliefs, self._statistics(sums, batch)

    def local_bound(
        self,
        natural: GroupedProbitNatural,
        prior: PopulationPrior,
        batch: GroupBatch,
        local: Array,
    ) -> Float64:
        """E_q[log p(y_g, z_g, w_g | mu, Sigma) / q(w_g, z_g)] in nats, shape (B,).

        values[g] of `probit_groups` + (E[log |Sigma^-1|] - E[mu' Sigma^-1 mu]) / 2
        """
        linear = self.expected_linear(natural)
        values, _ = self._fitted(*linear, batch, np.array(local), 0, 0.0)
        t = niw.expected(self.population(natural))
        return np.asarray(values + (t.log_det_precision - t.quadratic) / 2)

    def posteriors(
        self,
        natural: GroupedProbitNatural,
        prior: PopulationPrior,
        batch: GroupBatch,
        local: Array,
    ) -> tuple[Float64, Float64]:
        """E[w_g] (B, P) and Cov[w_g] (B, P, P), as the beliefs have them."""
        p = self.n_weights
        return local[:, :p], local[:, p:].reshape(-1, p, p)

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
