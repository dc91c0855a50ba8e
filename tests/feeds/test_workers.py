"""Files that several processes read: the same records in the same order, whatever happens."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.feeds.helpers import DUMP, documents, new_store
from trustream.feeds import FeedError, Item, ingest, read, workers
from trustream.feeds.blocks import ENDS, cut
from trustream.feeds.feed import open_feed
from trustream.feeds.items import Mark
from trustream.feeds.quick_reading import quick_items
from trustream.feeds.rows import Rows, each
from trustream.text import Tokeniser

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(os.name != "posix", reason="processes are told what to read by pipes"),
]
WORDS = ["cats", "dogs", "Größe", "don’t", "mice—birds", "the", "x" * 501, "日本語版", "ΑΣ'Α"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small file is many blocks."""
    monkeypatch.setattr(workers, "cut", lambda *given: cut(*given, size=5000))


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No process is left behind, whatever a test does."""
    yield
    assert children() == []


def children() -> list[int]:
    path = Path("/proc/self/task") / str(os.getpid()) / "children"
    return [*map(int, path.read_text().split())] if path.exists() else []


def lines(n: int, seed: int = 0) -> bytes:
    """Records of all kinds, bad ones among them."""
    rng = np.random.default_rng(seed)
    kinds: list[Callable[[int, list[str]], str]] = [
        lambda i, words: json.dumps({"id": f"d{i}", "text": " ".join(words)}),
        lambda i, words: json.dumps({"id": f"d{i % 7}", "text": ", ".join(words), "time": i}),
        lambda i, words: json.dumps({"id": i, "tokens": words[:4], "append_id": f"a{i % 50}"}),
        lambda i, words: json.dumps({"id": f"d{i}", "counts": {"cats": 2, "dogs": i + 1}}),
        lambda i, words: "",
        lambda i, words: '{"id": "no text"}',
        lambda i, words: "not JSON " + " ".join(words),
    ]
    parts = []
    for i in range(n):
        words = [str(word) for word in rng.choice(WORDS, rng.integers(0, 30))]
        weights = [0.5, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02]
        parts.append(kinds[rng.choice(len(kinds), p=weights)](i, words).encode())
    return b"\n".join(parts)


def pages(n: int) -> bytes:
    head, page = DUMP.encode().split(b"  <page>", 1)
    rest = b"  <page>" + page.partition(b"</mediawiki>")[0]
    parts = [rest.replace(b"<title>", b"<title>%d " % i) for i in range(n)]
    parts[n // 2] = parts[n // 2].replace(b"</revision>", b"</revison>", 1)
    return head + b"".join(parts) + b"</mediawiki>\n"


FILES = {
    "x.jsonl": lines(2000),
    "x.jsonl.gz": gzip.compress(lines(2000, 1)),
    "x.txt": b"\xef\xbb\xbfcats and dogs\r\n\n \n" + b"words of a line\n\xff\n" * 500 + b"no end",
    "x.xml": pages(60),
    "x.xml.bz2": bz2.compress(pages(30)),
    "cut.xml": pages(20)[:-500],
}


def plain(items: Iterator[Item | Rows]) -> list[Any]:
    """Items that have something, with the words in full."""
    found = []
    for item in each(items):
        record = item.record
        if record is not None:
            words = record.words if isinstance(record.words, dict) else list(record.words)
            found.append((item.mark, item.line, record.key, words, record.time, record.append_id))
        else:
            found.append((item.mark, item.line, item.bad))
    return found


@pytest.mark.parametrize("name", FILES)
def test_the_same_items(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    alone = plain(read(path))
    assert plain(quick_items(open_feed(path), Mark(), 2)) == alone


@pytest.mark.parametrize("name", ["x.jsonl.gz", "x.xml"])
def test_from_the_middle(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    alone = plain(read(path))
    for place in (len(alone) // 3, len(alone) - 1):
        mark = alone[place - 1][0]
        assert plain(quick_items(open_feed(path), mark, 1)) == alone[place:]


def test_a_last_line_that_had_no_end(tmp_path: Path) -> None:
    """What comes after it is numbered as it is without other processes."""
    path = tmp_path / "x.txt"
    path.write_bytes(b"cats\ndogs")
    with new_store(tmp_path) as store:
        assert ingest(store, path, workers=1).n_records == 2
        with path.open("ab") as file:
            file.write(b"\nbirds\n")
        assert ingest(store, path, workers=1).n_records == 1
        assert documents(store)["x.txt:3"] == {"birds": 1}


def test_progress_is_of_what_is_stored(tmp_path: Path) -> None:
    """Not of what was read ahead for the processes."""
    path = tmp_path / "x.txt"
    path.write_bytes(b"cats and dogs\n" * 5000)
    seen = []
    with new_store(tmp_path) as store:
        ingest(
            store, path, workers=1, batch=500,
            progress=lambda now: seen.append((now.done, now.total, now.result.n_records)),
        )  # fmt: skip
    assert seen[0][2] == 500 and len(seen) >= 10
    assert all(done == 14 * n_records and total == 70_000 for done, total, n_records in seen)


@pytest.mark.parametrize("tokenise", [Tokeniser(r"[\w-]+"), Tokeniser(min_length=5)])
def test_other_tokenisers(tmp_path: Path, tokenise: Tokeniser) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(lines(500))
    shared = quick_items(open_feed(path, tokenise=tokenise), Mark(), 2)
    assert plain(shared) == plain(read(path, tokenise=tokenise))


@settings(deadline=None, max_examples=200)
@given(
    content=st.binary(max_size=200) | st.text("ab\r\n</page>", max_size=200).map(str.encode),
    sizes=st.lists(st.integers(1, 30), min_size=1),
    end=st.sampled_from(sorted(set(ENDS.values()))),
    size=st.integers(1, 40),
)
def test_blocks_are_all_of_a_file(content: bytes, sizes: list[int], end: bytes, size: int) -> None:
    chunks: list[bytes] = []
    while sum(map(len, chunks)) < len(content):
        start = sum(map(len, chunks))
        chunks.append(content[start : start + sizes[len(chunks) % len(sizes)]])
    blocks = list(cut(chunks, Mark(), end, 10**6, size))
    assert b"".join(block.content or b"" for block in blocks) == content
    assert [block.last for block in blocks] == [False] * (len(blocks) - 1) + [True]
    place = 0
    for block in blocks:
        assert block.mark == Mark(place, content.count(b"\n", 0, place))
        assert block.last or (block.content or b"").endswith(end)
        place += len(block.content or b"")


@pytest.mark.parametrize("kind", ["jsonl", "xml"])
def test_a_record_that_no_block_holds(tmp_path: Path, kind: str) -> None:
    """The rest of the file is read by one process, as if there were no others."""
    path = tmp_path / f"x.{kind}"
    content = lines(300) if kind == "jsonl" else pages(20)
    long = b"x" * (5 * 2**20)
    at = content.index(b"\n" if kind == "jsonl" else b"  <page>", len(content) // 2) + 1
    page = b"<page><title>%s</title></page>" % long if kind == "xml" else long + b"\n"
    path.write_bytes(content[:at] + page + content[at:])
    options = {"max_bytes": 2**20}
    assert plain(quick_items(open_feed(path, **options), Mark(), 2)) == plain(read(path, **options))


def test_into_a_store(tmp_path: Path) -> None:
    """Numbers of words and columns too, which depend on the order in which words come."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(lines(3000))
    results, contents, words = [], [], []
    for n in (0, 2):
        with new_store(tmp_path, f"{n}.db") as store:
            results.append(ingest(store, path, workers=n, on_error="skip", batch=70))
            contents.append(documents(store))
            words.append(list(store.vocabulary().words))
            assert store.check().ok
            assert ingest(store, path, workers=n).n_records == 0
    assert results[0] == results[1]
    assert results[0].n_bad > 50
    assert contents[0] == contents[1]
    assert words[0] == words[1]


