"""What a hidden Markov model asks of its emissions, p(x_t | z_t = k)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.array_types import Array, Float64
from trustream.families import dirichlet
from trustream.models.hmm.parameters import CategoricalHmmPrior
from trustream.models.mixture import BernoulliModel, BernoulliNatural, GaussianModel
from trustream.models.mixture.bernoulli import BernoulliExpected
from trustream.models.mixture.gaussian import GaussianExpected
from trustream.models.mixture.gaussian_covariance import GaussianNatural
from trustream.models.protocol import Rows

# Those of lambda_, a Natural or Statistics that belong to the emissions.
Parts = tuple[Array, ...]
EMISSIONS = ("categorical", "bernoulli", "gaussian")
Places = NDArray[np.int32]


class Emissions(ABC):
    """Emissions of one kind.

    What states say of observations stands in a table (R, K) with a row for each observation, or for
    each symbol.

    Attributes:
        n_components: K.
        n_shared: R, rows that observations share; None if each observation has its own.
    """

    n_components: int
    n_shared: int | None = None

    @abstractmethod
    def prepare(self, x: Any, rows: Rows | slice) -> Any:
        """Those observations of validated data as the methods below take them."""

    @abstractmethod
    def places(self, observations: Any) -> Places:
        """The row of the table of each observation, (T,)."""

    @abstractmethod
    def eta(self, prior: Any) -> Parts:
        """The prior's natural parameters, broadcastable to those of lambda."""

    @abstractmethod
    def start(
        self, prior: Any, frequencies: Float64 | None, count: float, rng: np.random.Generator
    ) -> Parts:
        """Random parameters to start from, whatever the data but for two numbers.

        Args:
            frequencies: (V,) of symbols, None for equal ones; others start without.
            count: observations that each state has seen, so to speak; Bernoullis start without.
                Few compared with those that there will be leave a trust-region step free to move,
                too few let all states become one.
        """

    @abstractmethod
    def zeros(self) -> Parts:
        """Statistics of nothing, in float64."""

    @abstractmethod
    def scores(self, parts: Parts, prior: Any, observations: Any) -> Float64:
        """E_q[log p(x_t | beta_k)], (R, K)."""

    @abstractmethod
    def log_density(self, parts: Parts, prior: Any, observations: Any) -> Float64:
        """log E_q[p(x_t | beta_k)], (R, K)."""

    @abstractmethod
    def statistics(self, prior: Any, observations: Any, sums: Float64) -> Parts:
        """Statistics for the sums (R, K) of the beliefs of all observations of a row."""

    @abstractmethod
    def uniform(self, prior: Any, observations: Any) -> Parts:
        """Statistics for beliefs 1/K."""

    @abstractmethod
    def kl(self, parts: Parts, other: Parts) -> float:
        """sum_k KL(q(beta_k) || other(beta_k)) in nats."""

    @abstractmethod
    def inner(self, parts: Parts, statistics: Parts) -> float:
        """sum_k <E_q[t(beta_k)], s_k> in nats."""

    @abstractmethod
    def expected(self, parts: Parts, prior: Any) -> tuple[Float64, ...]:
        """E_q[beta]."""

    @abstractmethod
    def draw(
        self, expected: tuple[Float64, ...], z: NDArray[np.int64], rng: np.random.Generator
    ) -> Array:
        """An observation in each of the states z (n,), (n, D) or (n, 1)."""


class Categorical(Emissions):
    """One of V symbols: p(x_t = v | z_t = k) = beta_kv, beta_k ~ Dir(eta), q = Dir(lambda_k).

    Parts are lambda (K, V), in `dtype`; observations are symbols (T,).
    """

    def __init__(self, n_components: int, n_symbols: int, dtype: str) -> None:
        self.n_components, self.n_shared, self.dtype = n_components, n_symbols, dtype
        self.shape = (n_components, n_symbols)

    def prepare(self, x: Any, rows: Rows | slice) -> Places:
        return np.ascontiguousarray(x[rows], np.int32)

    def places(self, observations: Places) -> Places:
        return observations

    def eta(self, prior: CategoricalHmmPrior) -> Parts:
        return (np.atleast_1d(prior.emissions).astype(self.dtype),)

    def start(
        self, prior: Any, frequencies: Float64 | None, count: float, rng: np.random.Generator
    ) -> Parts:
        """eta + count p_k, with p_kv proportional to frequencies_v e_kv and e_kv exponential."""
        p = (1.0 if frequencies is None else frequencies) * rng.exponential(size=self.shape)
        p /= p.sum(axis=1, keepdims=True)
        return ((self.eta(prior)[0] + count * p).astype(self.dtype),)

    def zeros(self) -> Parts:
        return (np.zeros(self.shape),)

    def scores(self, parts: Parts, prior: Any, observations: Any) -> Float64:
        """psi(lambda_kv) - psi(sum_u lambda_ku), (V, K)."""
        return np.ascontiguousarray(dirichlet.expected_log(parts[0].astype(np.float64)).T)

    def log_density(self, parts: Parts, prior: Any, observations: Any) -> Float64:
        """log E[beta_kv], (V, K)."""
        return np.asarray(np.log(dirichlet.mean(parts[0].astype(np.float64)).T), order="C")

    def statistics(self, prior: Any, observations: Any, sums: Float64) -> Parts:
        """sum_t phi_tk [x_t = v], (K, V)."""
        return (np.ascontiguousarray(sums.T).astype(self.dtype),)

    def uniform(self, prior: Any, observations: Places) -> Parts:
        counts = np.bincount(observations, minlength=self.shape[1]) / self.n_components
        return (np.repeat(counts[np.newaxis], self.n_components, axis=0).astype(self.dtype),)

    def kl(self, parts: Parts, other: Parts) -> float:
        a, b = (np.broadcast_to(part, self.shape).astype(np.float64) for (part,) in (parts, other))
        return float(dirichlet.kl(a, b).sum())

    def inner(self, parts: Parts, statistics: Parts) -> float:
        log_beta = dirichlet.expected_log(parts[0].astype(np.float64))
        return float((log_beta * statistics[0]).sum())

    def expected(self, parts: Parts, prior: Any) -> tuple[Float64, ...]:
        return (dirichlet.mean(parts[0].astype(np.float64)),)

    def draw(
        self, expected: tuple[Float64, ...], z: NDArray[np.int64], rng: np.random.Generator
    ) -> Array:
        cumulative = np.cumsum(expected[0], axis=1)
        u = rng.random(z.size)
        x = np.empty(z.size, np.int64)
        for k in np.unique(z):
            mine = z == k
            x[mine] = np.searchsorted(cumulative[k], u[mine] * cumulative[k, -1], side="right")
        return np.minimum(x, self.shape[1] - 1)[:, np.newaxis]


