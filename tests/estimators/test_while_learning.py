"""An estimator that is used by one thread while another one learns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.helpers import planted_lda, snapshot
from trustream import (
    BayesianLinearRegression,
    HiddenMarkovModel,
    LatentDirichletAllocation,
    PoissonFactorization,
)
from trustream.inference.restoring import ReplacedStateError
from trustream.models.dense_model import DenseModel
from trustream.models.factorization.model import FactorModel
from trustream.models.lda.model import LdaModel

COUNTS = planted_lda(np.random.default_rng(0), 3, 60, 200, 20, 0.2, 0.1)[0]
SYMBOLS = np.random.default_rng(0).integers(4, size=(200, 1))
X, Y, GROUPS = (np.random.default_rng(1).normal(size=(200, 4)).T[i] for i in (slice(2), 2, 3))
X, GROUPS = X.T, np.digitize(GROUPS, [-1, -0.3, 0.3, 1])


class Case(NamedTuple):
    """An estimator, the class whose `commit` ends a step, two parts of its data, and a look."""

    make: Callable[[], Any]
    model: type
    first: tuple[Any, ...]
    second: tuple[Any, ...]
    look: Callable[[Any], Any]


CASES = {
    "lda": Case(
        lambda: LatentDirichletAllocation(3, random_state=0),
        LdaModel,
        (COUNTS[:100],),
        (COUNTS[100:],),
        lambda it: it.transform(COUNTS[:5]),
    ),
    "factorization": Case(
        lambda: PoissonFactorization(3, random_state=0),
        FactorModel,
        (COUNTS[:100],),
        (COUNTS[100:],),
        lambda it: it.transform(COUNTS[:5]),
    ),
    "hmm": Case(
        lambda: HiddenMarkovModel(3, n_symbols=4, n_init=1, random_state=0),
        DenseModel,
        (SYMBOLS[:100], [20] * 5),
        (SYMBOLS[100:], [50, 50]),
        lambda it: it.predict_proba(SYMBOLS[:5]),
    ),
    # Groups of the first part come again in the second.
    "linear-groups": Case(
        lambda: BayesianLinearRegression(
            learning_method="trust-region", covariance_prior=1.0, random_state=0
        ),
        DenseModel,
        (X[:100], Y[:100], GROUPS[:100]),
        (X[100:], Y[100:], GROUPS[100:]),
        lambda it: it.predict(X[:5], GROUPS[:5]),
    ),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def learned(estimator: Any) -> Any:
    """The bits of all that it has learned."""
    groups = estimator._remembered() if hasattr(estimator, "_known") else {}
    return snapshot([estimator._state, groups])


def during_the_step(monkeypatch: pytest.MonkeyPatch, model: Any, work: Any) -> threading.Thread:
    """A thread that does the work just after the next step has overwritten rows of lambda."""
    thread = threading.Thread(target=work)

    def before_the_thread(original: Any) -> Any:
        def committed(*arguments: Any) -> Any:
            found = original(*arguments)
            for name, function in originals.items():
                monkeypatch.setattr(model, name, function)
            thread.start()
            thread.join(0.5)  # it waits for the step, or would be done by now
            return found

        return committed

    # With a mean beside lambda, or without one.
    originals = {name: getattr(model, name) for name in ("commit", "commit_averaged")}
    for name, function in originals.items():
        monkeypatch.setattr(model, name, before_the_thread(function))
    return thread


@each_case
def test_looking_at_it_does_not_change_what_it_learns(
    monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    looked_at, alone = (case.make().partial_fit(*case.first) for _ in range(2))
    found: list[Any] = []
    reader = during_the_step(monkeypatch, case.model, lambda: found.append(case.look(looked_at)))
    looked_at.partial_fit(*case.second)
    reader.join()
    alone.partial_fit(*case.second)
    assert learned(looked_at) == learned(alone)
    np.testing.assert_array_equal(found[0], case.look(alone))


@each_case
def test_two_that_learn_at_once(monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    """The second one is refused, and the model has the step of the first."""
    shared, alone = (case.make().partial_fit(*case.first) for _ in range(2))
    errors: list[Exception] = []

    def learn() -> None:
        try:
            shared.partial_fit(*case.first)
        except ReplacedStateError as error:
            errors.append(error)

    other = during_the_step(monkeypatch, case.model, learn)
    shared.partial_fit(*case.second)
    other.join()
    alone.partial_fit(*case.second)
    assert len(errors) == 1
    assert learned(shared) == learned(alone)
