"""One trainer a model, on both databases: refused, killed, stopped and woken up, and told."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.forking import Forked
from tests.helpers import wait_for
from tests.pets_and_money import records
from trustream import StreamTrainer, open_store
from trustream.store import DocumentStore, HeldLease, LeaseHeldError, LeaseLostError
from trustream.streaming.published import load_checkpoint
from trustream.streaming.status import status

# Takes steps until it is told to stop by an end of its input, which it looks for after each step.
TRAIN = """
import select, sys
from trustream import StreamTrainer, open_store
with open_store(sys.argv[1], create=False) as store:
    with StreamTrainer(
        store, 2, batch_size=10, lease_seconds=float(sys.argv[2]), checkpoint_every=1e6, n_jobs=1
    ) as trainer:
        trainer.run(steps=3)
        print("trains", flush=True)
        trainer.run(stop=lambda: select.select([sys.stdin], [], [], 0.01)[0])
"""


@contextmanager
def training(address: str, seconds: float = 30.0) -> Iterator[Forked]:
    """A trainer in another process, which has taken three steps and saved them, and goes on."""
    process = Forked(TRAIN, address, seconds)
    try:
        assert process.stdout.readline() == "trains\n"
        yield process
    finally:
        process.kill()
        process.wait()


def fill(address: str) -> None:
    with open_store(address, min_documents=1, held_out=0.1) as store:
        store.append(records(100))


def steps_of(store: DocumentStore) -> int:
    checkpoint = load_checkpoint(store)
    assert checkpoint is not None
    return checkpoint.state.n_steps


def beat_of(store: DocumentStore) -> int:
    database = store._database
    row = database.run(lambda: database.lease_row("model", write=False), write=False)
    return -1 if row is None else row.beat


def test_a_second_trainer_is_refused_and_told_by_whom(address: str) -> None:
    fill(address)
    with training(address) as process, open_store(address) as store:
        match = rf"'model' of .* is running: process {process.pid} on .*, since .*; stop it first"
        with pytest.raises(LeaseHeldError, match=match):
            StreamTrainer(store)
        # Readers read, and other models are trained.
        assert steps_of(store) == 3
        found = status(store).trainer
        assert found is not None and (found.pid, found.is_silent) == (process.pid, False)
        with StreamTrainer(store, 2, name="other", batch_size=10) as other:
            other.run(steps=1)
            with pytest.raises(LeaseHeldError, match="this process; close that trainer first"):
                StreamTrainer(store, name="other")
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        n_steps = steps_of(store)
        assert n_steps > 3 and status(store).trainer is None
        with StreamTrainer(store) as trainer:
            assert trainer.n_steps == n_steps


def test_a_killed_trainer_is_followed_at_once(address: str) -> None:
    fill(address)
    with training(address, seconds=10_000.0) as process, open_store(address) as store:
        process.send_signal(signal.SIGKILL)
        wait_for(lambda: store.lease("model") is None)
        with StreamTrainer(store) as trainer:
            assert trainer.n_steps == 3
            trainer.run(steps=1)
        assert steps_of(store) == 4


def test_a_trainer_that_stood_still_overwrites_nothing(address: str) -> None:
    """SIGSTOP, another trainer takes over, SIGCONT: the first ends with an error, and no save."""
    fill(address)
    with training(address, seconds=2.0) as process, open_store(address) as store:
        beats = beat_of(store)
        # Between two transactions.
        wait_for(lambda: beat_of(store) > beats)
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda: (found := status(store).trainer) is not None and found.is_silent)
        with StreamTrainer(store) as trainer:
            trainer.run(steps=2)
            content, version = store.load("model"), store.saved_version("model")
            process.send_signal(signal.SIGCONT)
            _, error = process.communicate(timeout=120)
            assert process.returncode == 1
            assert f"was taken over by process {os.getpid()} on" in error
            assert "gave no sign of life for 2 seconds" in error
            assert (store.load("model"), store.saved_version("model")) == (content, version)
            assert steps_of(store) == 5
            # It is still ours.
            trainer.run(steps=1)
        assert steps_of(store) == 6


def test_the_end_gives_it_back(address: str) -> None:
    fill(address)
    with open_store(address) as store:
        for error in (RuntimeError, KeyboardInterrupt):

            def fail(_: object, error: type[BaseException] = error) -> None:
                raise error

            with pytest.raises(error), StreamTrainer(store, 2, batch_size=10) as trainer:
                trainer.run(callback=fail)
            assert store.lease("model") is None
            with pytest.raises(ValueError, match="the trainer is closed"):
                trainer.run(steps=1)
            with pytest.raises(ValueError, match="the trainer is closed"):
                trainer.save()
        # Also a trainer that could not be made.
        with pytest.raises(ValueError, match="made with n_components=2"):
            StreamTrainer(store, 5)
        assert store.lease("model") is None
        assert steps_of(store) == 2


def test_a_model_that_is_replaced_is_taken_up(address: str) -> None:
    fill(address)
    with open_store(address) as store:
        with StreamTrainer(store, 2, batch_size=10, name="new", random_state=0) as other:
            other.run(steps=30)
        with StreamTrainer(store, 2, batch_size=10) as trainer:
            trainer.run(steps=2)
            new = store.load("new")
            assert new is not None
            with HeldLease(store, "model.retrain") as held:
                store.save("model", new, lease=held.lease)
            seen: list[int] = []
            trainer.run(steps=3, callback=lambda info: seen.append(info.step.n_steps))
            # It took its own steps and found the other model when it wanted to save them.
            assert (seen, trainer.n_steps, trainer.n_replaced) == ([3, 4, 5], 30, 1)
            assert store.load("model") == new
            trainer.run(steps=3, callback=lambda info: seen.append(info.step.n_steps))
            assert seen[3:] == [31, 32, 33]
        assert steps_of(store) == 33


def test_a_save_that_is_not_a_replacement(address: str) -> None:
    """As when words are taken out of a checkpoint: the trainer goes on with what it has."""
    fill(address)
    with open_store(address) as store, StreamTrainer(store, 2, batch_size=10) as trainer:
        trainer.run(steps=1)
        content = store.load("model")
        assert content is not None
        store.save("model", content)
        trainer.run(steps=1)
        assert (trainer.n_steps, trainer.n_replaced, steps_of(store)) == (2, 0, 2)


def test_it_is_noticed_between_two_checkpoints(address: str) -> None:
    """A trainer that was taken over learns in vain; a sign of life tells it."""
    fill(address)
    with open_store(address) as store, open_store(address) as other:
        trainer = StreamTrainer(store, 2, batch_size=10, lease_seconds=0.6, checkpoint_every=1e6)
        trainer.run(steps=1)
        trainer.held._held.lease.holder.retire()  # as if this process were another one
        with StreamTrainer(other) as second:
            second.run(steps=1)
            with pytest.raises(LeaseLostError, match="what it learned since its last checkpoint"):
                trainer.run()
            trainer.close()
            second.run(steps=1)
        assert steps_of(other) == 3
