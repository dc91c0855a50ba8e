"""The models that the conformance suite runs on. A new model joins with one `Case`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from tests.conformance.poisson_mixture import PoissonMixture, PoissonPrior
from tests.helpers import planted_lda
from trustream.models.factorization import FactorModel, FactorPrior, FactorRows
from trustream.models.hmm import (
    BernoulliHmmPrior,
    CategoricalHmmPrior,
    GaussianHmmPrior,
    HmmModel,
    Sequences,
)
from trustream.models.lda import CollapsedLdaModel, LazyRows, LdaModel, LdaPrior
from trustream.models.mixture import BernoulliModel, BernoulliPrior, GaussianModel, GaussianPrior
from trustream.models.regression import (
    GroupedData,
    GroupedLinearModel,
    GroupedProbitModel,
    LinearModel,
    Moments,
    PopulationPrior,
    ProbitModel,
    RowData,
    WeightsPrior,
)


@dataclass(frozen=True)
class Case:
    """A model with small data.

    Attributes:
        make: model from keyword arguments dtype, backend and n_threads.
        prior: a function, so that every test has its own.
        data: validated data of N rows, in several blocks.
        start: lambda_ of a model, the same numbers in float32 and float64.
        dense: lambda_ and prior to a list of float64 arrays, all of lambda.
        valid: whether such a list is within the family.
        mass: the part of materialised Statistics that counts, per component.
        weight: what it must sum to for a batch: tokens, or data points.
        n_beliefs: rows of phi for a batch.
        local: beliefs as an array with a row for each data point.
        distributes: whether the expectations that a model shows are distributions.
        phi: beliefs for `model.beliefs`, from model and batch; None draws shares of components.
        uniform: what `model.beliefs` takes for None, from model, prior and batch; None is 1/K.
        has_components: whether beliefs are shares of components.
        is_exact: whether there are no beliefs, so that one visit of the data is enough.
    """

    name: str
    make: Callable[..., Any]
    prior: Callable[[], Any]
    data: Any
    start: Callable[[Any, Any], Any]
    dense: Callable[[Any, Any], list[np.ndarray]]
    valid: Callable[[list[np.ndarray]], bool]
    mass: Callable[[Any], np.ndarray]
    weight: Callable[[Any], float]
    n_beliefs: Callable[[Any], int]
    local: Callable[[Any], np.ndarray] = np.asarray
    distributes: bool = True
    phi: Callable[[Any, Any], np.ndarray] | None = None
    uniform: Callable[[Any, Any, Any], np.ndarray] | None = None
    has_components: bool = True
    is_exact: bool = False

    def counted(self, lambda_: Any, prior: Any) -> float:
        """What `weight` is of, in lambda_, the prior's part included."""
        if isinstance(lambda_, LazyRows | FactorRows):
            return float(self.dense(lambda_, prior)[0].sum())
        return float(np.sum(self.mass(lambda_), dtype=np.float64))

    @property
    def n_points(self) -> int:
        return self.data.shape[0]


def _positive(arrays: list[np.ndarray]) -> bool:
    return all(bool(np.isfinite(a).all() and (a > 0).all()) for a in arrays)


def _as_float64(lambda_: Any, prior: Any) -> list[np.ndarray]:
    return [np.asarray(part, dtype=np.float64) for part in lambda_]


def lda(name: str, eta: Any, model: type[LdaModel] = LdaModel) -> Case:
    """90 documents over 150 words, 7 topics; one document is empty, one has all words."""
    counts, _ = planted_lda(np.random.default_rng(0), 5, 150, 90, 20, 0.2, 0.1)
    counts = counts.tolil()
    counts[3], counts[4] = 0, 1
    draws = np.random.default_rng(1).gamma(100.0, 0.01, (150, 7))
    return Case(
        name=name,
        make=lambda **options: model(7, 150, **options),
        prior=lambda: LdaPrior.of(np.linspace(0.1, 0.4, 7), eta, 7, 150),
        data=sparse.csr_matrix(counts),
        start=lambda model, prior: LazyRows.of(draws.astype(model.dtype)),
        dense=lambda lambda_, prior: [lambda_.dense(prior.pattern).astype(np.float64)],
        valid=_positive,
        mass=lambda statistics: statistics.totals,
        weight=lambda batch: float(batch.counts.sum(dtype=np.float64)),
        n_beliefs=lambda batch: batch.ids.size,
    )


