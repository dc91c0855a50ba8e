"""The learner: what `fit`, `partial_fit` and a stream have in common, and who computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.helpers import planted_lda, snapshot
from trustream import BernoulliMixture, LatentDirichletAllocation
from trustream.inference.algorithm import Algorithm, StepOptions
from trustream.inference.population import published
from trustream.inference.state import Info, State
from trustream.learning import algorithms, defaults, recipe_json
from trustream.learning.continuing import is_smoothed
from trustream.learning.executor import InProcess
from trustream.learning.learner import Learner
from trustream.learning.recipe import DataSize, Effort
from trustream.models.lda import LdaModel, LdaPrior
from trustream.models.mixture import BernoulliModel, BernoulliPrior

COUNTS, _ = planted_lda(np.random.default_rng(0), 3, 40, 200, 30, 0.1, 0.1)


def lda_learner(**options: Any) -> Learner:
    return Learner(LdaModel(3, 40), defaults.for_topics(3, max_doc_topics=None, **options))


def start(learner: Learner, seed: int = 0) -> tuple[State, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return learner.start(LdaPrior.of(0.1, 0.1, 3, 40), rng), rng


@pytest.mark.parametrize("method", ["trust-region", "natural-gradient", "streaming-vb"])
def test_passes_are_steps(method: str) -> None:
    """A pass is the steps that a caller would take by hand, bit for bit."""
    learner = lda_learner(method=method, batch_size=40, max_iter=2, cooldown=0.0)
    state, rng = start(learner)
    size = DataSize(200, float(COUNTS.sum()), 40)
    *_, (whole, _) = learner.passes(state, COUNTS, rng, size)
    state, rng = start(learner)
    per_pass, n_passes = learner.length(size)
    assert (per_pass, n_passes) == (5, 1 if method == "streaming-vb" else 2)
    for number in range(n_passes):
        for index, rows in enumerate(np.array_split(rng.permutation(200), 5)):
            state, _ = learner.step(
                state,
                learner.batch(COUNTS, np.sort(rows)),
                200,
                rng=rng,
                looks=number + index / 5,
                population=learner.population(size),
            )
    assert snapshot(state) == snapshot(whole)


def test_fit_is_the_learner() -> None:
    lda = LatentDirichletAllocation(3, random_state=0, max_doc_topics=None).fit(COUNTS)
    learner = lda_learner()
    state, rng = start(learner)
    *_, (state, _) = learner.passes(state, COUNTS, rng, DataSize(200, float(COUNTS.sum()), 40))
    state = learner.smoothed(state, COUNTS, rng)
    assert snapshot(state) == snapshot(lda._state)
    shown = published(learner.model, state)
    np.testing.assert_array_equal(shown.lambda_.dense(shown.prior.pattern).T, lda.components_)


def test_a_step_that_is_undone_leaves_nothing() -> None:
    learner = lda_learner(batch_size=50)
    state, rng = start(learner)
    before, undos = snapshot([state.lambda_, state.prior]), []
    learner.step(state, learner.batch(COUNTS, slice(0, 50)), 200, rng=rng, protect=undos.append)
    assert snapshot([state.lambda_, state.prior]) != before
    for undo in undos:
        undo()
    assert snapshot([state.lambda_, state.prior]) == before


class TwoWorkers:
    """Computes the local steps of a batch in two halves, as two workers would."""

    def __init__(self) -> None:
        self.n_steps = 0

    def model(self, model: Any) -> Any:
        return Distributed(model)

    def batch(self, algorithm: Algorithm, model: Any, data: Any, rows: Any) -> Any:
        return Halves([algorithm.batch(model, data, part) for part in np.array_split(rows, 2)])

    def step(
        self, algorithm: Algorithm, model: Any, state: State, batch: Any, options: StepOptions
    ) -> tuple[State, Info]:
        self.n_steps += 1
        return algorithm.step(Distributed(model), state, batch, options)


class Halves(list[Any]):
    @property
    def size(self) -> int:
        return sum(part.size for part in self)


class Distributed:
    """A mixture whose local steps are computed part by part; its Naturals are all of lambda."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def beliefs(self, prior: Any, batch: Halves, phi: Any) -> tuple[Any, Any]:
        return self._together(self._model.beliefs(prior, part, phi) for part in batch)

    def local_step(
        self, natural: Any, prior: Any, batch: Halves, local: Any, n_local: int, tol: float
    ) -> tuple[Any, Any]:
        return self._together(
            self._model.local_step(natural, prior, part, beliefs, n_local, tol)
            for part, beliefs in zip(batch, local, strict=True)
        )

    def _together(self, parts: Any) -> tuple[Any, Any]:
        locals_, statistics = zip(*parts, strict=True)
        sums = [sum(arrays) for arrays in zip(*statistics, strict=True)]
        return list(locals_), type(statistics[0])(*sums)


