"""Interrupts while something is learned: each step is taken wholly or not at all."""

from __future__ import annotations

import copy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.helpers import planted_lda, snapshot
from tests.reliability.interrupts import count_moments, interrupted
from tests.reliability.rounds import few_or_many, rounds
from trustream import (
    BayesianLinearRegression,
    BernoulliMixture,
    GaussianMixture,
    HiddenMarkovModel,
    LatentDirichletAllocation,
    PoissonFactorization,
    PoissonRecommender,
    ProbitRegression,
    StreamTrainer,
    TopicRecommender,
    open_store,
)
from trustream.recommender.base import Recommender
from trustream.store.protocol import Store
from trustream.store.records import Record
from trustream.streaming.published import load_checkpoint

COUNTS = planted_lda(np.random.default_rng(0), 3, 60, 400, 20, 0.2, 0.1)[0]
POINTS = np.random.default_rng(1).normal(size=(400, 3))
SYMBOLS = np.random.default_rng(3).integers(4, size=(400, 1))


class Responses:
    """Features, a response, and for regressions with groups one of eight for each row."""

    def __init__(self, grouped: bool, probit: bool) -> None:
        rng = np.random.default_rng(4)
        y = POINTS @ [1.0, -1.0, 0.5] + rng.normal(size=400)
        self.columns = [POINTS, y > 0 if probit else y]
        if grouped:
            self.columns.append(rng.integers(8, size=400))

    def __getitem__(self, rows: Any) -> list[Any]:
        return [column[rows] for column in self.columns]


LDA: dict[str, dict[str, Any]] = {
    "trust-region": {},
    "three-threads": {"n_jobs": 3},
    "per-word": {"learn_priors": "per-word", "dtype": "float64"},
    "seeded": {"topic_word_prior": np.random.default_rng(2).uniform(0.05, 0.5, (3, 60))},
    "adaptive": {"learning_rate": "adaptive", "learning_method": "natural-gradient"},
    "collapsed": {"local": "collapsed"},
    "streaming-vb": {"learning_method": "streaming-vb"},
    "streaming-batch": {"learning_method": "streaming-batch", "inner_iter": 2},
    # lambda is written out anew in every step.
    "full-rate": {"learning_decay": 0.0, "learning_offset": 1.0},
}


def estimators() -> dict[str, tuple[Any, Any]]:
    """Estimators by name, and the data that each learns from."""
    cases: dict[str, tuple[Any, Any]] = {
        name: (LatentDirichletAllocation(3, random_state=0, **options), COUNTS)
        for name, options in LDA.items()
    }
    binary = sparse.csr_matrix(COUNTS > 0).astype(np.float64)
    cases["bernoulli"] = BernoulliMixture(3, random_state=0), binary
    cases["gaussian"] = GaussianMixture(2, random_state=0), POINTS
    cases["recommender"] = TopicRecommender(3, random_state=0), binary
    cases["factorization"] = PoissonFactorization(3, random_state=0), COUNTS
    cases["poisson-recommender"] = PoissonRecommender(3, random_state=0), binary
    cases["hmm"] = HiddenMarkovModel(3, n_symbols=4, n_init=2, random_state=0), SYMBOLS
    cases["hmm-bernoulli"] = HiddenMarkovModel(3, "bernoulli", random_state=0), binary
    cut = {"subchain_length": 4, "subchain_buffer": 2, "learning_rate": "adaptive"}
    cases["hmm-gaussian"] = HiddenMarkovModel(2, "gaussian", random_state=0, **cut), POINTS
    cases["linear"] = BayesianLinearRegression(random_state=0), Responses(False, False)
    cases["probit"] = ProbitRegression(random_state=0), Responses(False, True)
    # Groups that come again: what is remembered of them belongs to the step.
    again: dict[str, Any] = {"learning_method": "trust-region", "random_state": 0}
    cases["linear-groups"] = BayesianLinearRegression(**again), Responses(True, False)
    cases["probit-groups"] = ProbitRegression(**again), Responses(True, True)
    return cases


def numbers(estimator: Any) -> Any:
    """All that the estimator has learned, random states included."""
    parts: list[Any] = []
    if isinstance(estimator, Recommender):
        parts = [*estimator._data.users.values, *estimator._data.weights.data]
        estimator = estimator._estimator
    if getattr(estimator, "_known", None) is not None:
        parts.append(estimator._remembered())
    state = estimator._state
    learned = [state.lambda_, state.prior, state.n_steps, state.n_seen, estimator._n_samples_seen]
    if state.memory is not None:
        learned.append(state.memory)
    return snapshot([*learned, estimator._rng.random(2).tolist(), *parts])


def peeked(estimator: Any) -> Any:
    """`numbers` without a trace in the estimator's generator."""
    return numbers(copy.deepcopy(estimator))


