"""Hidden Markov models with conjugate emissions (section 2.1 of the paper names them).

    pi ~ Dir(eta_pi),  A_i ~ Dir(eta_A,i),  beta_k ~ prior
    z_1 ~ pi,  z_t | z_{t-1} = i ~ A_i,  x_t | z_t = k ~ p(x | beta_k)

A data point is a whole sequence; its local variables are the states z_1, ..., z_T. Given lambda the
best q(z) is a Markov chain,

    q(z)  proportional to  exp{ E[log pi_{z_1}] + sum_t E[log A_{z_{t-1} z_t}] + sum_t E[log p(x_t | beta_{z_t})] },

so that a local step is one forward-backward recursion (`kernels.hmm.reference`), exact wherever it
starts, and the local bound of a sequence is the logarithm of the sum of these weights over all paths.
Statistics are q(z_1), sum_t q(z_{t-1}, z_t), and those of the emissions under q(z_t).

Where a sequence is cut into subchains (`sequences`), transitions and emissions have scales of their
own (`batch.Scales`), a subchain that does not begin a sequence starts from the stationary distribution
of E[A], and the local bounds are log p(core | what came before it in the chain): they add up to that
of the sequence as far as buffers are long enough to forget where they begin and end.
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trustream.array_types import Array, Float64
from trustream.families import dirichlet
from trustream.kernels import BACKENDS
from trustream.models.dense_model import DenseModel
from trustream.models.hmm import parameters
from trustream.models.hmm.batch import Group, HmmBatch, batch_of
from trustream.models.hmm.computation import HmmComputation
from trustream.models.hmm.emissions import EMISSIONS, Emissions, emissions_of
from trustream.models.hmm.sequences import Sequences
from trustream.models.protocol import Rows


class Beliefs(NamedTuple):
    """q(z) of a batch, by the lambda that it is the best one for, and its local bounds (B,).

    Beliefs that were given and not computed have neither.
    """

    natural: Any = None
    log_evidence: Float64 | None = None


@dataclass(frozen=True, kw_only=True)
class HmmModel(DenseModel[Any, Any, HmmBatch]):
    """A hidden Markov model as a `ConjugateModel`, with all capabilities but learnable priors.

    Attributes:
        n_components: K, the number of states.
        n_features: V symbols, or D features of an observation.
        emissions: "categorical", "bernoulli" or "gaussian".
        covariance_type: of Gaussians, "full", "diag" or "tied".
        start_count: observations that each state has seen, so to speak, when it starts.
        dtype: "float32" or "float64", how data and parameters of emissions are kept (of Gaussians
            the data only); recursions and sums are float64.
        backend: which kernels compute, "compiled" or "reference".
        n_threads: threads to use; they change the time only.

    >>> model = HmmModel(n_components=2, n_features=3, backend="reference")
    >>> prior = parameters.CategoricalHmmPrior(np.ones(2), np.ones((2, 2)))
    >>> lambda_ = model.initial(prior, np.random.default_rng(0))
    >>> batch = model.batch(Sequences.of(np.array([0, 2, 1, 1]), [3, 1], 3), slice(None))
    >>> beliefs, statistics = model.local_step(lambda_, prior, batch)
    >>> beliefs.log_evidence.shape, float(statistics.transitions.sum().round(9))
    ((2,), 2.0)
    """

    n_components: int
    n_features: int
    emissions: str = "categorical"
    covariance_type: str = "full"
    start_count: float = 100.0
    dtype: str = "float64"
    backend: str = "compiled"
    n_threads: int = 1

    def __post_init__(self) -> None:
        for name in ("n_components", "n_features", "n_threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.emissions not in EMISSIONS:
            raise ValueError(f"emissions must be one of {EMISSIONS}, got {self.emissions!r}")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}")
        if self.backend not in BACKENDS:
            raise ValueError(f"backend must be one of {BACKENDS}, got {self.backend!r}")

    @cached_property
    def kind(self) -> Emissions:
        """The emissions."""
        return emissions_of(
            self.emissions,
            n_components=self.n_components,
            n_features=self.n_features,
            dtype=self.dtype,
            covariance_type=self.covariance_type,
            start_count=self.start_count,
            backend=self.backend,
            n_threads=self.n_threads,
        )

    @cached_property
    def _computation(self) -> HmmComputation:
        return HmmComputation(self.kind, self.backend, self.n_threads)

    def natural(self, start: Array, transitions: Array, *emissions: Array) -> Any:
        """The named tuple of lambda_, of a Natural or of Statistics."""
        return parameters.NATURAL[self.emissions](start, transitions, *emissions)

    def batch(self, data: Sequences, rows: Rows | slice) -> HmmBatch:
        """The given chains of validated data."""
        return batch_of(data, rows, self.kind)

    # --- global parameters

    def eta(self, prior: Any) -> Any:
        """The prior's parameters, those of the emissions broadcastable."""
        return self.natural(prior.start, prior.transitions, *self.kind.eta(prior))

    def initial(self, prior: Any, rng: np.random.Generator) -> Any:
        """Equal starts and transitions, and random emissions (`Emissions.start`).

        The posterior after `start_count` observations of each state; Bernoullis as in the paper.
        """
        self._check(prior)
        return self.started(self.kind.start(prior, None, self.start_count, rng))

    def started(self, parts: tuple[Array, ...]) -> Any:
        """lambda_ with these parameters of emissions, and start and transitions equal to 1."""
        k = self.n_components
        return self.natural(np.ones(k), np.ones((k, k)), *parts)

    def zero_statistics(self) -> Any:
        """Zeros, in float64."""
        k = self.n_components
        return self.natural(np.zeros(k), np.zeros((k, k)), *self.kind.zeros())

    def blend(
        self, anchor: Any, prior: Any, batch: HmmBatch, statistics: Any, rho: float, scale: float
    ) -> Any:
        """(1 - rho) lambda_t + rho (eta + scale s), each part of s with its scale (`Scales`)."""
        blended = super().blend(anchor, prior, batch, self._scaled(batch, statistics), rho, scale)
        if batch.scales is not None and batch.scales.start is None:
            blended = blended._replace(start=anchor.start.copy())
        return blended

    def gradient(
        self, lambda_: Any, prior: Any, batch: HmmBatch, statistics: Any, scale: float
    ) -> Float64:
        """eta + scale s - lambda, each part of s with its scale."""
        gradient = super().gradient(lambda_, prior, batch, self._scaled(batch, statistics), scale)
        if batch.scales is not None and batch.scales.start is None:
            gradient[: self.n_components] = 0
        return gradient

    def _scaled(self, batch: HmmBatch, statistics: Any) -> Any:
        if batch.scales is None:
            return statistics
        start, transitions, emissions = batch.scales
        first, second, *rest = statistics
        return self.natural(
            first * (start or 0.0), second * transitions, *(part * emissions for part in rest)
        )

    # --- local beliefs

    @property
    def exact_local(self) -> bool:
        """The best q(z) is known in closed form."""
        return True

    def beliefs(self, prior: Any, batch: HmmBatch, phi: Array | None) -> tuple[Beliefs, Any]:
        """(Beliefs, Statistics) for independent states with the given phi, or with 1/K.

        phi has a row for each observation of a core, (T, K), which sum to one; before a core that
        does not begin its chain all states are as likely.
        """
        k = self.n_components
        if phi is not None:
            phi = np.asarray(phi, dtype=np.float64)
            if phi.shape != (batch.n_observations, k):
                raise ValueError(
                    f"phi must have shape {(batch.n_observations, k)}, got {phi.shape}"
                )
            phi = phi / phi.sum(axis=1, keepdims=True)
        total, position = self.zero_statistics(), 0
        for group in batch.groups:
            sizes = group.chains[:, 2] - group.chains[:, 1]
            mine = None if phi is None else phi[position : position + int(sizes.sum())]
            position += int(sizes.sum())
            found = self._independent(prior, group, sizes, mine)
            total = self.add_statistics(total, batch, found)
        return Beliefs(), self._typed(total)

    def _independent(self, prior: Any, group: Group, sizes: Any, phi: Float64 | None) -> Any:
        """Statistics of a group for independent states."""
        k, chains = self.n_components, group.chains
        begins_chain = chains[:, 0] == chains[:, 1]
        begins = begins_chain & (chains[:, 4] == 1)
        if phi is None:
            n_pairs = float(sizes.sum() - begins_chain.sum())
            start, pairs = np.full(k, begins.sum() / k), np.full((k, k), n_pairs / k**2)
            return self.natural(start, pairs, *self.kind.uniform(prior, group.core))
        first = np.cumsum(sizes) - sizes
        before = np.roll(phi, 1, axis=0)
        before[first] = np.where(begins_chain[:, np.newaxis], 0.0, 1 / k)
        sums = phi
        if self.kind.n_shared is not None:
            sums = np.zeros((self.kind.n_shared, k))
            np.add.at(sums, group.at[group.core_rows], phi)
        parts = self.kind.statistics(prior, group.core, sums)
        return self.natural(phi[first[begins]].sum(axis=0), before.T @ phi, *parts)

    def local_step(
        self,
        natural: Any,
        prior: Any,
        batch: HmmBatch,
        local: Any = None,
        n_local: int = 1,
        tol: float = 0.0,
    ) -> tuple[Beliefs, Any]:
        """(Beliefs, Statistics) at the optimum, which does not depend on where `local` is."""
        log_evidence = np.empty(batch.size)
        total, k = self.zero_statistics(), self.n_components
        position = 0
        dynamics = self._computation.weights(natural, batch.is_cut)
        for group, table in self._computation.tables(natural, prior, batch, dynamics.is_log):
            n = len(group.chains)
            shared = self.kind.n_shared
            sums, pairs, firsts = self._computation.beliefs(
                dynamics, table, group, group.at, shared, log_evidence[position : position + n]
            )
            position += n
            if shared is None:
                sums = sums[group.core_rows]
            parts = self.kind.statistics(prior, group.core, sums[:, :k])
            found = self.natural(firsts[:k], pairs[:, :k], *parts)
            total = self.add_statistics(total, batch, found)
        return Beliefs(natural, log_evidence), self._typed(total)

    def local_bound(self, natural: Any, prior: Any, batch: HmmBatch, local: Any = None) -> Float64:
        """E_q[log p(x, z | beta) / q(z)] of each sequence at the best q(z), in nats, (B,).

        log sum_z exp{ E[log pi_{z_1}] + sum_t E[log A_{z_{t-1} z_t}] + E[log p(x_t | beta_{z_t})] }
        """
        if isinstance(local, Beliefs) and local.natural is natural:
            return np.array(local.log_evidence)
        dynamics = self._computation.weights(natural, batch.is_cut)
        found = [
            np.add.reduceat(self._computation.filtered(dynamics, table, group), _core_starts(group))
            for group, table in self._computation.tables(natural, prior, batch, dynamics.is_log)
        ]
        return np.concatenate(found)

    # --- terms of the bound

    def kl(self, natural: Any, other: Any) -> float:
        """KL of start, of all rows of transitions, and of all emissions, in nats."""
        chain = sum(dirichlet.kl(natural[i], other[i]).sum() for i in (0, 1))
        return float(chain) + self.kind.kl(tuple(natural[2:]), tuple(other[2:]))

    def inner(self, natural: Any, batch: HmmBatch | None, statistics: Any) -> float:
        """<E[log pi], s> + <E[log A], s> + sum_k <E[t(beta_k)], s_k>."""
        chain = sum((dirichlet.expected_log(natural[i]) * statistics[i]).sum() for i in (0, 1))
        return float(chain) + self.kind.inner(tuple(natural[2:]), tuple(statistics[2:]))

    def _typed(self, total: Any) -> Any:
        """Statistics in the types of lambda_."""
        return type(total)(*total[:2], *(part.astype(self._emission_dtype) for part in total[2:]))

    @property
    def _emission_dtype(self) -> str:
        return "float64" if self.emissions == "gaussian" else self.dtype

    # --- for people

    def expected(self, lambda_: Any, prior: Any) -> Any:
        """E[pi], E[A] and the expected parameters of the emissions."""
        start, transitions = (dirichlet.mean(lambda_[i]) for i in (0, 1))
        parts = self.kind.expected(tuple(lambda_[2:]), prior)
        return parameters.EXPECTED[self.emissions](start, transitions, *parts)

    def marginals(self, natural: Any, prior: Any, batch: HmmBatch) -> Float64:
        """q(z_t = k) of all observations of cores, (T, K)."""
        dynamics = self._computation.weights(natural, batch.is_cut)
        found = []
        for group, table in self._computation.tables(natural, prior, batch, dynamics.is_log):
            to = np.arange(group.at.size, dtype=np.int32)
            bounds = np.empty(len(group.chains))
            phi, _, _ = self._computation.beliefs(dynamics, table, group, to, None, bounds)
            found.append(phi[group.core_rows, : self.n_components])
        return np.concatenate(found)

    def paths(self, natural: Any, prior: Any, batch: HmmBatch) -> NDArray[np.int64]:
        """The likeliest path of each sequence under q(z), (T,); sequences are not cut."""
        return self._computation.paths(natural, prior, batch)

    def predictive_log_density(self, lambda_: Any, prior: Any, batch: HmmBatch) -> Float64:
        """log p(x_t | x_1, ..., x_{t-1}) of each observation of whole sequences, (T,), in nats.

        Of the hidden Markov model with E[pi], E[A] and densities E_q[p(x | beta_k)]: it is one of
        all x_t, and adds up to the density of a sequence.
        """
        start, transitions = (np.log(dirichlet.mean(lambda_[i])) for i in (0, 1))
        dynamics = self._computation.dynamics(start, start, transitions)
        tables = self._computation.tables(lambda_, prior, batch, dynamics.is_log, predictive=True)
        return np.concatenate(
            [self._computation.filtered(dynamics, table, group) for group, table in tables]
        )

    def sample(
        self, expected: Any, n: int, rng: np.random.Generator
    ) -> tuple[Array, NDArray[np.int64]]:
        """A sequence of n observations of a model with the given parameters, and its states."""
        start, transitions, *parts = expected
        cumulative = np.cumsum(np.vstack([start, transitions]), axis=1)
        cumulative /= cumulative[:, -1:]
        z = np.empty(n, np.int64)
        state = -1  # the row before that of state 0
        for t, u in enumerate(rng.random(n).tolist()):
            state = int(np.searchsorted(cumulative[state + 1], u, side="right"))
            z[t] = state
        return self.kind.draw(tuple(parts), z, rng), z

    def _check(self, prior: Any) -> None:
        if prior.start.shape != (self.n_components,):
            raise ValueError(
                f"the prior is for {prior.start.size} states, the model has {self.n_components}"
            )


def _core_starts(group: Group) -> NDArray[np.int64]:
    """The first of each core among the observations of all cores."""
    sizes = group.chains[:, 2] - group.chains[:, 1]
    return np.asarray(np.cumsum(sizes) - sizes)
