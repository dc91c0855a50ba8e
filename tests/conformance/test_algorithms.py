"""Every model x every algorithm x both precisions x both backends x one and two threads."""

from __future__ import annotations

import functools
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from tests.conformance.cases import CASES, Case
from tests.conformance.test_models import LEARNABLE
from tests.helpers import BACKENDS, DTYPES, snapshot
from trustream.inference import (
    adaptive,
    empirical_bayes,
    memoized,
    natural_gradient,
    streaming_batch,
    streaming_vb,
    trust_region,
)
from trustream.inference import batch as batch_vb
from trustream.inference.state import Info, State
from trustream.models.capabilities import LearnablePriors
from trustream.models.hmm import batch as hmm_batch
from trustream.models.mixture import feature_blocks

ALGORITHMS = [
    "trust_region",
    "natural_gradient",
    "batch",
    "streaming_vb",
    "streaming_batch",
    "memoized",
    "adaptive",
]
# Those whose step looks at all data, and those whose batches stand for themselves.
WHOLE, THEMSELVES = ("batch", "streaming_batch"), ("streaming_vb", "memoized")
N_STEPS = 3
Run = tuple[Any, Any, State, list[Info]]

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_backend = pytest.mark.parametrize("backend", BACKENDS)


@pytest.fixture(autouse=True)
def threads_for_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches are left to one thread; here two are wanted."""
    monkeypatch.setattr(feature_blocks, "_LEAST_WORK", 0)
    monkeypatch.setattr(hmm_batch, "_PART", 20)
    monkeypatch.setattr(hmm_batch, "_GROUP", 100)


def rows_of(case: Case) -> list[Any]:
    """Three batches, together all data: rows picked out, in order, and a slice."""
    n, third = case.n_points, case.n_points // 3
    return [np.arange(0, n - third, 2), np.arange(1, n - third, 2), slice(n - third, n)]


def same_start(case: Case, **options: Any) -> Any:
    """A model whose random starts are the same numbers in float32 and float64.

    NumPy draws gammas of the two types differently.
    """
    model = case.make(**options)

    class SameStart(type(model)):  # type: ignore[misc]
        def initial(self, prior: Any, rng: Any) -> Any:
            return case.start(model, prior)

        def random_start(self, prior: Any, batch: Any, rng: Any) -> Any:
            return self.restrict(self.initial(prior, rng), prior, batch)

    return SameStart(**{field.name: getattr(model, field.name) for field in fields(model)})


def run(case: Case, algorithm: str, dtype: str, backend: str, n_threads: int) -> Run:
    """A few steps; returns model, prior, the last state and what the steps said."""
    model = same_start(case, dtype=dtype, backend=backend, n_threads=n_threads)
    prior = case.prior()
    state = State(case.start(model, prior), prior)
    if algorithm == "memoized":
        state = memoized.init(model, state, N_STEPS)
    infos: list[Info] = []
    for t in range(N_STEPS):
        state, info = take(case, algorithm, model, state, t, infos)
        infos.append(info)
    return model, prior, state, infos


def take(
    case: Case, algorithm: str, model: Any, state: State, t: int, infos: list[Info]
) -> tuple[State, Info]:
    """Step number t of an algorithm."""
    rng = np.random.default_rng(t)
    if algorithm == "batch":
        local = infos[-1].local if infos else None
        return batch_vb.step(model, state, case.data, rows_of(case), local, n_local=4)
    if algorithm == "streaming_batch":
        rows = np.arange(case.n_points)
        options: dict[str, Any] = {"n_inner": 2, "n_local": 4, "rng": rng, "block_size": 50}
        return streaming_batch.step(model, state, case.data, rows, **options)
    batch = model.batch(case.data, rows_of(case)[t])
    if algorithm == "streaming_vb":
        return streaming_vb.step(model, state, batch, n_inner=2, n_local=4, rng=rng, learn=False)
    if algorithm == "memoized":
        return memoized.step(model, state, batch, t, n_local=4)
    options = {"rho": 0.5, "n_documents": case.n_points}
    if algorithm == "natural_gradient":
        return natural_gradient.step(model, state, batch, n_local=4, **options)
    step = functools.partial(trust_region.step, n_inner=2, n_local=4)
    if algorithm == "adaptive":
        return adaptive.step(model, state, batch, inner=step, n_local=4, **options)
    return step(model, state, batch, **options)


# What `numbers` returns, by its arguments; a test that has taken the steps itself adds to it.
_NUMBERS: dict[tuple[str, str, str, str], list[np.ndarray]] = {}


def numbers(case: Case, algorithm: str, dtype: str, backend: str) -> list[np.ndarray]:
    """lambda after the steps, in float64."""
    key = case.name, algorithm, dtype, backend
    if key not in _NUMBERS:
        _, prior, state, _ = run(case, algorithm, dtype, backend, 1)
        _NUMBERS[key] = case.dense(state.lambda_, prior)
    return _NUMBERS[key]


def assert_near(found: list[np.ndarray], expected: list[np.ndarray], rtol: float) -> None:
    """Relative to each entry, or to a thousandth of the largest of its array."""
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-3 * rtol * np.abs(b).max())


@each_case
@each_algorithm
@each_dtype
@each_backend
def test_two_threads_give_the_same_bits(
    case: Case, algorithm: str, dtype: str, backend: str
) -> None:
    """And the counters count, the result is valid, and data and prior are as they were."""
    before = snapshot([case.data, case.prior()])
    results = [run(case, algorithm, dtype, backend, n_threads) for n_threads in (1, 2)]
    assert snapshot(results[0][2:]) == snapshot(results[1][2:])
    model, prior, state, infos = results[0]
    assert snapshot([case.data, prior]) == before
    seen = case.n_points * (N_STEPS if algorithm in WHOLE else 1)
    assert (state.n_steps, state.n_seen) == (N_STEPS, seen)
    assert [info.n_steps for info in infos] == [1, 2, 3]
    assert sum(info.batch_size for info in infos) == seen
    stands_for = [info.batch_size if algorithm in THEMSELVES else case.n_points for info in infos]
    assert [info.n_documents for info in infos] == stands_for
    dense = _NUMBERS[case.name, algorithm, dtype, backend] = case.dense(state.lambda_, prior)
    assert case.valid(dense)
    natural = model.restrict(state.lambda_, prior, model.batch(case.data, slice(5)))
    assert model.is_finite(model.materialise(natural))


@each_case
@each_algorithm
@each_dtype
def test_backends_agree(case: Case, algorithm: str, dtype: str) -> None:
    """Three steps amplify rounding: within 1e-3 in float32 and 1e-9 in float64."""
    compiled, reference = (numbers(case, algorithm, dtype, name) for name in BACKENDS)
    assert_near(compiled, reference, 1e-3 if dtype == "float32" else 1e-9)


@each_case
@each_algorithm
@each_backend
def test_precisions_agree(case: Case, algorithm: str, backend: str) -> None:
    """float32 is float64 within 2e-3, and is not float64 (else nothing was compared)."""
    single, double = (numbers(case, algorithm, dtype, backend) for dtype in DTYPES)
    assert_near(single, double, 2e-3)
    assert any((a != b).any() for a, b in zip(single, double, strict=True))


@each_case
@each_backend
def test_bounds_never_fall(case: Case, backend: str) -> None:
    """Batch VB's bound from pass to pass, and the penalised objective within a step."""
    model, prior, state, infos = run(case, "batch", "float64", backend, 1)
    bounds = [info.objective[0] for info in infos]
    for _ in range(3):
        state, info = batch_vb.step(
            model, state, case.data, rows_of(case), infos[-1].local, n_local=4
        )
        infos.append(info)
        bounds.append(info.objective[0])
    assert np.diff(bounds).min() > -1e-9 * abs(bounds[0])
    for rho in (0.9, 0.1):
        batch = model.batch(case.data, rows_of(case)[0])
        start = State(case.start(model, prior), prior)
        options = {"n_documents": case.n_points, "n_inner": 6, "n_local": 3, "tol": -np.inf}
        _, info = trust_region.step(model, start, batch, rho=rho, **options)
        rises = np.diff(info.objective)
        assert rises.size == 5 and rises.min() > -1e-9 * abs(info.objective[0])


