"""Ids that come again: words are added and that is said, or documents are replaced."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.feeds.helpers import documents
from trustream.feeds import IngestResult, ingest
from trustream.feeds.documents_before import DocumentsBefore
from trustream.store import DocumentStore, Record, open_store


def lines(*records: tuple[str, str]) -> bytes:
    return b"".join(json.dumps({"id": key, "text": text}).encode() + b"\n" for key, text in records)


NEWS = lines(*((f"n{i}", f"word{i} cats") for i in range(25)))


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        yield store


def piped(store: DocumentStore, content: bytes, **options: Any) -> IngestResult:
    return ingest(store, io.BytesIO(content), format="jsonl", batch=7, **options)


def test_words_added_to_documents_that_were_there_are_counted(
    store: DocumentStore, tmp_path: Path
) -> None:
    """A pipe, then a file with the same lines: each document is counted once."""
    path = tmp_path / "news.jsonl"
    path.write_bytes(NEWS)
    first = piped(store, NEWS)
    assert (first.n_documents, first.n_extended, first.n_tokens) == (25, 0, 50)
    second = ingest(store, path, batch=7)
    assert (second.n_documents, second.n_extended, second.n_tokens) == (0, 25, 50)
    third = ingest(store, path, batch=7, again=True, replace=False)
    assert (third.n_extended, third.n_replaced) == (25, 0)
    assert documents(store)["n3"] == {"word": 3, "cats": 3}


def test_parts_within_a_feed_are_no_surprise(store: DocumentStore, tmp_path: Path) -> None:
    """Neither in one ingest, nor in one that goes on, nor in what was appended since."""
    path = tmp_path / "news.jsonl"
    path.write_bytes(NEWS + NEWS)
    calls = iter([False] * 30 + [True])
    stopped = ingest(store, path, batch=7, stop=lambda: next(calls))
    assert not stopped.finished
    rest = ingest(store, path, batch=7)
    assert (stopped.n_extended, rest.n_extended) == (0, 0)
    assert stopped.n_records + rest.n_records == 50
    store.append([Record("old", ["x"])])
    with path.open("ab") as file:
        file.write(NEWS[: NEWS.index(b"\n") + 1])
    assert ingest(store, path).n_extended == 0
    # Another feed, to which these are documents that were there.
    assert piped(store, NEWS).n_extended == 25


def test_a_file_in_the_place_of_another_is_another_feed(
    store: DocumentStore, tmp_path: Path
) -> None:
    path = tmp_path / "news.jsonl"
    path.write_bytes(NEWS)
    ingest(store, path)
    path.write_bytes(lines(("n1", "new"), ("m", "new")))
    assert ingest(store, path, replaced="read").n_extended == 1


def test_records_replace_documents(store: DocumentStore, tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    path.write_bytes(NEWS)
    piped(store, NEWS)
    result = ingest(store, path, batch=7, replace=True)
    assert (result.n_documents, result.n_replaced, result.n_extended) == (0, 25, 0)
    assert (result.n_superseded, store.totals().tokens) == (0, 50)
    assert ingest(store, path, replace=True).n_records == 0, "what was read is read once"
    path.write_bytes(NEWS + lines(("new", "opera")))
    result = ingest(store, path, batch=7, replace=True, again=True)
    assert (result.n_documents, result.n_replaced, store.totals().tokens) == (1, 25, 51)
    assert store.check().ok


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_of_several_records_of_one_id_the_last_counts(store: DocumentStore, batch: int) -> None:
    store.append([Record("a", ["old"])])
    content = lines(("a", "one"), ("b", "two"), ("a", "three four"), ("b", "five"), ("a", "six"))
    result = ingest(store, io.BytesIO(content), format="jsonl", batch=batch, replace=True)
    assert documents(store) == {"a": {"six": 1}, "b": {"five": 1}}
    assert (result.n_records, result.n_documents, result.n_replaced) == (5, 1, 1)
    assert result.n_superseded == 3, "and it is said how often"


def test_reading_again_needs_to_know(store: DocumentStore, tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    path.write_bytes(NEWS)
    with pytest.raises(ValueError, match=r"give replace=True .* or replace=False"):
        ingest(store, path, again=True)
    assert store.totals().documents == 0


def test_ratings_are_not_replaced_one_by_one(store: DocumentStore, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("user,item,rating\na,x,1\na,y,1\n")
    with pytest.raises(ValueError, match="ratings cannot be replaced"):
        ingest(store, path, format="ratings", replace=True)
    assert ingest(store, path, format="ratings").n_records == 2


def test_append_ids_pass_over_what_was_replaced(store: DocumentStore) -> None:
    content = b'{"id": "a", "tokens": ["x"], "append_id": "1"}\n'
    assert piped(store, content, replace=True).n_documents == 1
    again = piped(store, content, replace=True)
    assert (again.n_repeated, again.n_replaced, again.n_superseded) == (1, 0, 0)


def test_documents_before() -> None:
    before = DocumentsBefore(0)
    assert before.count([0, 1, 5]) == 0
    before = DocumentsBefore(1000)
    assert before.count(range(0, 2000, 3)) == 334
    assert before.count(range(1000)) == 666
