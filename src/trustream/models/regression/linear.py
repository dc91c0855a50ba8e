"""Bayesian linear regression: one vector of weights for all rows, whose posterior is exact.

    v ~ IG(nu/2, Psi/2),   w | v ~ N(0, v diag(precision)^-1),   y_n ~ N(x_n' w, v)

w and v are the global parameters, with a normal-inverse-gamma posterior
(`families.weights_and_noise`), and there is nothing local: the rows enter as the sums

    s = (sum_n x_n x_n', sum_n y_n x_n, sum_n y_n^2, B).

So one pass of batch VB, or streaming VB one batch after the other, is exact Bayesian inference, and
their bound is the evidence itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from trustream.array_types import Array, Float64
from trustream.families import weights_and_noise as family
from trustream.families.weights_and_noise import Natural as LinearNatural
from trustream.models.dense_model import like
from trustream.models.protocol import Rows
from trustream.models.regression.data import RowBatch
from trustream.models.regression.model import RegressionModel
from trustream.models.regression.priors import WeightsPrior

# Where the best precision of the weights is looked for, as decimal logarithms, and how many places
# are tried before the best of them is refined.
_LOWEST, _HIGHEST, _N_TRIED = -8.0, 8.0, 65


@dataclass(frozen=True, kw_only=True)
class LinearModel(RegressionModel[LinearNatural, WeightsPrior, RowBatch]):
    """See the module; attributes as in `RegressionModel`.

    >>> from trustream.models.regression import RowData
    >>> model = LinearModel(n_weights=1, backend="reference")
    >>> prior = WeightsPrior(np.zeros(1), np.ones(1), 0.0, 1.0, np.ones(1), 1.0, 1.0)
    >>> batch = model.batch(RowData(np.array([[1.0], [2.0]]), np.array([1.0, 2.0])), slice(None))
    >>> _, statistics = model.beliefs(prior, batch, None)
    >>> statistics.precision, statistics.shift
    (array([[5.]]), array([5.]))
    """

    def batch(self, data: Any, rows: Rows | slice) -> RowBatch:
        """The given rows of `RowData`."""
        return row_batch(data, rows, self.dtype)

    def eta(self, prior: WeightsPrior) -> LinearNatural:
        """The prior as a Natural."""
        zero = np.zeros(self.n_weights)
        return family.natural(zero, np.diag(prior.precision), prior.noise_Psi, prior.noise_nu)

    def initial(self, prior: WeightsPrior, rng: np.random.Generator) -> LinearNatural:
        """The posterior after one imagined row for each weight, with a random response."""
        m = rng.standard_normal(self.n_weights) / np.sqrt(prior.precision)
        noise = prior.noise_Psi / prior.noise_nu
        Psi, nu = prior.noise_Psi + self.n_weights * noise, prior.noise_nu + self.n_weights
        return family.natural(m, np.diag(2 * prior.precision), Psi, nu)

    def zero_statistics(self) -> LinearNatural:
        """Zeros."""
        p = self.n_weights
        return LinearNatural(np.zeros((p, p)), np.zeros(p), np.zeros(1), np.zeros(1))

    # --- the family

    def kl(self, natural: LinearNatural, other: LinearNatural) -> float:
        """KL(q_natural || q_other) in nats."""
        return family.kl(natural, like(natural, other))

    def expected_statistics(self, natural: LinearNatural) -> LinearNatural:
        """E_q[t]."""
        return family.expected(natural)

    # --- nothing local

    @property
    def exact_local(self) -> bool:
        """There is nothing to find."""
        return True

    def beliefs(
        self, prior: WeightsPrior, batch: RowBatch, phi: Array | None
    ) -> tuple[Array, LinearNatural]:
        """(no beliefs, Statistics); `phi` makes no difference."""
        return np.empty((batch.size, 0)), batch.statistics(self.n_threads)

    def local_step(
        self,
        natural: LinearNatural,
        prior: WeightsPrior,
        batch: RowBatch,
        local: Array | None = None,
        n_local: int = 1,
        tol: float = 0.0,
    ) -> tuple[Array, LinearNatural]:
        """(no beliefs, Statistics)."""
        return self.beliefs(prior, batch, None)

    def local_bound(
        self,
        natural: LinearNatural,
        prior: WeightsPrior,
        batch: RowBatch,
        local: Array | None = None,
    ) -> Float64:
        """E_q[log N(y_n | x_n' w, v)] in nats, shape (B,), of y in its own units.

        (E[-log v] - log 2 pi - (nu/Psi) (y_n - x_n' m)^2 - x_n' Lambda^-1 x_n) / 2 - log y_scale
        """
        m, covariance, Psi, nu, _ = family.traditional(natural)
        error = batch.y - batch.X @ m
        spread = ((batch.X @ covariance) * batch.X).sum(axis=1)
        log_precision = 2 * family.expected(natural).nu
        value = log_precision - np.log(2 * np.pi) - nu / Psi * error**2 - spread
        return np.asarray(value / 2 - np.log(prior.y_scale))

    # --- for people

    def expected(self, lambda_: LinearNatural, prior: WeightsPrior) -> tuple[Float64, Float64]:
        """E[w] (P,) and E[v] (1,), in the coordinates of the prior."""
        m, _, Psi, nu, _ = family.traditional(lambda_)
        return m, np.where(nu > 2, Psi / np.where(nu > 2, nu - 2, 1.0), np.inf)

    def weights(self, lambda_: LinearNatural, prior: WeightsPrior) -> tuple[Float64, Float64]:
        """E[w] (P,) and Cov[w] = E[v] Lambda^-1 (P, P), in the coordinates of the prior."""
        m, v = self.expected(lambda_, prior)
        covariance = family.traditional(lambda_).covariance
        return m, v * covariance if np.isfinite(v[0]) else np.full_like(covariance, np.inf)

    def evidence(self, lambda_: LinearNatural, prior: WeightsPrior) -> float:
        """log p(y | X) in nats of the rows that lambda_ is the posterior of, y in its own units."""
        n_rows = float(lambda_.nu[0] - prior.noise_nu)
        value = family.evidence(self.eta(prior), lambda_, n_rows)
        return value - n_rows * float(np.log(prior.y_scale))

    def at_best_precision(
        self, lambda_: LinearNatural, prior: WeightsPrior, n_penalised: int
    ) -> tuple[LinearNatural, WeightsPrior]:
        """lambda_ and prior with the precision of the first weights that has the most evidence.

        The rows enter through s = lambda_ - eta alone. With the other weights (the intercept)
        integrated out, an eigendecomposition leaves a function of one number a,

            sum_i { log a - log(a + e_i) } / 2
            - (nu/2) log( c - sum_i b_i^2 / (a + e_i) ),

        e_i being the eigenvalues of the products of features, b their products with y.

        Args:
            n_penalised: how many weights have that precision, the first ones; the others keep
                theirs.
        """
        eta, d = self.eta(prior), n_penalised
        if d == 0:
            return lambda_, prior
        products, shift, square, _ = (a - b for a, b in zip(lambda_, eta, strict=True))
        rest = products[d:, d:] + np.diag(prior.precision[d:])
        gain = np.linalg.solve(rest, np.column_stack([products[d:, :d], shift[d:]]))
        inner = products[:d, :d] - products[:d, d:] @ gain[:, :d]
        values, vectors = np.linalg.eigh((inner + inner.T) / 2)
        values = np.maximum(values, 0.0)
        b = vectors.T @ (shift[:d] - products[:d, d:] @ gain[:, d])
        # Of y, what the other weights leave; the prior's share is above zero.
        left = prior.noise_Psi + max(float(square[0] - shift[d:] @ gain[:, d]), 0.0)

        def loss(log_a: float) -> float:
            a = 10.0**log_a
            weights = float((np.log(a) - np.log(a + values)).sum())
            Psi = max(left - float((b**2 / (a + values)).sum()), prior.noise_Psi)
            return float(lambda_.nu[0] * np.log(Psi) - weights) / 2

        tried = np.linspace(_LOWEST, _HIGHEST, _N_TRIED)
        best = int(np.argmin([loss(log_a) for log_a in tried]))
        ends = tried[max(best - 1, 0)], tried[min(best + 1, _N_TRIED - 1)]
        found = float(10 ** minimize_scalar(loss, bounds=ends, method="bounded").x)
        precision = np.concatenate([np.full(d, found), prior.precision[d:]])
        prior = replace(prior, precision=precision)
        moved = lambda_.precision + np.diag(precision) - eta.precision
        return lambda_._replace(precision=moved), prior


def row_batch(data: Any, rows: Rows | slice, dtype: str) -> RowBatch:
    """The given rows of `RowData` in that type."""
    X, y = (np.ascontiguousarray(part[rows], dtype) for part in (data.X, data.y))
    return RowBatch(X, y)
