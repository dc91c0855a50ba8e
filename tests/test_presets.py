"""Presets are the rows of the paper's tables, and the estimator and the trainer take them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trustream import LatentDirichletAllocation, StreamTrainer, open_store, presets
from trustream.store.records import Record
from trustream.streaming.lda.model import TopicStream

# Name, B, alpha, eta, kappa, tau, m, M.
TABLES = """
wikipedia-1  500 0.1  0.2  0.6  10 10 20
wikipedia-2 1000 0.1  0.05 0.7 100 20 10
wikipedia-3  500 0.1  0.2  0.7 100 10 20
wikipedia-4   50 0.1  0.2  0.7  10 20 10
wikipedia-5   50 0.1  0.2  0.7   1 20 10
wikipedia-6   10 0.1  0.01 0.5 100 10 20
netflix-1     10 0.1  0.05 1.0   1  5 40
netflix-2    100 0.05 0.3  0.5 100  5 40
netflix-3    500 0.1  0.3  0.5  10 10 20
"""
ROWS = [line.split() for line in TABLES.split("\n") if line]
KEYS = ("batch_size", "doc_topic_prior", "topic_word_prior", "learning_decay", "learning_offset")


def test_there_is_one_for_each_row() -> None:
    assert list(presets.names()) == [name for name, *_ in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_numbers_are_the_tables(row: list[str]) -> None:
    name, values, m, M = row[0], [float(v) for v in row[1:6]], int(row[6]), int(row[7])
    trust = presets.estimator(name)
    natural = presets.estimator(name, "natural-gradient")
    assert [trust[key] for key in KEYS] == values
    assert [natural[key] for key in KEYS] == values
    assert (trust["inner_iter"], trust["max_doc_update_iter"], trust["max_iter"]) == (m, M, 3)
    assert (natural["max_doc_update_iter"], natural["max_iter"]) == (m * M / 2, 6)
    assert "inner_iter" not in natural


@pytest.mark.parametrize("method", presets.METHODS)
@pytest.mark.parametrize("name", presets.names())
def test_estimator_and_trainer_take_them(name: str, method: str) -> None:
    counts = np.random.default_rng(0).poisson(1.0, size=(12, 6))
    lda = LatentDirichletAllocation(2, random_state=0, **presets.estimator(name, method))
    lda.fit(counts)
    assert lda.n_iter_ == {"trust-region": 3, "natural-gradient": 6}[method]
    settings = TopicStream(**presets.trainer(name, method))
    assert (settings.method, settings.n_components) == (method, 100)


def test_a_trainer_runs_with_one(tmp_path: Path) -> None:
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        store.append(Record(str(i), ["cat", "dog"]) for i in range(20))
        with StreamTrainer(store, **presets.trainer("netflix-2", n_components=2)) as trainer:
            info = trainer.run(steps=2)
            assert info is not None
            assert (info.step.n_steps, info.step.n_inner) == (2, 5)
            assert trainer.model.n_components == 2


@pytest.mark.parametrize(
    ("name", "n_components", "kappa"),
    [
        ("wikipedia-4", 100, 0.5),
        ("wikipedia-3", None, 0.5),
        ("wikipedia-1", 400, 0.4),
        ("netflix-2", 100, 0.4),
        ("netflix-3", None, 0.4),
    ],
)
def test_streams_decay_more_slowly(name: str, n_components: int | None, kappa: float) -> None:
    assert presets.trainer(name, n_components=n_components)["learning_decay"] == kappa


def test_unknown_ones_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no preset 'wikipedia-7': there are wikipedia-1, "):
        presets.estimator("wikipedia-7")
    for function in (presets.estimator, presets.trainer):
        with pytest.raises(ValueError, match=r"method must be one of .* got 'batch'"):
            function("wikipedia-1", "batch")
