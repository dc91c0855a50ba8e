"""The trainer on a real SQLite store: it learns, resumes exactly, and follows what changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import matched_cosines, planted_lda, snapshot
from trustream import open_store
from trustream.store.protocol import Store
from trustream.store.records import Record
from trustream.streaming.published import load_checkpoint, load_model
from trustream.streaming.trainer import StreamTrainer

N_WORDS = 60


def name(v: int) -> str:
    return f"word{v}"


def records(counts: Any, first: int = 0) -> Iterator[Record]:
    for d, row in enumerate(np.asarray(counts.toarray(), int)):
        words = {name(v): int(n) for v, n in enumerate(row) if n}
        yield Record(f"d{first + d}", words, time=float(first + d))


@pytest.fixture
def planted() -> tuple[Any, Any]:
    return planted_lda(np.random.default_rng(0), 4, N_WORDS, 400, 40, 0.1, 0.05)


@pytest.fixture
def store(tmp_path: Path, planted: tuple[Any, Any]) -> Iterator[Store]:
    with open_store(tmp_path / "topics.db", min_documents=1, held_out=0.1) as found:
        found.append(records(planted[0]))
        yield found


def trainer_of(store: Store, **options: Any) -> StreamTrainer:
    settings = {"batch_size": 40, "prefetch": False, "score_every": 10, **options}
    return StreamTrainer(store, 4, **settings)


def topics_of(store: Store) -> Any:
    """E[beta] by the number of the word, (4, N_WORDS)."""
    model = load_model(store)
    found = np.zeros((4, N_WORDS))
    columns = [int(str(word)[4:]) for word in model.feature_names_in_]
    found[:, columns] = model.components_ / model.components_.sum(axis=1, keepdims=True)
    return found


def test_planted_topics_are_found_and_the_score_rises(store: Store, planted: Any) -> None:
    scores = []
    with trainer_of(store, score_every=1) as trainer:
        trainer.run(steps=120, callback=lambda info: scores.append(info.score))
    assert matched_cosines(topics_of(store), planted[1]).min() > 0.95
    values = [s.per_word for s in scores if s is not None]
    assert len(values) == 120 and values[-1] > values[0] + 0.1
    assert trainer.best_score == max(values) and trainer.last_score == values[-1]


def test_a_store_may_have_far_more_documents_than_a_batch(tmp_path: Path) -> None:
    with open_store(tmp_path / "many.db", min_documents=1) as store:
        texts = [["cat", "dog", "bird"], ["bond", "bank", "rate"]]
        store.append(Record(str(i), texts[i % 2]) for i in range(3000))
        with StreamTrainer(store, 2, batch_size=4) as trainer:
            info = trainer.run(steps=5)
    assert info is not None and info.step.n_steps == 5


def test_held_out_documents_are_never_drawn(store: Store) -> None:
    held_out = set(store.draw(1000, np.random.default_rng(0), held_out=True).keys)
    assert 20 < len(held_out) < 70
    drawn: set[str] = set()
    with trainer_of(store) as trainer:
        following = trainer._next

        def spy(timeout: float) -> Any:
            result = following(timeout)
            drawn.update(result.documents.keys)
            return result

        trainer._next = spy  # type: ignore[method-assign]
        trainer.run(steps=60)
    assert len(drawn) > 300 and not drawn & held_out


@pytest.mark.parametrize("prefetch", [False, True])
def test_a_resumed_run_equals_an_uninterrupted_one(
    tmp_path: Path, planted: Any, prefetch: bool
) -> None:
    """Parameters, priors, clock, scores and random states, bit for bit; wherever it is cut."""
    ends, infos = [], []
    for cuts in ([30], [1, 12, 17]):
        with open_store(tmp_path / f"{cuts}.db", min_documents=1, held_out=0.1) as store:
            store.append(records(planted[0]))
            steps: list[Any] = []
            for n in cuts:
                with trainer_of(store, prefetch=prefetch) as trainer:
                    trainer.run(steps=n, callback=steps.append)
            ends.append(store.load("model"))
            infos.append([(i.step.rho, i.totals.sequence, i.score) for i in steps])
    assert ends[0] == ends[1]
    assert infos[0] == infos[1] and len(infos[0]) == 30


@pytest.mark.parametrize("method", ["natural-gradient", "streaming-vb", "streaming-batch"])
def test_other_methods_learn_and_resume(tmp_path: Path, planted: Any, method: str) -> None:
    ends = []
    for cuts in ([4], [1, 3]):
        with open_store(tmp_path / f"{cuts}.db", min_documents=1, held_out=0.1) as store:
            store.append(records(planted[0]))
            for n in cuts:
                options = {"batch_size": 80, "method": method, "score_every": 1}
                with trainer_of(store, **options) as trainer:
                    trainer.run(steps=n)
            ends.append(store.load("model"))
            # Topics know more than word frequencies do.
            score = trainer._training.score()
            assert score is not None and score.gain > 0.3
    assert ends[0] == ends[1]


def test_streaming_vb_takes_each_document_once(store: Store) -> None:
    with trainer_of(store, method="streaming-vb", batch_size=100) as trainer:
        last = trainer.run(until_idle=True)
        totals = store.totals()
        assert last is not None and trainer._training.learned.state.n_seen == totals.training
        # lambda is eta and every word of every document, once.
        documents = store.draw(1000, np.random.default_rng(0))
        state = trainer._training.learned.state
        expected = float(documents.counts.sum()) + float(state.prior.totals.sum())
        assert float(state.lambda_.totals.sum()) == pytest.approx(expected, rel=1e-4)
        assert trainer.run(until_idle=True) is None


def test_new_words_enter_and_others_stay(store: Store) -> None:
    with trainer_of(store, learn_priors=False) as trainer:
        trainer.run(steps=20)
        before = trainer.checkpoint()
        assert before is not None
        rows = before.state.lambda_.dense(before.state.prior.pattern).copy()
        n_words = len(before.words)
        store.append([Record("new", ["novel", "word1", "novel"])])
        vocabulary = store.vocabulary()
        documents = store.draw(5, np.random.default_rng(0))
        assert trainer._training.follow(documents)
        after = trainer.checkpoint()
        assert after is not None and list(after.words) == vocabulary.words
        new_rows = after.state.lambda_.dense(after.state.prior.pattern)
        np.testing.assert_array_equal(new_rows[:n_words], rows)
        assert new_rows.shape[0] == n_words + 1
        trainer.run(steps=5)
    assert "novel" in load_model(store).feature_names_in_


def test_a_batch_from_before_an_eviction_is_drawn_again(tmp_path: Path) -> None:
    """Its columns stand for other words by now; also if a score noticed the eviction first."""
    with open_store(tmp_path / "few.db", min_documents=1, max_words=3, held_out=0.0) as store:
        store.append([Record(f"a{i}", ["one", "two", "three"]) for i in range(3)])
        with trainer_of(store, batch_size=5, score_every=0) as trainer:
            trainer.run(steps=2)
            stale = store.draw(3, np.random.default_rng(0))
            # A word in more documents takes the place of one of the three.
            store.append([Record(f"b{i}", ["four", "two", "three"]) for i in range(5)])
            assert "four" in store.vocabulary().words
            fresh = store.draw(3, np.random.default_rng(0))
            assert trainer._training.follow(fresh)
            assert not trainer._training.follow(stale)
            # A new word that replaces nothing leaves older batches good.
            assert trainer._training.follow(fresh)
            trainer.run(steps=3)
        model = load_model(store)
    assert "four" in model.feature_names_in_ and "one" not in model.feature_names_in_


def test_word_by_word_equals_whole(tmp_path: Path, planted: Any) -> None:
    """The same documents, fed whole or a word at a time: the same model after the same steps."""
    counts = planted[0][:20]
    models = []
    for whole in (True, False):
        with open_store(tmp_path / f"{whole}.db", min_documents=1, held_out=0.1) as store:
            for record in records(counts):
                tokens = [w for w, n in dict(record.words).items() for _ in range(n)]
                if whole:
                    store.append([Record(record.key, tokens, record.time)])
                else:
                    for token in tokens:
                        store.append([Record(record.key, [token], record.time)])
            with trainer_of(store) as trainer:
                trainer.run(steps=15)
                state = trainer._training.learned.state
                models.append(snapshot([state.lambda_, state.prior]))
    assert models[0] == models[1]


def test_an_empty_store_is_waited_for(tmp_path: Path) -> None:
    with open_store(tmp_path / "empty.db", min_documents=1) as store:
        with trainer_of(store) as trainer:
            assert trainer.run(until_idle=True) is None
            assert next(trainer.steps(poll=0.0)) is None
        assert load_checkpoint(store) is None
        with pytest.raises(ValueError, match="holds no model 'model' yet"):
            load_model(store)


def test_until_idle_looks_as_often_as_fit(store: Store) -> None:
    with trainer_of(store) as trainer:
        trainer.run(until_idle=True)
        n = store.totals().training
        # As many looks at each document as fit makes.
        clock = trainer._training.learned.clock
        assert clock is not None and 5 * n <= clock.looked_at < 5 * n + 80


def test_other_settings_are_refused(store: Store) -> None:
    with trainer_of(store) as trainer:
        trainer.run(steps=2)
    with pytest.raises(ValueError, match="made with batch_size=40, now it is 50"):
        trainer_of(store, batch_size=50)
    with trainer_of(store, batch_size=50, name="other") as other:
        other.run(steps=1)
    assert load_checkpoint(store, "other").state.n_steps == 1  # type: ignore[union-attr]


def test_a_damaged_checkpoint_is_named(store: Store) -> None:
    store.save("model", b"nonsense")
    with pytest.raises(ValueError, match="cannot read the checkpoint 'model'"):
        trainer_of(store)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size must be an integer of at least 1"),
        ({"method": "magic"}, "method must be one of"),
        ({"learning_offset": 0.0}, "learning_offset must be positive"),
        ({"learning_decay": 2.0}, "learning_decay lies between"),
        ({"topic_word_prior": float("nan")}, "topic_word_prior must be positive"),
        ({"dtype": "float16"}, "dtype must be float32 or float64"),
    ],
)
def test_bad_settings(store: Store, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trainer_of(store, **options)


def test_a_quiet_store_keeps_its_score(store: Store) -> None:
    """200 passes with nothing new: the last score stays within 0.01 nats a word of the best."""
    with trainer_of(store, batch_size=100) as trainer:
        n = store.totals().training
        trainer.run(steps=-(-200 * n // 100))
        assert trainer.best_score is not None and trainer.last_score is not None
        assert trainer.last_score > trainer.best_score - 0.01
        clock = trainer._training.learned.clock
        assert clock is not None and clock.rate(10.0, 0.6, 100) < 0.05
