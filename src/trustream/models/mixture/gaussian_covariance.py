"""The three kinds of covariance of a Gaussian mixture, as layouts of lambda over a family.

======= ============================= ========================= ======= =======================
kind    family                        C                         nu      features of y
======= ============================= ========================= ======= =======================
full    normal_inverse_wishart        (K, D (D+1)/2) packed     (K,)    y, triangle of y y'
diag    normal_inverse_gamma          (K, D)                    (K,)    y, y^2
tied    tied_normal_inverse_wishart   (D (D+1)/2,) packed       (1,)    y
======= ============================= ========================= ======= =======================

With tied covariances sum_n y_n y_n' does not depend on phi, and neither does y' E[Sigma^-1] y on
the component: both are left out of the features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from trustream.array_types import Float64
from trustream.families import normal_inverse_gamma as nig
from trustream.families import normal_inverse_wishart as niw
from trustream.families import symmetric
from trustream.families import tied_normal_inverse_wishart as tied
from trustream.kernels import threads

# Components are worked on in parts of about this many matrix entries, which stay in the cache.
_PART_NUMBERS = 2**15


class GaussianNatural(NamedTuple):
    """lambda_, a Natural or Statistics, in float64: gamma and s (K,), sm (K, D), C and nu."""

    gamma: Float64
    s: Float64
    sm: Float64
    C: Float64
    nu: Float64


class Terms(NamedTuple):
    """E_q[log p(y | mu_k, Sigma_k)] in parts.

    weights (K, F) of the features, quadratic E[mu_k' Sigma_k^-1 mu_k] (K,) and log_det_precision
    E[log |Sigma_k^-1|] (K,) or (1,).
    """

    weights: Float64
    quadratic: Float64
    log_det_precision: Float64


class CovarianceKind(ABC):
    """What the model asks of a kind of covariance; d is the number of features."""

    # The module of the family.
    _family: Any

    @abstractmethod
    def n_columns(self, d: int) -> int:
        """F, the number of features of y."""

    @abstractmethod
    def shapes(self, k: int, d: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shapes of C and nu."""

    @abstractmethod
    def pack(self, squares: Float64) -> Float64:
        """C for one (D, D) matrix per component, stacked (K, D, D)."""

    @abstractmethod
    def family(self, natural: GaussianNatural) -> niw.Natural:
        """The family's own form."""

    @abstractmethod
    def terms(self, natural: GaussianNatural, n_threads: int) -> Terms:
        """The expected log-likelihood."""

    def inner(self, natural: GaussianNatural, statistics: GaussianNatural) -> float:
        """sum_k <E[t], s_k> in nats, t = (-mu' Sigma^-1 mu / 2, Sigma^-1 mu, -Sigma^-1 / 2,

        -log|Sigma| / 2) as in `normal_inverse_wishart`; here for features y and its squares.
        """
        _, s, sm, C, nu = statistics
        weights, quadratic, log_det = self.terms(natural, 1)
        features = (weights * np.concatenate([sm, C], axis=1)).sum()
        return float(features - quadratic @ s / 2 + log_det @ nu / 2)

    def kl(self, natural: GaussianNatural, other: GaussianNatural) -> float:
        """KL between the (mu_k, Sigma_k) of both, in nats."""
        return float(np.sum(self._family.kl(self.family(natural), self.family(other))))

    def mean(self, natural: GaussianNatural) -> tuple[Float64, Float64]:
        """E[mu] and E[Sigma], in coordinates y."""
        means, covariances = self._family.mean(self.family(natural))
        return means, covariances

    def sample(self, natural: GaussianNatural, rng: np.random.Generator) -> tuple[Float64, Float64]:
        """A draw of mu and Sigma, in coordinates y."""
        means, covariances = self._family.sample(self.family(natural), rng)
        return means, covariances


class Full(CovarianceKind):
    """A covariance of its own for each component."""

    _family = niw

    def n_columns(self, d: int) -> int:
        return d + symmetric.packed_size(d)

    def shapes(self, k: int, d: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (k, symmetric.packed_size(d)), (k,)

    def pack(self, squares: Float64) -> Float64:
        return symmetric.pack(squares)

    def family(self, natural: GaussianNatural, part: slice = slice(None)) -> niw.Natural:
        """The family's own form of components `part`."""
        _, s, sm, C, nu = natural
        return niw.Natural(s[part], sm[part], symmetric.unpack(C[part], sm.shape[1]), nu[part])

    def terms(self, natural: GaussianNatural, n_threads: int) -> Terms:
        k, d = natural.sm.shape
        weights, quadratic, log_det = np.empty((k, self.n_columns(d))), np.empty(k), np.empty(k)

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            expected = niw.expected(self.family(natural, part))
            weights[part, :d] = expected.linear
            # An entry off the diagonal stands for two.
            np.multiply(symmetric.pack(expected.precision), _halves(d), out=weights[part, d:])
            quadratic[part], log_det[part] = expected.quadratic, expected.log_det_precision

        with threads.one_blas_thread():
            threads.run(work, threads.split(k, max(1, _PART_NUMBERS // d**2)), n_threads)
        return Terms(weights, quadratic, log_det)


class Diag(CovarianceKind):
    """Variances only."""

    _family = nig

    def n_columns(self, d: int) -> int:
        return 2 * d

    def shapes(self, k: int, d: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (k, d), (k,)

    def pack(self, squares: Float64) -> Float64:
        return np.diagonal(squares, axis1=-2, axis2=-1)

    def family(self, natural: GaussianNatural) -> nig.Natural:
        return nig.Natural(*natural[1:])

    def terms(self, natural: GaussianNatural, n_threads: int) -> Terms:
        expected = nig.expected(self.family(natural))
        weights = np.concatenate([expected.linear, expected.precision / -2], axis=1)
        return Terms(weights, expected.quadratic, expected.log_det_precision)


class Tied(CovarianceKind):
    """One covariance for all components."""

    _family = tied

    def n_columns(self, d: int) -> int:
        return d

    def shapes(self, k: int, d: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (symmetric.packed_size(d),), (1,)

    def pack(self, squares: Float64) -> Float64:
        return symmetric.pack(squares.sum(axis=0))

    def family(self, natural: GaussianNatural) -> tied.Natural:
        _, s, sm, C, nu = natural
        return tied.Natural(s, sm, symmetric.unpack(C, sm.shape[1]), nu)

    def terms(self, natural: GaussianNatural, n_threads: int) -> Terms:
        expected = self.expected(natural)
        return Terms(expected.linear, expected.quadratic, expected.log_det_precision)

    def expected(self, natural: GaussianNatural) -> tied.Expectations:
        """All expectations, E[Sigma^-1] included."""
        with threads.one_blas_thread():
            return tied.expected(self.family(natural))

    def inner(self, natural: GaussianNatural, statistics: GaussianNatural) -> float:
        # The features lack y y', which all components share.
        weights, quadratic, log_det = self.terms(natural, 1)
        squares = symmetric.pack(self.expected(natural).precision) * _halves(natural.sm.shape[1])
        shared = squares @ statistics.C + log_det @ statistics.nu / 2
        return float((weights * statistics.sm).sum() - quadratic @ statistics.s / 2 + shared)


FULL, DIAG, TIED = Full(), Diag(), Tied()
KINDS: dict[str, CovarianceKind] = {"full": FULL, "diag": DIAG, "tied": TIED}


@cache
def _halves(d: int) -> Any:
    """-1/2 for the diagonal of a packed triangle, -1 for the rest."""
    return symmetric.pack(np.eye(d)) / 2 - 1
