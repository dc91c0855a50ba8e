"""Trainers on the command line: what they wait for, who has a model, several models, retraining."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.commands import call, fails, ok, values
from tests.forking import Forked
from tests.pets_and_money import records
from trustream import open_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "topics.db"
    ok("init", path, "--topics", 2, "--min-documents", 1, "--held-out", 0.2, "--batch", 20)
    return path


def fill(path: Path) -> None:
    with open_store(path, create=False) as store:
        store.append(records(300))


@contextmanager
def running(*arguments: object) -> Iterator[Forked]:
    process = Forked(None, *arguments)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def line_with(process: Forked, text: str) -> str:
    """The next line of standard error that has a text in it."""
    while text not in (line := process.stderr.readline()):
        assert line, "the command ended by itself"
    return line


def test_an_empty_store_is_no_success(store: Path) -> None:
    message = fails("train", store, "--until-idle")
    assert "there are no documents in it yet" in message
    assert f"trustream ingest {store} FILE" in message and "--until-idle" in message
    # Nothing is waited for, and nothing was asked for that was not done.
    assert "nothing to learn from yet" in ok("train", store, "--seconds", 0.1)


def test_it_says_what_it_waits_for_and_is_seen_before_its_first_checkpoint(store: Path) -> None:
    assert values("status", store)["trainer"] is None
    with running("train", store, "--steps", 3) as process:
        line = line_with(process, "waiting for")
        assert "there are no documents in it yet" in line
        assert f"waiting for trustream ingest {store} FILE" in line
        trainer = values("status", store)["trainer"]
        assert trainer["pid"] == process.pid and not trainer["is_silent"]
        text = ok("status", store)
        assert f"no checkpoint yet; a trainer is running: process {process.pid} on" in text
        # A second one is refused.
        message = fails("train", store)
        assert f"is running: process {process.pid} on" in message and "--model" in message
        fill(store)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and err.count("waiting") == 0, err
    assert "3 steps, " in out and "looks at each document" in out and "nats per word" in out
    assert "2 topics, 3 steps" in ok("status", store)
    assert "no trainer is running" in ok("status", store)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_or_killed_and_begun_again_at_once(store: Path, number: signal.Signals) -> None:
    fill(store)
    with running("train", store, "--checkpoint-every", 0) as process:
        while values("status", store)["steps"] == 0:
            assert process.poll() is None
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    n_steps = values("status", store)["steps"]
    assert n_steps > 0
    if number == signal.SIGINT:
        assert process.returncode == 0 and f"{n_steps:,} steps" in out
        assert f"all {n_steps:,} steps are saved. Go on with: trustream train {store}" in err
    assert values("train", store, "--steps", 1)["steps"] == n_steps + 1


def test_until_idle_says_how_often_it_looked(store: Path) -> None:
    fill(store)
    found = values("train", store, "--until-idle")
    assert 5.0 <= found["looks"] < 5.5
    again = values("train", store, "--until-idle")
    assert again["steps"] == found["steps"] + 1


def test_several_models(store: Path, tmp_path: Path) -> None:
    assert "no model yet" in ok("status", store)
    # Settings of the store need not be repeated.
    text = ok("init", store, "--model", "fine", "--topics", 5, "--batch", 20)
    assert "ready for 5 topics in the model 'fine', beside 'model'" in text
    assert f"trustream train {store} --model fine" in text
    assert values("init", store, "--model", "fine", "--topics", 5, "--batch", 20) == {
        "store": str(store), "topics": 5, "method": "trust-region", "model": "fine",
        "others": ["model"],
    }  # fmt: skip
    assert "has a model 'fine' with other settings" in fails("init", store, "--model", "fine")
    assert "made with --min-documents 1, not 2" in fails(
        "init", store, "--model", "b", "--min-documents", 2
    )
    for wrong in ("a.settings", "", "a\nb", "x" * 200, "model.retrain"):
        assert "a model cannot be called" in fails("init", store, "--model", wrong)
    fill(store)
    ok("train", store, "--steps", 4)
    ok("train", store, "--model", "fine", "--steps", 6)
    found = values("status", store)
    assert (found["topics"], found["steps"]) == (2, 4)
    assert [(m["name"], m["topics"], m["steps"]) for m in found["models"]] == [
        ("fine", 5, 6),
        ("model", 2, 4),
    ]
    lines = ok("status", store).splitlines()
    assert lines[1].startswith("fine: 5 topics, 6 steps") and lines[2].startswith("model: 2 topics")
    only = values("status", store, "--model", "fine")
    assert only["topics"] == 5 and len(only["models"]) == 1
    new = tmp_path / "new.txt"
    new.write_text("a dog and a cat and a bird\nthe bank, its rate, a coin\n" * 5)
    both = ("--model", "model", "--model", "fine")
    compared = json.loads(ok("evaluate", store, new, *both, "-m", "bound", "--json"))["models"]
    assert list(compared) == ["model", "fine"]
    alone = json.loads(ok("evaluate", store, new, "--model", "fine", "-m", "bound", "--json"))
    assert compared["fine"] == alone
    table = ok("evaluate", store, new, "--all-models", "-m", "bound")
    assert "fine" in table and "model" in table
    for command in (("train", store), ("status", store), ("topics", store), ("retrain", store),
                    ("evaluate", store, new), ("export", store, tmp_path / "m")):  # fmt: skip
        message = fails(*command, "--model", "nope")
        assert "'nope'" in message and "'fine', 'model'" in message, command
    result = call("evaluate", store, new, "--all-models", "--model", "fine")
    assert result.exit_code == 2 and "--all-models" in result.output


def test_one_damaged_model_does_not_hide_the_others(store: Path) -> None:
    ok("init", store, "--model", "fine", "--topics", 5)
    fill(store)
    ok("train", store, "--steps", 2)
    with open_store(store, create=False) as found:
        found.save("fine", b"nonsense")
        found.save("something else", b"no model")
    models = values("status", store)["models"]
    assert [model["name"] for model in models] == ["fine", "model"]
    assert "cannot read the checkpoint 'fine'" in models[0]["problem"]
    assert "cannot read the checkpoint 'fine'" in fails("status", store, "--model", "fine")


def test_retrain(store: Path) -> None:
    assert "no trained model 'model' to replace" in fails("retrain", store)
    fill(store)
    ok("train", store, "--until-idle")
    text = ok("retrain", store)
    assert "replaced the model after" in text and "it is as good" in text
    before = values("status", store)["steps"]
    kept = call("retrain", store, "--passes", 0.01)
    assert kept.exit_code == 1, kept.output
    message = kept.output
    assert "kept the old model after 1 steps: it is worse" in message and "--force" in message
    assert values("status", store)["steps"] == before
    found = values("retrain", store, "--passes", 0.01, "--force")
    assert found["replaced"] and found["n_steps"] == 1 and found["comparison"]["difference"] < 0
    assert values("status", store)["steps"] == 1


def test_an_interrupted_retraining_says_what_is_safe(store: Path) -> None:
    fill(store)
    ok("train", store, "--steps", 2)
    with running("retrain", store, "--passes", 1e9) as process:
        while values("status", store)["retrainer"] is None:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT
    assert f"is as it was. Begin again with: trustream retrain {store}" in err
    assert values("status", store)["steps"] == 2
