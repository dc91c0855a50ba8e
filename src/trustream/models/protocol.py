"""What an algorithm may ask of a model.

Every model of this package is a conjugate pair of the paper (section 2.1): global parameters
beta with q(beta) in an exponential family with natural parameters lambda, a prior of the same
family with natural parameters eta, and data that, given local beliefs phi, enter only through
expected sufficient statistics

    s = sum_n E_phi[f(x_n, z_n)].

An algorithm moves four kinds of value between the methods below and never looks inside them:

========== =====================================================================================
lambda_    all global parameters; opaque, perhaps kept lazily
Natural    the part of lambda that a batch touches, as a tuple of arrays; linear in lambda, so
           that blending Naturals is the same as blending lambdas
Statistics s of a batch, as a tuple of arrays shaped like Natural
Local      beliefs about the local variables of a batch (gamma for LDA, phi for a mixture)
========== =====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Rows = NDArray[np.int64]


class Batch(Protocol):
    """Data points prepared for a model."""

    @property
    def size(self) -> int:
        """Number of data points."""


class DirichletEvidence(NamedTuple):
    """What a Dirichlet prior's parameters are learned from (section 3.1, empirical Bayes).

    The expected log-density of n = `n_draws` draws x_1, ..., x_n under Dir(a) is

        n { log Gamma(rest + sum_i m_i a_i) - sum_i m_i log Gamma(a_i) + sum_i m_i a_i l_i }

    up to a constant, with l_i = `mean_log[i]` the expected log x_i averaged over the draws,
    m_i = `multiplicity` the number of coordinates that share the parameter a_i (1 for a vector
    prior, the number of words for a scalar one), and `rest` the sum of the parameters that are
    held fixed.
    """

    parameter: Float64
    mean_log: Float64
    multiplicity: float
    rest: float
    n_draws: float


class Model(Protocol):
    """A conjugate model. Methods read their arguments; only `commit` and `replace_prior` may reuse
    the memory of lambda_ and prior, in what the batch touches."""

    @property
    def n_components(self) -> int:
        """K, the number of topics or mixture components."""

    @property
    def backend(self) -> str:
        """Which kernels compute, "compiled" or "reference"."""

    def batch(self, data: Any, rows: Rows | slice) -> Batch:
        """Prepare the given rows of validated data; nothing looks at them again."""

    # --- global parameters

    def initial(self, prior: Any, rng: np.random.Generator) -> Any:
        """A random lambda_ to start from."""

    def random_start(self, prior: Any, batch: Any, rng: np.random.Generator) -> Any:
        """A random Natural for the first local step of streaming VB on a batch.

        Drawn as `initial` draws, of what the batch touches: equal components would stay equal.
        """

    def restrict(self, lambda_: Any, prior: Any, batch: Any) -> Any:
        """The Natural of lambda_ for what the batch touches; of use until lambda_ is given up."""

    def blend(
        self, anchor: Any, prior: Any, batch: Any, statistics: Any, rho: float, scale: float
    ) -> Any:
        """(1 - rho) lambda_t + rho (eta + scale s), equation 14, on Naturals."""

    def add(self, anchor: Any, prior: Any, batch: Any, statistics: Any) -> Any:
        """lambda_t + s on Naturals: lambda_t is the prior of this batch."""

    def commit(self, lambda_: Any, prior: Any, batch: Any, natural: Any, rho: float) -> Any:
        """Store `natural` for what the batch touches; the rest decays towards the prior:

        lambda = (1 - rho) lambda_t + rho eta. The lambda_ passed in is given up: it must not be
        used afterwards, since a large one is changed in place.
        """

    def savepoint(self, lambda_: Any, prior: Any, batch: Any) -> Callable[[], None]:
        """What puts lambda_ and prior back, whatever a step on the batch did to their memory.

        It may be called any number of times.
        """

    def is_finite(self, natural: Any) -> bool:
        """Whether every number of a Natural, or of a lambda_, is finite."""

    def gradient(
        self, lambda_: Any, prior: Any, batch: Any, statistics: Any, scale: float
    ) -> Float64:
        """eta + scale s - lambda, the natural gradient of L_n, all of it as one vector."""

    # --- local beliefs

    @property
    def exact_local(self) -> bool:
        """Whether a local step finds the best beliefs wherever it starts."""

    def beliefs(self, prior: Any, batch: Any, phi: Any | None) -> tuple[Any, Any]:
        """(Local, Statistics) for given phi, or for uniform phi = 1/K when phi is None."""

    def local_step(
        self, natural: Any, prior: Any, batch: Any, local: Any, n_local: int, tol: float
    ) -> tuple[Any, Any]:
        """(Local, Statistics) after at most `n_local` ascent steps on phi from `local`."""

    def local_bound(self, natural: Any, prior: Any, batch: Any, local: Any) -> Float64:
        """E_q[log p(x_n, z_n | beta) / q(z_n)] of each data point, in nats, shape (batch.size,).

        phi is the optimum given `natural` and `local`.
        """

    # --- terms of the bound

    def divergence(self, natural: Any, prior: Any, batch: Any, anchor: Any | None) -> float:
        """KL(q_natural || q_anchor), or KL(q_natural || prior) when anchor is None.

        Up to a constant that is the same for all Naturals of one step (what the batch does not
        touch); exact when the batch touches everything.
        """

    def global_bound(self, lambda_: Any, prior: Any) -> float:
        """E_q[log p(beta) / q(beta)] = -KL(q || prior) over all of lambda_, in nats; exact."""

    def inner(self, natural: Any, batch: Any, statistics: Any) -> float:
        """<E_q[t(beta)], s>: the part of a batch's bound through which lambda enters, in nats."""

    # --- whole-data statistics of batch VB

    def zero_statistics(self) -> Any:
        """A total of nothing, over all of lambda_."""

    def add_statistics(self, total: Any, batch: Any, statistics: Any) -> Any:
        """total + statistics of a batch; `total` is given up."""

    def posterior(self, prior: Any, total: Any) -> Any:
        """lambda_ = eta + total; `total` is given up."""

    # --- running totals of memoized inference, in float64 so that taking parts out and putting
    # others in leaves no trace of rounding

    def keep(self, statistics: Any) -> Any:
        """Statistics on their own, without what they were made from."""

    def running_total(self) -> Any:
        """A Total of nothing, over all of lambda_."""

    def exchange(self, total: Any, batch: Any, old: Any | None, new: Any) -> Any:
        """total - old + new for a batch seen before (`old`) or not (None); `total` is given up."""

    def restrict_total(self, total: Any, prior: Any, batch: Any) -> Any:
        """The Natural of eta + total for what the batch touches."""

    def lambda_of_total(self, total: Any, prior: Any) -> Any:
        """lambda_ = eta + total; `total` stays."""

    def inner_total(self, lambda_: Any, prior: Any, total: Any) -> float:
        """<E_q[t(beta)], total> over all of lambda_, in nats."""

    # --- empirical Bayes

    def prior_evidence(
        self,
        lambda_: Any,
        prior: Any,
        batch: Any | None,
        locals_: list[Any],
        rng: np.random.Generator | None,
    ) -> dict[str, DirichletEvidence]:
        """What each learnable prior can be learned from, by name; empty if there is none.

        `locals_` are beliefs of `batch`, or of all data where batch is None. With `rng` a sample
        of what is too much to look at in every step, without it all of it.
        """

    def replace_prior(
        self, lambda_: Any, prior: Any, batch: Any | None, values: dict[str, Float64]
    ) -> tuple[Any, Any]:
        """(lambda_, prior) with new values for what `prior_evidence` of the same batch offered.

        The lambda that lambda_ stands for is unchanged; lambda_ and prior are given up.
        """

    # --- for people

    def expected(self, lambda_: Any, prior: Any) -> Any:
        """E_q[beta]."""
