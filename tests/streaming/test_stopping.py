"""Ends of a trainer: signals while it waits, runs without an end, trainers that nobody closes."""

from __future__ import annotations

import gc
import json
import signal
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.forking import Forked
from tests.helpers import wait_for
from trustream import StreamTrainer, open_store
from trustream.store.records import Record
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.published import save_settings


def fill(path: Path, kind: str) -> None:
    """A store from which a trainer learns nothing, or nothing more."""
    with open_store(path, min_documents=2) as store:
        method = "streaming-vb" if kind == "between arrivals" else "trust-region"
        save_settings(store, TopicStream(n_components=2, method=method, batch_size=10))
        if kind == "rare words":
            store.append(Record(f"{i}", [f"only-in-{i}"]) for i in range(20))
        if kind == "between arrivals":
            store.append(Record(f"{i}", ["cat", "dog", "bird"]) for i in range(20))


# Says when it waits, and then does as the command does.
TRAIN = """
import sys
from trustream.cli import main
from trustream.streaming import trainer
sleep = trainer.time.sleep
def waits(seconds):
    print("waits", file=sys.stderr, flush=True)
    sleep(seconds)
trainer.time.sleep = waits
main(["train", sys.argv[1], "--json"])
"""


@pytest.mark.parametrize(
    "kind, number",
    [
        ("empty", signal.SIGTERM),
        ("empty", signal.SIGINT),
        # One handler hears both.
        ("rare words", signal.SIGTERM),
        ("between arrivals", signal.SIGINT),
    ],
)
def test_a_trainer_that_waits_can_be_stopped(
    tmp_path: Path, kind: str, number: signal.Signals
) -> None:
    path = tmp_path / "topics.db"
    fill(path, kind)
    process = Forked(TRAIN, path)
    try:
        while "waits" not in (line := process.stderr.readline()):
            assert line, "the trainer ended by itself"
        process.send_signal(number)
        out, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0
    assert (json.loads(out)["steps"] > 0) == (kind == "between arrivals")


def test_stop_is_asked_while_a_batch_is_waited_for(tmp_path: Path) -> None:
    """A drawing thread that gets no batch, as from a server that went away."""
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        store.append([Record("a", ["cat", "dog"])])
        asked = 0

        def stop() -> bool:
            nonlocal asked
            asked += 1
            return asked > 3

        with StreamTrainer(store, 2, prefetch=True) as trainer:
            trainer.run(steps=1)
            assert trainer._source is not None
            exchange = trainer._source._exchange  # type: ignore[union-attr]
            wait_for(lambda: exchange.ready._value)  # the next batch is there
            assert exchange.ready.acquire()
            trainer.run(stop=stop)
            assert asked > 3 and trainer.n_steps == 1


@pytest.mark.parametrize("value", [float("nan"), -1.0, "soon", None, True])
def test_seconds_must_be_a_number(tmp_path: Path, value: object) -> None:
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        with pytest.raises(ValueError, match=r"checkpoint_every is .*; give a number of seconds"):
            StreamTrainer(store, 2, checkpoint_every=value)  # type: ignore[arg-type]
        if value is not None:
            with (
                StreamTrainer(store, 2) as trainer,
                pytest.raises(ValueError, match=r"seconds is .*; give a number of seconds"),
            ):
                trainer.run(seconds=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("steps", [float("nan"), -1, 2.5, "3", True])
def test_steps_must_be_a_whole_number(tmp_path: Path, steps: object) -> None:
    """NaN would never be reached."""
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        store.append(Record(f"{i}", ["cat", "dog"]) for i in range(20))
        with StreamTrainer(store, 2) as trainer:
            with pytest.raises(ValueError, match=r"steps is .*; give a whole number, 0 or more"):
                trainer.run(steps=steps, seconds=5)  # type: ignore[arg-type]
            assert trainer.n_steps == 0


def test_a_trainer_that_nobody_holds_keeps_no_thread(tmp_path: Path) -> None:
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        store.append(Record(f"{i}", ["cat", "dog"]) for i in range(20))

        def drawing() -> list[threading.Thread]:
            return [t for t in threading.enumerate() if t.name == "trustream-draw"]

        for name in ("one", "two", "three"):
            trainer = StreamTrainer(store, 2, batch_size=5, prefetch=True, name=name)
            trainer.run(steps=2)
            assert len(drawing()) >= 1
        assert store.lease("three") is not None
        del trainer
        gc.collect()
        wait_for(lambda: not drawing())
        # Nor does it keep others from training its model.
        wait_for(lambda: store.lease("three") is None)


def interrupted(following: Callable[..., object], timeout: float | None = None) -> None:
    following(timeout)
    raise KeyboardInterrupt


def test_an_interrupt_while_a_batch_is_waited_for(tmp_path: Path) -> None:
    """The trainer goes on, with the batch that it would have had."""
    ends = []
    for interrupts in (0, 2):
        with open_store(tmp_path / f"{interrupts}.db", min_documents=1) as store:
            store.append(Record(f"{i}", [f"w{i % 7}", f"w{i % 5}"]) for i in range(50))
            with StreamTrainer(store, 2, batch_size=5, prefetch=True) as trainer:
                for _ in range(interrupts):
                    trainer.run(steps=1)
                    assert trainer._source is not None
                    trainer._source.next = partial(  # type: ignore[method-assign]
                        interrupted, trainer._source.next
                    )
                    with pytest.raises(KeyboardInterrupt):
                        trainer.run(steps=1)
                trainer.run(steps=6 - interrupts)
                checkpoint = trainer.checkpoint()
                assert checkpoint is not None
                ends.append((checkpoint.draws, checkpoint.state.lambda_.totals.tolist()))
    assert ends[0] == ends[1]
