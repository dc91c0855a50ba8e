"""An interrupt at every moment of a step, one after the other: it is taken wholly or not at all.

`test_interrupted_learning` interrupts at random moments, and may miss one of many thousands.
"""

from __future__ import annotations

import copy
import gc
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from tests.helpers import snapshot
from tests.reliability.interrupts import Place, interrupted_at, last_turns, places
from tests.reliability.test_interrupted_learning import Responses, documents, estimators, learn
from trustream import PoissonRecommender, StreamTrainer, TopicModel, open_store
from trustream.kernels import threads
from trustream.phrases import Phrases
from trustream.recommender.base import Recommender
from trustream.store.protocol import Store
from trustream.streaming.published import load_checkpoint
from trustream.topics import phrase_files

# What takes long is divided, so that no test comes near the limit of time on a busy machine.
PARTS = 8
ROWS = np.arange(40, 80)
TEXTS = ["cats and dogs", "a dog, two cats", "dogs", "the bank", "bank rates", "rates"] * 9
LIKES = {"user": list("aabbccdd"), "item": list("pqpqrsrs"), "rating": [1.0] * 8}
NEW_LIKES = {"user": list("aec"), "item": list("ttp"), "rating": [1.0] * 3}
NEW_TEXTS = ["cats and birds", "birds, dogs", "a bank of birds", "new rates"] * 5

Step = Callable[[Any], object]