class MixtureEmissions(Emissions):
    """The components of a mixture of Bernoullis or of Gaussians as emissions.

    Parts are the mixture's natural parameters without those of its weights, and priors have the
    mixture's as `mixture`.
    """

    def __init__(self, mixture: BernoulliModel | GaussianModel) -> None:
        # The two have the same methods, each with types of its own.
        self.mixture: Any = mixture
        self.n_components = mixture.n_components
        self._natural: Any = BernoulliNatural
        self._expected: Any = BernoulliExpected
        if isinstance(mixture, GaussianModel):
            self._natural, self._expected = GaussianNatural, GaussianExpected

    def _with_weights(self, parts: Parts) -> Any:
        """A mixture with these components and any weights."""
        return self._natural(np.ones(self.n_components), *parts)

    def prepare(self, x: Any, rows: Rows | slice) -> Any:
        return self.mixture.batch(x, rows)

    def places(self, observations: Any) -> Places:
        return np.arange(observations.size, dtype=np.int32)

    def eta(self, prior: Any) -> Parts:
        return tuple(self.mixture.eta(prior.mixture)[1:])

    def start(
        self, prior: Any, frequencies: Float64 | None, count: float, rng: np.random.Generator
    ) -> Parts:
        """As a mixture's components start (`BernoulliModel.initial`, `GaussianModel.initial`)."""
        mixture = self.mixture
        if isinstance(mixture, GaussianModel):
            mixture = replace(mixture, start_count=count)
        return tuple(mixture.initial(prior.mixture, rng)[1:])

    def zeros(self) -> Parts:
        return tuple(self.mixture.zero_statistics()[1:])

    def scores(self, parts: Parts, prior: Any, observations: Any) -> Float64:
        natural = self._with_weights(parts)
        return np.asarray(
            self.mixture.component_log_likelihood(natural, prior.mixture, observations)
        )

    def log_density(self, parts: Parts, prior: Any, observations: Any) -> Float64:
        natural = self._with_weights(parts)
        return np.asarray(self.mixture.component_log_density(natural, prior.mixture, observations))

    def statistics(self, prior: Any, observations: Any, sums: Float64) -> Parts:
        return tuple(self.mixture.given_statistics(prior.mixture, observations, sums)[1:])

    def uniform(self, prior: Any, observations: Any) -> Parts:
        return tuple(self.mixture.uniform_statistics(prior.mixture, observations)[1:])

    def kl(self, parts: Parts, other: Parts) -> float:
        natural, prior = self._with_weights(parts), self._with_weights(other)
        return float(self.mixture.component_divergence(natural, prior))

    def inner(self, parts: Parts, statistics: Parts) -> float:
        natural, other = self._with_weights(parts), self._with_weights(statistics)
        return float(self.mixture.component_inner(natural, other))

    def expected(self, parts: Parts, prior: Any) -> tuple[Float64, ...]:
        found = self.mixture.expected(self._with_weights(parts), prior.mixture)
        return tuple(found[1:])

    def draw(
        self, expected: tuple[Float64, ...], z: NDArray[np.int64], rng: np.random.Generator
    ) -> Array:
        weights = np.full(self.n_components, 1 / self.n_components)
        return np.asarray(self.mixture.draw(self._expected(weights, *expected), z, rng))


def emissions_of(
    name: str,
    *,
    n_components: int,
    n_features: int,
    dtype: str,
    covariance_type: str,
    start_count: float,
    backend: str,
    n_threads: int,
) -> Emissions:
    """Those of that name; parameters as in `HmmModel`."""
    if name == "categorical":
        return Categorical(n_components, n_features, dtype)
    options: dict[str, Any] = {
        "n_components": n_components,
        "n_features": n_features,
        "dtype": dtype,
        "backend": backend,
        "n_threads": n_threads,
    }
    if name == "bernoulli":
        return MixtureEmissions(BernoulliModel(**options))
    options |= {"covariance_type": covariance_type, "start_count": start_count}
    return MixtureEmissions(GaussianModel(**options))
