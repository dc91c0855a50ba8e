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

from trustream import kernels
from trustream.array_types import Array, Float64
from trustream.families import beta, dirichlet
from trustream.kernels import threads
from trustream.models.mixture import bernoulli_batch, feature_blocks
from trustream.models.mixture.bernoulli_batch import BernoulliBatch
from trustream.models.mixture.feature_blocks import Scores
from trustream.models.mixture.model import MixtureModel, positive
from trustream.models.protocol import Rows

# Features are worked on in parts of about this many numbers, which stay in the cache.
_PART_NUMBERS = 2**14
# psi of an entry and its kin take the time of so many multiplications of a matrix product.
_ENTRY_WORK = 100


class BernoulliNatural(NamedTuple):
    """lambda_, a Natural or Statistics: gamma (K,) in float64, a and b (D, K) in the dtype."""

    gamma: Float64
    a: Array
    b: Array


class BernoulliExpected(NamedTuple):
    """weights E[pi] (K,) and probs E[beta] (K, D), or draws of them."""

    weights: Float64
    probs: Float64


@dataclass(frozen=True, eq=False, init=False)
class BernoulliPrior:
    """alpha (K,) of the weights; a and b of the probabilities, scalars or (D,)."""

    alpha: Float64
    a: Float64
    b: Float64

    def __init__(self, alpha: ArrayLike, a: ArrayLike = 1.0, b: ArrayLike = 1.0) -> None:
        object.__setattr__(self, "alpha", positive("alpha", alpha))
        object.__setattr__(self, "a", positive("a", a))
        object.__setattr__(self, "b", positive("b", b))
        object.__setattr__(self, "_filled", {})

    def filled(self, shape: tuple[int, ...], dtype: str) -> tuple[Array, Array]:
        """a and b, each as one number or, if given for each feature, for all of lambda (D, K)."""
        known: dict[Any, tuple[Array, Array]] = self._filled  # type: ignore[attr-defined]
        if (shape, dtype) not in known:
            a, b = (
                part.reshape(-1) if part.size == 1 else np.repeat(part, shape[1])
                for part in (self.a, self.b)
            )
            known[shape, dtype] = a.astype(dtype), b.astype(dtype)
        return known[shape, dtype]


