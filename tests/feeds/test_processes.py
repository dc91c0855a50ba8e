"""Ingests in processes of their own: killed, following a writer, at the end of a pipe."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.feeds.helpers import documents, expected, new_store, random_records
from trustream.feeds import FeedError, IngestResult, ingest
from trustream.store import Record

# A reader that waits for ever is a failure too.
pytestmark = pytest.mark.timeout(240)

PROGRAM = Path(__file__).with_name("ingest_process.py")
WRITER = """
import sys, time
path, pieces = sys.argv[1], sys.stdin.buffer.read()
with open(path, "ab", buffering=0) as file:
    for start in range(0, len(pieces), 37):
        file.write(pieces[start : start + 37])
        time.sleep(0.002)
"""


def start(store: Path, feed: str | Path, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(PROGRAM), str(store), str(feed), json.dumps(options)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def content(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def stored(line: bytes) -> int:
    return int(line.split()[1])


@pytest.mark.parametrize(("suffix", "n_kills"), [("", 10), (".gz", 4)])
def test_killed_at_random_moments(tmp_path: Path, suffix: str, n_kills: int) -> None:
    """Whatever the moments, every record is there once; a kill that loses or doubles one shows."""
    rng = np.random.default_rng(3)
    records = random_records(8000)
    path = tmp_path / f"x.jsonl{suffix}"
    data = content(records)
    path.write_bytes(gzip.compress(data) if suffix else data)
    database = tmp_path / "topics.db"
    for _ in range(n_kills):
        process = start(database, path, batch=20)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        # Some time after some transaction, or before the first.
        for _ in range(rng.integers(0, 15)):
            process.stdout.readline()
        time.sleep(rng.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        rest = process.communicate()[0].splitlines()
        assert process.returncode == -signal.SIGKILL, "it was done before it could be killed"
        assert not rest or rest[-1].startswith(b"stored")
    with new_store(tmp_path) as store:
        before = store.totals().tokens
        assert 0 < before < sum(len(record["tokens"]) for record in records)
        result = ingest(store, path)
        assert result.finished
        assert 0 < result.n_records < len(records)
        assert documents(store) == expected(records)
        assert ingest(store, path).n_records == 0


def test_killed_while_it_replaces(tmp_path: Path) -> None:
    """Of each id the last record is there, whatever was there before and however often it began."""
    rng = np.random.default_rng(4)
    records = [{**record, "id": f"d{i % 500}"} for i, record in enumerate(random_records(4000))]
    path, database = tmp_path / "x.jsonl", tmp_path / "topics.db"
    path.write_bytes(content(records))
    with new_store(tmp_path) as store:
        store.append([Record(f"d{i}", ["old", f"only {i}"]) for i in range(600)])
    for _ in range(5):
        process = start(database, path, batch=20, replace=True)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        for _ in range(rng.integers(0, 15)):
            process.stdout.readline()
        time.sleep(rng.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "it was done before it could be killed"
    with new_store(tmp_path) as store:
        result = ingest(store, path, replace=True)
        assert result.finished
        assert result.n_records == result.n_replaced + result.n_superseded
        found = documents(store)
        assert found.pop("d599") == {"old": 1, "only 599": 1}, "not in the file"
        last = expected(list({record["id"]: record for record in records}.values()))
        assert {key: found[key] for key in last} == last
        assert store.check().ok


def test_following_a_writer(tmp_path: Path) -> None:
    """The writer's pieces end in the middle of lines and of characters."""
    records = [{"id": f"é{i}", "tokens": ["größe", f"w{i % 7}"]} for i in range(150)]
    path = tmp_path / "x.jsonl"
    path.touch()
    reader = start(tmp_path / "topics.db", path, follow=True, idle=1.0, batch=10)
    assert reader.stdout is not None
    assert reader.stdout.readline() == b"ready\n"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE)
    data = content(records)
    unfinished = b'{"id": "half'
    writer.communicate(data + unfinished)
    assert writer.returncode == 0
    output = reader.communicate(timeout=60)[0].splitlines()
    assert reader.returncode == 0
    assert output[-1] == b"150 False"
    # It did not wait for the end.
    assert len(output) > 5
    with new_store(tmp_path) as store:
        assert documents(store) == expected(records)
        with path.open("ab") as file:
            file.write(b' done", "tokens": ["x"]}\n')
        result = ingest(store, path)
        assert (result.n_records, result.finished) == (1, True)
        assert documents(store)["half done"] == {"x": 1}


def test_two_ingests_of_a_file_at_a_time(tmp_path: Path) -> None:
    """One that finds nothing new is in nobody's way; one that takes over is told of."""
    path = tmp_path / "x.txt"
    path.write_text("cats\n")
    process = start(tmp_path / "topics.db", path, follow=True)
    assert process.stdout is not None
    process.stdout.readline()
    assert process.stdout.readline() == b"stored 1\n"
    with new_store(tmp_path) as store, new_store(tmp_path, "other.db") as other:
        assert ingest(store, path) == IngestResult(str(path), finished=True)
        assert ingest(other, path).n_records == 1
        with path.open("a") as file:
            file.write("dogs\n")
        assert process.stdout.readline() == b"stored 2\n"
        assert ingest(store, path, again=True, replace=False).n_records == 2
        position = store.position(str(path))
        assert position is not None
        # As it stands where the other one left it, that goes on; from elsewhere it does not.
        with path.open("a") as file:
            file.write("birds\n")
        assert process.stdout.readline() == b"stored 3\n"
        store.append([], replace(position, offset=0))
        with path.open("a") as file:
            file.write("fish\n")
        process.communicate()
        assert process.returncode == 1
        assert documents(store) == {
            "x.txt:1": {"cats": 2},
            "x.txt:2": {"dogs": 2},
            "x.txt:3": {"birds": 1},
        }