def test_what_is_before_damage_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    good = [json.dumps({"id": str(i), "tokens": [f"w{i}"]}) for i in range(5000)]
    path.write_bytes(gzip.compress("\n".join(good).encode())[:-2000])
    found = []
    for n in (0, 2):
        with new_store(tmp_path, f"{n}.db") as store:
            with pytest.raises(FeedError, match=r"cannot read x\.jsonl\.gz"):
                ingest(store, path, workers=n)
            found.append(documents(store))
    assert found[0] == found[1]
    assert 100 < len(found[0]) < 5000


def test_a_killed_worker_is_noticed(tmp_path: Path) -> None:
    """What stands before is stored, and the next ingest goes on there."""
    path = tmp_path / "x.jsonl"
    content = lines(4000)
    path.write_bytes(content)

    def kill(progress: object) -> None:
        for child in children():
            os.kill(child, signal.SIGKILL)

    with new_store(tmp_path) as store:
        with pytest.raises(FeedError, match=r"x\.jsonl was ended by SIGKILL.*workers=0"):
            ingest(store, path, workers=2, on_error="skip", batch=50, progress=kill)
        position = store.position(str(path))
        assert position is not None
        assert 0 < position.offset < len(content)
        ingest(store, path, workers=2, on_error="skip")
        with new_store(tmp_path, "alone.db") as alone:
            ingest(alone, path, workers=0, on_error="skip")
            assert documents(store) == documents(alone)


def test_a_worker_that_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"cats\n" * 5000)
    monkeypatch.setattr(workers, "_START", "raise SystemExit('no such thing')")
    with new_store(tmp_path) as store:
        with pytest.raises(FeedError, match=r"ended with code 1 \(no such thing\)"):
            ingest(store, path, workers=2)
        assert store.totals().documents == 0


