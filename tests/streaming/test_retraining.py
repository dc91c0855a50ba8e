"""Models that are learned afresh: as good or not, beside a trainer, stopped, without a trace."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.forking import Forked
from tests.pets_and_money import records
from trustream import StreamTrainer, open_store
from trustream.store import DocumentStore, Holder, LeaseHeldError, LeaseLostError, Record
from trustream.streaming.published import MissingModelError, load_checkpoint, load_model
from trustream.streaming.retraining import Comparison, retrain
from trustream.streaming.status import status
from trustream.streaming.stream_model import Score

OPTIONS: dict[str, Any] = {"batch_size": 20, "random_state": 0}


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with open_store(tmp_path / "topics.db", min_documents=1, held_out=0.2) as found:
        found.append(records(300))
        yield found


def trained(store: DocumentStore, n_steps: int = 60) -> bytes:
    with StreamTrainer(store, 2, **OPTIONS) as trainer:
        trainer.run(steps=n_steps)
    return saved(store)


def saved(store: DocumentStore) -> bytes:
    content = store.load("model")
    assert content is not None
    return content


def test_it_is_what_a_first_training_would_give(store: DocumentStore, tmp_path: Path) -> None:
    """Not a trace of what was deleted: the same model, bit for bit, as where it never was."""
    secret = [Record(f"secret{i}", ["cat", "bank", "horse", "coin"] * 5) for i in range(60)]
    store.append(secret)
    old = trained(store)
    store.delete([record.key for record in secret])
    result = retrain(store)
    assert result.replaced and result.n_deleted == 0
    assert saved(store) != old
    with open_store(tmp_path / "never.db", min_documents=1, held_out=0.2) as other:
        other.append(records(300))
        with StreamTrainer(other, 2, **OPTIONS) as trainer:
            trainer.run(steps=result.n_steps)
        mine, theirs = load_model(store), load_model(other)
    assert list(mine.feature_names_in_) == list(theirs.feature_names_in_)
    np.testing.assert_array_equal(mine.components_, theirs.components_)
    compared = result.comparison
    assert compared is not None and compared.n_documents > 40
    checkpoint = load_checkpoint(store)
    assert checkpoint is not None and checkpoint.state.n_steps == result.n_steps
    assert 5 * store.totals().training <= checkpoint.clock.looked_at
    assert status(store).models[0].retrainer is None


def test_a_worse_model_stays_out(store: DocumentStore) -> None:
    old = trained(store)
    # Hardly looked at anything.
    result = retrain(store, passes=0.01)
    assert not result.replaced and "it is worse: -" in result.reason
    assert result.comparison is not None and result.comparison.difference < -0.05
    assert saved(store) == old
    assert retrain(store, passes=0.01, tolerance=10.0).replaced
    trained(store)
    result = retrain(store, passes=0.01, force=True)
    assert result.replaced and saved(store) != old
    # And a good one in its place again.
    result = retrain(store)
    assert result.replaced and result.comparison is not None and result.comparison.difference > 0


def test_a_trainer_goes_on_meanwhile_and_takes_it_up(store: DocumentStore) -> None:
    trained(store, 10)
    with StreamTrainer(store, checkpoint_every=0.0) as trainer, open_store(store.url) as other:
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(retrain(other, n_jobs=1)))
        thread.start()
        # Until it was replaced under it.
        trainer.run(callback=lambda info: trainer.n_replaced > 0)
        thread.join()
        assert found[0].replaced
        before = trainer.n_steps
        trainer.run(steps=2)
        assert trainer.n_steps == before + 2 and trainer.n_replaced == 1
    checkpoint = load_checkpoint(store)
    assert checkpoint is not None and checkpoint.state.n_steps == before + 2


def test_who_stops_changes_nothing(store: DocumentStore) -> None:
    old = trained(store)
    result = retrain(store, callback=lambda progress: progress.n_steps >= 3)
    assert not result.replaced and result.n_steps == 3 and "stopped" in result.reason

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retrain(store, callback=interrupt)
    assert saved(store) == old and store.saved_names() == ["model"]
    assert retrain(store).replaced


RETRAIN = """
import sys
from trustream import open_store
from trustream.streaming.retraining import retrain
with open_store(sys.argv[1], create=False) as store:
    def tell(progress):
        print(progress.n_steps, flush=True)
        sys.stdin.readline()
    retrain(store, callback=tell, n_jobs=1)
