"""A non-finite update is refused, not stored: the state is bit for bit what it was."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.helpers import BACKENDS, random_counts, snapshot
from trustream.inference import (
    adaptive,
    memoized,
    natural_gradient,
    streaming_batch,
    streaming_vb,
    trust_region,
)
from trustream.inference import batch as batch_vb
from trustream.inference.state import State
from trustream.models.lda import LdaModel, LdaPrior

K, V, N = 3, 20, 40

STEPS = {
    "natural_gradient": lambda model, state, counts: natural_gradient.step(
        model, state, model.batch(counts, slice(None)), rho=0.5, n_documents=N, n_local=5
    ),
    "trust_region": lambda model, state, counts: trust_region.step(
        model, state, model.batch(counts, slice(None)), rho=0.5, n_documents=N, n_inner=2, n_local=5
    ),
    "batch": lambda model, state, counts: batch_vb.step(
        model, state, counts, [slice(0, 2), slice(2, None)], n_local=5
    ),
    "streaming_vb": lambda model, state, counts: streaming_vb.step(
        model, state, model.batch(counts, slice(None)), n_inner=2, n_local=5, tol=0.1,
        rng=np.random.default_rng(0), learn=True,
    ),
    "streaming_batch": lambda model, state, counts: streaming_batch.step(
        model, state, counts, np.arange(6), n_inner=2, n_local=5, rng=np.random.default_rng(0),
        learn=("alpha", "eta"),
    ),
    "memoized": lambda model, state, counts: memoized.step(
        model, state if state.memory else memoized.init(model, state, 2),
        model.batch(counts, slice(None)), 0, n_local=5,
    ),
    "adaptive": lambda model, state, counts: adaptive.step(
        model, state, model.batch(counts, slice(None)), rho=0.5, n_documents=N, n_local=5,
        inner=functools.partial(trust_region.step, n_inner=2, n_local=5),
    ),
}  # fmt: skip


def learned(backend: str = "compiled", **kwargs: Any) -> tuple[LdaModel, State]:
    """A float32 model after a few steps, with a prior per word."""
    rng = np.random.default_rng(0)
    model = LdaModel(K, V, "float32", backend, **kwargs)
    prior = LdaPrior.of(0.1, rng.uniform(0.1, 1, V), K, V)
    state = State(model.initial(prior, rng), prior)
    for _ in range(3):
        counts = random_counts(rng, 8, V, 6)
        state, _ = STEPS["trust_region"](model, state, counts)
    return model, state


@pytest.mark.parametrize("huge", [1e38, 3e38, 1e300, np.inf, np.nan])
@pytest.mark.parametrize("algorithm", STEPS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_state_is_unchanged_after_a_bad_batch(algorithm: str, backend: str, huge: float) -> None:
    """Counts that float32 cannot add up, or cannot hold; then a good batch goes on as if nothing
    had happened.
    """
    model, state = learned(backend)
    counts = random_counts(np.random.default_rng(1), 6, V, 6)
    bad = counts.copy()
    # Twenty of them: their sum is above what float32 holds.
    bad.data[:20] = huge
    before = snapshot(state)
    # Compiled, finite counts give no warning on the way.
    noise = "ignore" if backend == "reference" or not np.isfinite(huge) else None
    with np.errstate(all=noise), pytest.raises(FloatingPointError, match="refused"):
        STEPS[algorithm](model, state, bad)
    assert snapshot(state) == before
    after, _ = STEPS[algorithm](model, state, counts)
    same, other = learned(backend)
    expected, _ = STEPS[algorithm](same, other, counts)
    assert snapshot(after) == snapshot(expected)


@pytest.mark.parametrize("algorithm", ["natural_gradient", "trust_region"])
def test_an_absurd_number_of_documents_is_refused(algorithm: str) -> None:
    model, state = learned()
    batch = model.batch(random_counts(np.random.default_rng(1), 6, V, 6), slice(None))
    before = snapshot(state)
    options: dict[str, Any] = {"rho": 0.5, "n_local": 5}
    step = natural_gradient.step
    if algorithm == "trust_region":
        step, options["n_inner"] = trust_region.step, 2
    for n_documents in (1e60, np.inf, np.nan):
        with pytest.raises(FloatingPointError, match="refused"):
            step(model, state, batch, n_documents=n_documents, **options)
        assert snapshot(state) == before


@pytest.mark.parametrize("backend", BACKENDS)
def test_large_numbers_that_fit_are_kept(backend: str) -> None:
    """lambda of 1e30 fits float32, and decays by 2^-90 without trouble: stored numbers are
    lambda / scale, which must not overflow on the way.
    """
    model = LdaModel(1, 4, "float32", backend)
    prior = LdaPrior.of(0.1, 0.5, 1, 4)
    state = State(model.initial(prior, np.random.default_rng(0)), prior)
    large, small = (
        model.batch(sparse.csr_matrix(np.array([row])), slice(None))
        for row in ([1e30, 0.0, 0.0, 3.0], [0.0, 2.0, 0.0, 0.0])
    )
    expected = state.lambda_.stored[:, 0].astype(np.float64)
    for t in range(300):
        batch = large if t < 150 else small
        options = {"rho": 0.5, "n_documents": 1, "n_local": 2}
        state, _ = natural_gradient.step(model, state, batch, **options)
        tokens = [1e30, 0.0, 0.0, 3.0] if t < 150 else [0.0, 2.0, 0.0, 0.0]
        expected = 0.5 * expected + 0.5 * (0.5 + np.array(tokens))
    found = state.lambda_.dense(prior.pattern)[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert np.isfinite(state.lambda_.stored).all()
