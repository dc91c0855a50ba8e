"""Topics of a stream stay alive while documents are few."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.helpers import planted_lda
from trustream import LatentDirichletAllocation, StreamTrainer, open_store
from trustream.evaluation import completion
from trustream.store.records import Record
from trustream.streaming.published import load_checkpoint, load_model

K, V, N = 15, 300, 600


def streamed(path: Path, counts: Any, **options: Any) -> Any:
    """The model after documents came in parts, each looked at five times on average."""
    words = [f"w{v}" for v in range(V)]
    rows = np.asarray(counts.toarray(), int)
    with open_store(path, held_out=0.0, vocabulary=words) as store:
        with StreamTrainer(store, K, prefetch=False, score_every=0, **options) as trainer:
            for first in range(0, N, 100):
                store.append(
                    Record(f"d{d}", {words[v]: int(rows[d, v]) for v in np.flatnonzero(rows[d])})
                    for d in range(first, first + 100)
                )
                goal = 5 * (first + 100)
                trainer.run(callback=lambda _, n=goal: looked_at(trainer) >= n)
        return load_checkpoint(store), load_model(store)


def looked_at(trainer: StreamTrainer) -> int:
    clock = trainer._training.learned.clock
    return 0 if clock is None else clock.looked_at


def score(model: Any, counts: Any) -> float:
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
    return completion(counts, topics, model.doc_topic_prior_, random_state=0).per_word


@pytest.mark.parametrize("seed", [0, 1])
def test_topics_stay_alive(tmp_path: Path, seed: int) -> None:
    """With a population more topics are in use and unseen documents are predicted better."""
    counts, _ = planted_lda(np.random.default_rng(seed), K, V, N + 200, 30, 0.1, 0.05)
    found = {}
    for population in ("auto", None):
        checkpoint, model = streamed(
            tmp_path / f"{population}.db", counts[:N], population=population, random_state=seed
        )
        shares = model.components_.sum(axis=1) / model.components_.sum()
        found[population] = score(model, counts[N:]), int((shares > 0.2 / K).sum())
        # What is shown is for the documents that there are: their tokens, and the prior.
        state = checkpoint.state
        assert (state.population is None) == (population is None)
        shown = float(model.components_.sum()) - float(state.prior.totals.sum())
        assert shown == pytest.approx(float(counts[:N].sum()), rel=0.1)
    assert found["auto"][0] > found[None][0] + 0.02
    assert found["auto"][1] > found[None][1]


def test_bad_populations_are_refused(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        for wrong in ("many", 0, -5, float("nan"), True):
            with pytest.raises(ValueError, match="population must be"):
                StreamTrainer(store, 3, population=wrong)
        assert StreamTrainer(store, 3, population=5000).model.recipe.population == 5000


@pytest.mark.parametrize(("population", "phase"), [("auto", 200), (10**6, 400), (None, 400)])
def test_the_rate_begins_anew_while_documents_are_few(
    tmp_path: Path, population: Any, phase: int
) -> None:
    """3,000 tokens are more than enough for two topics of twenty words, unless a user says more."""
    words = np.random.default_rng(0).integers(20, size=(400, 15))
    texts = [Record(f"{i}", [f"w{word}" for word in row]) for i, row in enumerate(words)]
    with open_store(tmp_path / "a.db", min_documents=1, held_out=0.0) as store:
        with StreamTrainer(store, 2, population=population, batch_size=20) as trainer:
            for part in (texts[:200], texts[200:]):
                store.append(part)
                trainer.run(steps=2)
            clock = trainer._training.learned.clock
    assert clock is not None and clock.phase_documents == phase


@pytest.mark.parametrize(("n_new", "n_steps"), [(500, 20), (100, 1), (100, 10), (100, 60)])
def test_a_new_word_does_not_lag(tmp_path: Path, n_new: int, n_steps: int) -> None:
    """Soon after it came it is shown for what it is, and so after a resume.

    That is when a fifth of a pass over all documents has been looked at; and where those that
    brought it were looked at in one step or in a few, since they come first, it is not taken for
    more than it is, just as if they came up as seldom as others do.
    """
    rng = np.random.default_rng(0)
    batch_size = {500: 20, 100: 200 if n_steps == 1 else 30}[n_new]

    def records(first: int, n: int, fresh: int) -> list[Record]:
        words = rng.integers(20, size=(n, 15))
        texts = [[f"w{word}" for word in row[fresh:]] + ["fresh"] * fresh for row in words]
        return [Record(f"{first + i}", text) for i, text in enumerate(texts)]

    with open_store(tmp_path / "a.db", min_documents=1, held_out=0.0) as store:
        store.append(records(0, 1500, 0))
        options = {"random_state": 0, "batch_size": batch_size}
        with StreamTrainer(store, 3, **options) as trainer:
            trainer.run(steps=200)
            store.append(records(1500, n_new, 3))
            trainer.run(steps=n_steps)
            shown = trainer.estimator()
        share = shown.components_[:, list(shown.feature_names_in_).index("fresh")].sum()
        share /= shown.components_.sum()
        truth = 3 * n_new / ((1500 + n_new) * 15)
        assert 0.6 * truth < share < 1.6 * truth, (share, truth)
        with StreamTrainer(store, 3, **options) as trainer:
            resumed = trainer.estimator()
            np.testing.assert_array_equal(resumed.components_, shown.components_)


def records(counts: Any, prefix: str) -> list[Record]:
    """A record for each row, with words w0, w1, ..."""
    rows = np.asarray(counts.toarray(), int)
    return [
        Record(f"{prefix}{d}", {f"w{v}": int(row[v]) for v in np.flatnonzero(row)})
        for d, row in enumerate(rows)
    ]


@pytest.mark.parametrize("n_passes", [5, 60])
def test_a_stream_that_wakes_up_adapts(tmp_path: Path, n_passes: int) -> None:
    """However long nothing came, and although there are documents enough for few topics by then."""
    before, _ = planted_lda(np.random.default_rng(52), 8, 200, 300, 30, 0.1, 0.1)
    counts, _ = planted_lda(np.random.default_rng(12), 8, 200, 2400, 30, 0.1, 0.1)
    new, test = counts[:1500], counts[2000:]
    both = sparse.vstack([before, new], format="csr")
    fit = LatentDirichletAllocation(8, random_state=0).fit(both)
    words = [f"w{v}" for v in range(200)]
    with open_store(tmp_path / "s.db", held_out=0.0, vocabulary=words) as store:
        store.append(records(before, "a"))
        with StreamTrainer(store, 8, prefetch=False, score_every=0) as trainer:
            trainer.run(callback=lambda _: looked_at(trainer) >= 300 * n_passes)
            store.append(records(new, "b"))
            goal = looked_at(trainer) + 4 * both.shape[0]
            trainer.run(callback=lambda _: looked_at(trainer) >= goal)
            model = trainer.estimator()
    columns = np.argsort([int(word[1:]) for word in model.feature_names_in_])
    topics = model.components_[:, columns]
    topics /= topics.sum(axis=1, keepdims=True)
    found = completion(test, topics, model.doc_topic_prior_, random_state=0).per_word
    assert found > fit.completion(test, random_state=0).per_word - 0.03


def test_a_store_of_many_batches(tmp_path: Path) -> None:
    """At the second step, exp(documents / documents looked at) is no number any more."""
    rng = np.random.default_rng(0)
    with open_store(tmp_path / "s.db", held_out=0.0, min_documents=1) as store:
        store.append(Record(str(d), [f"w{v}" for v in rng.choice(60, 12)]) for d in range(3000))
        with StreamTrainer(store, 3, batch_size=2, prefetch=False, score_every=0) as trainer:
            trainer.run(steps=5)
            assert trainer._training.learned.state.smoothing is not None
            assert np.isfinite(trainer.estimator().components_).all()
