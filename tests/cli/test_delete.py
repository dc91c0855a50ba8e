"""`trustream delete`, and what `trustream ingest` says of documents that were there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trustream.cli import main
from trustream.store import Record, open_store


def call(*arguments: object, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "topics.db"
    with open_store(path, min_documents=1) as store:
        store.append(Record(f"n{i}", ["cats", f"word{i}"], append_id=f"i{i}") for i in range(9))
    return path


def keys(path: Path) -> list[str]:
    with open_store(path) as store:
        assert store.check().ok
        return [key for block in store.scan() for key in block.keys]


def test_ids_of_the_command_line(store: Path) -> None:
    result = call("delete", store, "n1", "n2")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{store}: 2 documents deleted\nIt was overwritten in the file")
    assert "--rewrite" in result.stdout
    assert "retrain" not in result.stdout, "there is no model"
    assert keys(store) == ["n0", *(f"n{i}" for i in range(3, 9))]


def test_unknown_ids_are_told(store: Path) -> None:
    result = call("delete", store, "n1", "no\x1b[31mbody", "n1")
    assert result.exit_code == 1
    assert "1 document deleted" in result.stdout
    assert "no document has 1 of these ids: 'no\\x1b[31mbody'" in result.stderr
    result = call("delete", store, "n1", "--json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["n_documents"], told["unknown"]) == (1, 0, ["n1"])
    assert call("delete", store, "n1").stdout == f"{store}: 0 documents deleted\n"


def test_ids_of_a_file_and_of_standard_input(store: Path, tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_bytes("\ufeffn1\r\n\r\nn2".encode())
    assert call("delete", store, "n3", "--from", ids).exit_code == 0
    assert call("delete", store, "--from", "-", stdin="n4\nn5\n").exit_code == 0
    assert keys(store) == ["n0", "n6", "n7", "n8"]
    ids.write_bytes(b"n6\nn\xff\n")
    result = call("delete", store, "--from", ids)
    assert (result.exit_code, "line 2 is not UTF-8" in result.stderr) == (1, True)
    assert len(keys(store)) == 4, "nothing was deleted"


def test_nothing_to_delete_is_a_wrong_call(store: Path, tmp_path: Path) -> None:
    for arguments in ((store,), (store, "--from", tmp_path / "nothing"), (store, "--from", "")):
        assert call("delete", *arguments).exit_code == 2
    result = call("delete", tmp_path / "nothing.db", "n1")
    assert (result.exit_code, "is not there" in result.stderr) == (1, True)
    assert not (tmp_path / "nothing.db").exists()


def test_append_ids_of_the_stone_age(store: Path) -> None:
    """Longer ago than any time that a store takes: there are none."""
    assert call("delete", store, "--append-ids-older-than", 1e10).exit_code == 0


def test_append_ids_and_a_rewrite(store: Path) -> None:
    result = call("delete", store, "n1", "--append-ids-older-than", 0, "--rewrite")
    assert result.exit_code == 0
    assert "9 append ids forgotten" in result.stdout
    told = json.loads(call("delete", store, "--rewrite", "--json").stdout)
    assert (told["rewritten"], told["overwritten"], told["n_documents"]) == (True, True, 0)
    assert b"word1" not in store.read_bytes()


def test_what_a_model_keeps_is_told(store: Path) -> None:
    assert call("init", store, "--topics", 2, "--min-documents", 1).exit_code == 0
    assert call("train", store, "--steps", 2).exit_code == 0
    assert "word3" in call("topics", store).stdout
    result = call("delete", store, "n3")
    assert "a trace stays" in result.stdout
    assert f"trustream retrain {store}" in result.stdout
    assert "word3" not in call("topics", store).stdout
    assert call("train", store, "--steps", 2).exit_code == 0


def test_what_ingest_says_of_documents_that_were_there(store: Path, tmp_path: Path) -> None:
    feed = tmp_path / "news.jsonl"
    feed.write_text("".join(json.dumps({"id": f"n{i}", "text": "dogs"}) + "\n" for i in range(9)))
    added = "words added to 9 documents that were there before this feed"
    result = call("ingest", store, feed)
    assert f"{added}; --replace replaces such documents instead\n" in result.stdout
    result = call("ingest", store, feed, "--again")
    assert result.exit_code == 2
    assert "give --replace to replace their documents, or --add" in " ".join(result.stderr.split())
    assert f"{added}\n" in call("ingest", store, feed, "--again", "--add").stdout
    result = call("ingest", store, feed, "--again", "--replace")
    assert "replaced 9 documents that were there before this feed\n" in result.stdout
    assert call("ingest", store, feed, "--again", "--replace", "--add").exit_code == 2
    twice = feed.read_text() * 2
    result = call("ingest", store, "-", "--format", "jsonl", "--replace", stdin=twice)
    assert "9 records replaced an earlier one of the same id in this feed\n" in result.stdout
    told = json.loads(call("ingest", store, feed, "--again", "--add", "--json").stdout)
    assert (told["n_extended"], told["n_replaced"], told["n_documents"]) == (9, 0, 0)
    one = call("ingest", store, "-", "--format", "jsonl", stdin=feed.read_text().split("\n")[0])
    assert "words added to 1 document that was there before this feed;" in one.stdout
