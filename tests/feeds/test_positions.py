"""A feed goes on where it stopped, and knows its file."""

from __future__ import annotations

import bz2
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.feeds.helpers import documents, expected, new_store, random_records, write_dump
from trustream.feeds import FeedError, IngestResult, Progress, ingest


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


class Stopping:
    """Says stop at the n-th question."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self) -> bool:
        self.left -= 1
        return self.left <= 0


def test_a_finished_feed_adds_nothing(tmp_path: Path) -> None:
    records = random_records(500)
    path = tmp_path / "x.jsonl"
    path.write_text(lines(records))
    with new_store(tmp_path) as store:
        first = ingest(store, path, batch=64)
        assert (first.n_records, first.finished) == (500, True)
        totals = store.totals()
        assert ingest(store, path) == IngestResult(str(path), finished=True)
        assert store.totals() == totals  # the sequence number among them
        assert documents(store) == expected(records)


def test_again_reads_it_again(tmp_path: Path) -> None:
    records = random_records(50)
    path = tmp_path / "x.jsonl"
    path.write_text(lines(records))
    with new_store(tmp_path) as store:
        ingest(store, path)
        assert ingest(store, path, again=True, replace=False).n_records == 50
        assert documents(store) == expected([*records, *records])


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2"])
@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_stopped_anywhere_it_goes_on(tmp_path: Path, suffix: str, batch: int) -> None:
    records = random_records(120)
    path = tmp_path / f"x.jsonl{suffix}"
    content = lines(records).encode()
    compress = {".gz": gzip.compress, ".bz2": bz2.compress}.get(suffix, bytes)
    path.write_bytes(compress(content))
    with new_store(tmp_path) as store:
        results = [
            ingest(store, path, batch=batch, stop=Stopping(n)) for n in (1, 2, 3, 50, 10, 99)
        ]
        assert [result.n_records for result in results] == [1, 2, 3, 50, 10, 54]
        assert [result.finished for result in results] == [False] * 5 + [True]
        assert documents(store) == expected(records)


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("x.csv", "id,text\na,cats\nb,\"dogs\nand\"\n\nc,birds\n", {}),
        ("x.txt", "cats\n\ndogs\nbirds", {}),
        ("docword.x.txt", "3\n2\n4\n1 1 1\n2 1 1\n2 2 1\n3 1 2\n", {"vocabulary": ["x", "y"]}),
        ("x.ldac", "1 0:1\n2 0:1 1:1\n1 1:3\n", {"vocabulary": ["cats", "dogs"]}),
        ("r.csv", "user,item,rating,timestamp\na,x,5,3\na,y,1,2\nb,x,5,1\nb,z,4,1\n",
         {"format": "ratings", "threshold": 4}),
        ("s.csv", "user,item,rating,timestamp\na,x,5,3\na,y,1,2\nb,x,5,1\nb,z,4,1\n",
         {"format": "ratings", "threshold": 4, "in_order": True}),
        ("x.xml.bz2", "", {}),
        ("x.xml", "", {}),
    ],
)  # fmt: skip
def test_every_format_goes_on(
    tmp_path: Path, name: str, content: str, options: dict[str, Any]
) -> None:
    path = tmp_path / name
    path.write_text(content)
    if ".xml" in name:
        write_dump(path)
    with new_store(tmp_path, "at once.db") as store:
        ingest(store, path, **options)
        wanted = documents(store)
    assert wanted
    with new_store(tmp_path, "by and by.db") as store:
        for _ in range(20):
            if ingest(store, path, stop=Stopping(1), **options).finished:
                break
        assert documents(store) == wanted
        assert ingest(store, path, **options).finished
        assert documents(store) == wanted


def test_a_grown_file_goes_on(tmp_path: Path) -> None:
    records = random_records(90)
    path = tmp_path / "x.jsonl"
    with new_store(tmp_path) as store:
        for start in (0, 30, 60):
            with path.open("a") as file:
                file.write(lines(records[start : start + 30]))
            result = ingest(store, path)
            assert (result.n_records, result.finished) == (30, True)
        assert documents(store) == expected(records)


def test_lines_are_counted_through(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("cats\n\ndogs")
    with new_store(tmp_path) as store:
        ingest(store, path)
        with path.open("a") as file:
            file.write("\nbirds\n\nfish\n")
        ingest(store, path)
        assert list(documents(store)) == ["x.txt:1", "x.txt:3", "x.txt:4", "x.txt:6"]


def test_a_last_line_that_became_longer(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("cats\ndogs and")
    with new_store(tmp_path) as store:
        ingest(store, path)
        path.write_text("cats\ndogs and birds\nfish\n")
        with pytest.raises(FeedError, match=r"x\.txt, line 2 had no end when it was read"):
            ingest(store, path)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_replaced_file_is_noticed(tmp_path: Path, suffix: str) -> None:
    compress = gzip.compress if suffix else bytes
    old, new = random_records(40, seed=1), random_records(60, seed=2)
    path = tmp_path / f"x.jsonl{suffix}"
    path.write_bytes(compress(lines(old).encode()))
    with new_store(tmp_path) as store:
        ingest(store, path)
        path.write_bytes(compress(lines(new).encode()))
        with pytest.raises(FeedError, match=r'begins otherwise.*replaced="read"'):
            ingest(store, path)
        assert documents(store) == expected(old)
        # Killed in the middle, it is not read from its start twice.
        first = ingest(store, path, replaced="read", stop=Stopping(25))
        second = ingest(store, path, replaced="read")
        third = ingest(store, path, replaced="read")
        assert [r.n_records for r in (first, second, third)] == [25, 35, 0]
        assert documents(store) == expected([*old, *new])


def test_a_shorter_or_changed_file_is_noticed(tmp_path: Path) -> None:
    records = random_records(2000)
    path = tmp_path / "x.jsonl"
    content = lines(records)
    path.write_text(content)
    with new_store(tmp_path) as store:
        ingest(store, path)
        path.write_text(content[:50_000])
        with pytest.raises(FeedError, match="has 50000 bytes, and"):
            ingest(store, path)
        path.write_text(content[:-10] + "X" + content[-9:])
        with pytest.raises(FeedError, match="has changed in a part that was read before"):
            ingest(store, path)
        path.write_text(content)
        assert ingest(store, path).n_records == 0


def test_a_changed_compressed_file_is_noticed(tmp_path: Path) -> None:
    records = random_records(2000)
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(lines(records[:1500]).encode()))
    with new_store(tmp_path) as store:
        ingest(store, path)
        # Packed anew, it has another time in its first bytes and is the same.
        path.write_bytes(gzip.compress(lines(records[:1500]).encode(), mtime=1))
        assert ingest(store, path).n_records == 0
        path.write_bytes(gzip.compress(lines(records).encode()))
        with pytest.raises(FeedError, match="has changed since it was read"):
            ingest(store, path)


def test_another_format_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text('{"id": "a", "text": "cats"}\n')
    with new_store(tmp_path) as store:
        ingest(store, path)
        with pytest.raises(FeedError, match="was read as text, not as jsonl"):
            ingest(store, path, format="jsonl")


def test_a_feed_is_its_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(lines(random_records(10)))
    with new_store(tmp_path) as store:
        ingest(store, path)
        monkeypatch.chdir(tmp_path)
        assert ingest(store, "x.jsonl").n_records == 0
        deep = tmp_path.joinpath(*["folder" * 20] * 6)
        deep.mkdir(parents=True)
        (deep / "x.jsonl").write_text(lines(random_records(10)))
        assert ingest(store, deep / "x.jsonl").n_records == 10
        assert ingest(store, deep / "x.jsonl").n_records == 0


def test_two_files_do_not_name_their_documents_alike(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "part.txt").write_text(f"{folder}ish\n")
    with new_store(tmp_path) as store:
        ingest(store, tmp_path / "one" / "part.txt")
        with pytest.raises(FeedError, match=r"part.txt:1, .* come from .*one.part.txt already"):
            ingest(store, tmp_path / "two" / "part.txt")
        ingest(store, tmp_path / "two" / "part.txt", name="two")
        assert documents(store) == {"part.txt:1": {"oneish": 1}, "two:1": {"twoish": 1}}
        with pytest.raises(FeedError, match=r"come from .* already"):
            ingest(store, io.BytesIO(b"more"), format="text", name="two")
        ingest(store, io.BytesIO(b"twoish"), format="text", name="two", again=True, replace=False)
        assert documents(store)["two:1"] == {"twoish": 2}


def test_append_ids_make_streams_exactly_once(tmp_path: Path) -> None:
    records = [{**record, "append_id": i} for i, record in enumerate(random_records(30))]
    with new_store(tmp_path) as store:
        first = ingest(store, io.BytesIO(lines(records[:20]).encode()), format="jsonl")
        second = ingest(store, io.BytesIO(lines(records).encode()), format="jsonl")
        assert (first.feed, first.n_records, first.finished) == (None, 20, True)
        assert (second.n_records, second.n_repeated) == (10, 20)
        assert documents(store) == expected(records)


def test_progress(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(lines(random_records(100)))
    heard: list[Progress] = []
    with new_store(tmp_path) as store:
        ingest(store, path, batch=30, progress=heard.append)
    assert [progress.result.n_records for progress in heard] == [30, 60, 90, 100]
    assert heard[-1].done == heard[-1].total == path.stat().st_size


def test_long_records_are_stored_in_smaller_batches(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    records = [{"id": str(i), "tokens": ["word"] * 100_000} for i in range(12)]
    path.write_text(lines(records))
    heard: list[Progress] = []
    with new_store(tmp_path) as store:
        ingest(store, path, progress=heard.append)
    assert [progress.result.n_records for progress in heard] == [5, 10, 12]
