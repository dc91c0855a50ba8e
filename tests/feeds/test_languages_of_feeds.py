"""Texts of other languages on their way into a store, and functions that are registered."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.feeds.helpers import documents
from trustream.feeds import FeedError, change_tokeniser, ingest, learn_phrases
from trustream.phrases import Phrases
from trustream.store import DocumentStore, Record, open_store
from trustream.text import BEFORE_MARKS, Tokeniser
from trustream.tokenisers import CustomTokeniser, RegisteredTokeniser
from trustream.topics import register_tokeniser

HINDI = "हिन्दी साहित्य का इतिहास"
CHINESE = "我来到北京清华大学，学习自然语言处理"


def lines(*texts: str) -> io.BytesIO:
    return io.BytesIO("\n".join(texts).encode())


def words_of(store: DocumentStore) -> set[str]:
    return {word for counts in documents(store).values() for word in counts}


def added(store: DocumentStore, *texts: str, **options: Any) -> Any:
    return ingest(store, lines(*texts), format="text", name=f"n{store.totals().arrived}", **options)


def test_old_stores_go_on_as_they_were(tmp_path: Path) -> None:
    """One that keeps the pattern of before, and one that has documents and keeps nothing."""
    with open_store(tmp_path / "kept.db", min_documents=1, tokeniser=BEFORE_MARKS) as kept:
        added(kept, HINDI, "caf\u00e9 dogs")
        assert words_of(kept) == {"café", "dogs"}
    with open_store(tmp_path / "silent.db", min_documents=1) as silent:
        silent.append([Record("a", ["cat"])])
        assert silent.tokeniser() is None
        added(silent, HINDI, "dogs")
        assert words_of(silent) == {"cat", "dogs"}
    with open_store(tmp_path / "new.db", min_documents=1) as new:
        added(new, HINDI)
        assert {"हिन्दी", "साहित्य"} <= words_of(new) and new.tokeniser() == Tokeniser()


def test_a_language_is_kept_with_the_store(tmp_path: Path) -> None:
    path = tmp_path / "german.db"
    with open_store(
        path, min_documents=1, tokeniser=Tokeniser(language="de", phrases=["rotes kreuz"])
    ) as store:
        added(store, "Das Rotes Kreuz ist nicht hier")
    with open_store(path, min_documents=1) as store:
        assert added(store, "Das Rotes Kreuz und die Hunde").note is None
        assert words_of(store) == {"rotes_kreuz", "hunde"}
        with pytest.raises(FeedError, match=r"language de, not None; 26\d stop words, not these"):
            added(store, "x", tokenise=Tokeniser(phrases=["rotes kreuz"]))


def test_clauses_that_became_words_are_noted(tmp_path: Path) -> None:
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        assert added(store, "cats and dogs", "Größe").note is None
        assert "whole clauses of Chinese" in added(store, *["cats"] * 5, *[CHINESE] * 20).note
        change_tokeniser(store, Tokeniser(language="zh"))
        assert added(store, CHINESE).note is None
    with open_store(tmp_path / "words.db", min_documents=1) as store:
        # Words that somebody has found already.
        tokens = {"id": "a", "tokens": ["北京", "清华大学", "学习", "自然语言"]}
        feed = io.BytesIO(json.dumps(tokens).encode())
        assert ingest(store, feed, format="jsonl").note is None


def test_registered_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trustream.registered_tokenisers._REGISTERED", {})
    path = tmp_path / "topics.db"
    register_tokeniser("by-spaces", by_spaces)
    with open_store(path, min_documents=1) as store:
        added(store, "A cat", tokenise=by_spaces)
        assert store.tokeniser() == RegisteredTokeniser("by-spaces")
        added(store, "The dog")  # found by its name
        added(store, "a bird", tokenise=by_spaces)
        assert words_of(store) == {"A", "cat", "The", "dog", "a", "bird"}
    monkeypatch.setattr("trustream.registered_tokenisers._REGISTERED", {})
    with (
        open_store(path) as store,
        pytest.raises(ValueError, match=r"registered as 'by-spaces', and none is: call"),
    ):
        added(store, "The fish")


def test_a_function_that_is_registered_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trustream.registered_tokenisers._REGISTERED", {})
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        added(store, "A cat", tokenise=by_spaces)
        assert isinstance(store.tokeniser(), CustomTokeniser)
        register_tokeniser("by-spaces", by_spaces)
        added(store, "A dog", tokenise=by_spaces)
        assert words_of(store) == {"A", "cat", "dog"}


def by_spaces(text: str) -> list[str]:
    return text.split()


def test_phrases_of_files(tmp_path: Path) -> None:
    texts = ["A bank in New York", "rates in New York", "New York: bank rates"] * 5
    records = [json.dumps({"id": str(i), "text": text}) for i, text in enumerate(texts)]
    (tmp_path / "a.jsonl").write_text("\n".join(records))
    (tmp_path / "b.txt").write_text("\n".join(texts))
    both = learn_phrases([tmp_path / "a.jsonl", tmp_path / "b.txt"])
    assert both.found()[0].text == "new york" and both.found()[0].count == 30
    # Files that come later are added, and what was counted stays.
    first = learn_phrases([tmp_path / "a.jsonl"])
    assert learn_phrases([tmp_path / "b.txt"], phrases=first).found() == both.found()
    assert first.found()[0].count == 15
    tokens = tmp_path / "tokens.jsonl"
    tokens.write_text('{"id": "a", "tokens": ["new", "york"]}\n')
    with pytest.raises(FeedError, match="has words or counts and no texts"):
        learn_phrases([tokens])
    with pytest.raises(ValueError, match="expected a list of files"):
        learn_phrases(str(tokens))
    assert learn_phrases([], phrases=Phrases(min_count=3)).min_count == 3
