"""What a database must do for a store: each method is a statement or two of plain SQL.

All but `run` and `close` are called inside `run`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from trustream.store.errors import StoreError
from trustream.store.protocol import Position, Settings

T = TypeVar("T")


@dataclass(slots=True)
class State:
    """The counters, one row in the database.

    Attributes:
        sequence: changes of documents so far.
        vocabulary: version of the vocabulary.
        training, held_out: documents in each part.
        tokens: of live documents.
        words: that take part.
        added: documents ever added to the training part.
        next_word: the number that the next new word gets.
        next_document: the number that the next new document gets.
    """

    sequence: int
    vocabulary: int
    training: int
    held_out: int
    tokens: int
    words: int
    added: int
    next_word: int
    next_document: int


class Row(NamedTuple):
    """A stored document.

    Attributes:
        place: its slot s in the training part as s, in the held-out part as -1 - s. Slots of a
            part are 0, 1, ... without a hole, so that drawing slots draws documents.
        number: in the order of arrival.
        key: its name.
        time: seconds since 1970.
        content: see `contents`.
    """

    place: int
    number: int
    key: str
    time: float
    content: bytes


class History:
    """Notices when a database is not what it was, as after an older copy was restored over it.

    What is kept in memory of its words and counts would be wrong from then on.

    >>> history = History("topics.db")
    >>> history.read(7)
    >>> history.read(6)
    Traceback (most recent call last):
        ...
    trustream.store.errors.StoreError: topics.db has gone back from change 7 to change 6: ...
    """

    def __init__(self, name: str) -> None:
        self._name, self._last, self._back = name, 0, -1
        # Written in a transaction that is not committed yet.
        self.written = 0

    def read(self, sequence: int) -> None:
        """Take note of the number of the last change, which never falls."""
        if sequence < self._last and self._back < 0:
            self._back = sequence
        if self._back >= 0:
            raise StoreError(
                f"{self._name} has gone back from change {self._last} to change {self._back}: an "
                "older copy was put in its place while it was open; open the store again"
            )
        self._last = sequence

    def commit(self) -> None:
        """What was written is there."""
        self._last, self.written = max(self._last, self.written), 0


class Fault(NamedTuple):
    """What is known of documents that a version with the fault may have left without words.

    Attributes:
        documents: the number of the first document that was written without the fault.
        tokens: tokens that were missing when the counts were repaired; None before that.
        words: different words among them; None before that.
        repaired: when that was, in seconds since 1970; None before that.
    """

    documents: int
    tokens: int | None = None
    words: int | None = None
    repaired: float | None = None


class Backend(Protocol):
    """A database that holds one store."""

    # Held by the thread whose turn it is.
    lock: threading.RLock
    # To open it again, and to be shown.
    url: str
    name: str
    settings: Settings

    def run(self, work: Callable[[], T], *, write: bool) -> T:
        """Do the work in one transaction on one snapshot; writers one after the other.

        The work may be done more than once, if the database went away; only one is kept.
        """

    def close(self) -> None:
        """Let go of the database."""

    # --- counters

    def state(self, *, write: bool) -> State:
        """The counters; to write is to keep others from writing until the end."""

    def put_state(self, state: State) -> None:
        """Replace the counters."""

    # --- words

    def word_numbers(self, words: Sequence[str]) -> dict[str, int]:
        """Numbers of those words that are known."""

    def add_words(self, first: int, words: Sequence[str]) -> None:
        """Number new words from `first` on."""

    def blocks_since(self, sequence: int) -> list[tuple[int, bytes]]:
        """Blocks of word counts that changed after a sequence number."""

    def put_blocks(self, blocks: Iterable[tuple[int, bytes]], sequence: int) -> None:
        """Write blocks of word counts."""

    def columns_since(self, version: int) -> list[tuple[int, int | None]]:
        """(column, word number or None) of columns that changed after a version."""

    def column_words_since(self, version: int) -> list[tuple[int, str | None]]:
        """(column, word or None) of columns that changed after a version, in order."""

    def put_columns(self, changes: Iterable[tuple[int, int | None]], version: int) -> None:
        """Write columns."""

    # --- documents

    def by_key(self, keys: Sequence[str]) -> list[Row]:
        """Those of these documents that there are, in any order."""

    def by_place(self, places: Sequence[int]) -> list[Row]:
        """The documents in these places, in any order."""

    def after(self, number: int, limit: int) -> list[Row]:
        """Documents that came after one, in order."""

    def places_before(self, time: float) -> list[int]:
        """Places of the documents with an earlier time."""

    def oldest_places(self, n: int) -> list[int]:
        """Places of the n documents with the earliest times; of equal ones the first to come."""

    def insert(self, rows: Sequence[Row]) -> None:
        """Add documents."""

    def update(self, rows: Sequence[Row], *, times: bool) -> None:
        """Give documents their new contents, and times if these have changed."""

    def remove(self, places: Sequence[int]) -> None:
        """Remove documents."""

    def move(self, moves: Sequence[tuple[int, int]]) -> None:
        """Move documents (from, to) into empty places."""

    # --- feeds and what is learned

    def seen(self, append_ids: Sequence[str]) -> set[str]:
        """Which append ids have been seen."""

    def add_seen(self, append_ids: Iterable[str]) -> None:
        """Note append ids."""

    def position(self, feed: str) -> Position | None:
        """How far a feed has been read."""

    def put_position(self, position: Position) -> None:
        """Note how far a feed has been read."""

    def put_saved(self, name: str, parts: Iterable[bytes]) -> None:
        """Replace what is kept under a name."""

    def saved(self, name: str) -> list[bytes]:
        """The parts kept under a name, in order."""

    def saved_version(self, name: str) -> int | None:
        """How often something was saved under a name; a trigger counts."""

    # --- checking

    def broken(self) -> list[str]:
        """What the database itself finds wrong, the first of it; nothing if it cannot tell."""

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a SELECT that every database understands, without keeping them all."""

    def clear(self, table: str) -> None:
        """Remove all rows of a table."""

    def fault(self) -> Fault | None:
        """What is known of words that were lost; None if no version with the fault wrote here."""

    def put_fault(self, fault: Fault) -> None:
        """Replace what is known of words that were lost."""
