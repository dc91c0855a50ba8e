"""Bayesian probit regression with one vector of weights for all rows (Albert and Chib 1993).

    w ~ N(0, diag(precision)^-1),   z_n ~ N(x_n' w, 1),   y_n = 1 if z_n > 0 and -1 if not

w is global, q(w) = N(m, Lambda^-1) (`families.normal_weights`), and the latent responses z_n are
local. Given q(w) the best q(z_n) is N(x_n' m, 1) on the side of y_n, and the rows enter as

    s = (sum_n x_n x_n', sum_n E[z_n] x_n).

Mean field takes z for known when it says how well w is known: Lambda^-1 is too small, by a third
and more. What answers the data as the posterior mean does (linear response) is

    Cov[w] = ( diag(precision) + sum_n d_n x_n x_n' )^-1,   d_n = 1 - Var[z_n],

with d_n in (0, 1): the inverse curvature of the bound in m. So that it is known without another
look at the data, the sum is kept as one more part of lambda, `information`, which is blended and
added like the rest and has no part in q.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from trustream import kernels
from trustream.array_types import Array, Float64
from trustream.families import normal_weights as family
from trustream.kernels import threads
from trustream.models.dense_model import like
from trustream.models.protocol import Rows
from trustream.models.regression.data import RowBatch, weighted_products, weighted_sums
from trustream.models.regression.linear import row_batch
from trustream.models.regression.model import RegressionModel
from trustream.models.regression.priors import WeightsPrior

_ROWS = 1024


class ProbitNatural(NamedTuple):
    """lambda: precision Lambda (P, P), shift Lambda m (P,), and information (P, P)."""

    precision: Float64
    shift: Float64
    information: Float64

    @property
    def family(self) -> family.Natural:
        """The parameters of q(w)."""
        return family.Natural(self.precision, self.shift)


@dataclass(frozen=True, kw_only=True)
class ProbitModel(RegressionModel[ProbitNatural, WeightsPrior, RowBatch]):
    """See the module; attributes as in `RegressionModel`.

    >>> from trustream.models.regression import RowData
    >>> model = ProbitModel(n_weights=1, backend="reference")
    >>> prior = WeightsPrior(np.zeros(1), np.ones(1), 0.0, 1.0, np.ones(1))
    >>> batch = model.batch(RowData(np.array([[1.0], [2.0]]), np.array([1.0, -1.0])), slice(None))
    >>> local, statistics = model.beliefs(prior, batch, None)
    >>> local.round(2)
    array([[ 0.8 ,  0.36],
           [-0.8 ,  0.36]])
    """

    def batch(self, data: Any, rows: Rows | slice) -> RowBatch:
        """The given rows of `RowData`, y being -1 or 1."""
        return row_batch(data, rows, self.dtype)

    def eta(self, prior: WeightsPrior) -> ProbitNatural:
        """The prior as a Natural."""
        precision = np.diag(prior.precision)
        return ProbitNatural(precision, np.zeros(self.n_weights), precision)

    def initial(self, prior: WeightsPrior, rng: np.random.Generator) -> ProbitNatural:
        """Weights near zero, known a little better than a priori."""
        m = 0.1 * rng.standard_normal(self.n_weights) / np.sqrt(prior.precision)
        precision = np.diag(2 * prior.precision)
        return ProbitNatural(*family.natural(m, precision), precision)

    def zero_statistics(self) -> ProbitNatural:
        """Zeros."""
        p = self.n_weights
        return ProbitNatural(np.zeros((p, p)), np.zeros(p), np.zeros((p, p)))

    # --- the family

    def kl(self, natural: ProbitNatural, other: ProbitNatural) -> float:
        """KL(q_natural || q_other) in nats; the information has no part in it."""
        return family.kl(natural.family, like(natural, other).family)

    def expected_statistics(self, natural: ProbitNatural) -> ProbitNatural:
        """E_q[t] = (-(Lambda^-1 + m m') / 2, m), and 0 for the information."""
        m, covariance, _ = family.traditional(natural.family)
        zero = np.zeros_like(natural.information)
        return ProbitNatural(-(covariance + np.outer(m, m)) / 2, m, zero)

    # --- latent responses

    @property
    def exact_local(self) -> bool:
        """The best q(z) is known in closed form."""
        return True

    def beliefs(
        self, prior: WeightsPrior, batch: RowBatch, phi: Array | None
    ) -> tuple[Array, ProbitNatural]:
        """(E[z] and Var[z] (B, 2), Statistics) for z ~ N(phi, 1) on the side of y; None is 0."""
        location = np.zeros(batch.size) if phi is None else np.asarray(phi, np.float64)
        if location.shape != (batch.size,):
            raise ValueError(f"phi must have shape {(batch.size,)}, got {location.shape}")
        latent, _ = self._latent(location, batch)
        statistics = ProbitNatural(
            batch.statistics(self.n_threads).precision,
            weighted_sums(batch.X, latent[:, 0], self.n_threads),
            weighted_products(batch.X, 1 - latent[:, 1], self.n_threads),
        )
        return latent, statistics

    def local_step(
        self,
        natural: ProbitNatural,
        prior: WeightsPrior,
        batch: RowBatch,
        local: Array | None = None,
        n_local: int = 1,
        tol: float = 0.0,
    ) -> tuple[Array, ProbitNatural]:
        """(E[z] and Var[z], Statistics) at the best q(z), wherever `local` is."""
        m, _, _ = family.traditional(natural.family)
        return self.beliefs(prior, batch, batch.X @ m)

    def local_bound(
        self,
        natural: ProbitNatural,
        prior: WeightsPrior,
        batch: RowBatch,
        local: Array | None = None,
    ) -> Float64:
        """E_q[log p(y_n, z_n | w) / q(z_n)] at the best q(z), in nats, shape (B,).

        log Phi(y_n x_n' m) - x_n' Lambda^-1 x_n / 2
        """
        m, covariance, _ = family.traditional(natural.family)
        _, log_mass = self._latent(batch.X @ m, batch)
        return np.asarray(log_mass - ((batch.X @ covariance) * batch.X).sum(axis=1) / 2)

    def _latent(self, location: Float64, batch: RowBatch) -> tuple[Float64, Float64]:
        """E[z] and Var[z] (B, 2), and log Phi(y location) (B,)."""
        location = np.ascontiguousarray(location, np.float64)
        mean, variance, log_mass = (np.empty(batch.size) for _ in range(3))
        kernel = kernels.get("regression", self.backend).truncated

        def work(start: int, stop: int) -> None:
            kernel(location, batch.y, start, stop, mean, variance, log_mass)

        threads.run(work, threads.split(batch.size, _ROWS), self.n_threads)
        return np.column_stack([mean, variance]), log_mass

    # --- for people

    def expected(self, lambda_: ProbitNatural, prior: WeightsPrior) -> tuple[Float64]:
        """E[w] (P,), in the coordinates of the prior."""
        return (family.traditional(lambda_.family).m,)

    def weights(self, lambda_: ProbitNatural, prior: WeightsPrior) -> tuple[Float64, Float64]:
        """E[w] (P,) and Cov[w] by linear response (P, P), in the coordinates of the prior."""
        response = family.Natural(lambda_.information, lambda_.shift)
        return self.expected(lambda_, prior)[0], family.traditional(response).covariance

    def mode(self, prior: WeightsPrior, batch: RowBatch, scale: float, n_steps: int) -> Float64:
        """Where the posterior of w is highest, by Newton's method, shape (P,).

        This is also where batch VB ends, which takes many more passes to come there. A step that
        would lower the density is halved.

        Args:
            batch: rows that stand for `scale` times as many.
            n_steps: most steps.
        """

        def log_density(w: Float64) -> float:
            _, log_mass = self._latent(batch.X @ w, batch)
            return scale * float(log_mass.sum()) - float(prior.precision @ w**2) / 2

        w = np.zeros(self.n_weights)
        value = log_density(w)
        for _ in range(n_steps):
            _, statistics = self.beliefs(prior, batch, batch.X @ w)
            curvature = np.diag(prior.precision) + scale * statistics.information
            slope = scale * (statistics.shift - statistics.precision @ w) - prior.precision * w
            step = np.linalg.solve(curvature, slope)
            while (new := log_density(w + step)) < value and np.abs(step).max() > 1e-10:
                step /= 2
            if not new > value:
                break
            w, value = w + step, new
        return w

    def start(self, prior: WeightsPrior, batch: RowBatch, scale: float, w: Float64) -> Any:
        """lambda for given weights w (P,) and rows that stand for `scale` times as many."""
        _, statistics = self.beliefs(prior, batch, batch.X @ w)
        eta = self.eta(prior)
        return ProbitNatural(*(a + scale * b for a, b in zip(eta, statistics, strict=True)))
