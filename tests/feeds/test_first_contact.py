"""Files as people have them: without ids, with other names of fields, in folders, compressed."""

from __future__ import annotations

import gzip
import importlib
import json
import lzma
import os
from pathlib import Path
from typing import Any

import pytest

from tests.feeds.helpers import documents, new_store
from trustream.feeds import BadRecordError, FeedError, find_files, ingest, read


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def keys(path: Path, **options: Any) -> list[str]:
    return [item.record.key for item in read(path, **options) if item.record is not None]


# --- ids


def test_json_lines_without_ids(tmp_path: Path) -> None:
    """The same file gives the same ids, another content of a line another one."""
    path = write(tmp_path / "x.jsonl", {"text": "Cats"}, {"text": "Dogs"}, {"text": "Cats"})
    first = keys(path)
    assert len(set(first)) == 3
    assert [key.rpartition(":")[0] for key in first] == ["x.jsonl:1", "x.jsonl:2", "x.jsonl:3"]
    assert keys(path) == first
    with new_store(tmp_path) as store:
        assert ingest(store, path).n_documents == 3
        assert set(documents(store)) == set(first)
        assert ingest(store, path, again=True, replace=False).n_documents == 0
        write(path, {"text": "Birds"}, {"text": "Dogs"})
        assert keys(path)[1] == first[1]
        assert keys(path)[0] not in first
        assert ingest(store, path, replaced="read").n_documents == 1


def test_ids_where_there_are_some(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {"id": "a", "tokens": ["x"]}, {"counts": {"y": 2}})
    assert keys(path)[0] == "a"
    assert keys(path)[1].startswith("x.jsonl:2:")
    assert keys(path, name="pets")[1].startswith("pets:2:")
    assert keys(path, require_id=False) == ["a", "x.jsonl:2"]
    assert [item.problem for item in read(path, require_id=True)] == [
        None, "has no id; its fields are counts",
    ]  # fmt: skip


def test_an_id_that_is_there_and_wrong_is_not_made_up(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {"id": None, "text": "Cats"})
    (item,) = read(path)
    assert item.problem == "id is None, expected a string or a whole number"


def test_two_files_of_one_name_do_not_meet(tmp_path: Path) -> None:
    """Lines with the same words would be one document with twice the words."""
    paths = []
    for name in "ab":
        (tmp_path / name).mkdir()
        paths.append(write(tmp_path / name / "x.jsonl", {"text": "Cats"}))
    with new_store(tmp_path) as store:
        ingest(store, paths[0])
        with pytest.raises(FeedError, match="give this feed another name="):
            ingest(store, paths[1])
        assert ingest(store, paths[1], name="b").n_documents == 1
        # Ids of one's own are in nobody's way.
        for path in paths:
            write(path, {"id": path.parent.name, "text": "Cats"})
            assert ingest(store, path, replaced="read").n_documents == 1


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_tables_without_ids(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"x.{kind}"
    if kind == "parquet":
        pyarrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
        parquet.write_table(pyarrow.table({"text": ["Cats", "Dogs"]}), path)
    else:
        tab = "\t" if kind == "tsv" else ","
        path.write_text(f"text{tab}stars\nCats{tab}1\nDogs{tab}2\n")
    found = keys(path)
    first = 1 if kind == "parquet" else 2
    assert [key.rpartition(":")[0] for key in found] == [
        f"x.{kind}:{first}",
        f"x.{kind}:{first + 1}",
    ]
    with new_store(tmp_path) as store:
        assert ingest(store, path).n_documents == 2
        assert set(documents(store)) == set(found)
    assert keys(path, id_column=None) == [f"x.{kind}:{first}", f"x.{kind}:{first + 1}"]
    with pytest.raises(FeedError, match="has no column 'key'"):
        keys(path, id_column="key")


# --- fields


def test_other_fields_of_json(tmp_path: Path) -> None:
    record = {
        "meta": {"key": 7, "when": "1970-01-01T00:01:00Z"},
        "article": {"body": "Cats chase mice", "tags": ["a", "b"], "bag": {"cats": 2}},
        "a.b": "Dogs",
        "time": 5,
    }
    path = write(tmp_path / "x.jsonl", record)
    (item,) = read(path, id_column="meta.key", text_column="article.body", time_column="meta.when")
    assert item.record is not None
    assert (item.record.key, item.record.time) == ("7", 60.0)
    assert item.record.words == ["cats", "chase", "mice"]
    words = {"article.tags": ["a", "b"], "article.bag": {"cats": 2}, "a.b": ["dogs"]}
    for column, expected in words.items():
        (item,) = read(path, text_column=column)
        assert item.record is not None
        assert (item.record.words, item.record.time) == (expected, 5.0)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"text_column": "article.title"}, "has no article.title; its fields are article, text"),
        ({"text_column": "article.stars"}, "article.stars is a int, expected a string, a list of"),
        ({"text_column": "text.body"}, "has no text.body; its fields are"),
        ({"id_column": "key"}, "has no key; its fields are article, text"),
        ({"time_column": "when"}, "has no when; its fields are article, text"),
    ],
)
def test_fields_that_are_not_there(tmp_path: Path, options: dict[str, str], problem: str) -> None:
    path = write(tmp_path / "x.jsonl", {"article": {"stars": 5}, "text": "Cats"})
    with new_store(tmp_path) as store, pytest.raises(BadRecordError) as error:
        ingest(store, path, **options)
    assert error.value.problem.startswith(problem)


