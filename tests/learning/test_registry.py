"""A new algorithm is one file and one line: estimators, trainers and commands then take it."""

from __future__ import annotations

from dataclasses import make_dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests.helpers import matched_cosines, planted_lda
from tests.learning.half_step import Alphas, HalfStep, RememberingHalfStep
from trustream import BernoulliMixture, LatentDirichletAllocation, StreamTrainer, open_store
from trustream import load as load_file
from trustream.cli import main
from trustream.estimators.base import has_partial_fit
from trustream.learning import algorithms, defaults, state_arrays
from trustream.learning.learner import Learner
from trustream.store.records import Record
from trustream.streaming.published import load_checkpoint, load_settings


@pytest.fixture
def registered(monkeypatch):
    """The line in the registry."""
    ours = [HalfStep(), RememberingHalfStep()]
    monkeypatch.setattr(algorithms, "ALGORITHMS", [*algorithms.ALGORITHMS, *ours])


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
def test_messages_offer_it():
    with pytest.raises(AttributeError, match=r'"half-step".* or "remembering-half-step" for data'):
        has_partial_fit(LatentDirichletAllocation(2, learning_method="memoized"))
    with pytest.raises(ValueError, match=r"n_parts is 2, .*: use trust-region, .*, half-step or "):
        Learner(None, replace(defaults.for_topics(2, method="batch"), n_parts=2))


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


def lda_that(method: str) -> LatentDirichletAllocation:
    counts = np.random.default_rng(0).poisson(1.0, (60, 8))
    lda = LatentDirichletAllocation(2, learning_method=method, batch_size=20, random_state=0)
    return lda.fit(counts)


@pytest.mark.usefixtures("registered")
def test_files_of_estimators_hold_its_memory(tmp_path: Path):
    lda = lda_that(RememberingHalfStep.name)
    lda.save(tmp_path / "lda.safetensors")
    loaded = load_file(tmp_path / "lda.safetensors")
    before, after = lda._state.memory, loaded._state.memory
    assert isinstance(after, Alphas)
    assert after.count == before.count == lda.n_batch_iter_
    np.testing.assert_array_equal(after.total, before.total)
    more = np.random.default_rng(1).poisson(1.0, (20, 8))
    ours, theirs = lda.partial_fit(more), loaded.partial_fit(more)
    np.testing.assert_array_equal(ours._state.memory.total, theirs._state.memory.total)


def trained(path: Path, method: str, cuts: list[int]) -> bytes | None:
    """The checkpoint after runs of so many steps."""
    with open_store(path, min_documents=1) as store:
        if not store.totals().training:
            store.append(Record(f"d{i}", ["cat", "dog"] if i % 2 else ["bond"]) for i in range(50))
        for n in cuts:
            with StreamTrainer(store, 2, method=method, batch_size=10, prefetch=False) as trainer:
                trainer.run(steps=n)
        return store.load("model")


@pytest.mark.usefixtures("registered")
def test_checkpoints_hold_its_memory(tmp_path: Path):
    """A resumed run equals an uninterrupted one."""
    method = RememberingHalfStep.name
    whole = trained(tmp_path / "whole.db", method, [5])
    assert whole == trained(tmp_path / "cut.db", method, [2, 3])
    with open_store(tmp_path / "cut.db") as store:
        assert load_checkpoint(store).state.memory.count == 5


@pytest.mark.usefixtures("registered")
def test_what_could_not_be_read_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Nothing is overwritten by a state with a memory that no algorithm declares."""
    file, method = tmp_path / "lda.safetensors", RememberingHalfStep.name
    message = "cannot save the memory Alphas, .* let the attribute `memory` of its algorithm say"
    lda = lda_that(method)
    lda.save(file)
    saved = file.read_bytes()
    trained(tmp_path / "store.db", method, [2])
    with (
        open_store(tmp_path / "store.db") as store,
        StreamTrainer(store, 2, method=method, batch_size=10, prefetch=False) as trainer,
    ):
        checkpoint = store.load("model")
        monkeypatch.setattr(RememberingHalfStep, "memory", None)
        with pytest.raises(ValueError, match=message):
            trainer.run(steps=1)
        assert store.load("model") == checkpoint
    with pytest.raises(ValueError, match=message):
        lda.save(file)
    assert file.read_bytes() == saved


def test_a_memory_by_the_name_of_another_is_not_written():
    namesake = make_dataclass("Draws", ["total"])(np.ones(2))
    state = replace(lda_that("trust-region")._state, memory=namesake)
    with pytest.raises(ValueError, match="by a name that no other memory has"):
        state_arrays.to_arrays(state)


@pytest.mark.usefixtures("registered")
def test_a_checkpoint_with_the_memory_of_no_algorithm_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    trained(tmp_path / "store.db", RememberingHalfStep.name, [2])
    monkeypatch.setattr(RememberingHalfStep, "memory", None)
    message = "memory in the header is 'Alphas', expected one of 'Averages', 'Draws', or nothing"
    with (
        open_store(tmp_path / "store.db") as store,
        pytest.raises(ValueError, match=message),
    ):
        load_checkpoint(store)
