"""Commands on stores in which something beside the documents is damaged: one line says what."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.commands import call, fails, ok
from trustream.store import open_store


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    feed = folder / "feed.txt"
    feed.write_text("cats purr and sleep\ndogs bark and run\n" * 30)
    ok("init", folder / "topics.db", "--topics", 2, "--min-documents", 1)
    ok("ingest", folder / "topics.db", feed)
    ok("train", folder / "topics.db", "--steps", 2)
    return folder


@pytest.fixture
def store(whole: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "topics.db"
    with (
        closing(sqlite3.connect(whole / "topics.db")) as old,
        closing(sqlite3.connect(copy)) as new,
    ):
        old.backup(new)
    yield copy


LEASE = "INSERT OR REPLACE INTO lease VALUES ('model', 3, '{}', 1e9, 7, 1e9, 30, 0)"
FIELDS = '{"format": "text", "line": "x", "head": 7, "tail": 3}'
CASES = {
    "no fields": ("UPDATE feed SET detail = '{}'", "ingest", "position of the feed .* is damaged"),
    "other fields": (
        f"UPDATE feed SET detail = '{FIELDS}'", "ingest", "position of the feed .* is damaged",
    ),
    "a list": ("UPDATE feed SET detail = '[1]'", "ingest", "position of the feed .* is damaged"),
    "before the start": ("UPDATE feed SET offset_ = -5", "ingest", "is damaged: it is at -5"),
    "a lease": (LEASE.format("not json"), "train", "lease of 'model' of .* is damaged: the holder"),
    "a list as a lease": (LEASE.format("[1]"), "status", "lease of 'model' of .* is damaged"),
    "text for a model": (
        "UPDATE saved SET content = 'abc'", "topics", "saved under 'model' is damaged",
    ),
    "zeros for a model": (
        "UPDATE saved SET content = zeroblob(length(content))", "topics", "restore",
    ),
    "a time": (
        "UPDATE document SET time = 'soon' WHERE number = 3", "trends", "times? of doc.* damaged",
    ),
    "a time that is read": (
        "UPDATE document SET time = 'soon' WHERE number = 3", "documents", "times? of documents?",
    ),
    "a content": (
        "UPDATE document SET content = 'abcdefgh' WHERE number = 3", "train", "words of document",
    ),
    "a block": ("UPDATE block SET counts = X'00'", "ingest --again --replace", "block 0 of the"),
}  # fmt: skip


def arguments(command: str, store: Path, whole: Path) -> list[object]:
    name, *options = command.split()
    more: dict[str, list[object]] = {
        "ingest": [whole / "feed.txt"], "train": ["--steps", 30], "documents": [0],
    }  # fmt: skip
    return [name, store, *more.get(name, []), *options]


@pytest.mark.parametrize("name", CASES)
def test_one_line_says_what_is_damaged(store: Path, whole: Path, name: str) -> None:
    statement, command, message = CASES[name]
    with closing(sqlite3.connect(store, isolation_level=None)) as database:
        database.execute(statement)
    assert re.search(message, " ".join(fails(*arguments(command, store, whole)).split()))
    assert call("check", store).exit_code == (0 if name == "no fields" else 1)


@pytest.mark.parametrize("name", ["no fields", "other fields", "a list", "before the start"])
def test_a_feed_with_a_damaged_position_is_read_anew(store: Path, whole: Path, name: str) -> None:
    with closing(sqlite3.connect(store, isolation_level=None)) as database:
        database.execute(CASES[name][0])
    ok("ingest", store, whole / "feed.txt", "--again", "--replace")
    ok("ingest", store, whole / "feed.txt")
    with open_store(store) as found:
        assert found.check().ok
        assert found.totals().documents == 60


def test_a_damaged_lease_is_freed(store: Path) -> None:
    with closing(sqlite3.connect(store, isolation_level=None)) as database:
        database.execute(CASES["a lease"][0])
    ok("check", store, "--repair")
    ok("train", store, "--steps", 3)