def factorization() -> Case:
    """LDA's documents and words as users and items, 7 components."""
    draws = np.random.default_rng(1).gamma(100.0, 0.01, (150, 7))
    rates = np.linspace(80.0, 120.0, 7)
    return replace(
        lda("factorization", 0.1),
        make=lambda **options: FactorModel(7, 150, **options),
        prior=lambda: FactorPrior(150, 0.2, 25.0, 0.3, 0.8, 2.0),
        start=lambda model, prior: FactorRows.of(
            LazyRows.of(draws.astype(model.dtype)), rates.copy(), 0.0
        ),
        dense=lambda lambda_, prior: [
            lambda_.dense_shapes().astype(np.float64),
            np.asarray(lambda_.rates),
        ],
        local=lambda local: np.column_stack(local),
        distributes=False,
    )


def mixture(name: str, make: Any, prior: Any, data: Any, valid: Any) -> Case:
    """What all mixtures share."""
    return Case(
        name=name,
        make=make,
        prior=prior,
        data=data,
        start=lambda model, prior: model.initial(prior, np.random.default_rng(1)),
        dense=_as_float64,
        valid=valid,
        mass=lambda statistics: statistics.gamma,
        weight=lambda batch: float(batch.size),
        n_beliefs=lambda batch: batch.size,
    )


def bernoulli(name: str, kind: Any) -> Case:
    """320 points of 30 features, 5 components."""
    rng = np.random.default_rng(2)
    z, probs = rng.integers(4, size=320), rng.beta(0.4, 0.4, (4, 30))
    data = kind((rng.random((320, 30)) < probs[z]).astype(np.float64))
    return mixture(
        name,
        lambda **options: BernoulliModel(n_components=5, n_features=30, **options),
        lambda: BernoulliPrior(np.full(5, 0.7), 0.8, np.linspace(0.5, 2, 30)),
        data,
        _positive,
    )


def gaussian(kind: str) -> Case:
    """320 points in 3 dimensions, 4 components, two of them close to each other."""
    rng = np.random.default_rng(3)
    means = np.array([[0.0, 0, 0], [1.0, 0.5, 0], [6, 1, -3], [-5, 4, 2]])
    data = means[rng.integers(4, size=320)] + rng.standard_normal((320, 3)) * [1.0, 0.3, 2.0]
    Psi = np.array([4.0, 2.0, 3.0])

    def prior() -> GaussianPrior:
        return GaussianPrior(
            np.full(4, 0.5), data.mean(axis=0), 0.1, Psi if kind == "diag" else np.diag(Psi), 6.0
        )

    def valid(arrays: list[np.ndarray]) -> bool:
        gamma, s, _, _, nu = arrays
        return _positive([gamma, s, nu]) and all(np.isfinite(a).all() for a in arrays)

    options = {"n_components": 4, "n_features": 3, "covariance_type": kind, "start_count": 10.0}
    return mixture(
        f"gaussian-{kind}",
        lambda **more: GaussianModel(**options, **more),
        prior,
        data,
        valid,
    )


def poisson() -> Case:
    """320 points of 6 counts, 4 components; the rates of three are drawn, one is left over."""
    rng = np.random.default_rng(5)
    rates = rng.gamma(2.0, 3.0, (3, 6))
    case = mixture(
        "poisson",
        lambda **options: PoissonMixture(4, 6, **options),
        lambda: PoissonPrior(0.7, 2.0, 0.5),
        rng.poisson(rates[rng.integers(3, size=320)]).astype(np.float64),
        _positive,
    )
    return replace(case, local=lambda local: local.log_phi.T)


