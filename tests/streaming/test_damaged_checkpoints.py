"""Checkpoints and settings in a store that are not what they should be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trustream
from tests.data.models import make
from trustream import persist
from trustream.streaming import stream_model
from trustream.streaming.checkpoint import VERSION, Checkpoint
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.published import load_settings, save_settings

CONTENT = (Path(make.__file__).parent / "stream.safetensors").read_bytes()
ARRAYS, HEADER = persist.from_bytes(CONTENT, "the checkpoint")


def refused(arrays: dict[str, Any], header: dict[str, Any], words: str) -> None:
    content = persist.to_bytes(
        {key: value for key, value in {**ARRAYS, **arrays}.items() if value is not None},
        {key: value for key, value in {**HEADER, **header}.items() if value != "removed"},
    )
    with pytest.raises(ValueError, match=f"cannot read it: .*damaged .*{words}.*; restore the st"):
        Checkpoint.from_bytes(content, "it")


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"eta": "removed"}, "missing from the header: eta"),
        ({"eta": 0.0}, "eta in the header is 0.0, expected a finite number above 0"),
        ({"eta": float("nan")}, "eta in the header is nan"),
        ({"scale": float("inf")}, "scale in the header is inf"),
        ({"scale": -1.0}, "scale in the header is -1"),
        ({"shift": -1e-9}, "shift in the header"),
        ({"n_steps": 1.5}, "n_steps in the header is 1.5"),
        ({"arrival": -2}, "arrival in the header is -2"),
        ({"stream": 0}, "stream in the header is 0"),
        ({"stream": "1"}, "stream in the header is '1'"),
        ({"more": 1}, "unknown in the header: more"),
        ({"memory_count": 3.0}, "missing from the arrays: memory.log_sum"),
        ({"clock": {}}, "missing from the clock: found"),
        ({"clock": {**HEADER["clock"], "looked_at": -1}}, "looked_at in the clock is -1"),
        ({"clock": {**HEADER["clock"], "added": 0}}, "the clock runs backwards"),
        ({"clock": {**HEADER["clock"], "quiet": float("nan")}}, "quiet in the clock is nan"),
        ({"draws": {}}, "missing from a generator"),
        ({"others": []}, "others in the header is a list"),
        ({"best_score": "high"}, "best_score in the header"),
        ({"settings": {}}, "missing from the settings"),
        ({"settings": {**HEADER["settings"], "more": 1}}, "unknown in the settings: more"),
        ({"settings": {**HEADER["settings"], "n_components": 4}}, r"expected \(8, 4\)"),
        ({"settings": {**HEADER["settings"], "dtype": "float64"}}, "type float32"),
        ({"settings": {**HEADER["settings"], "method": []}}, "method must be one of"),
    ],
)  # fmt: skip
def test_headers(header: dict[str, Any], words: str) -> None:
    refused({}, header, words)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"words": None}, "missing from the arrays: words"),
        ({"words": persist.pack_strings(["a"])}, "1 words for 8 rows"),
        ({"words": np.zeros(3, np.uint8)}, "Expecting value"),
        ({"memory.log_sum": np.zeros(3)}, "unknown in the arrays: memory.log_sum"),
        ({"prior.alpha": np.zeros(3)}, "prior.alpha holds 0"),
        ({"prior.alpha": np.ones(4)}, r"shape \(4,\), expected \(3,\)"),
        ({"lambda.totals": np.full(3, 1e9)}, "totals of lambda are not its sums"),
        ({"lambda.stored": ARRAYS["lambda.stored"][:7]}, "8 words for 7 rows|not its sums"),
        ({"lambda.stored": -ARRAYS["lambda.stored"] - 1}, "negative"),
        ({"lambda.stored": np.zeros(0, np.float32)}, r"shape \(0,\), expected \(0, 3\)"),
        ({"lambda.stored": np.array(1, np.float32)}, r"shape \(\), expected"),
    ],
)
def test_arrays(arrays: dict[str, Any], words: str) -> None:
    refused(arrays, {}, words)


def test_a_checkpoint_of_a_later_version() -> None:
    content = persist.to_bytes(ARRAYS, {**HEADER, "stream": VERSION + 1})
    with pytest.raises(ValueError, match="newer version: upgrade trustream"):
        Checkpoint.from_bytes(content, "it")


def test_a_model_is_no_checkpoint() -> None:
    content = (Path(make.__file__).parent / "lda.safetensors").read_bytes()
    with pytest.raises(ValueError, match="it is not the checkpoint of a stream"):
        Checkpoint.from_bytes(content, "it")


GOOD = stream_model.to_json(TopicStream())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"[" * 100_000,
        b"{}",
        json.dumps({**GOOD, "more": 1}).encode(),
        json.dumps({**GOOD, "n_components": 0}).encode(),
        json.dumps({**GOOD, "n_components": "many"}).encode(),
        json.dumps({**GOOD, "learning_offset": "x"}).encode(),
        json.dumps({**GOOD, "learning_offset": float("nan")}).encode(),
        json.dumps({**GOOD, "tol": None}).encode(),
        json.dumps({**GOOD, "learn_priors": "no"}).encode(),
        json.dumps({key: value for key, value in GOOD.items() if key != "tol"}).encode(),
    ],
)
def test_settings_of_a_store(tmp_path: Path, content: bytes) -> None:
    with trustream.open_store(tmp_path / "store.db") as store:
        save_settings(store, TopicStream())
        assert load_settings(store) == TopicStream()
        store.save("model.settings", content)
        with pytest.raises(ValueError, match=r"the settings of the model 'model'.*; restore") as e:
            load_settings(store)
        assert str(e.value).isprintable()


@pytest.mark.parametrize(
    "wrong",
    [{"learning_offset": "10"}, {"tol": None}, {"learn_priors": 1}, {"learning_decay": True}],
)
def test_settings_of_another_type(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TopicStream(**wrong)