@pytest.mark.timeout(120)
def test_a_worker_that_complains_a_lot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a pipe holds, as with PYTHONVERBOSE, holds nothing up; an error shows the end."""
    path = tmp_path / "x.txt"
    path.write_bytes(b"cats\n" * 5000)
    complain = "import sys; sys.stderr.write('warning\\n' * 50_000); "
    start = workers._START
    monkeypatch.setattr(workers, "_START", complain + start)
    with new_store(tmp_path) as store:
        assert ingest(store, path, workers=2).n_records == 5000
    monkeypatch.setattr(workers, "_START", complain + "raise SystemExit('no such thing')")
    with new_store(tmp_path, "other.db") as store:
        with pytest.raises(FeedError, match=r"ended with code 1 \(no such thing\)"):
            ingest(store, path, workers=2)


def test_stopped_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"cats\n" * 5000)
    with new_store(tmp_path) as store:
        n = iter(range(10**6))
        result = ingest(store, path, workers=2, batch=10, stop=lambda: next(n) == 1000)
        assert (result.n_records, result.finished) == (1001, False)
        assert children() == []
        assert ingest(store, path, workers=2).n_records == 3999


PROGRAM = """
import sys
from trustream.feeds import ingest, workers
from trustream.feeds.blocks import cut
from trustream.store import open_store

workers.cut = lambda *given: cut(*given, size=5000)
with open_store(sys.argv[1], min_documents=1, max_words=None) as store:
    print("ready", flush=True)
    tell = lambda progress: print("stored", flush=True)
    ingest(store, sys.argv[2], workers=2, batch=40, on_error="skip", progress=tell)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_at_random_moments(tmp_path: Path, how: signal.Signals) -> None:
    """Every record is there once in the end, and no process outlives the one that stores."""
    rng = np.random.default_rng(5)
    path = tmp_path / "x.jsonl"
    path.write_bytes(lines(6000))
    database = tmp_path / "topics.db"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(database), str(path)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        for _ in range(rng.integers(1, 12)):
            assert process.stdout.readline() == b"stored\n"
        helpers = (
            Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            if Path("/proc/self/task").exists()
            else []
        )
        process.send_signal(how)
        process.communicate()
        assert process.returncode == -how
        deadline = time.monotonic() + 60
        while any(is_running(int(helper)) for helper in helpers):
            assert time.monotonic() < deadline, "a process was left behind"
            time.sleep(0.02)
    with new_store(tmp_path) as store, new_store(tmp_path, "alone.db") as alone:
        assert 0 < ingest(store, path, workers=2, on_error="skip").n_records
        ingest(alone, path, workers=0, on_error="skip")
        assert documents(store) == documents(alone)
        assert store.check().ok


def is_running(process: int) -> bool:
    """Whether it is there and does something; one that nobody has waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_small_files_do_not_pay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"cats and dogs\n" * 1000)
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert workers.number_of_workers(open_feed(path), Mark()) == 0
    monkeypatch.setattr(workers, "LARGE", 10_000)
    assert workers.number_of_workers(open_feed(path), Mark()) == 2
    slow = Tokeniser(r"\w+")
    assert workers.number_of_workers(open_feed(path, tokenise=slow), Mark()) == 3
    assert workers.number_of_workers(open_feed(path), Mark(9000, 600)) == 0
    assert workers.number_of_workers(open_feed(path, tokenise=str.split), Mark()) == 0
    assert workers.number_of_workers(open_feed(path, follow=True), Mark()) == 0
    assert workers.number_of_workers(open_feed(path, format="csv"), Mark()) == 0
    code = (
        "import sys; from trustream.feeds import ingest; from trustream.store import open_store\n"
        "with open_store(sys.argv[1]) as store: ingest(store, sys.argv[2])\n"
        "print('numba' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "topics.db"), str(path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert found.stdout == "False\n"


def test_a_wrong_number_of_workers(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        for wrong in (-1, 2.5):
            with pytest.raises(ValueError, match=f"workers is {wrong}, expected"):
                ingest(store, tmp_path / "x.txt", workers=wrong)  # type: ignore[arg-type]


@pytest.mark.timeout(90)
def test_blocks_that_no_pipe_takes_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for ever: what a pipe has not taken is sent while answers are waited for."""
    monkeypatch.setattr(workers, "_PIPE", 4096)
    monkeypatch.setattr(workers, "cut", lambda *given: cut(*given, size=100_000))
    path = tmp_path / "many.jsonl"
    path.write_bytes(lines(6000))
    feed = open_feed(path)
    assert plain(quick_items(feed, Mark(), 2)) == plain(quick_items(feed, Mark(), 0))