def test_what_was_read_is_stored_while_it_waits(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("cats\ndogs\n")
    with new_store(tmp_path) as store:
        asked = 0

        def stop() -> bool:
            nonlocal asked
            asked += 1
            if asked == 4:
                with path.open("a") as file:
                    file.write("birds\n")
            return asked > 4 and store.totals().documents == 3

        result = ingest(store, path, follow=True, stop=stop)
        assert (result.n_records, result.finished) == (3, False)


def test_a_followed_file_that_is_moved_away_is_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("cats\n")
    with new_store(tmp_path) as store:
        asked = 0

        def rotate() -> bool:
            nonlocal asked
            asked += 1
            if asked == 2:
                path.rename(tmp_path / "log.1")
                path.write_text("dogs\n")
            return False

        result = ingest(store, path, follow=True, stop=rotate, format="text")
        assert (result.n_records, result.finished) == (1, True)
        assert ingest(store, path, replaced="read", name="log 2").n_records == 1
        assert documents(store) == {"log.txt:1": {"cats": 1}, "log 2:1": {"dogs": 1}}


def test_a_followed_file_that_becomes_shorter(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("cats\ndogs\n")
    with new_store(tmp_path) as store:

        def cut() -> bool:
            path.write_text("")
            return False

        with pytest.raises(FeedError, match="became shorter while it was followed"):
            ingest(store, path, follow=True, stop=cut)


def test_what_cannot_be_followed(tmp_path: Path) -> None:
    for name in ("x.txt.gz", "x.xml", "x.parquet", "docword.x.txt"):
        (tmp_path / name).touch()
        with new_store(tmp_path) as store, pytest.raises(FeedError, match="cannot be followed"):
            ingest(store, tmp_path / name, follow=True)
    (tmp_path / "r.csv").touch()
    with new_store(tmp_path) as store, pytest.raises(FeedError, match="cannot be followed and put"):
        ingest(store, tmp_path / "r.csv", format="ratings", in_order=True, follow=True)


def test_standard_input(tmp_path: Path) -> None:
    """Records of a pipe are stored when nothing comes for a while, not when a batch is full."""
    records = random_records(20)
    process = start(tmp_path / "topics.db", "-", format="jsonl")
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.stdin.write(content(records[:15]))
    process.stdin.flush()
    assert process.stdout.readline() == b"stored 15\n"
    output = process.communicate(content(records[15:]).rstrip())[0].splitlines()
    assert output[-1] == b"20 True"
    with new_store(tmp_path) as store:
        assert documents(store) == expected(records)


def test_standard_input_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id,text\na,cats\nb,dogs\n")
    command = [sys.executable, str(PROGRAM), str(tmp_path / "topics.db"), "-", '{"format": "csv"}']
    with path.open("rb") as file:
        output = subprocess.run(command, stdin=file, capture_output=True, check=True).stdout
    assert output.splitlines()[-1] == b"2 True"
    with new_store(tmp_path) as store:
        assert documents(store) == {"a": {"cats": 1}, "b": {"dogs": 1}}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks come from Linux's /proc")
@pytest.mark.parametrize("kind", ["jsonl", "one line", "xml"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, kind: str) -> None:
    """Peak memory of 100 MB is that of 10 MB, with 40 MB to spare for the store's caches."""
    peaks = []
    for megabytes in (10, 100):
        path = tmp_path / f"{megabytes}.{'xml' if kind == 'xml' else 'jsonl'}"
        write(path, kind, megabytes * 10**6)
        code = (
            "import re, sys\n"
            "from trustream.feeds import ingest\n"
            "from trustream.store import open_store\n"
            "with open_store(sys.argv[1]) as store:\n"
            "    ingest(store, sys.argv[2], on_error='skip', max_bytes=10**6)\n"
            # Not getrusage, whose peak is that of the process before it became this one.
            "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
        )
        command = [sys.executable, "-c", code, str(tmp_path / f"{megabytes}.db"), str(path)]
        result = subprocess.run(command, capture_output=True, check=True, text=True)
        peaks.append(float(result.stdout) / 1024)
    print(kind, peaks)
    assert peaks[1] < peaks[0] + 40, peaks


def write(path: Path, kind: str, size: int) -> None:
    """A file of about that many bytes."""
    text = " ".join(f"word{'abcdefghij'[i % 10]}" for i in range(150))
    with path.open("w") as file:
        if kind == "one line":
            file.write(json.dumps({"id": "huge", "text": text[:100] * (size // 100)}))
            return
        if kind == "xml":
            file.write("<mediawiki>\n")
        for i in range(size // 1000):
            if kind == "jsonl":
                file.write(json.dumps({"id": str(i), "text": text}) + "\n")
            else:
                body = f"<revision><text>{text}</text></revision>"
                file.write(f"<page><title>t{i}</title><ns>0</ns>{body}</page>\n")
        if kind == "xml":
            file.write("</mediawiki>\n")
