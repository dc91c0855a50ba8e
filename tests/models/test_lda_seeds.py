"""Seeds of topics: the extra tokens of seed words, in every algorithm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from trustream.inference import batch as batch_vb
from trustream.inference import trust_region
from trustream.inference.population import published, scaled_to
from trustream.inference.state import State
from trustream.models.lda import CollapsedLdaModel, LdaModel, LdaPrior
from trustream.models.lda.seeds import SeedRows

K, V = 3, 7
COUNTS = sparse.csr_array(
    np.array(
        [
            [4, 1, 0, 0, 0, 2, 0],
            [0, 0, 5, 1, 0, 0, 0],
            [1, 2, 0, 0, 3, 0, 0],
            [0, 1, 2, 0, 0, 2, 1],
            [0, 0, 0, 3, 2, 0, 0],
        ],
        np.float64,
    )
)
# Word 1 in topic 0, word 4 in topics 0 and 2; word 6 in topic 1.
SEEDS = SeedRows(np.array([1, 4, 6]), np.array([[0.5, 0, 0], [0.25, 0, 2.0], [0, 1.0, 0]]))
TOKENS = np.asarray(COUNTS.sum(axis=0)).reshape(-1)


def prior() -> LdaPrior:
    return replace(LdaPrior.of(0.3, 0.2, K, V), seeds=SEEDS)


def expected_extra() -> np.ndarray:
    extra = np.zeros((V, K))
    extra[SEEDS.places] = TOKENS[SEEDS.places, None] * SEEDS.weights
    return extra


HELD = K * SEEDS.weights


def row_sums() -> np.ndarray:
    """What the rows of lambda - eta sum to: tokens, extra tokens, and those that are held."""
    sums = TOKENS + expected_extra().sum(axis=1)
    sums[SEEDS.places] += HELD.sum(axis=1)
    return sums


@pytest.mark.parametrize("model_type", [LdaModel, CollapsedLdaModel])
@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_statistics_and_blends_have_the_extra_tokens(model_type: type, backend: str) -> None:
    model = model_type(K, V, "float64", backend)
    rng = np.random.default_rng(0)
    lambda_ = model.initial(prior(), rng)
    dense = lambda_.dense(np.ones((1, 1)))
    for rows in (slice(0, 5), np.array([1, 3])):
        batch = model.batch(COUNTS, rows)
        natural = model.restrict(lambda_, prior(), batch)
        tokens = np.asarray(COUNTS[rows].sum(axis=0)).reshape(-1)
        extra = np.zeros((V, K))
        extra[SEEDS.places] = tokens[SEEDS.places, None] * SEEDS.weights
        plain = replace(prior(), seeds=None)
        for phi in (None, rng.dirichlet(np.ones(K), batch.counts.size)):
            gamma, s = model.beliefs(prior(), batch, phi)
            gamma_plain, s_plain = model.beliefs(plain, batch, phi)
            np.testing.assert_array_equal(gamma, gamma_plain)
            np.testing.assert_allclose(s.rows - s_plain.rows, extra[batch.words], atol=1e-12)
            np.testing.assert_allclose(s.totals - s_plain.totals, extra.sum(axis=0), atol=1e-12)
        gamma, _ = model.beliefs(prior(), batch, None)
        _, lazy = model.local_step(natural, prior(), batch, gamma, 20, 0.0)
        _, made = model.local_step(natural, prior(), batch, gamma, 20, 0.0)
        _, without = model.local_step(natural, plain, batch, gamma, 20, 0.0)
        s = model.materialise(made)
        np.testing.assert_allclose(
            s.rows - model.materialise(without).rows, extra[batch.words], atol=1e-12
        )
        # Equation 14, from statistics that are made and from those that are not, in one pass.
        rho, scale = 0.3, 2.5
        eta = np.full((V, K), 0.2)
        eta[SEEDS.places] += HELD
        wanted = (1 - rho) * dense[batch.words] + rho * (eta[batch.words] + scale * s.rows)
        for statistics in (lazy, made):
            blended = model.blend(natural, prior(), batch, statistics, rho, scale)
            rows_, totals = model.materialise(blended)
            np.testing.assert_allclose(rows_, wanted, rtol=1e-9)
            all_words = (1 - rho) * dense.sum(axis=0)
            all_words += rho * (eta.sum(axis=0) + scale * s.totals)
            np.testing.assert_allclose(totals, all_words, rtol=1e-9)
            # Words that the batch lacks decay to eta, and to what is held.
            table = model.commit(lambda_.copy(), prior(), batch, blended, rho)
            stored = table.dense(np.ones((1, 1)))
            found = table.dense(np.ones((1, 1)))
            target = eta.copy()
            target[batch.words] += scale * s.rows
            np.testing.assert_allclose(found, (1 - rho) * dense + rho * target, rtol=1e-9)
            np.testing.assert_allclose(table.totals, found.sum(axis=0), rtol=1e-9)
            mean = model.initial(prior(), np.random.default_rng(5))
            before = mean.dense(np.ones((1, 1)))
            table, mean = model.commit_averaged(
                mean, lambda_.copy(), prior(), batch, blended, rho, 0.1
            )
            np.testing.assert_array_equal(table.dense(np.ones((1, 1))), stored)
            found = mean.dense(np.ones((1, 1)))
            np.testing.assert_allclose(found, 0.9 * before + 0.1 * target, rtol=1e-9)
            np.testing.assert_allclose(mean.totals, found.sum(axis=0), rtol=1e-9)
        table = model.blend(natural, prior(), batch, lazy, rho, scale).table(model.computation)
        again = model.blend(natural, prior(), batch, made, rho, scale).table(model.computation)
        np.testing.assert_allclose(table.table, again.table, rtol=1e-9)


def test_coordinate_ascent_never_lowers_the_bound_of_documents_and_extra_tokens() -> None:
    model = LdaModel(K, V, "float64", n_threads=1)
    state = State(model.initial(prior(), np.random.default_rng(1)), prior())
    beliefs, bounds = None, []
    for _ in range(30):
        state, info = batch_vb.step(model, state, COUNTS, [np.arange(5)], beliefs, n_local=100)
        beliefs = info.local
        bounds.append(info.objective[0])
        # lambda = eta + s + a n: the words' rows have all tokens, and the extra ones.
        rows = state.lambda_.dense(state.prior.pattern) - 0.2
        np.testing.assert_allclose(rows.sum(axis=1), row_sums())
        assert (rows >= expected_extra() - 1e-9).all()
    assert np.diff(bounds).min() > -1e-9
    # The control: without the extra tokens the same path is no ascent of the bound.
    plain = replace(state.prior, seeds=None)
    batch = model.batch(COUNTS, slice(0, 5))
    natural = model.restrict(state.lambda_, plain, batch)
    seeded = model.local_bound(natural, prior(), batch, beliefs[0]).sum()
    assert seeded < model.local_bound(natural, plain, batch, beliefs[0]).sum()


def test_a_seed_has_the_same_weight_in_any_population() -> None:
    model = LdaModel(K, V, "float64", n_threads=1)
    for population in (5.0, 50.0, 5000.0):
        state = State(model.initial(prior(), np.random.default_rng(1)), prior())
        state = scaled_to(model, state, population, 5)
        for _ in range(3):
            batch = model.batch(COUNTS, slice(0, 5))
            state, _ = trust_region.step(
                model, state, batch, rho=1.0, n_documents=population, n_inner=3, n_local=50
            )
        shown = published(model, state)
        rows = shown.lambda_.dense(shown.prior.pattern) - shown.prior.eta
        tokens = TOKENS + expected_extra().sum(axis=1)
        # What is held is there once, however large the population.
        held = (row_sums() - tokens) * 5 / population
        np.testing.assert_allclose(rows.sum(axis=1), tokens + held)
        assert shown.prior.seeds is None


def test_memoized_inference_takes_out_what_it_put_in() -> None:
    model = LdaModel(K, V, "float64", n_threads=1)
    total = model.running_total()
    batch = model.batch(COUNTS, slice(0, 5))
    old = new = None
    for seed in range(4):
        lambda_ = model.initial(prior(), np.random.default_rng(seed))
        natural = model.restrict(lambda_, prior(), batch)
        gamma, _ = model.beliefs(prior(), batch, None)
        _, new = model.local_step(natural, prior(), batch, gamma, 20, 0.0)
        total = model.exchange(total, batch, old, new)
        old = new
    np.testing.assert_allclose(
        total.rows.sum(axis=1), TOKENS + expected_extra().sum(axis=1), rtol=1e-12
    )


def test_seeds_of_columns_that_change() -> None:
    changed = SEEDS.changed([4], {2: np.array([0.0, 0.0, 3.0]), 1: np.array([1.0, 0.0, 0.0])})
    assert changed is not None
    assert changed.places.tolist() == [1, 2, 6]
    assert changed.weights[0].tolist() == [1.0, 0.0, 0.0]
    assert SEEDS.changed([1, 4, 6], {}) is None