def hmm(emissions: str, **options: Any) -> Case:
    """90 sequences of 1 to 8 observations, 4 states; those of three are drawn, one is left over."""
    rng = np.random.default_rng(6)
    lengths = rng.integers(1, 9, size=90)
    z = (np.repeat(rng.integers(3, size=90), lengths) + (rng.random(lengths.sum()) < 0.2)) % 3
    chain = np.full(4, 0.7), np.linspace(0.5, 1.5, 16).reshape(4, 4)
    n_features, valid = 9, _positive
    prior: Callable[[], Any]
    if emissions == "categorical":
        x = np.minimum(3 * z + rng.integers(4, size=z.size), 8)
        prior = functools.partial(CategoricalHmmPrior, *chain, np.linspace(0.3, 1, 9))
        mass = lambda statistics: statistics.emissions.sum(axis=1)  # noqa: E731
    elif emissions == "bernoulli":
        x = (rng.random((z.size, 9)) < rng.beta(0.4, 0.4, (3, 9))[z]).astype(np.float64)
        prior = functools.partial(BernoulliHmmPrior, *chain, 0.8, np.linspace(0.5, 2, 9))
        mass = lambda statistics: (statistics.a + statistics.b)[0]  # noqa: E731
    else:
        x = rng.standard_normal((z.size, 2)) + np.array([[0.0, 0], [4, 1], [-3, 5]])[z]
        normal = x.mean(axis=0), 0.1, np.diag([4.0, 2.0]), 5.0
        prior = functools.partial(GaussianHmmPrior, *chain, *normal)
        mass = lambda statistics: statistics.s  # noqa: E731
        n_features, options = 2, {**options, "start_count": 10.0}

        def valid(arrays: list[np.ndarray]) -> bool:
            start, transitions, s, sm, _, nu = arrays
            return _positive([start, transitions, s, nu]) and bool(np.isfinite(sm).all())

    options |= {"emissions": emissions, "n_components": 4, "n_features": n_features}
    case = mixture(
        "-".join(["hmm", emissions, options.get("covariance_type", "")]).rstrip("-"),
        lambda **more: HmmModel(**options, **more),
        prior,
        Sequences.of(x, lengths, n_features),
        valid,
    )
    return replace(
        case,
        mass=mass,
        weight=lambda batch: float(batch.n_observations),
        n_beliefs=lambda batch: batch.n_observations,
        # Beliefs that are no optimum have no bound.
        local=lambda local: np.zeros(1) if local.log_evidence is None else local.log_evidence,
    )


def regression(name: str, make: Any, prior: Any, data: Any, **options: Any) -> Case:
    """What all regressions share: one vector of weights, or one population of them."""

    def valid(arrays: list[np.ndarray]) -> bool:
        return all(bool(np.isfinite(a).all()) for a in arrays)

    return Case(
        name=name,
        make=make,
        prior=prior,
        data=data,
        start=lambda model, prior: model.initial(prior, np.random.default_rng(1)),
        dense=_as_float64,
        valid=valid,
        has_components=False,
        **options,
    )


def linear() -> Case:
    """Rows of two features, with an intercept."""
    X, y, _ = _rows()
    return regression(
        "linear",
        lambda **options: LinearModel(n_weights=3, **options),
        lambda: WeightsPrior(np.zeros(2), np.ones(2), 0.5, 2.0, np.array([1.0, 1, 0.1]), 2.0, 3.0),
        RowData(X, y),
        mass=lambda statistics: statistics.nu,
        weight=lambda batch: float(batch.size),
        n_beliefs=lambda batch: batch.size,
        phi=lambda model, batch: np.zeros((batch.size, 0)),
        uniform=lambda model, prior, batch: np.zeros((batch.size, 0)),
        is_exact=True,
    )


