"""Mixture of Gaussians (section 3.2 of the paper, supplement 4.2).

    p(x_n | z_n = k) = N(x_n | mu_k, Sigma_k),   (mu_k, Sigma_k) ~ normal-inverse-Wishart

`covariance_type` is "full", "diag" (normal-inverse-gamma) or "tied" (one Sigma for all). All
parameters are float64, in the coordinates y = L^-1 (x - mean) that the prior sets, where it has
mean 0 and Psi = I (`GaussianPrior`); `expected` gives them back in the data's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trustream.array_types import Array, Float64
from trustream.families import dirichlet, inverse_wishart
from trustream.families import normal_inverse_gamma as nig
from trustream.families import normal_inverse_wishart as niw
from trustream.kernels import threads
from trustream.models.dense_model import like
from trustream.models.mixture import feature_blocks
from trustream.models.mixture.feature_blocks import Scores
from trustream.models.mixture.gaussian_covariance import (
    DIAG,
    KINDS,
    TIED,
    CovarianceKind,
    GaussianNatural,
)
from trustream.models.mixture.gaussian_features import GaussianBatch, GaussianFeatures
from trustream.models.mixture.gaussian_prior import GaussianPrior
from trustream.models.mixture.model import MixtureModel
from trustream.models.protocol import Rows


class GaussianExpected(NamedTuple):
    """weights (K,), means (K, D) and covariances, or draws of them.

    Covariances have shape (K, D, D), or (K, D) for "diag" and (D, D) for "tied".
    """

    weights: Float64
    means: Float64
    covariances: Float64


@dataclass(frozen=True, kw_only=True)
class GaussianModel(MixtureModel[GaussianNatural, GaussianPrior, GaussianBatch]):
    """K Gaussians in D dimensions; see `MixtureModel` for the other attributes.

    `dtype` says how data and phi are kept; parameters and sums are float64.

    Attributes:
        covariance_type: "full", "diag" or "tied".
        start_count: data points that each component has seen, so to speak, when it starts
            (`initial`). Few compared with the data leave a trust-region step free to move, too
            few let all components become one; N / (10 K) is a good choice where N is known.

    >>> model = GaussianModel(n_components=2, n_features=1, backend="reference")
    >>> prior = GaussianPrior(np.ones(2), np.zeros(1), 1.0, np.eye(1), 3.0)
    >>> lambda_ = model.initial(prior, np.random.default_rng(0))
    >>> batch = model.batch(np.array([[-1.0], [1.0]]), slice(None))
    >>> phi, statistics = model.local_step(lambda_, prior, batch)
    >>> phi.shape, statistics.C.shape
    ((2, 2), (2, 1))
    """

    covariance_type: str = "full"
    start_count: float = 100.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.covariance_type not in KINDS:
            raise ValueError(
                f"covariance_type must be one of {tuple(KINDS)}, got {self.covariance_type!r}"
            )
        if not 0 < self.start_count < np.inf:
            raise ValueError(f"start_count must be positive and finite, got {self.start_count}")

    @property
    def kind(self) -> CovarianceKind:
        """The kind of covariance, which knows the layout of lambda_."""
        return KINDS[self.covariance_type]

    def batch(self, data: Any, rows: Rows | slice) -> GaussianBatch:
        """The given rows of validated data (N, D)."""
        return GaussianBatch(np.asarray(data[rows], dtype=self.dtype))

    def features(self, prior: GaussianPrior, batch: GaussianBatch) -> GaussianFeatures:
        """f(y_n), see `gaussian_features`."""
        return batch.features(prior, self.covariance_type, self.backend, self.n_threads)

    def initial(self, prior: GaussianPrior, rng: np.random.Generator) -> GaussianNatural:
        """A wide start: the posterior after `start_count` imagined points for each component.

        Those of component k have mean m_k ~ N(mean, E[Sigma]) and covariance E[Sigma], the
        expectations being the prior's (`GaussianPrior.start_scale`).
        """
        m = rng.standard_normal((self.n_components, self.n_features))
        return self.start(prior, np.sqrt(prior.start_scale) * m, prior.start_scale)

    def start(self, prior: GaussianPrior, m: Float64, scale: Float64 | float) -> GaussianNatural:
        """The posterior after `start_count` imagined points for each component.

        Args:
            m: (K, D), their means, in the prior's coordinates (`GaussianPrior.to_y`).
            scale: (K,) or for all: their covariance is this times the identity there, that is,
                times Psi.
        """
        self._check(prior)
        k, d = self.n_components, self.n_features
        n = np.full(k, float(self.start_count))
        squares = np.reshape(scale, (-1, 1, 1)) * np.eye(d) + m[:, :, None] * m[:, None, :]
        C = self.kind.pack(n[:, None, None] * squares)
        _, n_nu = self.kind.shapes(k, d)
        nu = np.full(n_nu, n.sum() / n_nu[0])
        return self.posterior(prior, GaussianNatural(n, n, n[:, None] * m, C, nu))

    def eta(self, prior: GaussianPrior) -> GaussianNatural:
        """(alpha, s, 0, I, nu): the prior in its own coordinates."""
        d = self.n_features
        C = self.kind.pack(np.eye(d)[None])
        C = C.reshape(C.shape[-1])
        return GaussianNatural(
            prior.alpha, np.array([prior.s]), np.zeros(d), C, np.array([prior.nu])
        )

    def scores(self, natural: GaussianNatural, prior: GaussianPrior) -> Scores:
        """E_q[log pi_k N(x | mu_k, Sigma_k)] (supplement 4.2) on the features of y:

        E[log pi_k] + E[Sigma^-1 mu]' y - <E[Sigma^-1], y y'>/2 - E[mu' Sigma^-1 mu]/2
        + E[log |Sigma^-1|]/2 - (D/2) log 2 pi - log |L|
        """
        weights, quadratic, log_det = self.kind.terms(natural, self.n_threads)
        constants = (log_det - quadratic - self.n_features * np.log(2 * np.pi)) / 2
        constants = constants + dirichlet.expected_log(natural.gamma) - prior.log_det_factor
        return Scores(weights, constants)

    def assign(
        self, natural: GaussianNatural, prior: GaussianPrior, batch: GaussianBatch
    ) -> tuple[Array, GaussianNatural]:
        """(phi, Statistics) at the best phi."""
        features, scores = self.features(prior, batch), self.scores(natural, prior)
        phi, moments = feature_blocks.assign(features, scores, self.backend, self.n_threads)
        return phi.astype(self.dtype, copy=False), self._statistics(features, *moments)

    def log_joint(
        self, natural: GaussianNatural, prior: GaussianPrior, batch: GaussianBatch
    ) -> Float64:
        """E_q[log pi_k N(x_n | mu_k, Sigma_k)], shape (B, K)."""
        features, scores = self.features(prior, batch), self.scores(natural, prior)
        values = feature_blocks.log_scores(features, scores, self.n_threads)
        return values + self._shared(natural, features)

    def _shared(self, natural: GaussianNatural, features: GaussianFeatures) -> Float64 | float:
        """-y' E[Sigma^-1] y / 2, shape (B, 1), where all components share it, else 0."""
        if self.kind is not TIED:
            return 0.0
        precision = TIED.expected(natural).precision
        values = np.empty((features.size, 1))
        with threads.one_blas_thread():
            for start, stop in feature_blocks.parts(features):
                y = features.block(start, stop)
                values[start:stop, 0] = (np.matmul(y, precision) * y).sum(axis=1)[: stop - start]
        return values / -2

    def given_statistics(
        self, prior: GaussianPrior, batch: GaussianBatch, phi: Float64
    ) -> GaussianNatural:
        """Statistics for the given phi (B, K)."""
        features = self.features(prior, batch)
        moments = feature_blocks.moments(features, phi, self.n_threads)
        return self._statistics(features, *moments)

    def uniform_statistics(self, prior: GaussianPrior, batch: GaussianBatch) -> GaussianNatural:
        """Statistics for phi = 1/K."""
        features, k = self.features(prior, batch), self.n_components
        sums = feature_blocks.totals(features, self.n_threads) / k
        shared = np.broadcast_to(sums, (k, features.n_columns))
        return self._statistics(features, np.full(k, features.size / k), shared)

    def _statistics(
        self, features: GaussianFeatures, counts: Float64, sums: Float64
    ) -> GaussianNatural:
        """(n_k, n_k, sum phi y, sum phi y y', n_k) with n_k = sum_n phi_nk."""
        if self.kind is TIED:
            total = counts.sum(keepdims=True)
            return GaussianNatural(counts, counts, sums, features.scatter(), total)
        d = self.n_features
        return GaussianNatural(counts, counts, sums[:, :d], sums[:, d:], counts)

    def component_divergence(self, natural: GaussianNatural, other: GaussianNatural) -> float:
        """KL between the (mu_k, Sigma_k) of both, in nats."""
        with threads.one_blas_thread():
            return self.kind.kl(natural, like(natural, other))

    def component_inner(self, natural: GaussianNatural, statistics: GaussianNatural) -> float:
        """sum_k <E[t(mu_k, Sigma_k)], s_k>."""
        return self.kind.inner(natural, statistics)

    def zero_statistics(self) -> GaussianNatural:
        """Zeros."""
        k, d = self.n_components, self.n_features
        C, nu = self.kind.shapes(k, d)
        return GaussianNatural(
            np.zeros(k), np.zeros(k), np.zeros((k, d)), np.zeros(C), np.zeros(nu)
        )

    # --- for people

    def expected(self, lambda_: GaussianNatural, prior: GaussianPrior) -> GaussianExpected:
        """E[pi], E[mu] and E[Sigma]; the last is infinite where nu <= D + 1 (diag: nu <= 2)."""
        means, covariances = self.kind.mean(lambda_)
        return GaussianExpected(
            dirichlet.mean(lambda_.gamma),
            prior.to_x(means),
            prior.covariance_to_x(covariances),
        )

    def component_log_density(
        self, lambda_: GaussianNatural, prior: GaussianPrior, batch: GaussianBatch
    ) -> Float64:
        """log E_q[p(x_n | beta_k)] = log t(x_n | lambda_k), shape (B, K).

        Student t densities: `predictive_log_density` and `student` of the families.
        """
        features = self.features(prior, batch)
        if self.kind is DIAG:
            values = self._products_of_students(lambda_, features)
        else:
            d, nu = self.n_features, lambda_.nu
            weights, quadratic, log_det = self.kind.terms(lambda_, self.n_threads)
            # Without what E[mu' Sigma^-1 mu] has for the spread of mu, the score is -nu/2 times
            # the squared distance.
            scores = Scores(weights, (d / lambda_.s - quadratic) / 2)
            values = feature_blocks.log_scores(features, scores, self.n_threads)
            values += self._shared(lambda_, features)
            distance = np.maximum(-2 * values / nu, 0)
            log_det_Psi = inverse_wishart.multivariate_digamma(nu / 2, d) + d * np.log(2) - log_det
            values = niw.student(distance, lambda_.s, nu, log_det_Psi, d)
        return values - prior.log_det_factor

    def _products_of_students(
        self, lambda_: GaussianNatural, features: GaussianFeatures
    ) -> Float64:
        """Student t densities of diagonal covariances, (B, K)."""
        values = np.empty((features.size, self.n_components))

        def work(start: int, stop: int) -> None:
            y = features.block(start, stop)[: stop - start, : self.n_features]
            values[start:stop] = nig.predictive_log_density(DIAG.family(lambda_), y)

        threads.run(work, feature_blocks.parts(features), self.n_threads)
        return values

    def draw(
        self, expected: GaussianExpected, z: NDArray[np.int64], rng: np.random.Generator
    ) -> Float64:
        """A data point of each of the components z (n,), (n, D)."""
        _, means, covariances = expected
        if not np.isfinite(covariances).all():
            raise ValueError("a covariance is infinite: its distribution has no mean, nu is low")
        noise = rng.standard_normal((z.size, means.shape[1]))
        if self.kind is DIAG:
            return means[z] + noise * np.sqrt(covariances)[z]
        if self.kind is TIED:
            return means[z] + noise @ np.linalg.cholesky(covariances).T
        for k, factor in enumerate(np.linalg.cholesky(covariances)):
            noise[z == k] = noise[z == k] @ factor.T
        return means[z] + noise

    def sample(
        self, expected: GaussianExpected, n: int, rng: np.random.Generator
    ) -> tuple[Float64, NDArray[np.int64]]:
        """n data points (n, D) of a mixture with the given parameters, and their components."""
        z = rng.choice(expected.weights.size, size=n, p=expected.weights)
        return self.draw(expected, z, rng), z

    def sample_prior(
        self, prior: GaussianPrior, n: int, rng: np.random.Generator
    ) -> tuple[GaussianExpected, Float64, NDArray[np.int64]]:
        """Parameters drawn from the prior, then n data points and their components."""
        self._check(prior)
        natural = self.posterior(prior, self.zero_statistics())
        with threads.one_blas_thread():
            means, covariances = self.kind.sample(natural, rng)
        drawn = GaussianExpected(
            rng.dirichlet(prior.alpha), prior.to_x(means), prior.covariance_to_x(covariances)
        )
        return drawn, *self.sample(drawn, n, rng)

    def _check(self, prior: GaussianPrior) -> None:
        diagonal = self.kind is DIAG
        if prior.mean.size != self.n_features or prior.alpha.size != self.n_components:
            raise ValueError(
                f"the prior is for {prior.alpha.size} components of {prior.mean.size} features, "
                f"the model has {self.n_components} of {self.n_features}"
            )
        if diagonal != (prior.Psi.ndim == 1):
            raise ValueError(
                f"covariance_type {self.covariance_type!r} needs Psi of shape "
                f"{'(D,)' if diagonal else '(D, D)'}, got {prior.Psi.shape}"
            )
