"""lambda kept lazily is the lambda of a dense float64 simulation, whatever happens to it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import BACKENDS, DTYPES, Array, random_counts
from trustream import kernels
from trustream.models.lda import LazyRows, LdaModel, LdaNatural, LdaPrior

V, K, N_STEPS = 120, 6, 500
KINDS = ["fixed", "scalar", "per word", "seeded"]


def random_rate(rng: np.random.Generator) -> float:
    """Now and then 1, or next to 0; otherwise anything, so that the scale runs out often."""
    kind = rng.random()
    if kind < 0.02:
        return 1.0
    return float(10 ** rng.uniform(-9, -4) if kind < 0.1 else rng.uniform(0.001, 0.99))


def dense_eta(prior: LdaPrior) -> Array:
    """eta (V, K)."""
    return np.broadcast_to(prior.rows(slice(None)), (V, K)).copy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_500_random_steps(kind: str, backend: str, dtype: str) -> None:
    """Blend, commit and learn eta 500 times; lambda, totals and eta are those of plain arrays.

    Relative error 2e-5 in float32 and 1e-12 in float64: lambda and shift * pattern are rounded
    once a step, and an error decays as lambda does.
    """
    rng = np.random.default_rng(KINDS.index(kind))
    model = LdaModel(K, V, dtype, backend, eta_per_word=kind == "per word")
    eta = rng.uniform(0.01, 1, (K, V)) if kind == "seeded" else 0.1
    prior = LdaPrior.of(0.1, eta, K, V)
    lambda_ = model.initial(prior, rng)
    plain, plain_eta = lambda_.stored.astype(np.float64), dense_eta(prior)
    counts = random_counts(rng, 60, V, 6)
    rtol = 2e-5 if dtype == "float32" else 1e-12
    rewritten = 0
    for t in range(N_STEPS):
        batch = model.batch(counts, rng.permutation(60)[: rng.integers(1, 6)])
        rho, scale = random_rate(rng), rng.uniform(0.1, 100)
        s = rng.gamma(0.2, 5.0, (batch.n_words, K)).astype(dtype)
        statistics = LdaNatural(s, s.sum(axis=0, dtype=np.float64))
        natural = model.blend(
            model.restrict(lambda_, prior, batch), prior, batch, statistics, rho, scale
        )
        lambda_ = model.commit(lambda_, prior, batch, natural, rho)
        rewritten += lambda_.scale == 1.0
        plain = (1 - rho) * plain + rho * plain_eta
        plain[batch.words] += rho * scale * s
        if kind in ("scalar", "per word"):
            size = 1 if kind == "scalar" else batch.n_words
            old = plain_eta[batch.words[:size], 0] if batch.n_words else plain_eta[:size, 0]
            new = np.clip(old * rng.uniform(0.5, 2, old.size), 1e-3, 10)
            lambda_, prior = model.replace_prior(lambda_, prior, batch, {"eta": new})
            plain_eta[batch.words if kind == "per word" else slice(None)] = new[:, np.newaxis]
        if t % 50 == 0 or t == N_STEPS - 1:
            np.testing.assert_allclose(lambda_.dense(prior.pattern), plain, rtol=rtol)
            np.testing.assert_allclose(lambda_.totals, plain.sum(axis=0), rtol=1e-6)
            np.testing.assert_allclose(dense_eta(prior), plain_eta, rtol=1e-12)
            np.testing.assert_allclose(prior.totals, plain_eta.sum(axis=0), rtol=1e-12)
    assert 5 < rewritten < N_STEPS / 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_get_put_and_copy(backend: str) -> None:
    """What is put is got back; a copy shares nothing."""
    rng = np.random.default_rng(0)
    module = kernels.get("lda", backend)
    pattern = rng.uniform(0.1, 1, (V, 1))
    table = LazyRows.of(rng.gamma(1.0, 1.0, (V, K)))
    table = table.decayed(0.7, 0.5, table.totals)
    words = rng.permutation(V)[:10].astype(np.int32)
    before = table.dense(pattern)
    twin = table.copy()
    rows = rng.gamma(1.0, 1.0, (10, K))
    table.put(module, words, pattern, rows, 2)
    np.testing.assert_allclose(table.get(module, words, pattern, 2), rows, rtol=1e-13)
    expected = before.copy()
    expected[words] = rows
    np.testing.assert_allclose(table.dense(pattern), expected, rtol=1e-13)
    np.testing.assert_array_equal(twin.dense(pattern), before)


def test_rate_of_one_starts_over() -> None:
    """rho = 1 leaves nothing of lambda but the prior, exactly."""
    pattern = np.random.default_rng(0).uniform(0.1, 1, (V, 1))
    table = LazyRows.of(np.random.default_rng(1).gamma(1.0, 1.0, (V, K)).astype(np.float32))
    table = table.decayed(1.0, 0.5, np.full(K, 0.5 * pattern.sum()))
    assert (table.scale, table.shift) == (1.0, 0.5) and not table.stored.any()
    expected = np.broadcast_to((0.5 * pattern).astype(np.float32), (V, K))
    np.testing.assert_array_equal(table.dense(pattern), expected)


@pytest.mark.parametrize("shape", [(1, 1), (V, 1), (V, K)])
def test_the_parts_of_prior_and_data(shape: tuple[int, int]) -> None:
    """The shift is the prior's part, however eta changed; the other is scaled, or given another."""
    rng = np.random.default_rng(2)
    pattern = rng.uniform(0.1, 1, shape)
    sums = np.broadcast_to(pattern, (V, K)).sum(axis=0)
    table = LazyRows.of(rng.gamma(1.0, 1.0, (V, K)))
    of_data, of_prior = table.dense(pattern), np.zeros((V, K))
    for _ in range(30):
        rho, eta = rng.random(), rng.random()
        of_data, of_prior = (1 - rho) * of_data, (1 - rho) * of_prior + rho * eta * pattern
        table = table.decayed(rho, eta, (of_data + of_prior).sum(axis=0))
        factor = 10 ** rng.uniform(-1, 1)
        of_data, table = factor * of_data, table.rescaled(factor, sums)
    # Nothing of the start is left, so that a last step adds something to compare.
    of_data = of_data + 3.0
    module = kernels.get("lda", "reference")
    table = table.decayed(0.0, 0.0, (of_data + of_prior).sum(axis=0))
    table.put(module, np.arange(V, dtype=np.int32), pattern, of_data + of_prior, 1)
    for factor in (0.01, 100.0):
        scaled = table.rescaled(factor, sums)
        np.testing.assert_allclose(scaled.dense(pattern), factor * of_data + of_prior, rtol=1e-10)
        np.testing.assert_allclose(scaled.totals, scaled.dense(pattern).sum(axis=0), rtol=1e-10)
        other = scaled.with_prior(0.7, sums)
        np.testing.assert_allclose(
            other.dense(pattern), factor * of_data + 0.7 * pattern, rtol=1e-10
        )
        np.testing.assert_allclose(other.totals, other.dense(pattern).sum(axis=0), rtol=1e-10)
        assert np.shares_memory(other.stored, table.stored)
    np.testing.assert_allclose(table.dense(pattern), of_data + of_prior, rtol=1e-10)