def probit() -> Case:
    """The same rows, with the sign of the response."""
    X, y, _ = _rows()
    return regression(
        "probit",
        lambda **options: ProbitModel(n_weights=3, **options),
        lambda: WeightsPrior(np.zeros(2), np.ones(2), 0.0, 1.0, np.array([1.0, 1, 0.1])),
        RowData(X, np.where(y > 0, 1.0, -1.0)),
        mass=lambda statistics: statistics.precision[-1:, -1],
        weight=lambda batch: float(batch.size),
        n_beliefs=lambda batch: batch.size,
        phi=lambda model, batch: np.random.default_rng(7).standard_normal(batch.size),
        uniform=lambda model, prior, batch: np.zeros(batch.size),
    )


def _rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(X with a column of ones, y, offsets) of 90 groups with one to five rows."""
    rng = np.random.default_rng(6)
    lengths = rng.integers(1, 6, size=90)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    X = np.column_stack([rng.standard_normal((offsets[-1], 2)), np.ones(offsets[-1])])
    weights = np.array([1.0, -0.5, 0.3]) + 0.5 * rng.standard_normal((90, 3))
    y = (X * np.repeat(weights, lengths, axis=0)).sum(axis=1)
    return X, y + 0.4 * rng.standard_normal(y.size), offsets


def _population() -> PopulationPrior:
    Psi = np.diag([0.5, 1.0, 2.0])
    return PopulationPrior(np.zeros(2), np.ones(2), 0.0, 1.5, 0.3, Psi, 5.0, 1.0, 2.0)


def grouped_linear() -> Case:
    """90 groups of one to five rows."""
    X, y, offsets = _rows()
    return regression(
        "grouped-linear",
        lambda **options: GroupedLinearModel(n_weights=3, **options),
        _population,
        GroupedData(X, y, offsets),
        mass=lambda statistics: statistics.noise_nu,
        weight=lambda batch: float(batch.moments.counts.sum()),
        n_beliefs=lambda batch: batch.size,
        phi=lambda model, batch: np.random.default_rng(7).standard_normal((batch.size, 3)),
        uniform=lambda model, prior, batch: model.beliefs(prior, batch, None)[0],
    )


def grouped_probit() -> Case:
    """The same groups, with the sign of the response, after other rows of theirs."""
    X, y, offsets = _rows()
    rng = np.random.default_rng(8)
    x = rng.standard_normal((90, 2, 3))
    before = Moments(
        x.swapaxes(1, 2) @ x, rng.standard_normal((90, 3)), np.zeros(90), np.full(90, 2.0)
    )
    return regression(
        "grouped-probit",
        lambda **options: GroupedProbitModel(n_weights=3, **options),
        _population,
        GroupedData(X, np.where(y > 0, 1.0, -1.0), offsets, before),
        mass=lambda statistics: statistics.s,
        weight=lambda batch: float(batch.size),
        n_beliefs=lambda batch: batch.size,
        phi=lambda model, batch: np.concatenate(
            [
                np.random.default_rng(7).standard_normal((batch.size, 3)),
                np.tile(0.1 * np.eye(3).ravel(), (batch.size, 1)),
            ],
            axis=1,
        ),
        uniform=lambda model, prior, batch: model.beliefs(prior, batch, None)[0],
    )


CASES = [
    lda("lda", 0.1),
    lda("lda-eta-per-word", np.linspace(0.05, 0.5, 150)),
    lda("lda-seeded", np.random.default_rng(4).uniform(0.05, 0.5, (7, 150))),
    lda("lda-collapsed", 0.1, CollapsedLdaModel),
    factorization(),
    bernoulli("bernoulli", np.asarray),
    bernoulli("bernoulli-csr", sparse.csr_matrix),
    gaussian("full"),
    gaussian("diag"),
    gaussian("tied"),
    poisson(),
    hmm("categorical"),
    hmm("bernoulli"),
    hmm("gaussian"),
    hmm("gaussian", covariance_type="tied"),
    linear(),
    probit(),
    grouped_linear(),
    grouped_probit(),
]