def learn(estimator: Any, data: Any, rows: Any) -> None:
    if isinstance(estimator, Recommender):
        estimator.partial_fit(data[rows], user_ids=rows.tolist())
    elif isinstance(estimator, HiddenMarkovModel):
        estimator.partial_fit(data[rows], [10] * (len(rows) // 10))
    elif isinstance(data, Responses):
        estimator.partial_fit(*data[rows])
    else:
        estimator.partial_fit(data[rows])


@pytest.mark.parametrize(
    "n", [12, pytest.param(1000 // len(estimators()) + 1, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", estimators())
def test_partial_fit(name: str, n: int) -> None:
    estimator, data = estimators()[name]
    rng = np.random.default_rng(7)
    learn(estimator, data, np.arange(40))
    # The second call may compile further kernels, which has many times as many moments.
    learn(copy.deepcopy(estimator), data, np.arange(40))
    length = count_moments(lambda: learn(copy.deepcopy(estimator), data, np.arange(40)))
    hit = 0
    for _ in range(rounds(n)):
        rows = np.sort(rng.choice(400, 40, replace=False))
        before, twin = peeked(estimator), copy.deepcopy(estimator)
        learn(twin, data, rows)
        after = peeked(twin)
        stopped = interrupted(
            lambda rows=rows: learn(estimator, data, rows), int(rng.integers(1, length))
        )
        hit += stopped
        found = peeked(estimator)
        assert found == after if not stopped else found in (before, after)
        if found == before:
            learn(estimator, data, rows)
            assert peeked(estimator) == after
    assert hit > n / 3


def documents(store: Store, number: int) -> None:
    """A few more documents, with words that come and go."""
    rng = np.random.default_rng(number)
    store.append(
        Record(
            f"{number}-{i}",
            [f"word{w}" for w in rng.integers(5 * number, 5 * number + 40, 30)],
            time=float(number),
        )
        for i in range(15)
    )
    if number > 6:
        store.keep(newest=90)


@pytest.mark.parametrize(("n", "part"), few_or_many(15, 1000, parts=8))
@pytest.mark.parametrize("method", ["trust-region", "streaming-vb"])
def test_trainer(tmp_path: Path, method: str, n: int, part: int) -> None:
    """What is saved and what is kept is what an uninterrupted trainer had after as many steps."""
    n_steps = 14
    options: dict[str, Any] = {
        "method": method, "batch_size": 10, "inner_iter": 2, "score_every": 5, "prefetch": False,
        "n_jobs": 2,
    }  # fmt: skip
    made: dict[str, Any] = {"min_documents": 2, "max_words": 50, "held_out": 0.1}

    def state_of(checkpoint: Any) -> Any:
        state = checkpoint.state
        numbers = [state.lambda_, state.prior, checkpoint.others, checkpoint.draws]
        return snapshot([*numbers, checkpoint.clock, checkpoint.arrival]), [*checkpoint.words]

    def check(found: Any) -> None:
        numbers, words = expected[found.state.n_steps]
        if found.words == words:
            assert state_of(found)[0] == numbers
        else:  # it has taken in the words for the next step, and not taken that yet
            lambda_ = found.state.lambda_
            rows = lambda_.dense(found.state.prior.pattern)
            assert rows.shape[0] == len(found.words)
            np.testing.assert_allclose(lambda_.totals, rows.sum(axis=0), rtol=1e-4)

    expected: dict[int, Any] = {}
    with open_store(tmp_path / "whole.db", **made) as store:
        with StreamTrainer(store, 4, **options) as trainer:
            for step in range(1, n_steps + 1):
                documents(store, step)
                trainer.run(steps=1)
                expected[step] = state_of(trainer.checkpoint())
            length = count_moments(lambda: trainer.run(steps=1))
    rng, hit, turn = np.random.default_rng(8 + part), 0, 0
    while hit < rounds(n):
        turn += 1
        with open_store(tmp_path / f"{turn}.db", **made) as store:
            trainer = StreamTrainer(store, 4, **options)
            for step in range(1, n_steps + 1):
                documents(store, step)
                while trainer.n_steps < step:
                    moment = int(rng.integers(1, 1.3 * length))
                    hit += interrupted(partial(trainer.run, steps=1), moment)
                    kept, saved = trainer.checkpoint(), load_checkpoint(store)
                    for found in (kept, saved):
                        if found is not None:
                            check(found)
                    if rng.random() < 0.2:
                        trainer.close()
                        trainer = StreamTrainer(store, 4, **options)
                kept = trainer.checkpoint()
                assert kept is not None and state_of(kept) == expected[step]
                trainer.save()  # an interrupt may have come before it was saved
            trainer.close()
