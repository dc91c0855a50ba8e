"""A new algorithm is one file and one line: estimators, trainers and commands then take it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests.helpers import matched_cosines, planted_lda
from tests.learning.half_step import HalfStep
from trustream import BernoulliMixture, LatentDirichletAllocation, StreamTrainer, open_store
from trustream.cli import main
from trustream.learning import algorithms
from trustream.store.records import Record
from trustream.streaming.published import load_checkpoint, load_settings


@pytest.fixture
def registered(monkeypatch):
    """The line in the registry."""
    monkeypatch.setattr(algorithms, "ALGORITHMS", [*algorithms.ALGORITHMS, HalfStep()])


def test_names_are_unique():
    names = algorithms.names()
    assert len(set(names)) == len(names)
    for name in names:
        found = algorithms.get(name)
        assert name in (found.name, *found.aliases)


def test_unknown_ones_are_refused():
    with pytest.raises(ValueError, match="there is no algorithm 'half-step': use one of trust-reg"):
        algorithms.get("half-step")
    with pytest.raises(ValueError, match="learning_method"):
        LatentDirichletAllocation(2, learning_method="half-step").fit(np.eye(3))


@pytest.mark.usefixtures("registered")
def test_estimators_take_it():
    counts, topics = planted_lda(np.random.default_rng(0), 3, 40, 300, 30, 0.1, 0.1)
    lda = LatentDirichletAllocation(3, learning_method="half-step", random_state=0).fit(counts)
    found = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    assert matched_cosines(found, topics).min() > 0.9
    before = lda.n_batch_iter_
    assert lda.partial_fit(counts[:50]).n_batch_iter_ == before + 1
    mixture = BernoulliMixture(2, learning_method="half-step", random_state=0)
    labels = mixture.fit(np.repeat([[1, 1, 0], [0, 0, 1]], 50, axis=0)).predict(np.eye(3)[[0, 2]])
    assert labels[0] != labels[1]


@pytest.mark.usefixtures("registered")
def test_trainers_and_commands_take_it(tmp_path: Path):
    path = tmp_path / "store.db"
    arguments = [
        "init",
        str(path),
        "--topics",
        "2",
        "--method",
        "half-step",
        "--min-documents",
        "1",
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    with open_store(path) as store:
        store.append(Record(f"d{i}", ["cat", "dog"] if i % 2 else ["bond"]) for i in range(50))
        with StreamTrainer(store, model=load_settings(store), prefetch=False) as trainer:
            trainer.run(steps=3)
        checkpoint = load_checkpoint(store)
        assert checkpoint.model.recipe.method == "half-step"
        with StreamTrainer(store, prefetch=False) as trainer:
            trainer.run(steps=2)
            assert trainer.n_steps == 5