"""


def test_killed_halfway_and_two_at_once(store: DocumentStore) -> None:
    old = trained(store)
    process = Forked(RETRAIN, store.url)
    try:
        assert process.stdout.readline() == "1\n"
        with pytest.raises(LeaseHeldError, match=rf"retrained already: process {process.pid} on"):
            retrain(store)
        retrainer = status(store).models[0].retrainer
        assert retrainer is not None and retrainer.pid == process.pid
        assert status(store).trainer is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert saved(store) == old
    # At once, and from the beginning.
    steps: list[int] = []
    assert retrain(store, callback=lambda progress: steps.append(progress.n_steps)).replaced
    assert steps[0] == 1


def test_one_that_stood_still_replaces_nothing(store: DocumentStore) -> None:
    """Another has retrained the model since: what the first has learned may be of the deleted."""
    old = trained(store)

    def taken_over(progress: Any) -> None:
        if progress.n_steps == 2:
            database, other = store._database, Holder.here().to_json()
            database.run(
                lambda: database.put_lease("model.retrain", 9, other, 0.0, 1.0), write=True
            )

    with pytest.raises(LeaseLostError):
        retrain(store, callback=taken_over)
    assert saved(store) == old


def test_deletions_meanwhile_are_told(store: DocumentStore) -> None:
    trained(store)

    def delete(progress: Any) -> None:
        if progress.n_steps == 2:
            training = store.draw(5, np.random.default_rng(0)).keys
            store.delete(training)

    assert retrain(store, callback=delete).n_deleted == 5


def test_nothing_to_replace_or_to_learn_from(empty_store: DocumentStore) -> None:
    with pytest.raises(MissingModelError, match="no trained model 'model' to replace"):
        retrain(empty_store)
    empty_store.append(records(30))
    with StreamTrainer(empty_store, 2) as trainer:
        trainer.run(steps=3)
    result = retrain(empty_store)
    assert not result.replaced and "held-out documents could be compared" in result.reason
    assert retrain(empty_store, force=True).replaced
    with pytest.raises(MissingModelError, match="its models are 'model'"):
        retrain(empty_store, "other")
    for wrong in ({"tolerance": -1.0}, {"passes": 0}, {"tolerance": float("nan")}):
        with pytest.raises(ValueError, match="give"):
            retrain(empty_store, **wrong)
    empty_store.delete([f"d{i}" for i in range(30)])
    with pytest.raises(ValueError, match="nothing to learn a model from: there are no documents"):
        retrain(empty_store)


def test_streaming_vb_takes_each_document_once(store: DocumentStore) -> None:
    with StreamTrainer(store, 2, method="streaming-vb", **OPTIONS) as trainer:
        trainer.run(until_idle=True)
    assert retrain(store).replaced
    checkpoint = load_checkpoint(store)
    assert checkpoint is not None and checkpoint.clock.looked_at == store.totals().training


def test_differences_are_paired() -> None:
    """Documents that are hard for both models say nothing about the difference."""
    rng = np.random.default_rng(0)
    hard, tokens = rng.normal(-6.0, 2.0, 200), rng.integers(5, 50, 200)
    new = [Score(h + 0.02, 0.0, 1, int(n)) for h, n in zip(hard, tokens, strict=True)]
    old: list[Score | None] = [Score(h, 0.0, 1, int(n)) for h, n in zip(hard, tokens, strict=True)]
    found = Comparison.of([*new, None], [*old, old[0]])
    assert found is not None and found.n_documents == 200
    assert found.difference == pytest.approx(0.02) and found.standard_error < 1e-9
    assert found.new_score - found.old_score == pytest.approx(found.difference)
    worse = Comparison.of(old, new)
    assert worse is not None and not worse.is_as_good() and worse.is_as_good(0.03)
    assert Comparison.of(new[:1], old[:1]) is None
    few = Comparison.of(new[:19], old[:19])
    assert few is not None and not few.is_as_good()
    # The standard error is that of many samples of documents.
    noisy = [Score(o.per_word + e, 0.0, 1, o.n_tokens) for o, e in
             zip(new, rng.normal(0, 0.5, 200), strict=True)]  # fmt: skip
    whole = Comparison.of(noisy, old)
    draws = [rng.integers(0, 200, 200) for _ in range(400)]
    again = [Comparison.of([noisy[i] for i in d], [old[i] for i in d]) for d in draws]
    spread = np.std([c.difference for c in again if c is not None])
    assert whole is not None and whole.standard_error == pytest.approx(spread, rel=0.2)
