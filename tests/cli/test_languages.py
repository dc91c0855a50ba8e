"""Languages, phrases and registered functions on the command line."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.commands import call
from tests.feeds.helpers import documents
from trustream.store import open_store


def ok(*arguments: object) -> Result:
    result = call(*arguments)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result


def words_of(store: Path) -> set[str]:
    with open_store(store, create=False) as found:
        return {word for counts in documents(found).values() for word in counts}


def test_phrases_from_files_to_a_store(tmp_path: Path) -> None:
    feed, listed, store = tmp_path / "a.txt", tmp_path / "phrases.txt", tmp_path / "topics.db"
    feed.write_text("A bank in New York\nrates in New York\nbank rates: New York Times\n" * 10)
    found = ok("phrases", feed, "--threshold", 0.4)
    assert found.stdout.splitlines()[0] == "new york"
    assert "3 phrases in 110 words" in found.stderr
    listed.write_text(found.stdout)
    scored = [json.loads(line) for line in ok("phrases", feed, "--json").stdout.splitlines()]
    assert scored[0]["text"] == "new york" and scored[0]["count"] == 30
    ok("init", store, "--min-documents", 1, "--phrases", listed)
    ok("ingest", store, feed)
    assert "new_york" in words_of(store)
    assert "phrases" in ok("tokeniser", store).stdout
    kept = json.loads(ok("tokeniser", store, "--json").stdout)["tokeniser"]
    assert "new york" in kept["phrases"]
    # Other options leave the phrases as they are.
    assert "phrase" in ok("tokeniser", store, "--min-length", 2).stdout


def test_a_language(tmp_path: Path) -> None:
    store, feed = tmp_path / "topics.db", tmp_path / "a.txt"
    feed.write_text("Die Größe der Hunde\n", encoding="utf-8")
    ok("init", store, "--min-documents", 1, "--language", "German")
    assert "for German" in ok("tokeniser", store).stdout
    ok("ingest", store, feed)
    assert words_of(store) == {"größe", "hunde"}
    changed = ok("tokeniser", store, "--language", "hi").stdout
    assert "of 2 letters or more" in changed and "for Hindi" in changed
    usual = ok("tokeniser", store, "--default").stdout.splitlines()[0]
    assert "of 3 letters or more" in usual and "for Hindi" not in usual
    failed = call("init", tmp_path / "b.db", "--language", "xx")
    assert failed.exit_code == 1 and "--language is 'xx', expected one of" in failed.stderr
    assert not (tmp_path / "b.db").exists()


def test_clauses_that_became_words(tmp_path: Path) -> None:
    store, feed = tmp_path / "topics.db", tmp_path / "a.txt"
    feed.write_text("我来到北京清华大学，学习自然语言处理\n", encoding="utf-8")
    ok("init", store, "--min-documents", 1)
    said = ok("ingest", store, feed).stderr
    assert "--language zh, --language ja or --segmenter bigrams" in said
    ok("tokeniser", store, "--language", "zh")
    assert "Note" not in ok("ingest", store, feed, "--again", "--replace").stderr
    assert "清华大学" in words_of(store)


def test_a_function_of_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, feed = tmp_path / "topics.db", tmp_path / "a.txt"
    feed.write_text("A cat\n")
    failed = call("init", store, "--function", "by-spaces")
    assert failed.exit_code == 1 and "or install the package that has it" in failed.stderr
    plugin = tmp_path / "plugin"
    (plugin / "by_spaces-1.0.dist-info").mkdir(parents=True)
    (plugin / "by_spaces.py").write_text("def words(text):\n    return text.split()\n")
    information = plugin / "by_spaces-1.0.dist-info"
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: by-spaces\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[trustream.tokenisers]\nby-spaces = by_spaces:words\n"
    )
    monkeypatch.syspath_prepend(plugin)
    importlib.metadata.MetadataPathFinder().invalidate_caches()
    monkeypatch.setattr("trustream.registered_tokenisers._REGISTERED", {})
    ok("init", store, "--min-documents", 1, "--function", "by-spaces")
    ok("ingest", store, feed)
    assert words_of(store) == {"A", "cat"}
    assert "registered as by-spaces" in ok("tokeniser", store).stdout
    both = call("init", tmp_path / "b.db", "--function", "by-spaces", "--language", "de")
    assert both.exit_code == 2 and "leave the other options out" in both.stderr


def test_phrases_of_a_store(tmp_path: Path) -> None:
    feed, store = tmp_path / "a.txt", tmp_path / "topics.db"
    feed.write_text("A bank in New York\nrates in New York\nbank rates: New York (Times)\n" * 10)
    ok("init", store, "--min-documents", 1, "--keep-order", "--topics", 2)
    ok("ingest", store, feed)
    found = ok("phrases", store)
    assert found.stdout == ok("phrases", feed).stdout == "new york\n"
    assert "1 phrases in 110 words" in found.stderr
    assert "0 phrases, order of words kept of 30 documents" in ok("status", store).stdout
    assert "york" in words_of(store), "nothing is changed yet"
    ok("train", store, "--steps", 3)
    adopted = ok("phrases", store, "--adopt")
    assert adopted.stdout == "new york\n"
    assert "joins 1 phrases now; the words of 30 documents were made anew" in adopted.stderr
    assert f"new words for models, which do not know them yet: trustream train {store}" in (
        adopted.stderr
    )
    assert words_of(store) == {"bank", "rates", "new_york", "times"}
    assert "new york" not in ok("phrases", store).stdout
    ok("train", store, "--steps", 3)
    assert "new_york" in ok("topics", store).stdout
    # All that texts come to splits them as the store does now.
    ok("tokeniser", store, "--phrases", write_list(tmp_path, "new york times\nnew york\n"))
    state = json.loads(ok("status", store, "--json").stdout)["phrases"]
    assert state == {"n_phrases": 2, "n_ordered": 30, "n_left": 30, "n_without_order": 0}
    assert "30 of them joined by other phrases: trustream phrases" in ok("status", store).stdout
    ok("phrases", store, "--adopt", "--min-count", 1000)
    assert words_of(store) == {"bank", "rates", "new_york", "times"}
    deleted = ok("delete", store, "a.txt:1")
    assert "The 2 phrases of the tokeniser stay" in deleted.stdout
    ok("export", store, tmp_path / "model.safetensors")
    question = tmp_path / "question.txt"
    question.write_text("New York Times\n")
    for model in (store, tmp_path / "model.safetensors"):
        ok("transform", model, question)


def write_list(folder: Path, text: str) -> Path:
    path = folder / "list.txt"
    path.write_text(text)
    return path


def test_wrong_calls_for_phrases(tmp_path: Path) -> None:
    feed, store = tmp_path / "a.txt", tmp_path / "topics.db"
    feed.write_text("A bank in New York\n" * 10)
    ok("init", store, "--topics", 2)
    for arguments, message in [
        ((store,), "init --keep-order"),
        ((store, feed), "Give one STORE, or files"),
        ((feed, "--adopt"), "--adopt is for a STORE"),
        ((store, "--language", "de"), "options of texts are for files"),
        ((store, "--format", "text"), "options of texts are for files"),
        ((tmp_path / "none.db",), "none.db"),
    ]:
        result = call("phrases", *arguments)
        assert result.exit_code != 0 and message in result.output, result.output
    result = call(
        "init", tmp_path / "b.db", "--keep-order", "--vocabulary", write_list(tmp_path, "bank\n")
    )
    assert "a fixed vocabulary takes none" in result.output