def cases() -> dict[str, Callable[[], tuple[Any, Step]]]:
    """By name: what makes something that has learned, and a step for it to take."""

    def estimator(name: str) -> tuple[Any, Step]:
        made, data = estimators()[name]
        if made.n_jobs is None:
            made.set_params(n_jobs=1)  # how often a thread waits for another is not always the same
        learn(made, data, np.arange(40))
        return made, lambda it: learn(it, data, ROWS)

    def first(name: str) -> tuple[Any, Step]:
        made, data = estimators()[name]
        return made.set_params(n_jobs=1), lambda it: learn(it, data, ROWS)

    def again(name: str) -> tuple[Any, Step]:
        made, data = estimators()[name]
        made.set_params(n_jobs=1, max_iter=1, batch_size=20, n_init=1)
        made.fit(data[:, :40])
        return made, lambda it: it.fit(data[ROWS])

    def refit(name: str, **few: Any) -> tuple[Any, Step]:
        made, data = estimators()[name]
        made.set_params(n_jobs=1, max_iter=1, **few)

        def fit(it: Any, rows: Any) -> None:
            if isinstance(data, Responses):
                it.fit(*data[rows])
            else:
                it.fit(data[rows], [10] * (len(data[rows]) // 10))

        fit(made, slice(0, 20))
        return made, lambda it: fit(it, slice(40, 80))

    def new_items() -> tuple[Any, Step]:
        made = PoissonRecommender(2, n_jobs=1, max_iter=2, random_state=0).fit(LIKES)
        return made, lambda it: it.partial_fit(NEW_LIKES)

    def topics(phrases: bool, texts: list[str]) -> tuple[Any, Step]:
        made = TopicModel(2, phrases=phrases, min_documents=2, n_jobs=1, random_state=0).fit(TEXTS)
        made.partial_fit(TEXTS[:7])
        return made, lambda it: it.partial_fit(texts)

    found: dict[str, Callable[[], tuple[Any, Step]]] = {
        name: lambda name=name: estimator(name) for name in estimators()
    }
    found["first"] = lambda: first("trust-region")
    found["first-recommender"] = lambda: first("recommender")
    found["refit"] = lambda: again("trust-region")
    found["refit-gaussian"] = lambda: again("gaussian")
    found["refit-recommender"] = lambda: again("recommender")
    found["first-hmm"] = lambda: first("hmm")
    found["first-linear-groups"] = lambda: first("linear-groups")
    found["first-probit"] = lambda: first("probit")
    found["refit-hmm"] = lambda: refit("hmm", n_init=1)
    found["refit-hmm-gaussian"] = lambda: refit("hmm-gaussian")
    found["refit-linear"] = lambda: refit("linear")
    found["refit-probit-groups"] = lambda: refit("probit-groups", covariance_prior=1.0)
    found["new-items"] = new_items
    found["texts"] = lambda: topics(False, TEXTS[3:12])
    found["new-words"] = lambda: topics(False, NEW_TEXTS)
    found["phrases"] = lambda: topics(True, NEW_TEXTS)
    return found


def contents(learned: Any) -> Any:
    """The bits of all that it has learned."""
    if isinstance(learned, TopicModel):
        lda = learned.estimator_  # first: a step that was interrupted is settled here
        words = {**vars(learned._words)}
        kept = {**vars(learned._kept)}
        kept["_rng"] = repr(kept["_rng"].bit_generator.state)
        arrays, header = phrase_files.to_arrays(words.pop("phrases", Phrases()))
        return [snapshot(arrays), repr(header), repr(words), snapshot(kept), contents(lda)]
    if isinstance(learned, Recommender):
        if not learned.__sklearn_is_fitted__():
            return []
        data = learned._data
        ids = [*data.users.values], [*data.items.values]
        bits = snapshot([ids, data.weights, [*learned._cache]])
        return [*bits, contents(learned._estimator)]
    if not learned.__sklearn_is_fitted__():
        return []
    state = learned._state  # first: it puts back the generator too
    attributes = {**vars(learned)}
    for name in ("_kept", "_model", "_rng", "_topic_names"):
        attributes.pop(name, None)
    # What the last step learned of groups is taken over when somebody asks, whoever it is.
    groups = learned._remembered() if attributes.pop("_known", None) is not None else {}
    attributes.pop("_arrived", None)
    rng = repr(learned._rng.bit_generator.state)
    return [*snapshot(state), *snapshot(groups), rng, repr(attributes)]


def blas_threads() -> list[int]:
    return [library.get_num_threads() for library in threads._blas_libraries()]


class Steps:
    """One step, taken again and again from the same beginning."""

    def __init__(self, name: str) -> None:
        self.start, self.step = cases()[name]()
        self.step(copy.deepcopy(self.start))  # compiles what is not compiled yet
        self.before = contents(copy.deepcopy(self.start))
        done = copy.deepcopy(self.start)
        self.step(done)
        self.after = contents(done)
        assert self.before != self.after
        self.places = self._places()
        self.first_change = next(
            (i for i, place in enumerate(self.places) if place.code.co_name == "room"), 0
        )
        self.threads = blas_threads()

    def _places(self) -> list[Place]:
        learned = copy.deepcopy(self.start)
        return places(lambda: self.step(learned))

    def interrupted(self, place: Place, then: int | None = None) -> tuple[Any, int | None]:
        """What is left of a step, and how many calls followed on the interrupt."""
        learned = copy.deepcopy(self.start)
        return learned, interrupted_at(lambda: self.step(learned), place, then)

    def check(self, learned: Any, place: Place, *more: object, goes_on: bool = True) -> None:
        """It is as before the step or as after it, and can take the step if it was not taken."""
        found = contents(learned)
        assert found in (self.before, self.after), (str(place), *more)
        assert blas_threads() == self.threads, (str(place), *more)
        if goes_on and found == self.before:
            self.step(learned)
            assert contents(learned) == self.after, (str(place), *more)

    def seconds(self, place: Place) -> Iterator[int]:
        """The numbers of the calls after an interrupt at which a second one can come."""
        _, n_after = self.interrupted(place, then=-1)
        return iter(range(1, (n_after or 0) + 1))


# `test_every_place` has all of the longer one.
@pytest.mark.parametrize(("name", "every"), [("recommender", 1), ("new-words", 2)])
def test_since_the_first_change(name: str, every: int) -> None:
    """From where rows of lambda are overwritten to the end, and a few moments before."""
    steps = Steps(name)
    first = steps.first_change
    chosen = [*steps.places[:first:50], *last_turns(steps.places[first:])][::every]
    assert len(chosen) > 100
    for i, place in enumerate(chosen):
        learned, _ = steps.interrupted(place)
        steps.check(learned, place, goes_on=i % 10 == 0)


@pytest.mark.parametrize(
    "name",
    [
        "hmm",
        "linear-groups",
        "probit-groups",
        "new-items",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("refit-hmm-gaussian", "first-probit", "refit-linear")
        ),
    ],
)
def test_some_places(name: str) -> None:
    """All along a step, and everywhere at its end."""
    steps = Steps(name)
    turns = last_turns(steps.places)
    for i, place in enumerate([*turns[:-10:12], *turns[-10:]]):
        learned, _ = steps.interrupted(place)
        steps.check(learned, place, goes_on=i % 5 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", cases())
def test_every_place(name: str) -> None:
    steps = Steps(name)
    chosen = last_turns(steps.places)
    n_hit = 0
    for place in chosen:
        learned, n_after = steps.interrupted(place)
        n_hit += n_after is not None
        steps.check(learned, place)
    assert n_hit > max(100, 0.9 * len(chosen))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["trust-region", "per-word", "recommender", "new-words"])
def test_every_turn(name: str) -> None:
    """While memory is collected as often as it can be, from the first change on."""
    steps, thresholds = Steps(name), gc.get_threshold()
    gc.freeze()
    try:
        for place in steps.places[steps.first_change :]:
            gc.set_threshold(1, 1, 1)
            learned, _ = steps.interrupted(place)
            gc.set_threshold(*thresholds)
            steps.check(learned, place)
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", ["trust-region", "three-threads", "recommender", "new-words"])
def test_twice(name: str, part: int) -> None:
    """A second interrupt while the first one is handled."""
    steps = Steps(name)
    for place in last_turns(steps.places[steps.first_change :])[part::PARTS]:
        for then in steps.seconds(place):
            learned, _ = steps.interrupted(place, then)
            steps.check(learned, place, then)


@pytest.mark.parametrize(
    ("name", "every"),
    [
        ("trust-region", 1),
        ("recommender", 1),
        ("new-words", 5),
        pytest.param("new-words", 1, marks=pytest.mark.slow),
    ],
)
def test_while_it_is_put_back(name: str, every: int) -> None:
    """Who asks for what was learned is interrupted, and asks again."""
    steps = Steps(name)
    taken = [p for p in steps.places if p.code.co_name in ("commit", "commit_averaged", "_become")]
    for place in (taken[0], taken[len(taken) // 2], taken[-1]):
        asked, _ = steps.interrupted(place)
        for at in places(lambda asked=asked: contents(asked))[::every]:
            learned, _ = steps.interrupted(place)
            interrupted_at(lambda learned=learned: contents(learned), at)
            steps.check(learned, place, str(at))


# --- a trainer

STORE: dict[str, Any] = {"min_documents": 2, "max_words": 50, "held_out": 0.1}
TRAINER: dict[str, Any] = {
    "batch_size": 10, "inner_iter": 2, "score_every": 2, "prefetch": False, "n_jobs": 1,
}  # fmt: skip


class TrainerSteps:
    """The fourth step of a trainer, for which there are new words, taken again and again."""

    def __init__(self, folder: Path, method: str) -> None:
        self._folder, self._options = folder, {"method": method, **TRAINER}
        self._first = folder / "first.db"
        with open_store(self._first, **STORE) as store:
            with StreamTrainer(store, 4, **self._options) as trainer:
                for number in range(7, 10):
                    documents(store, number)
                    trainer.run(steps=1)
            documents(store, 10)
            self.before = self.of(load_checkpoint(store))
        self.places: list[Place] = []
        with self.trial() as (store, trainer):
            self.places = places(partial(trainer.run, steps=1))
            self.after = self.of(load_checkpoint(store))
        assert self.before != self.after

    @contextmanager
    def trial(self) -> Iterator[tuple[Store, StreamTrainer]]:
        """A copy of the store, and a trainer on it."""
        with TemporaryDirectory(dir=self._folder) as folder:
            path = Path(folder) / "copy.db"
            shutil.copy(self._first, path)
            with open_store(path) as store, StreamTrainer(store, 4, **self._options) as trainer:
                yield store, trainer

    @staticmethod
    def of(checkpoint: Any) -> Any:
        """The bits of a checkpoint, without scores, which are found after the step."""
        scores = {"best_score": None, "last_score": None}
        state, rest = checkpoint.state, replace(checkpoint, model=None, state=None, **scores)
        if state.mean is not None:  # two of its numbers are set by each step, and not saved
            state = replace(state, mean=replace(state.mean, weight=1.0, new_share=0.0))
        return [*snapshot(state), repr(rest)]

    def check(self, found: Any, place: Place) -> None:
        """It is that before or that after, or has taken in the words for the step."""
        bits = self.of(found)
        if bits not in (self.before, self.after):
            state = found.state
            assert state.n_steps == 3, str(place)
            for table in (state.lambda_, state.mean.lambda_) if state.mean else (state.lambda_,):
                rows = table.dense(state.prior.pattern)
                assert rows.shape[0] == len(found.words), str(place)
                np.testing.assert_allclose(table.totals, rows.sum(axis=0), rtol=1e-4)


@pytest.mark.parametrize("method", ["trust-region", "streaming-vb"])
@pytest.mark.parametrize(
    "chosen",
    [
        slice(None, None, 40),
        *(pytest.param(slice(i, None, PARTS), marks=pytest.mark.slow) for i in range(PARTS)),
    ],
    ids=["few", *(f"part{i}" for i in range(PARTS))],
)
def test_trainer(tmp_path: Path, method: str, chosen: slice) -> None:
    steps = TrainerSteps(tmp_path, method)
    for place in last_turns(steps.places)[chosen]:
        with steps.trial() as (store, trainer):
            interrupted_at(partial(trainer.run, steps=1), place)
            for found in (load_checkpoint(store), trainer.checkpoint()):
                steps.check(found, place)
            if trainer.n_steps == 3:
                trainer.run(steps=1)
            assert steps.of(trainer.checkpoint()) == steps.after, str(place)
