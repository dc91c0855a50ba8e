"""Texts and titles on their way from files into stores that keep them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.feeds.helpers import DUMP
from trustream.feeds import ingest, read
from trustream.store import StoredText, open_store

LINES = [
    {"id": "a", "text": "The cats of my house", "title": " Cats "},
    {"id": "b", "tokens": ["dogs"], "title": "Dogs"},
    {"id": "c", "text": "Birds", "title": 7},
    {"id": "a", "text": "and more cats", "headline": "Late"},
]


def jsonl(lines: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_json_lines(tmp_path: Path) -> None:
    with open_store(tmp_path / "t.db", keep_text=True, min_documents=1) as store:
        ingest(store, io.BytesIO(jsonl(LINES)), format="jsonl")
        assert store.texts([*"abc"]) == {
            "a": StoredText("The cats of my house\nand more cats", "Cats"),
            "b": StoredText("", "Dogs"),
            "c": StoredText("Birds"),
        }, "words that came as tokens have no text, but may have a title"
        ingest(
            store, io.BytesIO(jsonl(LINES)), format="jsonl", replace=True, title_column="headline"
        )
        assert store.texts([*"abc"]) == {
            "a": StoredText("and more cats", "Late"),
            "c": StoredText("Birds"),
        }


@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_tables(tmp_path: Path, name: str) -> None:
    file, comma = tmp_path / name, "," if name.endswith("csv") else "\t"
    rows = [["id", "title", "text"], ["1", "Pets", "Cats and dogs"], ["2", "", "Birds"]]
    file.write_text("".join(comma.join(row) + "\n" for row in rows))
    plain = tmp_path / "plain.csv"
    plain.write_text("id,text\n3,Mice\n")
    with open_store(tmp_path / "t.db", keep_text=6) as store:
        ingest(store, file)
        ingest(store, plain)
        assert store.texts([*"123"]) == {
            "1": StoredText("Cats a", "Pets"),
            "2": StoredText("Birds"),
            "3": StoredText("Mice"),
        }


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="Parquet is an extra")
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet is an extra")
    table = arrow.table({"id": ["1", "2"], "text": ["Cats", "Dogs"], "title": ["C", None]})
    parquet.write_table(table, tmp_path / "t.parquet")
    with open_store(tmp_path / "t.db", keep_text=True) as store:
        ingest(store, tmp_path / "t.parquet")
        assert store.texts([*"12"]) == {"1": StoredText("Cats", "C"), "2": StoredText("Dogs")}


def test_text_and_mediawiki(tmp_path: Path) -> None:
    with open_store(tmp_path / "t.db", keep_text=True) as store:
        ingest(store, io.BytesIO(b"Cats and dogs\n\nBirds\n"), format="text", name="pets")
        ingest(store, io.BytesIO(DUMP.encode()), format="mediawiki", page_key="id")
        found = store.texts(["pets:1", "pets:3", "12"])
    assert found["pets:1"] == StoredText("Cats and dogs")
    assert found["12"].title == "Cat & dog"
    assert "Cats chase mice." in found["12"].text and "hidden source" not in found["12"].text


@pytest.mark.parametrize("workers", [0, 2])
def test_a_large_file_by_several_processes(tmp_path: Path, workers: int) -> None:
    lines = [{"id": f"d{i % 900}", "text": f"Cats {i}", "title": f"T{i}"} for i in range(2000)]
    (tmp_path / "t.jsonl").write_bytes(jsonl(lines))  # type: ignore[arg-type]
    expected: dict[str, StoredText] = {}
    for line in lines:
        before = expected.get(line["id"])
        text = line["text"] if before is None else f"{before.text}\n{line['text']}"
        expected[line["id"]] = StoredText(text, line["title"])
    with open_store(tmp_path / "t.db", keep_text=True, min_documents=1) as store:
        ingest(store, tmp_path / "t.jsonl", workers=workers, batch=300)
        assert store.texts(expected) == expected
        assert ingest(store, tmp_path / "t.jsonl", workers=workers).n_records == 0
        assert store.texts(expected) == expected, "what was read is not read again"


def test_without_a_store_that_keeps_texts(tmp_path: Path) -> None:
    (item, *_) = read(io.BytesIO(jsonl(LINES)), format="jsonl")
    assert item.record is not None and item.record.text is item.record.title is None
    with open_store(tmp_path / "t.db") as store:
        ingest(store, io.BytesIO(jsonl(LINES)), format="jsonl")
        assert store.texts([*"abc"]) == {}
