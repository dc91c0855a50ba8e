"""Stores that are prepared for a model, and settings that are refused."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.pets_and_money import PETS, records
from trustream import open_store
from trustream.store import DocumentStore, StoreError
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.published import load_settings
from trustream.streaming.setup import PreparedStore, init_store, prepare


def settings_in(path: Path, name: str = "model") -> Any:
    with open_store(path, create=False) as store:
        return load_settings(store, name)


def test_a_new_store_has_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "topics.db"
    prepared = init_store(path, 7, batch_size=30, random_state=3, held_out=0.2, min_documents=2)
    assert prepared == PreparedStore(str(path), 7, "trust-region")
    assert json.loads(json.dumps(asdict(prepared)))["n_topics"] == 7
    assert settings_in(path) == TopicStream(n_components=7, batch_size=30, random_state=3)
    with open_store(path, create=False) as store:
        assert (store.settings.held_out, store.settings.min_documents) == (0.2, 2)
        assert store.totals().documents == 0


def test_a_store_with_documents_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "topics.db"
    with open_store(path, min_documents=1) as store:
        store.append(records(20))
    for _ in range(2):
        assert init_store(path, 3, min_documents=1).n_topics == 3
    with open_store(path, create=False) as store:
        assert store.totals().documents == 20


def test_a_model_with_other_settings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "topics.db"
    init_store(path, 3)
    for options in ({"n_topics": 4}, {"n_topics": 3, "batch_size": 9}):
        with pytest.raises(ValueError, match=r"other settings already \(3 topics, trust-region\)"):
            init_store(path, **options)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="made with held_out"):
        init_store(path, 3, held_out=0.5)
    assert settings_in(path) == TopicStream(n_components=3)
    # Another model may have other settings.
    init_store(path, 4, name="fine")
    assert settings_in(path, "fine").n_components == 4
    assert settings_in(path, "unknown") is None


def test_invalid_settings_make_no_store(tmp_path: Path) -> None:
    path = tmp_path / "topics.db"
    for options, message in (
        ({"n_topics": 0}, "n_components"),
        ({"method": "nonsense"}, "method must be one of"),
        ({"preset": "nonsense"}, "no preset"),
        ({"preset": "wikipedia-1", "method": "streaming-vb"}, "method must be one of"),
        ({"held_out": 1.0}, "held_out"),
        ({"vocabulary": PETS, "min_documents": 2}, "min_documents has no meaning"),
    ):
        with pytest.raises(ValueError, match=message):
            init_store(path, **options)  # type: ignore[arg-type]
        assert not path.exists(), options


def test_presets_and_vocabularies(tmp_path: Path) -> None:
    init_store(tmp_path / "preset.db", 400, preset="wikipedia-1", method="natural-gradient")
    found = settings_in(tmp_path / "preset.db")
    assert (found.n_components, found.method, found.batch_size) == (400, "natural-gradient", 500)
    init_store(tmp_path / "own.db", 400, preset="wikipedia-1", batch_size=20)
    assert settings_in(tmp_path / "own.db").batch_size == 20
    init_store(tmp_path / "fixed.db", 2, vocabulary=PETS)
    with open_store(tmp_path / "fixed.db", create=False) as store:
        assert store.vocabulary().words == PETS


def test_prepare_an_open_store(empty_store: DocumentStore) -> None:
    model = TopicStream(n_components=5, method="streaming-batch")
    for _ in range(2):
        prepare(empty_store, model, "name")
    assert load_settings(empty_store, "name") == model
    assert load_settings(empty_store) is None
    with pytest.raises(ValueError, match=r"\(5 topics, streaming-batch\): choose another store"):
        prepare(empty_store, TopicStream(n_components=5), "name")
