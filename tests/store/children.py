"""Processes that work on a store until they are told to stop, or are killed."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tests.store.contents_of import Counts, follow, rows
from trustream.store import Position, Record, open_store

N_SHARED = 5


def batch(writer: int, number: int) -> list[Record]:
    """The records of an append: documents of its own, and words for documents of all writers."""
    rng = np.random.default_rng([writer, number])
    own = [
        Record(
            f"{writer}/{number}/{i}",
            [f"w{w}" for w in rng.integers(0, 200, 20)],
            append_id=f"{writer}/{number}/{i}",
        )
        for i in range(5)
    ]
    return [
        *own,
        Record(f"shared {number % N_SHARED}", [f"writer {writer}"], append_id=f"{writer}/{number}"),
    ]


@dataclass
class Child:
    """A process that reports a line for everything that was acknowledged to it."""

    process: int
    reports: int
    lines: list[str] = field(default_factory=list)

    @classmethod
    def start(cls, work: Callable[[Callable[[str], None]], None]) -> Child:
        """Fork: a new interpreter would take longer than the whole test."""
        read, write = os.pipe()
        process = os.fork()
        if process:
            os.close(write)
            return cls(process, read)
        status = 1
        try:
            os.close(read)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            work(lambda line: _tell(write, line))
            status = 0
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(status)

    def first_line(self) -> None:
        """Wait until something more was acknowledged."""
        head = os.read(self.reports, 1 << 16)
        assert head, "it has ended"
        self.lines.append(head.decode())

    def kill(self) -> None:
        """kill -9."""
        os.kill(self.process, signal.SIGKILL)

    def end(self) -> tuple[int, list[str]]:
        """Wait for it; its status (negative for a signal) and all that it reported."""
        with os.fdopen(self.reports) as reports:
            text = "".join(self.lines) + reports.read()
        _, status = os.waitpid(self.process, 0)
        return os.waitstatus_to_exitcode(status), text.splitlines()


def _tell(descriptor: int, line: str) -> None:
    os.write(descriptor, f"{line}\n".encode())


def write(address: str, writer: int, seconds: float, tell: Callable[[str], None]) -> None:
    """Append from where the feed's position says, for some time."""
    end = time.monotonic() + seconds
    feed = f"writer {writer}"
    with open_store(address, min_documents=2, max_words=150) as store:
        position = store.position(feed)
        number = 0 if position is None else position.offset
        while time.monotonic() < end:
            store.append(batch(writer, number), Position(feed, number + 1))
            tell(f"{number}")
            number += 1
            if number % 7 == 0:
                # The same again, as feeds do that were not sure.
                again = store.append(batch(writer, number - 1))
                assert again.n_records == 0


def read(address: str, seconds: float, tell: Callable[[str], None]) -> None:
    """Draw for some time; what is seen at once belongs together, and never goes back."""
    rng = np.random.default_rng(0)
    end = time.monotonic() + seconds
    sequence = n_draws = 0
    words: list[str | None] = []
    version = 0
    with open_store(address, min_documents=2, max_words=150) as store:
        while time.monotonic() < end:
            drawn = store.draw(20, rng)
            assert drawn.sequence >= sequence
            sequence = drawn.sequence
            totals = store.totals()
            assert totals.sequence >= sequence
            assert len(set(drawn.keys)) == len(drawn.keys) <= min(20, totals.added)
            version = follow(words, store.vocabulary_since(version))
            if version == drawn.vocabulary:
                _check_words(drawn.keys, list(rows(drawn, words)))
            n_draws += 1
            store.save("reader", f"{n_draws}".encode())
    tell(f"{n_draws}")


def _check_words(keys: list[str], found: list[Counts]) -> None:
    """A document has the words that its writer gave it; some may not be active."""
    for key, row in zip(keys, found, strict=True):
        assert "None" not in row
        if key.startswith("shared"):
            continue
        writer, number, i = map(int, key.split("/"))
        given = list(batch(writer, number)[i].words)
        assert all(given.count(word) == count for word, count in row.items()), key
