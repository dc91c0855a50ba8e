"""`trustream check`: what is wrong with a store, and what to ingest again."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.store.faulty import faulty_writer, make_old
from trustream.cli import main
from trustream.store import Record, open_store


def call(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def values(*arguments: object) -> tuple[int, list[dict[str, Any]]]:
    result = call(*arguments, "--json")
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "topics.db"
    with open_store(path, min_documents=1) as store:
        store.append([Record("a", ["x", "y"]), Record("b\x1b[31m", ["x"])])
    return path


def change(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as database:
        database.execute(statement)


def test_a_store_that_is_well(store: Path) -> None:
    result = call("check", store)
    assert result.exit_code == 0
    assert result.stdout == f"{store}: 2 documents, 3 tokens: all is well\n"
    code, (told,) = values("check", store)
    assert (code, told["ok"], told["n_documents"], told["damage"]) == (0, True, 2, [])


def test_damage_is_told_and_repaired(store: Path) -> None:
    change(store, "UPDATE state SET token_count = 9")
    result = call("check", store)
    assert result.exit_code == 1
    assert "2 documents, 3 tokens: damaged\ntokens: " in result.stdout
    assert "the store counts 9, its documents have 3" in result.stdout
    assert "--repair" in result.stdout
    code, (told,) = values("check", store, "--repair")
    assert (code, told["ok"]) == (0, True)
    assert told["damage"][0]["kind"] == "tokens"
    assert call("check", store).exit_code == 0


def test_documents_to_ingest_again(store: Path) -> None:
    change(store, "UPDATE document SET content = X'01'")
    result = call("check", store)
    assert result.exit_code == 1
    assert "2 documents may lack words; delete them and ingest them again" in result.stdout
    assert "\x1b" not in result.stdout
    code, told = values("check", store, "--repair")
    assert (code, [line["suspect"] for line in told[:-1]]) == (0, ["a", "b\x1b[31m"])
    assert (told[-1]["n_suspects"], told[-1]["n_tokens"]) == (2, 0)


def test_a_store_of_the_version_that_lost_words(tmp_path: Path) -> None:
    path = tmp_path / "topics.db"
    with faulty_writer(), open_store(path, min_documents=1) as store:
        for i in range(280):
            store.append([Record("grown", [f"w{i}"])])
    make_old(str(path))
    result = call("check", path)
    assert result.exit_code == 1
    assert "words lost: " in result.stdout
    assert "24 tokens of 24 different words" in result.stdout
    assert call("check", path, "--repair").exit_code == 0
    code, told = values("check", path)
    assert (code, told[0], told[-1]["missing_tokens"]) == (0, {"suspect": "grown"}, 24)


def test_what_is_no_store(tmp_path: Path) -> None:
    result = call("check", tmp_path / "nothing.db")
    assert result.exit_code == 1
    assert "is not there; make the store first" in result.output