@each_case
@each_dtype
@each_backend
def test_one_pair_is_the_natural_gradient_step(case: Case, dtype: str, backend: str) -> None:
    results = []
    for step, more in (
        (natural_gradient.step, {}),
        (trust_region.step, {"n_inner": 1, "blend_first": False}),
    ):
        model, prior = case.make(dtype=dtype, backend=backend, n_threads=1), case.prior()
        state = State(case.start(model, prior), prior)
        batch = model.batch(case.data, slice(0, 40))
        options = {"rho": 0.3, "n_documents": case.n_points, "n_local": 4, **more}
        results.append(snapshot(step(model, state, batch, **options)))
    assert results[0] == results[1]


@each_case
def test_learning_priors_leaves_lambda_as_it_is(case: Case) -> None:
    """LDA's scalar eta and its alpha change, given patterns stay, and so do the rates of Poisson
    factorisation; mixtures' priors stay, too, for want of something to learn them from.
    """
    model, prior, state, infos = run(case, "natural_gradient", "float64", "compiled", 1)
    before, given = case.dense(state.lambda_, prior), snapshot(prior)
    batch = model.batch(case.data, rows_of(case)[-1])
    rng = np.random.default_rng(0)
    names = ("alpha", "eta", "item_rate", "activity_rate")
    options = {"rho": 0.5, "rng": rng, "learn": names}
    if isinstance(model, LearnablePriors):
        after = empirical_bayes.update(model, state, batch, [infos[-1].local], **options)
    else:
        with pytest.raises(TypeError, match=f"{type(model).__name__} lacks prior_evidence"):
            empirical_bayes.update(model, state, batch, [infos[-1].local], **options)
        after = state
    assert_near(case.dense(after.lambda_, after.prior), before, 1e-12)
    assert (snapshot(after.prior) == given) == (not case.name.startswith(LEARNABLE))
    assert (after.n_steps, after.n_seen) == (state.n_steps, state.n_seen)
