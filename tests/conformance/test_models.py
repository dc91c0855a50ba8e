"""What algorithms rely on, for every model x both precisions x both backends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.cases import CASES, Case
from tests.helpers import BACKENDS, DTYPES, snapshot
from trustream.models.capabilities import (
    GradientVector,
    LearnablePriors,
    PosteriorAddition,
    RunningTotals,
    WholeDataTotals,
)

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_backend = pytest.mark.parametrize("backend", BACKENDS)

# Cases whose priors empirical Bayes learns.
LEARNABLE = ("lda", "factorization")
RTOL = {"float32": 2e-5, "float64": 1e-11}


def setting(case: Case, dtype: str, backend: str, rows: Any = slice(None)) -> tuple[Any, ...]:
    """model, prior, lambda_, batch, natural."""
    model = case.make(dtype=dtype, backend=backend, n_threads=2)
    prior = case.prior()
    lambda_ = case.start(model, prior)
    batch = model.batch(case.data, rows)
    return model, prior, lambda_, batch, model.restrict(lambda_, prior, batch)


def random_phi(case: Case, model: Any, batch: Any) -> np.ndarray:
    if case.phi is not None:
        return case.phi(model, batch)
    rng = np.random.default_rng(7)
    return rng.dirichlet(np.full(model.n_components, 0.3), case.n_beliefs(batch))


def total_of(model: Any, pairs: list[tuple[Any, Any]]) -> Any:
    """Statistics of some batches added up over all of lambda."""
    total = model.zero_statistics()
    for batch, statistics in pairs:
        total = model.add_statistics(total, batch, statistics)
    return total


def as_float64(model: Any, natural: Any) -> list[np.ndarray]:
    """All numbers of a Natural or of Statistics."""
    return [np.asarray(part, np.float64) for part in model.materialise(natural)]


def assert_near(found: list[np.ndarray], expected: list[np.ndarray], rtol: float) -> None:
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max(initial=0.0))


@each_case
def test_capabilities(case: Case) -> None:
    """All but learnable priors, which only LDA and Poisson factorisation have."""
    model = case.make(dtype="float32", backend="reference", n_threads=1)
    for capability in (WholeDataTotals, PosteriorAddition, RunningTotals, GradientVector):
        assert isinstance(model, capability)
    assert isinstance(model, LearnablePriors) == case.name.startswith(LEARNABLE)


@each_case
@each_dtype
@each_backend
def test_statistics_add_up(case: Case, dtype: str, backend: str) -> None:
    """Whatever the beliefs, each token or data point is shared out once."""
    model, prior, _, batch, natural = setting(case, dtype, backend)
    local, uniform = model.beliefs(prior, batch, None)
    _, given = model.beliefs(prior, batch, random_phi(case, model, batch))
    _, best = model.local_step(natural, prior, batch, local, 5, 0.0)
    for statistics in (uniform, given, best):
        mass = case.mass(model.materialise(statistics))
        assert mass.shape == (model.n_components,) and (mass >= 0).all()
        np.testing.assert_allclose(mass.sum(), case.weight(batch), rtol=RTOL[dtype])
    shares = case.mass(model.materialise(uniform))
    np.testing.assert_allclose(shares, shares[0], rtol=1e-12)
    assert np.ptp(case.mass(model.materialise(best))) > 0 or not case.has_components


@each_case
@each_dtype
@each_backend
def test_halves_add_to_the_whole(case: Case, dtype: str, backend: str) -> None:
    """Statistics and bounds of two half batches are those of the batch."""
    model, prior, lambda_, whole, _ = setting(case, dtype, backend)
    half = case.n_points // 2
    halves = [model.batch(case.data, rows) for rows in (np.arange(half), slice(half, None))]
    pairs, bounds, locals_ = [], [], []
    for batch in (whole, *halves):
        part = model.restrict(lambda_, prior, batch)
        start, _ = model.beliefs(prior, batch, None)
        local, statistics = model.local_step(part, prior, batch, start, 5, 0.0)
        pairs.append((batch, statistics))
        locals_.append(case.local(local))
        bounds.append(model.local_bound(part, prior, batch, local))
    np.testing.assert_allclose(np.concatenate(bounds[1:]), bounds[0], rtol=RTOL[dtype])
    np.testing.assert_allclose(np.concatenate(locals_[1:]), locals_[0], rtol=1e-3, atol=1e-6)
    posteriors = [
        case.dense(model.posterior(prior, total_of(model, chosen)), prior)
        for chosen in (pairs[:1], pairs[1:])
    ]
    assert_near(posteriors[1], posteriors[0], RTOL[dtype])


@each_case
@each_dtype
@each_backend
def test_uniform_beliefs_are_one_over_k(case: Case, dtype: str, backend: str) -> None:
    """phi=None and phi = 1/K written out: the same beliefs, statistics and blend."""
    model, prior, _, batch, natural = setting(case, dtype, backend, slice(0, 40))
    phi = np.full((case.n_beliefs(batch), model.n_components), 1 / model.n_components)
    if case.uniform is not None:
        phi = case.uniform(model, prior, batch)
    results = []
    for start in (None, phi):
        local, statistics = model.beliefs(prior, batch, start)
        posterior = model.posterior(prior, total_of(model, [(batch, statistics)]))
        blended = model.blend(natural, prior, batch, statistics, 0.3, 2.0)
        arrays = [*case.dense(posterior, prior), *model.materialise(blended)]
        results.append([case.local(local), *arrays])
    assert_near(results[1], results[0], RTOL[dtype])


@each_case
@each_dtype
@each_backend
def test_posterior_is_a_full_step_on_everything(case: Case, dtype: str, backend: str) -> None:
    """eta + s by way of the running total, and by blend and commit with rho = 1 and scale 1."""
    model, prior, lambda_, batch, natural = setting(case, dtype, backend)
    _, statistics = model.beliefs(prior, batch, random_phi(case, model, batch))
    blended = model.blend(natural, prior, batch, statistics, 1.0, 1.0)
    stepped = case.dense(model.commit(lambda_, prior, batch, blended, 1.0), prior)
    posterior = model.posterior(prior, total_of(model, [(batch, statistics)]))
    assert_near(stepped, case.dense(posterior, prior), RTOL[dtype])
    # Nothing seen: the prior itself.
    empty = model.posterior(prior, model.zero_statistics())
    np.testing.assert_allclose(model.global_bound(empty, prior), 0, atol=1e-3)


@each_case
@each_dtype
@each_backend
def test_divergence(case: Case, dtype: str, backend: str) -> None:
    """Zero from itself, positive from others, and the global bound over everything."""
    model, prior, lambda_, batch, natural = setting(case, dtype, backend)
    _, statistics = model.beliefs(prior, batch, random_phi(case, model, batch))
    other = model.blend(natural, prior, batch, statistics, 0.5, 1.0)
    size = abs(model.global_bound(lambda_, prior))
    assert abs(model.divergence(natural, prior, batch, natural)) < 1e-5 * size
    assert model.divergence(other, prior, batch, natural) > 1e-3 * size
    bound = model.global_bound(model.commit(lambda_, prior, batch, other, 0.5), prior)
    assert bound < 0
    # All words occur in the data, so that the divergence leaves nothing out.
    found = -model.divergence(other, prior, batch, None)
    np.testing.assert_allclose(found, bound, rtol=10 * RTOL[dtype])


@each_case
@each_dtype
@each_backend
def test_reading_never_writes(case: Case, dtype: str, backend: str) -> None:
    """Only commit, add_statistics, posterior and replace_prior may reuse what they are given."""
    model, prior, lambda_, batch, natural = setting(case, dtype, backend, slice(10, 50))
    local, statistics = model.beliefs(prior, batch, None)
    numbers = [model.materialise(natural), model.materialise(statistics)]
    values = [prior, lambda_, batch, *numbers, local, case.data]
    before = snapshot(values)
    model.restrict(lambda_, prior, batch)
    model.blend(natural, prior, batch, statistics, 0.5, 3.0)
    model.local_step(natural, prior, batch, local, 3, 1e-3)
    model.local_bound(natural, prior, batch, local)
    model.divergence(natural, prior, batch, None)
    model.divergence(natural, prior, batch, natural)
    model.global_bound(lambda_, prior)
    model.is_finite(numbers[0])
    model.is_finite(lambda_)
    model.expected(lambda_, prior)
    model.add(natural, prior, batch, statistics)
    model.random_start(prior, batch, np.random.default_rng(0))
    model.gradient(lambda_, prior, batch, statistics, 3.0)
    model.inner(natural, batch, statistics)
    total = model.exchange(model.running_total(), batch, None, statistics)
    held = snapshot(total)
    model.restrict_total(total, prior, batch)
    model.lambda_of_total(total, prior)
    model.inner_total(lambda_, prior, total)
    assert snapshot(total) == held
    if isinstance(model, LearnablePriors):
        model.prior_evidence(lambda_, prior, batch, [local], np.random.default_rng(0))
    assert snapshot(values) == before


@each_case
@each_dtype
def test_expectations_are_distributions(case: Case, dtype: str) -> None:
    """E[beta] of LDA: rows sum to one. Mixtures: weights do. Factors are positive."""
    model, prior, lambda_, _, _ = setting(case, dtype, "compiled")
    expected = model.expected(lambda_, prior)
    if not case.has_components:
        assert all(np.isfinite(part).all() for part in expected)
        return
    rows = expected[0][np.newaxis] if isinstance(expected, tuple) else expected
    assert (rows > 0).all()
    if case.distributes:
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)


@each_case
@each_dtype
@each_backend
def test_adding_is_a_full_step_from_another_prior(case: Case, dtype: str, backend: str) -> None:
    """lambda_t + s; from lambda_t = eta it is eta + s, which blend gives with rho = 1."""
    model, prior, lambda_, batch, natural = setting(case, dtype, backend, slice(0, 40))
    _, statistics = model.beliefs(prior, batch, random_phi(case, model, batch))
    eta = model.restrict(model.posterior(prior, model.zero_statistics()), prior, batch)
    added = as_float64(model, model.add(eta, prior, batch, statistics))
    blended = model.blend(natural, prior, batch, statistics, 1.0, 1.0)
    assert_near(added, as_float64(model, blended), RTOL[dtype])
    found = model.add(natural, prior, batch, statistics)
    pairs = zip(as_float64(model, natural), model.materialise(statistics), strict=True)
    assert_near([*model.materialise(found)], [a + b for a, b in pairs], RTOL[dtype])
    # Committed at rate 0, it changes what the batch touches and nothing else.
    before = case.dense(lambda_, prior)
    after = case.dense(model.commit(lambda_, prior, batch, found, 0.0), prior)
    total = case.dense(
        model.lambda_of_total(
            model.exchange(model.running_total(), batch, None, statistics), prior
        ),
        prior,
    )
    nothing = case.dense(model.posterior(prior, model.zero_statistics()), prior)
    expected = [a + b - c for a, b, c in zip(before, total, nothing, strict=True)]
    assert_near(after, expected, 10 * RTOL[dtype])


@each_case
@each_dtype
@each_backend
def test_totals_give_back_what_was_taken_out(case: Case, dtype: str, backend: str) -> None:
    """Two batches in, one exchanged for itself, one for another: eta + what is left."""
    model, prior, _, first, _ = setting(case, dtype, backend, slice(0, 40))
    second = model.batch(case.data, slice(40, 80))
    a, b = (
        model.materialise(model.beliefs(prior, batch, random_phi(case, model, batch))[1])
        for batch in (first, second)
    )
    other = model.materialise(model.beliefs(prior, first, None)[1])
    total = model.exchange(model.running_total(), first, None, other)
    total = model.exchange(total, second, None, b)
    total = model.exchange(total, first, other, a)
    expected = total_of(model, [(first, a), (second, b)])
    lambda_ = case.dense(model.posterior(prior, expected), prior)
    assert_near(case.dense(model.lambda_of_total(total, prior), prior), lambda_, RTOL[dtype])
    part = model.restrict_total(total, prior, first)
    whole = model.restrict(model.lambda_of_total(total, prior), prior, first)
    assert_near([*model.materialise(part)], as_float64(model, whole), RTOL[dtype])


@each_case
@each_dtype
@each_backend
def test_inner_product_is_the_slope_of_the_bound(case: Case, dtype: str, backend: str) -> None:
    """<E[t], s>: KL(lambda || eta) - KL(lambda || eta + s) = <E[t], s> - a(eta + s) + a(eta).

    The right-hand log-normalisers do not depend on lambda: differences between two lambdas agree.
    """
    model, prior, lambda_, batch, natural = setting(case, dtype, backend)
    _, statistics = model.beliefs(prior, batch, random_phi(case, model, batch))
    eta = model.restrict(model.posterior(prior, model.zero_statistics()), prior, batch)
    shifted = model.add(eta, prior, batch, statistics)
    other = model.add(natural, prior, batch, statistics)
    found = [model.inner(part, batch, statistics) for part in (natural, other)]
    slopes = [
        model.divergence(part, prior, batch, eta) - model.divergence(part, prior, batch, shifted)
        for part in (natural, other)
    ]
    rtol = 1e-4 if dtype == "float32" else 1e-9
    np.testing.assert_allclose(found[1] - found[0], slopes[1] - slopes[0], rtol=rtol)
    total = model.exchange(model.running_total(), batch, None, statistics)
    np.testing.assert_allclose(model.inner_total(lambda_, prior, total), found[0], rtol=rtol)


@each_case
@each_dtype
@each_backend
def test_gradient_is_the_way_to_the_full_step(case: Case, dtype: str, backend: str) -> None:
    """lambda + gradient = eta + scale s, words outside the batch included."""
    model, prior, lambda_, batch, natural = setting(case, dtype, backend, slice(0, 40))
    _, statistics = model.beliefs(prior, batch, random_phi(case, model, batch))
    gradient = model.gradient(lambda_, prior, batch, statistics, 3.0)
    before = np.concatenate([part.ravel() for part in case.dense(lambda_, prior)])
    blended = model.blend(natural, prior, batch, statistics, 1.0, 3.0)
    after = case.dense(model.commit(lambda_, prior, batch, blended, 1.0), prior)
    assert gradient.dtype == np.float64
    assert_near(
        [before + gradient], [np.concatenate([part.ravel() for part in after])], RTOL[dtype]
    )


@each_case
@each_backend
def test_random_starts(case: Case, backend: str) -> None:
    """Of the batch's shape, valid, different for each draw; for LDA as `initial` draws them."""
    model, prior, _, batch, natural = setting(case, "float64", backend, slice(5, 25))
    draws = [model.random_start(prior, batch, np.random.default_rng(seed)) for seed in (1, 2)]
    draws = [model.materialise(draw) for draw in draws]
    for draw in draws:
        assert [part.shape for part in draw] == [part.shape for part in model.materialise(natural)]
        assert model.is_finite(draw)
    assert snapshot(draws[0]) != snapshot(draws[1])
    if case.name.startswith("lda"):
        rows, totals = draws[0]
        assert rows.shape[0] < 130  # the other words are in the totals only
        assert abs(rows.mean() - 1) < 0.02 and abs(rows.std() - 0.1) < 0.02
        np.testing.assert_allclose(totals, 150, atol=8)  # 6 standard deviations of 0.1 sqrt(150)
