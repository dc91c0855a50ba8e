"""What holds for every mixture and every algorithm that runs it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.helpers import snapshot
from tests.models.mixtures import GAUSSIAN, KINDS, NATURAL_GRADIENT, Setup, setup, some_lambda
from trustream.families import beta, dirichlet
from trustream.families import normal_inverse_gamma as nig
from trustream.families import normal_inverse_wishart as niw
from trustream.families import tied_normal_inverse_wishart as tied
from trustream.inference import batch as batch_vb
from trustream.inference import empirical_bayes, trust_region
from trustream.inference.state import State
from trustream.models.mixture import GaussianModel, feature_blocks
from trustream.models.mixture.gaussian_covariance import KINDS as COVARIANCES
from trustream.models.protocol import ConjugateModel

each_kind = pytest.mark.parametrize("kind", KINDS)


def expected_log_joint(case: Setup, lambda_: Any) -> np.ndarray:
    """E[log pi_k] + E[log p(x_n | beta_k)] (N, K) from the families, point by point."""
    weights = dirichlet.expected_log(lambda_.gamma)
    if hasattr(lambda_, "a"):
        ones, zeros = beta.expected_log(lambda_.a, lambda_.b)
        return weights + case.x @ ones + (1.0 - case.x) @ zeros
    kind = case.model.covariance_type
    family: Any = {"full": niw, "diag": nig, "tied": tied}[kind]
    natural = COVARIANCES[kind].family(lambda_)  # type: ignore[attr-defined]
    y = case.prior.to_y(case.x)
    return weights + family.expected_log_likelihood(natural, y) - case.prior.log_det_factor


@each_kind
@pytest.mark.parametrize("backend", ["reference", "compiled"])
def test_beliefs_statistics_and_bound_are_what_the_families_say(kind: str, backend: str) -> None:
    case = setup(kind, backend=backend)
    model, prior, x = case
    lambda_ = some_lambda(case)
    batch = model.batch(x, slice(None))
    log_joint = expected_log_joint(case, lambda_)
    phi, statistics = model.local_step(lambda_, prior, batch, None, 1, 0.0)
    np.testing.assert_allclose(phi, special.softmax(log_joint, axis=1), rtol=1e-8, atol=1e-10)
    q = special.softmax(log_joint, axis=1)
    bound = (q * log_joint).sum(axis=1) - special.xlogy(q, q).sum(axis=1)
    np.testing.assert_allclose(model.local_bound(lambda_, prior, batch, phi), bound, rtol=1e-8)
    counts = phi.sum(axis=0)
    np.testing.assert_allclose(statistics.gamma, counts)
    if kind == "bernoulli":
        np.testing.assert_allclose(statistics.a, x.T @ phi, atol=1e-9)
        np.testing.assert_allclose(statistics.b, (1.0 - x).T @ phi, atol=1e-9)
        return
    y = prior.to_y(x)
    squares = COVARIANCES[kind].pack(np.einsum("nk,ni,nj->kij", phi, y, y))
    np.testing.assert_allclose(statistics.s, counts)
    np.testing.assert_allclose(statistics.sm, phi.T @ y, atol=1e-9)
    np.testing.assert_allclose(statistics.C, squares, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(statistics.nu, len(x) if kind == "tied" else counts)


@each_kind
def test_given_and_uniform_beliefs(kind: str) -> None:
    model, prior, x = setup(kind)
    batch = model.batch(x, slice(None))
    uniform = np.full((len(x), 4), 0.25)
    for given, expected in zip(
        model.beliefs(prior, batch, uniform)[1], model.beliefs(prior, batch, None)[1], strict=True
    ):
        np.testing.assert_allclose(given, np.broadcast_to(expected, given.shape), atol=1e-9)
    phi = np.random.default_rng(0).dirichlet(np.ones(4), len(x))
    local, statistics = model.beliefs(prior, batch, phi)
    np.testing.assert_allclose(local, phi)
    np.testing.assert_allclose(statistics.gamma, phi.sum(axis=0))
    with pytest.raises(ValueError, match="phi must have shape"):
        model.beliefs(prior, batch, phi[1:])


@each_kind
def test_initial_depends_on_prior_and_generator_only(kind: str) -> None:
    case = setup(kind)
    first, again, other = (
        case.model.initial(case.prior, np.random.default_rng(seed)) for seed in (3, 3, 4)
    )
    assert snapshot(first) == snapshot(again) != snapshot(other)
    assert np.isfinite(case.model.global_bound(first, case.prior))
    if kind == "bernoulli":
        np.testing.assert_array_equal(first.gamma, 1)
        assert abs(first.a.mean() - 1) < 0.1
        assert 0.05 < first.a.std() < 0.2


@each_kind
def test_batch_bound_never_falls(kind: str) -> None:
    model, prior, x = setup(kind, k=6)
    state, locals_, bounds = State(model.initial(prior, np.random.default_rng(0)), prior), None, []
    for _ in range(25):
        blocks = [slice(0, 100), slice(100, None)]
        state, info = batch_vb.step(model, state, x, blocks, locals_, n_local=1)
        locals_ = info.local
        bounds.append(info.objective[0])
    assert (np.diff(bounds) > -1e-8).all()
    assert bounds[-1] > bounds[0] + 10
    # The same bound, by its parts, at the end.
    batch = model.batch(x, slice(None))
    local = model.local_bound(state.lambda_, prior, batch, None).sum()
    assert model.global_bound(state.lambda_, prior) + local >= bounds[-1] - 1e-8


@each_kind
@pytest.mark.parametrize("rho", [0.05, 0.5, 1.0])
def test_penalised_objective_never_falls_within_a_step(kind: str, rho: float) -> None:
    case = setup(kind, k=6)
    model, prior, x = case
    for seed in range(3):
        state = State(some_lambda(case, seed), prior)
        batch = model.batch(x, np.arange(0, 230, 4))
        _, info = trust_region.step(
            model, state, batch, rho=rho, n_documents=1000.0, n_inner=15, n_local=1, tol=-np.inf
        )
        assert info.n_inner == 15
        assert (np.diff(info.objective) > -1e-7).all()
        assert info.objective[-1] > info.objective[0] + 1e-3


@each_kind
def test_one_pair_without_uniform_blend_is_the_natural_gradient(kind: str) -> None:
    case = setup(kind)
    model, prior, x = case
    batch = model.batch(x, slice(0, 90))
    results = []
    for step, options in (
        (trust_region.step, {"n_inner": 1, "blend_first": False}),
        (NATURAL_GRADIENT.func, {}),  # type: ignore[attr-defined]
    ):
        state, _ = step(
            model,
            State(some_lambda(case), prior),
            batch,
            rho=0.3,
            n_documents=500.0,
            n_local=1,
            **options,
        )
        results.append(snapshot(state.lambda_))
    assert results[0] == results[1]


@each_kind
def test_large_xi_gives_the_direction_of_the_natural_gradient(kind: str) -> None:
    """Supplement 2: for rho -> 0 the whole step goes along the natural gradient, at length rho."""
    case = setup(kind)
    model, prior, x = case
    anchor = some_lambda(case)
    batch = model.batch(x, slice(0, 90))
    errors = []
    for rho in (1e-3, 1e-5):
        moved = {}
        for name, step, options in (
            ("tr", trust_region.step, {"n_inner": 30}),
            ("ng", NATURAL_GRADIENT.func, {}),  # type: ignore[attr-defined]
        ):
            state, _ = step(
                model, State(anchor, prior), batch, rho=rho, n_documents=500.0, n_local=1, **options
            )
            change = [(new - old) / rho for new, old in zip(state.lambda_, anchor, strict=True)]
            moved[name] = np.concatenate([part.ravel() for part in change])
        error = np.linalg.norm(moved["tr"] - moved["ng"]) / np.linalg.norm(moved["ng"])
        errors.append(error)
    assert errors[1] < 0.05 * errors[0]
    assert errors[1] < 1e-3


@each_kind
def test_statistics_add_up(kind: str) -> None:
    case = setup(kind)
    model, prior, x = case
    lambda_ = some_lambda(case)
    total = model.zero_statistics()
    for rows in (slice(0, 77), slice(77, 200), slice(200, None)):
        batch = model.batch(x, rows)
        total = model.add_statistics(total, batch, model.local_step(lambda_, prior, batch)[1])
    whole = model.local_step(lambda_, prior, model.batch(x, slice(None)))[1]
    for part, expected in zip(total, whole, strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-9, atol=1e-9)
    posterior = model.posterior(prior, total)
    # lambda = eta + s is the blend with rho = 1.
    blended = model.blend(lambda_, prior, None, whole, 1.0, 1.0)
    for part, expected in zip(posterior, blended, strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-9, atol=1e-9)


@each_kind
@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_do_not_change_a_bit(
    kind: str, backend: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_blocks, "_LEAST_WORK", 0)  # or these would be too small for them
    results = []
    for n_threads in (1, 2, 3):
        case = setup(kind, k=40, d=37, n=450, n_threads=n_threads, backend=backend, dtype=dtype)
        model, prior, x = case
        state = State(model.initial(prior, np.random.default_rng(0)), prior)
        batch = model.batch(x, slice(0, 330))
        state, info = trust_region.step(
            model, state, batch, rho=0.4, n_documents=450.0, n_inner=2, n_local=1
        )
        bound = model.local_bound(state.lambda_, prior, batch, None)
        density = model.predictive_log_density(state.lambda_, prior, batch)
        results.append(snapshot((state.lambda_, info.local, bound, density)))
    assert results[0] == results[1] == results[2]


@each_kind
@pytest.mark.parametrize("backend", ["reference", "compiled"])
def test_a_row_of_phi_does_not_depend_on_the_others(kind: str, backend: str) -> None:
    case = setup(kind, k=7, d=11, backend=backend, dtype="float32")
    model, prior, x = case
    lambda_ = some_lambda(case)
    phi = model.local_step(lambda_, prior, model.batch(x, slice(None)))[0]
    for rows in ([0], [3, 200], list(range(5, 229))):
        part = model.local_step(lambda_, prior, model.batch(x, np.array(rows)))[0]
        np.testing.assert_array_equal(part, phi[rows])


@each_kind
def test_float32_is_near_float64(kind: str) -> None:
    single, double = (setup(kind, d=30, dtype=dtype) for dtype in ("float32", "float64"))
    lambda_ = some_lambda(double)
    narrow = lambda_
    if kind == "bernoulli":
        narrow = lambda_._replace(a=lambda_.a.astype("float32"), b=lambda_.b.astype("float32"))
    results = []
    for case, parameters in ((single, narrow), (double, lambda_)):
        batch = case.model.batch(case.x, slice(None))
        state, info = trust_region.step(
            case.model,
            State(parameters, case.prior),
            batch,
            rho=0.3,
            n_documents=1e4,
            n_inner=1,
            n_local=1,
        )
        bound = case.model.local_bound(state.lambda_, case.prior, batch, None)
        assert info.local.dtype == case.model.dtype
        results.append((info.local, bound, state.lambda_))
    np.testing.assert_allclose(results[0][0], results[1][0], atol=2e-4)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-4)
    for one, two in zip(results[0][2], results[1][2], strict=True):
        np.testing.assert_allclose(one, two, rtol=2e-3, atol=2e-3 * np.abs(two).max())


@each_kind
def test_one_component(kind: str) -> None:
    case = setup(kind, k=1)
    model, prior, x = case
    batch = model.batch(x, slice(None))
    state = State(model.initial(prior, np.random.default_rng(0)), prior)
    state, info = trust_region.step(
        model, state, batch, rho=1.0, n_documents=len(x), n_inner=2, n_local=1
    )
    np.testing.assert_array_equal(info.local, 1)
    # With one component and all data in the batch this is the exact posterior.
    exact = model.posterior(prior, model.beliefs(prior, batch, np.ones((len(x), 1)))[1])
    for part, expected in zip(state.lambda_, exact, strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-9, atol=1e-9)


@each_kind
def test_priors_stay_as_given(kind: str) -> None:
    case = setup(kind)
    model, prior, _ = case
    lambda_ = some_lambda(case)
    before = snapshot((lambda_, prior))
    with pytest.raises(TypeError, match=f"empirical Bayes needs .*{type(model).__name__} lacks"):
        empirical_bayes.update(model, State(lambda_, prior), None, [], rho=1.0, rng=None)
    assert snapshot((lambda_, prior)) == before


@each_kind
def test_reading_does_not_write(kind: str) -> None:
    case = setup(kind)
    model, prior, x = case
    lambda_ = some_lambda(case)
    batch = model.batch(x, slice(0, 50))
    before = snapshot((lambda_, prior, x))
    model.local_step(lambda_, prior, batch)
    model.local_bound(lambda_, prior, batch)
    model.predictive_log_density(lambda_, prior, batch)
    model.divergence(lambda_, prior, batch, lambda_)
    model.expected(lambda_, prior)
    statistics = model.beliefs(prior, batch, None)[1]
    model.blend(lambda_, prior, batch, statistics, 0.5, 2.0)
    assert snapshot((lambda_, prior, x)) == before


@each_kind
def test_divergence_is_zero_only_at_home(kind: str) -> None:
    case = setup(kind)
    model, prior, _ = case
    lambda_ = some_lambda(case)
    assert abs(model.divergence(lambda_, prior, None, lambda_)) < 1e-9
    assert model.divergence(lambda_, prior) > 1
    at_prior = model.posterior(prior, model.zero_statistics())
    assert abs(model.global_bound(at_prior, prior)) < 1e-9


@each_kind
def test_what_is_not_finite_is_noticed(kind: str) -> None:
    case = setup(kind)
    lambda_ = some_lambda(case)
    assert case.model.is_finite(lambda_)
    assert case.model.is_finite(type(lambda_)(*(1e200 * part for part in lambda_)))
    for i, part in enumerate(lambda_):
        for value in (np.nan, np.inf, -np.inf):
            bad = [p.copy() for p in lambda_]
            bad[i][-1] = value
            assert not case.model.is_finite(type(lambda_)(*bad)), part.shape


@each_kind
def test_models_follow_the_protocol(kind: str) -> None:
    model: ConjugateModel = setup(kind).model
    for name in dir(ConjugateModel):
        if not name.startswith("_"):
            assert hasattr(model, name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_features": 0}, "n_features"),
        ({"n_threads": 0}, "n_threads"),
        ({"dtype": "float16"}, "dtype"),
        ({"backend": "fast"}, "backend"),
        ({"covariance_type": "round"}, "covariance_type"),
        ({"start_count": 0.0}, "start_count"),
    ],
)
def test_bad_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GaussianModel(**({"n_components": 2, "n_features": 2} | options))


def test_kinds_of_covariance_are_all_tested() -> None:
    assert set(GAUSSIAN) == set(COVARIANCES)