@pytest.mark.parametrize("method", ["trust-region", "natural-gradient"])
def test_an_executor_computes_elsewhere(method: str) -> None:
    """Two halves of every batch, and the same parameters but for rounding."""
    data = (np.random.default_rng(0).random((200, 12)) < 0.4).astype(float)
    model = BernoulliModel(n_components=3, n_features=12, dtype="float64")
    chosen = BernoulliMixture(3, learning_method=method, batch_size=40, max_iter=3)._recipe()
    results, workers = [], TwoWorkers()
    for executor in (InProcess(), workers):
        learner, rng = Learner(model, chosen, executor), np.random.default_rng(0)
        state = learner.start(BernoulliPrior(np.ones(3)), rng)
        *_, (state, _) = learner.passes(state, data, rng)
        results.append(state.lambda_)
    assert workers.n_steps == 15
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


# --- recipes


def test_effort_falls_as_topics_are_found() -> None:
    chosen = defaults.for_topics(100, max_iter=6)
    efforts = [chosen.effort_at(n, looks) for n, looks in ((0, 0), (29, 5), (30, 1.9), (30, 2.0))]
    assert efforts == [Effort(2, 50), Effort(2, 50), Effort(2, 15), Effort(1, 20)]
    # What a user says holds for all steps, and other algorithms have one effort.
    assert defaults.for_topics(100, inner_iter=3).late is None
    assert defaults.for_topics(100, collapsed=True).late is None
    given = defaults.for_topics(100, max_doc_update_iter=7)
    assert (given.effort, given.first, given.late) == (Effort(2, 7), None, None)
    assert defaults.for_topics(100, method="natural-gradient").first is None


def test_a_stream_learns_as_fit_does() -> None:
    """The same effort, batches and topics left alone; only the rate is another."""
    fit, stream = defaults.for_topics(600), defaults.for_stream(600)
    different = {name for name, value in vars(fit).items() if getattr(stream, name) != value}
    assert different == {"tau", "cooldown", "settling", "tol"}
    assert stream.max_doc_topics == 60
    assert [defaults.for_stream(k).tau for k in (20, 100, 600)] == [5.0, 5.0, 30.0]


@pytest.mark.parametrize("name", algorithms.names())
def test_recipes_survive_a_file(name: str) -> None:
    for chosen in (defaults.for_topics(50, method=name), defaults.for_stream(700, method=name)):
        assert recipe_json.from_json(recipe_json.to_json(chosen)) == chosen


@pytest.mark.parametrize(
    ("options", "lacks", "expected"),
    [
        ({}, (), 0.01),
        ({"population": None}, (), 0.0),
        # Once a step looked at its documents where equal ones were added, and before that never.
        ({}, ("least_separation",), 0.01),
        ({"population": None}, ("least_separation",), 0.0),
        ({}, ("least_separation", "equal_documents"), 0.0),
    ],
)
def test_recipes_of_before_learn_alpha_as_they_did(
    options: dict[str, Any], lacks: tuple[str, ...], expected: float
) -> None:
    values = recipe_json.to_json(defaults.for_topics(3, **options))
    for name in lacks:
        del values[name]
    assert recipe_json.from_json(values).least_separation == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "magic"}, "method in the recipe is 'magic'"),
        ({"tau": 0.0}, "tau in the recipe"),
        ({"kappa": float("nan")}, "kappa in the recipe"),
        ({"batch_size": 0}, "batch_size in the recipe is 0"),
        ({"effort": {"n_inner": 1}}, "missing from the effort: n_local"),
        ({"late": [1.0]}, "late in the recipe"),
        ({"late": ["x", {"n_inner": 1, "n_local": 1}]}, "from in the effort"),
        ({"learn": "alpha"}, "learn in the recipe"),
        ({"more": 1}, "unknown in the recipe: more"),
    ],
)
def test_damaged_recipes_are_refused(change: dict[str, Any], message: str) -> None:
    values = {**recipe_json.to_json(defaults.for_topics(3)), **change}
    with pytest.raises(ValueError, match=message):
        recipe_json.from_json(values)


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("n_batches", [1, 5])
def test_smoothing_is_asked_for_as_data_grow(size: int, n_batches: int) -> None:
    """Whenever what was looked at has grown by two fifths, and n_batches in a row.

    Steps alone are no measure: they grow with the store, so that between two powers of two a store
    can grow tenfold.
    """
    asked = [n for n in range(1, 2000) if is_smoothed(n, size * n, size, n_batches)]
    for first in range(1, 200):
        assert any(first <= n <= 1.42 * first + n_batches for n in asked), first
    last = [n for n in range(900, 2000) if not is_smoothed(n, size * n, size, n_batches)]
    assert len(last) > 0.9 * 1100 - 20 * n_batches
    runs = np.split(asked, np.flatnonzero(np.diff(asked) > 1) + 1)
    assert all(len(run) >= n_batches for run in runs if run[0] > 50 * n_batches)


def test_a_batch_of_few_words_is_asked_with_the_next_ones() -> None:
    model, topics = LdaModel(10, 50), defaults.for_topics(10)
    many, few = np.full((1000, 50), 1), np.full((10, 50), 1)
    data = [sparse.csr_matrix(counts) for counts in (many, few)]
    assert [model.smoothing_batches(X) for X in data] == [1, 40]
    state = State(None, None, n_steps=1003, n_seen=10**9)
    assert [Learner(model, topics).is_smoothed(state, X) for X in data] == [False, True]