def test_a_text_by_another_name_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {"id": "a", "body": "Cats"})
    (item,) = read(path)
    assert item.problem == (
        "has none of text, tokens and counts, expected one; its fields are id, body: "
        "text_column names another"
    )


# --- files


def test_files_of_a_folder(tmp_path: Path) -> None:
    for name in ("b/x.txt", "a/x.txt", "z.jsonl", "notes.doc", ".git/x.txt", "a/.x.txt.swp"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"text": "cats"}\n' if name.endswith("jsonl") else "cats\n")
    (tmp_path / "a" / "back").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "a" / "pipe.txt")
    found = find_files(tmp_path)
    assert [file.name for file in found.files] == ["a/x.txt", "b/x.txt", "z.jsonl"]
    assert found.unknown == [tmp_path / "notes.doc"]
    assert found.unreadable == []
    assert [file.name for file in find_files(tmp_path, "text").files][2:] == [
        "notes.doc",
        "z.jsonl",
    ]
    with new_store(tmp_path, "topics.db") as store:
        for file in found.files:
            ingest(store, file.path, name=file.name)
        assert {"a/x.txt:1", "b/x.txt:1"} < set(documents(store))


def test_patterns(tmp_path: Path) -> None:
    for name in ("part-2.txt", "part-1.txt", "part-1.csv", "sub/part-3.txt", "[1].txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    names = [file.name for file in find_files(tmp_path / "part-*.txt").files]
    assert names == ["part-1.txt", "part-2.txt"]
    names = [file.name for file in find_files(tmp_path / "**" / "part-*.txt").files]
    assert names == ["part-1.txt", "part-2.txt", "sub/part-3.txt"]
    # A file is itself, whatever its name.
    assert [file.path for file in find_files(tmp_path / "[1].txt").files] == [tmp_path / "[1].txt"]
    with pytest.raises(FeedError, match=r"there is no file .*none that it would name as a pattern"):
        find_files(tmp_path / "*.jsonl")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FeedError, match="there are no files in"):
        find_files(tmp_path / "empty")


def test_files_that_may_not_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to(tmp_path / "nowhere.txt")
    (tmp_path / "b.txt").write_text("cats\n")
    found = find_files(tmp_path)
    assert [file.name for file in found.files] == ["b.txt"]
    assert found.unreadable == [(tmp_path / "a.txt", "No such file or directory")]


# --- compressed files


@pytest.mark.parametrize("suffix", ["gz", "xz", "zst"])
def test_compressed_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.jsonl.{suffix}"
    lines = [json.dumps({"id": str(i), "text": "cats and dogs"}).encode() for i in range(3000)]
    halves = b"\n".join(lines[:2000]) + b"\n", b"\n".join(lines[2000:])
    path.write_bytes(b"".join(_compress(suffix)(half) for half in halves))
    with new_store(tmp_path) as store:
        asked = iter(range(10**6))
        ingest(store, path, batch=100, stop=lambda: next(asked) == 2500)
        assert ingest(store, path).finished
        assert store.totals().documents == 3000
    path.write_bytes(path.read_bytes()[:-10])
    with new_store(tmp_path, "damaged.db") as store:
        with pytest.raises(FeedError, match=r"cannot read x\.jsonl\."):
            ingest(store, path)


def _compress(suffix: str) -> Any:
    if suffix == "zst":
        try:
            from compression.zstd import compress
        except ImportError:
            from backports.zstd import compress
        return compress
    return gzip.compress if suffix == "gz" else lzma.compress


def test_zstandard_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.txt.zst"
    path.write_bytes(_compress("zst")(b"cats\n"))
    for name in ("compression", "compression.zstd", "backports", "backports.zstd"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with new_store(tmp_path) as store:
        with pytest.raises(FeedError, match=r"pip install backports\.zstd"):
            ingest(store, path)
