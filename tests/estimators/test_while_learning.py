"""An estimator that is used by one thread while another one learns."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from tests.helpers import planted_lda, snapshot
from trustream import LatentDirichletAllocation
from trustream.inference.restoring import ReplacedError
from trustream.models.lda.model import LdaModel

COUNTS = planted_lda(np.random.default_rng(0), 3, 60, 200, 20, 0.2, 0.1)[0]


def during_the_step(monkeypatch: pytest.MonkeyPatch, work: Any) -> threading.Thread:
    """A thread that does the work just after the next step has overwritten rows of lambda."""
    thread, commit = threading.Thread(target=work), LdaModel.commit

    def committed(*arguments: Any) -> Any:
        found = commit(*arguments)
        monkeypatch.setattr(LdaModel, "commit", commit)
        thread.start()
        thread.join(0.5)  # it waits for the step, or would be done by now
        return found

    monkeypatch.setattr(LdaModel, "commit", committed)
    return thread


def test_looking_at_it_does_not_change_what_it_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at, alone = (
        LatentDirichletAllocation(3, random_state=0).partial_fit(COUNTS[:100]) for _ in range(2)
    )
    found: list[Any] = []
    reader = during_the_step(monkeypatch, lambda: found.append(looked_at.transform(COUNTS[:5])))
    looked_at.partial_fit(COUNTS[100:])
    reader.join()
    alone.partial_fit(COUNTS[100:])
    assert snapshot(looked_at._state) == snapshot(alone._state)
    np.testing.assert_array_equal(found[0], alone.transform(COUNTS[:5]))


def test_two_that_learn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one is refused, and the model has the step of the first."""
    shared, alone = (
        LatentDirichletAllocation(3, random_state=0).partial_fit(COUNTS[:100]) for _ in range(2)
    )
    errors: list[Exception] = []

    def learn() -> None:
        try:
            shared.partial_fit(COUNTS[:50])
        except ReplacedError as error:
            errors.append(error)

    other = during_the_step(monkeypatch, learn)
    shared.partial_fit(COUNTS[100:])
    other.join()
    alone.partial_fit(COUNTS[100:])
    assert len(errors) == 1
    assert snapshot(shared._state) == snapshot(alone._state)
