"""Mixture of multivariate Bernoullis (section 3.1 of the paper, supplement 4.1).

    p(x_n | z_n = k, beta) = prod_i beta_ki^x_ni (1 - beta_ki)^(1 - x_ni)
    beta_ki ~ Beta(a_i, b_i),   q(beta_ki) = Beta(a_ki, b_ki)

Data are dense or CSR, entries 0 and 1; entries between them work as expectations would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from trustream import kernels
from trustream.families import beta, dirichlet
from trustream.kernels import threads
from trustream.models import feature_blocks
from trustream.models.feature_blocks import Scores
from trustream.models.mixture import MixtureModel, positive
from trustream.models.protocol import Rows

Array = NDArray[Any]
Float64 = NDArray[np.float64]

# Sparse batches up to this many numbers are kept dense, larger ones are made dense in blocks.
_DENSE_NUMBERS = 2**23
# Components are worked on in parts of about this many numbers, which stay in the cache.
_PART_NUMBERS = 2**14


class BernoulliNatural(NamedTuple):
    """lambda_, a Natural or Statistics: gamma (K,) in float64, a and b (K, D) in the dtype."""

    gamma: Float64
    a: Array
    b: Array


class BernoulliExpected(NamedTuple):
    """weights E[pi] (K,) and probs E[beta] (K, D), or draws of them."""

    weights: Float64
    probs: Float64


@dataclass(frozen=True, eq=False)
class BernoulliPrior:
    """alpha (K,) of the weights; a and b of the probabilities, scalars or (D,)."""

    alpha: Float64
    a: Float64
    b: Float64

    def __init__(self, alpha: ArrayLike, a: ArrayLike = 1.0, b: ArrayLike = 1.0) -> None:
        object.__setattr__(self, "alpha", positive("alpha", alpha))
        object.__setattr__(self, "a", positive("a", a))
        object.__setattr__(self, "b", positive("b", b))


@dataclass(frozen=True, eq=False)
class BernoulliBatch:
    """Rows of data, dense (padded to whole blocks) or CSR; the features f(x_n) are x_n itself.

    b's statistics need no features of their own: sum_n phi_nk (1 - x_ni) is the component's count
    less the sum of x.
    """

    data: Any
    size: int
    dtype: str

    @property
    def n_columns(self) -> int:
        """D."""
        return int(self.data.shape[1])

    def block(self, start: int, stop: int) -> Array:
        """x_start, ..., x_stop-1, then zeros."""
        n_rows = feature_blocks.block_rows(self.n_columns)
        rows = self.data[start : start + n_rows]
        if sparse.issparse(rows):
            rows = feature_blocks.padded(rows.toarray(), n_rows, self.dtype)
        return np.asarray(rows)


@dataclass(frozen=True, kw_only=True)
class BernoulliModel(MixtureModel[BernoulliNatural, BernoulliPrior, BernoulliBatch]):
    """K products of Bernoullis over D features; see `MixtureModel` for the attributes.

    >>> model = BernoulliModel(n_components=2, n_features=3, backend="reference")
    >>> prior = BernoulliPrior(np.ones(2))
    >>> lambda_ = model.initial(prior, np.random.default_rng(0))
    >>> batch = model.batch(np.eye(3), slice(None))
    >>> phi, statistics = model.local_step(lambda_, prior, batch)
    >>> phi.shape, statistics.a.shape
    ((3, 2), (2, 3))
    """

    def batch(self, data: Any, rows: Rows | slice) -> BernoulliBatch:
        """The given rows of validated data (N, D), dense or CSR."""
        chosen = data[rows]
        n_rows = feature_blocks.block_rows(self.n_features)
        if sparse.issparse(chosen):
            if chosen.shape[0] * chosen.shape[1] > _DENSE_NUMBERS:
                return BernoulliBatch(chosen.tocsr(), chosen.shape[0], self.dtype)
            chosen = chosen.toarray()
        dense = feature_blocks.padded(chosen, n_rows, self.dtype)
        return BernoulliBatch(dense, chosen.shape[0], self.dtype)

    def initial(self, prior: BernoulliPrior, rng: np.random.Generator) -> BernoulliNatural:
        """a, b ~ Gamma(shape 100, scale 0.01) and gamma = 1, as in the paper."""
        shape = (2, self.n_components, self.n_features)
        a, b = rng.gamma(100.0, 0.01, size=shape).astype(self.dtype)
        return BernoulliNatural(np.ones(self.n_components), a, b)

    def eta(self, prior: BernoulliPrior) -> BernoulliNatural:
        """(alpha, a, b)."""
        return BernoulliNatural(
            prior.alpha,
            prior.a.astype(self.dtype),
            prior.b.astype(self.dtype),
        )

    def features(self, prior: BernoulliPrior, batch: BernoulliBatch) -> BernoulliBatch:
        """x_n."""
        return batch

    def scores(self, natural: BernoulliNatural, prior: BernoulliPrior) -> Scores:
        """E_q[log pi_k p(x | beta_k)] (supplement 4.1), linear in x:

        x' (psi(a_k) - psi(b_k)) + 1' (psi(b_k) - psi(a_k + b_k)) + E_q[log pi_k]
        """
        kernel = feature_blocks.kernels(self.backend).bernoulli_scores
        weights = np.empty_like(natural.a)
        constants = dirichlet.expected_log(natural.gamma)

        def work(start: int, stop: int) -> None:
            kernel(natural.a, natural.b, weights, constants, start, stop)

        parts = threads.split(self.n_components, max(1, _PART_NUMBERS // self.n_features))
        # An entry takes the time of some forty multiplications.
        threads.run(work, parts, feature_blocks.worthwhile(40 * weights.size, self.n_threads))
        return Scores(weights, constants)

    def blend(
        self,
        anchor: BernoulliNatural,
        prior: BernoulliPrior,
        batch: BernoulliBatch,
        statistics: BernoulliNatural,
        rho: float,
        scale: float,
    ) -> BernoulliNatural:
        """(1 - rho) lambda_t + rho (eta + scale s), entry by entry, in one pass over memory."""
        blend_rows = kernels.get(self.backend).blend_rows
        gamma = (1 - rho) * anchor.gamma + rho * (prior.alpha + scale * statistics.gamma)
        rows = []
        for old, eta, s in zip(anchor[1:], self.eta(prior)[1:], statistics[1:], strict=True):
            new = np.empty_like(old)
            blend_rows(old, np.atleast_2d(eta), s, rho, scale, new, 0, self.n_components)
            rows.append(new)
        return BernoulliNatural(gamma, *rows)

    def statistics(
        self, prior: BernoulliPrior, batch: BernoulliBatch, counts: Float64, sums: Array
    ) -> BernoulliNatural:
        """(sum_n phi_nk, sum_n phi_nk x_n, sum_n phi_nk (1 - x_n))."""
        sums = np.ascontiguousarray(sums)
        zeros = counts.astype(sums.dtype)[:, None] - sums
        # Rounding must not make a count negative.
        return BernoulliNatural(counts, sums, np.maximum(zeros, 0, out=zeros))

    def component_divergence(self, natural: BernoulliNatural, other: BernoulliNatural) -> float:
        """sum_ki KL(Beta(a_ki, b_ki) || Beta(a2_ki, b2_ki))."""
        return float(beta.kl(natural.a, natural.b, other.a, other.b).sum())

    def zero_statistics(self) -> BernoulliNatural:
        """Zeros, in float64."""
        shape = (self.n_components, self.n_features)
        return BernoulliNatural(np.zeros(self.n_components), np.zeros(shape), np.zeros(shape))

    # --- for people

    def expected(self, lambda_: BernoulliNatural, prior: BernoulliPrior) -> BernoulliExpected:
        """(E[pi], E[beta])."""
        return BernoulliExpected(dirichlet.mean(lambda_.gamma), beta.mean(lambda_.a, lambda_.b))

    def predictive_log_density(
        self, lambda_: BernoulliNatural, prior: BernoulliPrior, batch: BernoulliBatch
    ) -> Float64:
        """log E_q[p(x_n | beta, pi)] = log sum_k E[pi_k] p(x_n | E[beta_k]), shape (B,).

        Exact, because q's factors are independent and each enters once.
        """
        a, b = lambda_.a.astype(np.float64), lambda_.b.astype(np.float64)
        constants = (np.log(b) - np.log(a + b)).sum(axis=1)
        constants = constants + np.log(dirichlet.mean(lambda_.gamma))
        scores = Scores((np.log(a) - np.log(b)).astype(self.dtype), constants)
        return feature_blocks.log_sum(feature_blocks.log_scores(batch, scores, self.n_threads))

    def sample(
        self, expected: BernoulliExpected, n: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """n data points (n, D) of a mixture with the given parameters, and their components."""
        z = rng.choice(expected.weights.size, size=n, p=expected.weights)
        return (rng.random((n, expected.probs.shape[1])) < expected.probs[z]).astype(np.uint8), z

    def sample_prior(
        self, prior: BernoulliPrior, n: int, rng: np.random.Generator
    ) -> tuple[BernoulliExpected, NDArray[np.uint8], NDArray[np.int64]]:
        """Parameters drawn from the prior, then n data points and their components."""
        shape = (self.n_components, self.n_features)
        weights = rng.dirichlet(np.broadcast_to(prior.alpha, self.n_components))
        drawn = BernoulliExpected(weights, rng.beta(prior.a, prior.b, size=shape))
        return drawn, *self.sample(drawn, n, rng)