@dataclass(frozen=True, kw_only=True)
class BernoulliModel(MixtureModel[BernoulliNatural, BernoulliPrior, BernoulliBatch]):
    """K products of Bernoullis over D features; see `MixtureModel` for the attributes.

    >>> model = BernoulliModel(n_components=2, n_features=3, backend="reference")
    >>> prior = BernoulliPrior(np.ones(2))
    >>> lambda_ = model.initial(prior, np.random.default_rng(0))
    >>> batch = model.batch(np.eye(3), slice(None))
    >>> phi, statistics = model.local_step(lambda_, prior, batch)
    >>> phi.shape, statistics.a.shape
    ((3, 2), (3, 2))
    """

    def batch(self, data: Any, rows: Rows | slice) -> BernoulliBatch:
        """The given rows of validated data (N, D), dense or CSR."""
        return bernoulli_batch.batch_of(data, rows, self.dtype, self.backend)

    def initial(self, prior: BernoulliPrior, rng: np.random.Generator) -> BernoulliNatural:
        """a, b ~ Gamma(shape 100, scale 0.01) and gamma = 1, as in the paper."""
        self._check(prior)
        shape = (2, self.n_features, self.n_components)
        a, b = rng.gamma(100.0, 0.01, size=shape).astype(self.dtype)
        return BernoulliNatural(np.ones(self.n_components), a, b)

    def eta(self, prior: BernoulliPrior) -> BernoulliNatural:
        """(alpha, a, b), the latter two as columns."""
        a, b = (part.reshape(-1, 1).astype(self.dtype) for part in (prior.a, prior.b))
        return BernoulliNatural(prior.alpha, a, b)

    def scores(self, natural: BernoulliNatural) -> Scores:
        """E_q[log pi_k p(x | beta_k)] (supplement 4.1), linear in x:

        x' (psi(a_k) - psi(b_k)) + 1' (psi(b_k) - psi(a_k + b_k)) + E_q[log pi_k]

        The weights have a row for each feature, (D, K) and filling.
        """
        kernel = kernels.get("mixture", self.backend).scores
        d, k = natural.a.shape
        weights = np.empty((d, bernoulli_batch.pad(k)), dtype=self.dtype)
        n_rows = max(1, _PART_NUMBERS // k)
        parts = threads.split(d, n_rows)
        constants = np.empty((len(parts), k))

        def work(start: int, stop: int) -> None:
            kernel(natural.a, natural.b, weights, constants[start // n_rows], start, stop)

        threads.run(work, parts, feature_blocks.worthwhile(_ENTRY_WORK * d * k, self.n_threads))
        return Scores(weights, constants.sum(axis=0) + dirichlet.expected_log(natural.gamma))

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
        kernel = kernels.get("mixture", self.backend).blend
        gamma = (1 - rho) * anchor.gamma + rho * (prior.alpha + scale * statistics.gamma)
        new = []
        etas = prior.filled(anchor.a.shape, self.dtype)
        for old, eta, s in zip(anchor[1:], etas, statistics[1:], strict=True):
            out = np.empty(old.shape, dtype=old.dtype)
            kernel(old.reshape(-1), eta, s.reshape(-1), rho, scale, out.reshape(-1))
            new.append(out)
        return BernoulliNatural(gamma, *new)

    def assign(
        self, natural: BernoulliNatural, prior: BernoulliPrior, batch: BernoulliBatch
    ) -> tuple[Array, BernoulliNatural]:
        """(phi, Statistics) at the best phi."""
        phi, (counts, sums) = bernoulli_batch.assign(
            batch, self.scores(natural), self.backend, self.n_threads
        )
        return phi, self._statistics(counts, sums)

    def log_joint(
        self, natural: BernoulliNatural, prior: BernoulliPrior, batch: BernoulliBatch
    ) -> Float64:
        """E_q[log pi_k p(x_n | beta_k)], shape (B, K)."""
        scores = self.scores(natural)
        return bernoulli_batch.log_scores(batch, scores, self.backend, self.n_threads)

    def given_statistics(
        self, prior: BernoulliPrior, batch: BernoulliBatch, phi: Float64
    ) -> BernoulliNatural:
        """Statistics for the given phi (B, K)."""
        sums = bernoulli_batch.moments(batch, phi, self.dtype, self.backend, self.n_threads)
        return self._statistics(phi.sum(axis=0), sums)

    def uniform_statistics(self, prior: BernoulliPrior, batch: BernoulliBatch) -> BernoulliNatural:
        """Statistics for phi = 1/K."""
        k = self.n_components
        sums = bernoulli_batch.totals(batch, self.backend, self.n_threads) / k
        return self._statistics(np.full(k, batch.size / k), sums.astype(self.dtype)[:, None])

    def _statistics(self, counts: Float64, sums: Array) -> BernoulliNatural:
        """(sum_n phi_nk, sum_n phi_nk x_n, sum_n phi_nk (1 - x_n)).

        Rounding never makes the last one negative.
        """
        ones, zeros = np.empty((2, self.n_features, self.n_components), dtype=self.dtype)
        kernels.get("mixture", self.backend).complement(
            np.ascontiguousarray(sums), counts.astype(self.dtype), ones, zeros
        )
        return BernoulliNatural(counts, ones, zeros)

    def component_divergence(self, natural: BernoulliNatural, other: BernoulliNatural) -> float:
        """sum_ki KL(Beta(a_ki, b_ki) || Beta(a2_ki, b2_ki))."""
        return float(beta.kl(natural.a, natural.b, other.a, other.b).sum())

    def component_inner(self, natural: BernoulliNatural, statistics: BernoulliNatural) -> float:
        """sum_ki s_ki(1) E[log beta_ki] + s_ki(0) E[log(1 - beta_ki)]."""
        ones, zeros = beta.expected_log(natural.a, natural.b)
        return float((ones * statistics.a).sum() + (zeros * statistics.b).sum())

    def zero_statistics(self) -> BernoulliNatural:
        """Zeros, in float64."""
        shape = (self.n_features, self.n_components)
        return BernoulliNatural(np.zeros(self.n_components), np.zeros(shape), np.zeros(shape))

    # --- for people

    def expected(self, lambda_: BernoulliNatural, prior: BernoulliPrior) -> BernoulliExpected:
        """(E[pi], E[beta])."""
        probs = np.ascontiguousarray(beta.mean(lambda_.a, lambda_.b).T)
        return BernoulliExpected(dirichlet.mean(lambda_.gamma), probs)

    def component_log_density(
        self, lambda_: BernoulliNatural, prior: BernoulliPrior, batch: BernoulliBatch
    ) -> Float64:
        """log E_q[p(x_n | beta_k)] = log p(x_n | E[beta_k]), shape (B, K)."""
        a, b = lambda_.a.astype(np.float64), lambda_.b.astype(np.float64)
        weights = np.zeros((self.n_features, bernoulli_batch.pad(self.n_components)))
        weights[:, : self.n_components] = np.log(a) - np.log(b)
        constants = (np.log(b) - np.log(a + b)).sum(axis=0)
        scores = Scores(weights.astype(self.dtype), constants)
        return bernoulli_batch.log_scores(batch, scores, self.backend, self.n_threads)

    def draw(
        self, expected: BernoulliExpected, z: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.uint8]:
        """A data point of each of the components z (n,), (n, D)."""
        return (rng.random((z.size, expected.probs.shape[1])) < expected.probs[z]).astype(np.uint8)

    def sample(
        self, expected: BernoulliExpected, n: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """n data points (n, D) of a mixture with the given parameters, and their components."""
        z = rng.choice(expected.weights.size, size=n, p=expected.weights)
        return self.draw(expected, z, rng), z

    def sample_prior(
        self, prior: BernoulliPrior, n: int, rng: np.random.Generator
    ) -> tuple[BernoulliExpected, NDArray[np.uint8], NDArray[np.int64]]:
        """Parameters drawn from the prior, then n data points and their components."""
        self._check(prior)
        shape = (self.n_components, self.n_features)
        weights = rng.dirichlet(prior.alpha)
        drawn = BernoulliExpected(weights, rng.beta(prior.a, prior.b, size=shape))
        return drawn, *self.sample(drawn, n, rng)

    def _check(self, prior: BernoulliPrior) -> None:
        if prior.alpha.shape != (self.n_components,):
            raise ValueError(
                f"alpha must have shape ({self.n_components},), got {prior.alpha.shape}"
            )
        for name, value in (("a", prior.a), ("b", prior.b)):
            if value.shape not in ((), (self.n_features,)):
                raise ValueError(
                    f"{name} must be a number or of shape ({self.n_features},), got {value.shape}"
                )
