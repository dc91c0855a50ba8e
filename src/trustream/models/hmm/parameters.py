"""Priors, natural parameters and expected parameters of hidden Markov models, by kind of emission.

The first two parts are the same for all: Dirichlet parameters of the start probabilities (K,) and
of the rows of the transition matrix (K, K). The others are those of the emissions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trustream.array_types import Array, Float64
from trustream.models.mixture import BernoulliPrior, GaussianPrior
from trustream.models.mixture.model import positive


class CategoricalHmmNatural(NamedTuple):
    """lambda_, a Natural or Statistics: start (K,), transitions (K, K), emissions (K, V)."""

    start: Float64
    transitions: Float64
    emissions: Array


class BernoulliHmmNatural(NamedTuple):
    """start (K,), transitions (K, K), and a and b (D, K) of the beta distributions."""

    start: Float64
    transitions: Float64
    a: Array
    b: Array


class GaussianHmmNatural(NamedTuple):
    """start (K,), transitions (K, K), and the Gaussians' s, sm, C and nu (`GaussianNatural`)."""

    start: Float64
    transitions: Float64
    s: Float64
    sm: Float64
    C: Float64
    nu: Float64


class CategoricalHmmExpected(NamedTuple):
    """E[start] (K,), E[transitions] (K, K) and E[emissions] (K, V), or draws of them."""

    start: Float64
    transitions: Float64
    emissions: Float64


class BernoulliHmmExpected(NamedTuple):
    """E[start] (K,), E[transitions] (K, K) and E[beta] (K, D), or draws of them."""

    start: Float64
    transitions: Float64
    probs: Float64


class GaussianHmmExpected(NamedTuple):
    """E[start] (K,), E[transitions] (K, K), means (K, D) and covariances (`GaussianExpected`)."""

    start: Float64
    transitions: Float64
    means: Float64
    covariances: Float64


# By the name of the emissions.
NATURAL: dict[str, Any] = {
    "categorical": CategoricalHmmNatural,
    "bernoulli": BernoulliHmmNatural,
    "gaussian": GaussianHmmNatural,
}
EXPECTED: dict[str, Any] = {
    "categorical": CategoricalHmmExpected,
    "bernoulli": BernoulliHmmExpected,
    "gaussian": GaussianHmmExpected,
}


@dataclass(frozen=True, eq=False, init=False)
class HmmPrior:
    """What all kinds share: Dirichlet parameters of start (K,) and rows of transitions (K, K)."""

    start: Float64
    transitions: Float64

    def _set_chain(self, start: ArrayLike, transitions: ArrayLike) -> None:
        object.__setattr__(self, "start", positive("start", start))
        object.__setattr__(self, "transitions", positive("transitions", transitions))
        k = self.start.size
        if self.start.ndim != 1 or self.transitions.shape != (k, k):
            raise ValueError(
                "start and transitions must have shapes (K,) and (K, K), got "
                f"{self.start.shape} and {self.transitions.shape}"
            )


@dataclass(frozen=True, eq=False, init=False)
class CategoricalHmmPrior(HmmPrior):
    """Rows of emissions ~ Dir(emissions), one number for all symbols or (V,)."""

    emissions: Float64

    def __init__(
        self, start: ArrayLike, transitions: ArrayLike, emissions: ArrayLike = 1.0
    ) -> None:
        self._set_chain(start, transitions)
        object.__setattr__(self, "emissions", positive("emissions", emissions))


@dataclass(frozen=True, eq=False, init=False)
class BernoulliHmmPrior(HmmPrior):
    """Probabilities ~ Beta(a, b), numbers or (D,)."""

    a: Float64
    b: Float64

    def __init__(
        self,
        start: ArrayLike,
        transitions: ArrayLike,
        a: ArrayLike = 1.0,
        b: ArrayLike = 1.0,
    ) -> None:
        self._set_chain(start, transitions)
        object.__setattr__(self, "a", positive("a", a))
        object.__setattr__(self, "b", positive("b", b))

    @cached_property
    def mixture(self) -> BernoulliPrior:
        """The same prior of a mixture's components."""
        return BernoulliPrior(np.ones(self.start.size), self.a, self.b)


@dataclass(frozen=True, eq=False, init=False)
class GaussianHmmPrior(HmmPrior):
    """Sigma ~ IW(Psi, nu), mu | Sigma ~ N(mean, Sigma / s), as in `GaussianPrior`."""

    mean: Float64
    s: float
    Psi: Float64
    nu: float

    def __init__(
        self,
        start: ArrayLike,
        transitions: ArrayLike,
        mean: ArrayLike,
        s: float,
        Psi: ArrayLike,
        nu: float,
    ) -> None:
        self._set_chain(start, transitions)
        # Which refuses values that are out of range.
        mixture = GaussianPrior(np.ones(self.start.size), mean, s, Psi, nu)
        for name in ("mean", "s", "Psi", "nu"):
            object.__setattr__(self, name, getattr(mixture, name))
        self.__dict__["mixture"] = mixture

    @cached_property
    def mixture(self) -> GaussianPrior:
        """The same prior of a mixture's components."""
        return GaussianPrior(np.ones(self.start.size), self.mean, self.s, self.Psi, self.nu)
