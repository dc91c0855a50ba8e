"""Batches in parts: their sums are those of the batch, and both ways to step are what they say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.helpers import planted_lda, snapshot
from trustream.inference import divided, trust_region
from trustream.inference.divided import DividedBatch, DividedLocal, DividedModel, PartsHere
from trustream.inference.state import State
from trustream.learning import defaults, recipe_json
from trustream.learning.executor import InParts, split
from trustream.learning.learner import Learner
from trustream.learning.recipe import DataSize, Recipe
from trustream.models.lda import LdaModel, LdaPrior
from trustream.models.lda.seeds import SeedRows
from trustream.models.mixture import BernoulliModel

K, V = 4, 50
COUNTS, _ = planted_lda(np.random.default_rng(1), K, V, 120, 25, 0.2, 0.1)


def lda(**options: Any) -> LdaModel:
    return LdaModel(K, V, dtype="float64", **options)


def recipe(n_parts: int, exact_steps: int | None = None, **options: Any) -> Recipe:
    chosen = defaults.for_topics(K, max_doc_topics=None, **options)
    return replace(chosen, n_parts=n_parts, exact_steps=exact_steps)


def learned(model: LdaModel, chosen: Recipe, prior: LdaPrior | None = None) -> State:
    """A state after steps with a mean, of batches of several sizes."""
    learner, rng = Learner(model, chosen), np.random.default_rng(0)
    state = learner.start(prior or LdaPrior.of(0.1, 0.1, K, V), rng)
    size = DataSize(120, float(COUNTS.sum()), V)
    for rows in (slice(0, 40), slice(40, 47), slice(47, 110), slice(110, 120)):
        state = learner.smoothed(state, COUNTS[rows], rng)
        window = 60.0 if learner.algorithm.has_population else None
        state, _ = learner.step(
            state,
            learner.batch(COUNTS, rows),
            120,
            rng=rng,
            population=learner.population(size),
            window=window,
        )
    return state


def numbers(state: State, model: LdaModel) -> list[Any]:
    tables = [state.lambda_] + ([] if state.mean is None else [state.mean.lambda_])
    dense = [table.dense(state.prior.pattern) for table in tables]
    return [*dense, state.prior.alpha, state.prior.eta * state.prior.pattern]


SEEDS = SeedRows(np.array([3, 17]), np.eye(K)[:2] * 0.5)
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], LdaPrior | None]] = {
    "trust region": ({}, {}, None),
    "natural gradient": ({}, {"method": "natural-gradient"}, None),
    "streaming VB": ({}, {"method": "streaming-vb"}, None),
    "adaptive rate": ({}, {"adaptive": True}, None),
    "eta for each word": ({"eta_per_word": True}, {"learn_priors": "per-word"}, None),
    "seeds": ({}, {}, replace(LdaPrior.of(0.1, 0.1, K, V), seeds=SEEDS)),
    "prior for each word": ({}, {}, LdaPrior.of(0.1, np.linspace(0.05, 0.2, V), K, V)),
    "few topics a document": ({"max_doc_topics": 2}, {}, None),
    "reference kernels": ({"backend": "reference"}, {}, None),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n_parts", [2, 7, 64])
def test_exact_steps_are_those_of_the_whole_batch(case: str, n_parts: int) -> None:
    """Whatever the parts; a batch of ten documents has ten at most."""
    settings, options, prior = CASES[case]
    model = lda(**settings)
    whole = numbers(learned(model, recipe(1, **options), prior), model)
    parts = numbers(learned(model, recipe(n_parts, **options), prior), model)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-10)


def test_one_part_is_the_batch_itself() -> None:
    """The default: not even the last bits change."""
    plain = defaults.for_topics(K, max_doc_topics=None)
    assert snapshot(learned(lda(), plain)) == snapshot(learned(lda(), recipe(1)))
    assert snapshot(learned(lda(), recipe(2))) != snapshot(learned(lda(), recipe(3)))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_threads_change_nothing(n_threads: int) -> None:
    one = learned(lda(), recipe(3, 2))
    assert snapshot(learned(lda(n_threads=n_threads), recipe(3, 2))) == snapshot(one)


def test_a_local_step_combines_the_steps_of_parts() -> None:
    """(1 - rho) lambda_t + rho (eta + N/B sum_p s_p), each s_p from a step on the part alone."""
    model, prior, rho, n = lda(), LdaPrior.of(0.1, 0.1, K, V), 0.3, 1000.0
    lambda_ = model.initial(prior, np.random.default_rng(0))
    before = lambda_.dense(prior.pattern)
    total = np.zeros((V, K))
    parts = [slice(0, 13), slice(13, 30)]
    for part in parts:
        batch = model.batch(COUNTS, part)
        found = trust_region.solve(
            model, model.restrict(lambda_, prior, batch), prior, batch, rho=rho, n_documents=n,
            n_inner=3, n_local=20,
        )  # fmt: skip
        total[batch.words] += model.materialise(found.statistics).rows
    expected = (1 - rho) * before + rho * (0.1 + n / 30 * total)
    batches = [model.batch(COUNTS, part) for part in parts]
    joined = model.joined([model.outline(batch) for batch in batches])
    state, info = divided.step(
        DividedModel(model), State(lambda_, prior), DividedBatch(joined, PartsHere(batches)),
        rho=rho, n_documents=n, n_inner=3, n_local=20,
    )  # fmt: skip
    np.testing.assert_allclose(state.lambda_.dense(prior.pattern), expected, rtol=1e-9)
    assert (info.batch_size, state.n_seen) == (30, 30)


def test_local_steps_follow_exact_ones() -> None:
    exact, local = learned(lda(), recipe(3)), learned(lda(), recipe(3, 2))
    assert snapshot(learned(lda(), recipe(3, 4))) == snapshot(exact) != snapshot(local)


def test_bounds_of_documents_are_those_of_the_batch() -> None:
    model, prior = lda(), LdaPrior.of(0.1, 0.1, K, V)
    lambda_ = model.initial(prior, np.random.default_rng(0))
    batch = model.batch(COUNTS, slice(0, 30))
    natural = model.restrict(lambda_, prior, batch)
    gamma, _ = model.local_step(natural, prior, batch, model.beliefs(prior, batch, None)[0], 9, 0.0)
    expected = model.local_bound(natural, prior, batch, gamma)
    learner = Learner(model, recipe(4))
    in_parts, parted = learner.executor.model(model), learner.batch(COUNTS, slice(0, 30))
    natural = model.restrict(lambda_, prior, parted)
    local, _ = in_parts.local_step(natural, prior, parted, DividedLocal(), 9, 0.0)
    np.testing.assert_allclose(in_parts.local_bound(natural, prior, parted, local), expected)


def test_beliefs_that_are_gone_are_not_made_up() -> None:
    model, prior = lda(), LdaPrior.of(0.1, 0.1, K, V)
    lambda_ = model.initial(prior, np.random.default_rng(0))
    learner = Learner(model, recipe(2))
    in_parts, batch = learner.executor.model(model), learner.batch(COUNTS, slice(0, 30))
    natural = model.restrict(lambda_, prior, batch)
    first, _ = in_parts.local_step(natural, prior, batch, DividedLocal(), 2, 0.0)
    in_parts.local_step(natural, prior, batch, first, 2, 0.0)
    with pytest.raises(ValueError, match=r"not the newest ones.*begin again"):
        in_parts.local_step(natural, prior, batch, first, 2, 0.0)
    with pytest.raises(ValueError, match="start uniform"):
        in_parts.beliefs(prior, batch, np.ones(1))


def test_documents_without_words() -> None:
    empty = sparse.csr_array((6, V))
    some = sparse.vstack([COUNTS[:5], empty], format="csr")
    learner, rng = Learner(lda(), recipe(11)), np.random.default_rng(0)
    state = learner.start(LdaPrior.of(0.1, 0.1, K, V), rng)
    state, info = learner.step(state, learner.batch(some), 11, rng=rng, rho=0.5)
    assert info.batch_size == 11 and np.isfinite(state.lambda_.totals).all()
    before = snapshot(state.lambda_.dense(state.prior.pattern).argsort(axis=1))
    state, _ = learner.step(state, learner.batch(empty), 6, rng=rng, rho=0.5)
    assert snapshot(state.lambda_.dense(state.prior.pattern).argsort(axis=1)) == before


def test_parts_are_even_and_in_order() -> None:
    for n, n_parts in ((10, 3), (2, 5), (0, 2), (7, 7)):
        parts = split(n, slice(None), n_parts)
        rows = np.concatenate([np.arange(n)[part] for part in parts])
        assert rows.tolist() == [*range(n)]
        assert len(parts) == max(1, min(n, n_parts))


@pytest.mark.parametrize("method", ["batch", "memoized", "streaming-batch"])
def test_methods_without_batches_are_refused(method: str) -> None:
    with pytest.raises(ValueError, match=f"n_parts is 2, and {method} goes through all data"):
        Learner(lda(), recipe(2, method=method))


def test_models_without_parts_are_refused() -> None:
    with pytest.raises(TypeError, match="a batch in parts needs a model with Dividing"):
        InParts(2).model(BernoulliModel(n_components=2, n_features=3))


def test_recipes_in_files() -> None:
    chosen = recipe(8, 30)
    values = recipe_json.to_json(chosen)
    assert recipe_json.from_json(values) == chosen
    old = {name: value for name, value in values.items() if name not in ("n_parts", "exact_steps")}
    assert (recipe_json.from_json(old).n_parts, recipe_json.from_json(old).exact_steps) == (1, None)
    with pytest.raises(ValueError, match="n_parts"):
        recipe_json.from_json({**values, "n_parts": 0})
