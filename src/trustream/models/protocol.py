"""What an algorithm may ask of a model.

Every model of this package is a conjugate pair of the paper (section 2.1): global parameters
beta with q(beta) in an exponential family with natural parameters lambda,

    q(beta) = h(beta) exp( <lambda, t(beta)> - a(lambda) ),

a prior of the same family with natural parameters eta, and data that, given local beliefs phi,
enter only through expected sufficient statistics

    s = sum_n E_phi[f(x_n, z_n)].

An algorithm moves four kinds of value between the methods below and never looks inside them:

========== =====================================================================================
lambda_    all global parameters; opaque, perhaps kept lazily
Natural    the part of lambda that a batch touches; linear in lambda, so that blending Naturals
           is the same as blending lambdas
Statistics s of a batch, shaped like Natural
Local      beliefs about the local variables of a batch: gamma for LDA, phi for a mixture, or
           whatever else a model needs to go on from
========== =====================================================================================

What only some algorithms need of a model are capabilities: see `models.capabilities`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trustream.array_types import Float64

Rows = NDArray[np.int64]


class Batch(Protocol):
    """Data points prepared for a model."""

    @property
    def size(self) -> int:
        """Number of data points."""


class ConjugateModel(Protocol):
    """A conjugate model. Methods read their arguments; only `commit` may reuse the memory of
    lambda_, in what the batch touches."""

    @property
    def n_components(self) -> int:
        """K, the number of topics or mixture components."""

    def batch(self, data: Any, rows: Rows | slice) -> Batch:
        """Prepare the given rows of validated data; nothing looks at them again."""

    # --- global parameters

    def initial(self, prior: Any, rng: np.random.Generator) -> Any:
        """A random lambda_ to start from."""

    def restrict(self, lambda_: Any, prior: Any, batch: Any) -> Any:
        """The Natural of lambda_ for what the batch touches; valid until lambda_ is consumed."""

    def blend(
        self, anchor: Any, prior: Any, batch: Any, statistics: Any, rho: float, scale: float
    ) -> Any:
        """(1 - rho) lambda_t + rho (eta + scale s), equation 14, on Naturals."""

    def materialise(self, natural: Any) -> Any:
        """A Natural, or Statistics, as a tuple of arrays, without what it was computed from.

        A model may hand on descriptions in place of numbers, so that one pass over memory can do
        the work of several. This is where they are computed.
        """

    def is_finite(self, value: Any) -> bool:
        """Whether every number of a lambda_, or of what `materialise` returned, is finite."""

    def commit(self, lambda_: Any, prior: Any, batch: Any, natural: Any, rho: float) -> Any:
        """Store `natural` for what the batch touches; the rest decays towards the prior:

        lambda = (1 - rho) lambda_t + rho eta. lambda_ and natural are consumed: they must not be
        used afterwards, since large ones are changed in place.
        """

    def savepoint(self, lambda_: Any, prior: Any, batch: Any) -> Callable[[], None]:
        """What puts lambda_ and prior back, whatever a step on the batch did to their memory.

        It may be called any number of times.
        """

    # --- local beliefs

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

    # --- for people

    def expected(self, lambda_: Any, prior: Any) -> Any:
        """E_q[beta]."""
