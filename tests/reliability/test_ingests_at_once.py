"""Several processes ingest the same thing at once: each record is stored once.

Each has a temporary folder of its own, as on several machines or in services: only the store can
decide.
"""

from __future__ import annotations

import io
import json
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from tests.feeds.helpers import documents
from tests.reliability.rounds import rounds
from tests.store.children import Child
from tests.store.contents_of import check_running_totals
from trustream.feeds import FeedError, ingest
from trustream.store import DocumentStore, open_store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")

OVERTAKEN = "is being ingested into this store by another process too"


def lines(n: int, seed: int, ids: bool = False) -> tuple[bytes, dict[str, Counter[str]]]:
    """Parts of a few documents that grow past what a writer remembers."""
    rng = np.random.default_rng(seed)
    expected: dict[str, Counter[str]] = {}
    parts = []
    for i in range(n):
        key = f"d{rng.integers(0, 5)}"
        tokens = [f"w{w}" for w in rng.integers(0, 900, rng.integers(1, 30))]
        expected.setdefault(key, Counter()).update(tokens)
        record: dict[str, Any] = {"id": key, "tokens": tokens}
        parts.append(json.dumps(record | {"append_id": f"{seed}/{i}"} if ids else record))
    return "".join(f"{part}\n" for part in parts).encode(), expected


class Ingests:
    """Processes that begin when all of them stand ready, or at once."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address
        self.ready, self.go = os.pipe(), os.pipe()
        self.children: list[Child] = []

    def start(self, feed: Path | IO[bytes], **options: Any) -> None:
        temporary = self.folder / f"temporary {len(self.children)}"
        temporary.mkdir(exist_ok=True)

        def work(tell: Callable[[str], None]) -> None:
            tempfile.tempdir = os.environ["TMPDIR"] = str(temporary)
            os.close(self.go[1])
            with open_store(self.address) as store:
                os.write(self.ready[1], b".")
                os.read(self.go[0], 1)
                try:
                    result = ingest(store, feed, **options)
                    tell(f"{result.n_records} {result.finished}")
                except FeedError as error:
                    tell(f"{error}")

        self.children.append(Child.start(work))

    def begin(self) -> None:
        """Let all begin: none before the last is ready."""
        for _ in self.children:
            os.read(self.ready[0], 1)
        os.close(self.go[1])

    def end(self) -> list[str]:
        """What each says in the end: its result, or what went wrong; nothing if it was killed."""
        ends = []
        for child in self.children:
            status, told = child.end()
            assert status in (0, -signal.SIGKILL)
            ends += told
        for descriptor in (*self.ready, self.go[0]):
            os.close(descriptor)
        return ends


@pytest.fixture
def new_ingests(tmp_path: Path, address: str) -> Callable[[], Ingests]:
    open_store(address, min_documents=1, max_words=None).close()
    return lambda: Ingests(tmp_path, address)


def check(store: DocumentStore, expected: dict[str, Counter[str]]) -> None:
    assert documents(store) == expected
    check_running_totals(store)


def add(expected: dict[str, Counter[str]], new: dict[str, Counter[str]]) -> None:
    for key, words in new.items():
        expected.setdefault(key, Counter()).update(words)


@pytest.mark.parametrize("n", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_the_same_file(
    new_ingests: Callable[[], Ingests], address: str, tmp_path: Path, n: int
) -> None:
    """As found: two doubled the tokens. Killed ones among them change nothing."""
    rng = np.random.default_rng(5)
    expected: dict[str, Counter[str]] = {}
    overtaken = 0
    for number in range(rounds(n)):
        path = tmp_path / f"{number}.jsonl"
        content, new = lines(200, number)
        path.write_bytes(content)
        ingests = new_ingests()
        for _ in range(3):
            ingests.start(path, batch=int(rng.integers(2, 20)))
        ingests.begin()
        if number % 2:
            time.sleep(rng.uniform(0, 0.05))
            ingests.children[0].kill()
        ends = ingests.end()
        assert all(OVERTAKEN in end or end.endswith("True") for end in ends), ends
        if number % 2 == 0:
            assert any(end.endswith("True") for end in ends), ends
        overtaken += sum(OVERTAKEN in end for end in ends)
        add(expected, new)
        with open_store(address) as store:
            ingest(store, path)
            check(store, expected)
    assert overtaken


def test_the_same_file_again(
    new_ingests: Callable[[], Ingests], address: str, tmp_path: Path
) -> None:
    """Those that are done have read all of it; others may have stored a beginning."""
    path = tmp_path / "x.jsonl"
    content, once = lines(200, 1)
    path.write_bytes(content)
    ingests = new_ingests()
    with open_store(address) as store:
        ingest(store, path)
    for _ in range(3):
        ingests.start(path, batch=7, again=True, replace=False)
    ingests.begin()
    ends = ingests.end()
    n_done = ends.count("200 True")
    assert n_done
    assert all(OVERTAKEN in end or end == "200 True" for end in ends), ends
    with open_store(address) as store:
        found = documents(store)
        for key, words in once.items():
            assert all(found[key][word] >= (1 + n_done) * n for word, n in words.items())
        check_running_totals(store)


def test_a_replaced_file(new_ingests: Callable[[], Ingests], address: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    content, expected = lines(100, 1)
    path.write_bytes(content)
    ingests = new_ingests()
    with open_store(address) as store:
        ingest(store, path)
    content, new = lines(200, 2)
    path.write_bytes(content)
    for _ in range(3):
        ingests.start(path, batch=7, replaced="read")
    ingests.begin()
    ends = ingests.end()
    assert any(end.endswith("True") for end in ends), ends
    assert all(OVERTAKEN in end or end.endswith("True") for end in ends), ends
    add(expected, new)
    with open_store(address) as store:
        check(store, expected)


def test_the_same_stream_with_append_ids(new_ingests: Callable[[], Ingests], address: str) -> None:
    content, expected = lines(200, 3, ids=True)
    ingests = new_ingests()
    for _ in range(3):
        ingests.start(io.BytesIO(content), format="jsonl", batch=7)
    ingests.begin()
    ends = ingests.end()
    assert sum(int(end.split()[0]) for end in ends) == 200, ends
    with open_store(address) as store:
        check(store, expected)


@pytest.mark.parametrize("n", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_feeds_that_name_their_documents_alike(
    new_ingests: Callable[[], Ingests], address: str, tmp_path: Path, n: int
) -> None:
    """One of them has the name; the others are refused before they add anything."""
    for number in range(rounds(n)):
        ingests = new_ingests()
        for i in range(2):
            (tmp_path / f"{i}").mkdir(exist_ok=True)
            path = tmp_path / f"{i}" / f"part{number}.txt"
            path.write_text(f"number{'ab'[i]}\n")
            ingests.start(path)
        ingests.start(io.BytesIO(b"numberc\n"), format="text", name=f"part{number}.txt")
        ingests.begin()
        ends = ingests.end()
        assert ends.count("1 True") == 1, ends
        assert sum("give this feed another name=" in end for end in ends) == 2, ends
    with open_store(address) as store:
        assert [len(words) for words in documents(store).values()] == [1] * rounds(n)
