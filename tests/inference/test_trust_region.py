"""The trust-region step: ascent, its relation to the natural gradient, and its edge cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.helpers import BACKENDS, DTYPES, Array, planted_lda, random_counts, snapshot
from trustream.families import dirichlet
from trustream.inference import natural_gradient, trust_region
from trustream.inference.state import Info, State
from trustream.models.lda import LdaModel, LdaPrior

K, V, N = 4, 80, 300


def setting(
    seed: int = 0, dtype: str = "float64", backend: str = "compiled", n_documents: int = 12
) -> tuple[LdaModel, State, Any]:
    """A model after two steps, with a prior per word, and a batch that has half of the words."""
    rng = np.random.default_rng(seed)
    model = LdaModel(K, V, dtype, backend)
    prior = LdaPrior.of([0.1, 0.3, 0.2, 0.7], rng.uniform(0.05, 0.5, V), K, V)
    state = State(model.initial(prior, rng), prior)
    counts, _ = planted_lda(rng, K, V, 60, 15, 0.2, 0.05)
    for rows in (slice(20, 40), slice(40, 60)):
        batch = model.batch(counts, rows)
        options = {"rho": 0.5, "n_documents": N, "n_local": 5}
        state, _ = natural_gradient.step(model, state, batch, **options)
    batch = model.batch(counts, slice(0, n_documents))
    assert batch.n_words < V
    return model, state, batch


def copy(state: State) -> State:
    """A step gives its state up, so tests that step twice work on copies."""
    return State(state.lambda_.copy(), state.prior, state.n_steps, state.n_seen)


def dense(state: State) -> Array:
    """lambda (K, V) in float64."""
    return state.lambda_.dense(state.prior.pattern).T.astype(np.float64)


def eta_of(state: State) -> Array:
    return np.broadcast_to(state.prior.dense(), (K, V))


def take(model: LdaModel, state: State, batch: Any, **options: Any) -> tuple[State, Info]:
    settings = {"rho": 0.4, "n_documents": N, "n_inner": 5, "n_local": 5, **options}
    return trust_region.step(model, copy(state), batch, **settings)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rho", [1.0, 0.5, 0.05])
@pytest.mark.parametrize("blend_first", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_penalised_objective_never_falls(
    seed: int, rho: float, blend_first: bool, backend: str
) -> None:
    """tol = -inf records the objective after each pair and never stops."""
    model, state, batch = setting(seed, backend=backend)
    for n_local in (1, 7):
        options = {"n_inner": 8, "n_local": n_local, "tol": -np.inf, "blend_first": blend_first}
        _, info = take(model, state, batch, rho=rho, **options)
        assert info.n_inner == 8 and len(info.objective) >= 7
        assert (np.diff(info.objective) > -1e-9 * abs(info.objective[0])).all()
        assert info.objective[-1] - info.objective[0] > 0.1


@pytest.mark.parametrize("rho", [1.0, 0.4, 0.05])
@pytest.mark.parametrize("blend_first", [True, False])
def test_objective_is_the_dense_one_up_to_a_constant(rho: float, blend_first: bool) -> None:
    """L_n(lambda, phi) - xi KL(lambda, lambda_t) over all words, from its parts.

    The code sums over the batch's words only; what it leaves out is the same after every pair.
    A first pair at lambda_t itself, where it would be another, is not recorded.
    """
    model, state, batch = setting()
    options = {"rho": rho, "blend_first": blend_first}
    _, info = take(model, state, batch, tol=-np.inf, n_inner=6, **options)
    anchor, xi, expected = dense(state), 1 / rho - 1, []
    first = 0 if blend_first and rho < 1 else 1
    for n in range(first, 6):
        after, _ = take(model, state, batch, n_inner=n, **options)
        _, info_n = take(model, state, batch, n_inner=n + 1, **options)
        natural = model.restrict(after.lambda_, after.prior, batch)
        value = N / batch.size * model.local_bound(natural, state.prior, batch, info_n.local).sum()
        value -= dirichlet.kl(dense(after), eta_of(state)).sum()
        value -= xi * dirichlet.kl(dense(after), anchor).sum()
        expected.append(value)
    difference = np.array(info.objective) - expected
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(difference, difference[0], rtol=0, atol=1e-8 / rho)


def test_tolerance_stops_early() -> None:
    """The pairs stop after the first that raises the objective by less than tol N nats."""
    model, state, batch = setting()
    everything = take(model, state, batch, n_inner=30, tol=-np.inf)[1].objective
    rises = np.diff(everything)
    tol = float(rises[4] / N * 1.0001)
    assert (rises[:4] > tol * N).all()
    stopped, info = take(model, state, batch, n_inner=30, tol=tol)
    assert info.n_inner == 6 and info.objective == everything[:6]
    exactly, plain = take(model, state, batch, n_inner=6)
    assert snapshot(stopped) == snapshot(exactly)
    assert plain.objective == ()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("given", [False, True])
def test_one_pair_without_the_blend_is_the_natural_gradient_step(
    given: bool, dtype: str, backend: str
) -> None:
    """Bit for bit, from uniform beliefs and from given ones; with the blend it is another step."""
    model, state, batch = setting(dtype=dtype, backend=backend)
    phi = None
    if given:
        phi = np.random.default_rng(1).dirichlet(np.ones(K), batch.ids.size)
    options = {"rho": 0.3, "n_documents": N, "n_local": 4, "local_tol": 1e-3, "phi": phi}
    expected, info = natural_gradient.step(model, copy(state), batch, **options)
    found, same = trust_region.step(
        model, copy(state), batch, n_inner=1, blend_first=False, **options
    )
    assert snapshot(found) == snapshot(expected)
    assert snapshot(same) == snapshot(info)
    other, _ = trust_region.step(model, copy(state), batch, n_inner=1, **options)
    assert snapshot(other) != snapshot(expected)


def optimal_phi(model: LdaModel, state: State, batch: Any) -> Array:
    """phi* of lambda_t, (nnz, K), written out."""
    natural = model.restrict(state.lambda_, state.prior, batch)
    start, _ = model.beliefs(state.prior, batch, None)
    gamma, _ = model.local_step(natural, state.prior, batch, start, 3000, 1e-14)
    documents = np.repeat(np.arange(batch.size), np.diff(batch.indptr))
    log_beta = dirichlet.expected_log(dense(state))[:, batch.words[batch.ids]].T
    return special.softmax(dirichlet.expected_log(gamma)[documents] + log_beta, axis=1)


def test_small_steps_go_along_the_natural_gradient() -> None:
    """Supplement 2: as rho falls, the converged step becomes rho times the natural gradient.

    The angle and the difference in length fall in proportion to rho.
    """
    model, state, batch = setting(3)
    phi, before = optimal_phi(model, state, batch), dense(state)
    cosines, lengths = [], []
    rates = np.array([0.03, 0.01, 0.003, 0.001, 0.0003])
    for rho in rates:
        options = {"rho": rho, "phi": phi, "n_local": 500, "local_tol": 1e-13}
        far, _ = take(model, state, batch, n_inner=60, **options)
        near, _ = take(model, state, batch, n_inner=1, blend_first=False, **options)
        a, b = dense(far) - before, dense(near) - before
        cosines.append((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))
        lengths.append(np.linalg.norm(a) / np.linalg.norm(b))
    assert cosines[0] < 0.999
    assert np.all(np.diff(cosines) > 0) and cosines[-1] > 1 - 2e-6
    gaps = np.abs(np.array(lengths) - 1)
    assert np.all(np.diff(gaps) < 0) and gaps[-1] < 1e-3
    angles = np.arccos(np.minimum(cosines, 1))
    slope = np.polyfit(np.log(rates[2:]), np.log(angles[2:]), 1)[0]
    assert 0.9 < slope < 1.1


@pytest.mark.parametrize("seed", range(3))
def test_gradient_of_the_divergence(seed: int) -> None:
    """Supplement 1: grad KL(lambda, lambda') = I(lambda) (lambda - lambda'), by differences.

    I(lambda) of a Dirichlet is diag psi'(lambda) - psi'(sum lambda).
    """
    rng = np.random.default_rng(seed)
    one, two = rng.gamma(1.0, 2.0, (2, 6)) + 0.1
    information = np.diag(special.polygamma(1, one)) - special.polygamma(1, one.sum())
    step, numeric = 1e-5, []
    for direction in np.eye(6):
        up, down = (dirichlet.kl(one + s * step * direction, two) for s in (1, -1))
        numeric.append((up - down) / (2 * step))
    np.testing.assert_allclose(numeric, information @ (one - two), rtol=1e-6, atol=1e-6)


def test_starts_of_phi_matter() -> None:
    """Other beliefs to start from are taken and change the result; the default is uniform."""
    model, state, batch = setting()
    rng = np.random.default_rng(2)
    results = []
    for phi in (
        None,
        np.full((batch.ids.size, K), 1 / K),
        rng.dirichlet(np.full(K, 0.1), batch.ids.size),
    ):
        results.append(dense(take(model, state, batch, phi=phi, n_inner=2, n_local=1)[0]))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-10)
    assert np.abs(results[2] - results[0]).max() > 1.0


@pytest.mark.parametrize("rho", [1.0, 0.4])
def test_given_beliefs_are_blended_first(rho: float) -> None:
    """Without any pair, lambda is the blend with the statistics of the given phi."""
    model, state, batch = setting()
    phi = np.random.default_rng(3).dirichlet(np.ones(K), batch.ids.size)
    blended = dense(take(model, state, batch, rho=rho, phi=phi, n_inner=0)[0])
    statistics = np.zeros((K, V))
    weighted = (batch.counts[:, np.newaxis] * phi).T
    np.add.at(statistics, (slice(None), batch.words[batch.ids]), weighted)
    goal = eta_of(state) + N / batch.size * statistics
    np.testing.assert_allclose(blended, (1 - rho) * dense(state) + rho * goal, rtol=1e-12)


def test_topics_stay_different_at_a_rate_of_one() -> None:
    """A blend with uniform beliefs alone would make them equal for ever."""
    model, state, batch = setting()
    after = dense(take(model, state, batch, rho=1.0)[0])
    assert np.abs(after - after[0]).max() > 1.0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_batch_larger_than_the_number_of_documents(backend: str, dtype: str) -> None:
    """Each data point then counts less than once: sum lambda = (1 - rho) old + rho (eta + N l)."""
    model, state, batch = setting(dtype=dtype, backend=backend)
    old, tokens = dense(state).sum(), float(batch.counts.sum())
    after, info = take(model, state, batch, n_documents=3)
    expected = 0.6 * old + 0.4 * (eta_of(state).sum() + 3 / 12 * tokens)
    np.testing.assert_allclose(dense(after).sum(), expected, rtol=1e-5)
    assert info.n_documents == 3 and info.batch_size == 12


@pytest.mark.parametrize("step", ["trust_region", "natural_gradient"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_batch_of_empty_documents(backend: str, dtype: str, step: str) -> None:
    """They say nothing: lambda goes towards its prior, gamma is alpha, and the bound is 0."""
    model, state, _ = setting(dtype=dtype, backend=backend)
    empty = model.batch(random_counts(np.random.default_rng(0), 1, V, 5), np.zeros(3, int))
    assert empty.size == 3 and empty.n_words == 0
    before = dense(state)
    if step == "trust_region":
        after, info = take(model, state, empty, tol=1e-6)
        assert np.isfinite(info.objective).all()
    else:
        options = {"rho": 0.4, "n_documents": N, "n_local": 5}
        after, info = natural_gradient.step(model, copy(state), empty, **options)
    np.testing.assert_allclose(dense(after), 0.6 * before + 0.4 * eta_of(state), rtol=1e-5)
    np.testing.assert_allclose(info.local, np.tile(state.prior.alpha, (3, 1)), rtol=1e-6)
    natural = model.restrict(after.lambda_, after.prior, empty)
    bound = model.local_bound(natural, after.prior, empty, info.local)
    np.testing.assert_allclose(bound, 0, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_one_topic(backend: str, dtype: str) -> None:
    """With K = 1 every token is that topic's: any number of pairs gives the same lambda."""
    counts = random_counts(np.random.default_rng(5), 20, V, 8, "real")
    model = LdaModel(1, V, dtype, backend)
    prior = LdaPrior.of(0.3, 0.2, 1, V)
    state = State(model.initial(prior, np.random.default_rng(0)), prior)
    batch = model.batch(counts, slice(0, 10))
    after, _ = take(model, state, batch, n_documents=20)
    tokens = np.asarray(counts[:10].sum(axis=0))
    expected = 0.6 * dense(state) + 0.4 * (0.2 + 2 * tokens)
    np.testing.assert_allclose(dense(after), expected, rtol=1e-5 if dtype == "float32" else 1e-12)
