"""The store that `open_store` gives, on any database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from trustream.store import integrity_check
from trustream.store.call_guard import CallGuard, guarded
from trustream.store.check_result import CheckResult
from trustream.store.coded_records import CodedRecords
from trustream.store.database import Database
from trustream.store.draw_order import DrawOrder
from trustream.store.errors import StoreError
from trustream.store.limits import (
    MAX_OFFSET,
    is_number_from,
    name_fault,
    short_repr,
    time_fault,
    whole_number,
)
from trustream.store.noted_history import NotedHistory
from trustream.store.position_checks import After, check_position
from trustream.store.protocol import Store
from trustream.store.reader import Reader
from trustream.store.records import (
    Appended,
    Documents,
    Position,
    Record,
    Settings,
    StoredOrder,
    StoredText,
    Totals,
    Vocabulary,
    VocabularyChanges,
)
from trustream.store.table_rows import Counters
from trustream.store.tokeniser_of_store import TokeniserOfStore
from trustream.store.writer import Writer

# Seconds to wait for those who read, so that nothing deleted is left in a log: briefly after each
# deletion, longer when that is what was asked for.
_AFTER_DELETE, _TO_ERASE = 0.5, 10.0


class DocumentStore(NotedHistory, TokeniserOfStore, Store):
    """A store in a database. `open_store` makes one; `Store` says what its methods do.

    Here arguments are checked and threads wait for each other; `Writer` and `Reader` do the work.

    >>> import tempfile
    >>> from trustream.store import Record, open_store
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = open_store(folder.name + "/topics.db", min_documents=1)
    >>> store.append([Record("a", ["cat", "dog", "cat"]), Record("b", {"dog": 2})]).n_documents
    2
    >>> store.append([Record("b", ["bird"])]).n_documents
    0
    >>> documents = store.read(["b"])
    >>> words = store.vocabulary().words
    >>> {words[c]: n for c, n in zip(documents.indices, documents.counts.tolist())}
    {'dog': 2.0, 'bird': 1.0}
    >>> store.totals().tokens
    6
    >>> result = store.check()
    >>> result.ok, result.n_documents, result.n_tokens
    (True, 2, 6)
    >>> store.close(); folder.cleanup()
    """

    def __init__(self, database: Database) -> None:
        self._opened: Database | None = database
        self._url, self._name = database.url, database.name
        self._settings = database.settings
        self._guard = CallGuard(self._name, database.lock)
        self._forget()

    def _forget(self) -> None:
        """Begin anew with what is kept in memory."""
        self._writer, self._reader = Writer(self._database), Reader(self._database)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name}{'' if self._opened else ', closed'}>"

    @property
    def url(self) -> str:
        return self._url

    @property
    def name(self) -> str:
        return self._name

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def _database(self) -> Database:
        if self._opened is None:
            raise StoreError(f"the store {self._name} was closed; open it again with open_store")
        return self._opened

    # --- writing

    def append(
        self, records: Iterable[Record], position: Position | None = None, *, after: After = ...
    ) -> Appended:
        check_position(position, after)
        # Whoever gives the records may itself wait for a call of this store.
        given = records if isinstance(records, CodedRecords) else list(records)
        return self._append(given, position, after)

    @guarded
    def _append(
        self, records: Sequence[Record], position: Position | None, after: After
    ) -> Appended:
        return self._writer.append(records, position, after)

    def append_groups(self, groups: Sequence[Iterable[Record]]) -> list[Appended]:
        return self._append_groups(
            [group if isinstance(group, CodedRecords) else list(group) for group in groups]
        )

    @guarded
    def _append_groups(self, groups: Sequence[Sequence[Record]]) -> list[Appended]:
        return self._writer.append_groups(groups)

    def delete(
        self, keys: Iterable[str], *, on_unknown: Callable[[str], None] | None = None
    ) -> int:
        given = list(dict.fromkeys(_several(keys)))
        n_deleted, places = self._delete(_possible(given))
        if on_unknown is not None:
            for key in given:
                if key not in places:
                    on_unknown(key)
        return n_deleted

    @guarded
    def _delete(self, keys: list[str]) -> tuple[int, dict[str, int]]:
        database = self._database
        places: dict[str, int] = {}

        def find(_: Counters) -> Sequence[int]:
            nonlocal places
            places = database.places(keys)
            return list(places.values())

        n_deleted = self._writer.delete(find)
        if n_deleted:
            # It is done whether this succeeds or not.
            with suppress(StoreError):
                database.erase(rewrite=False, wait=_AFTER_DELETE)
        return n_deleted, places

    def rejoin(self, join: Callable[[Sequence[str]], list[str]], mark: int, n: int = 1000) -> int:
        _check_number("n", n)
        return self._rejoin(join, whole_number("mark", mark), n)

    @guarded
    def _rejoin(self, join: Callable[[Sequence[str]], list[str]], mark: int, n: int) -> int:
        return self._writer.rejoin(join, mark, n)

    @guarded
    def erase(self, *, rewrite: bool = False) -> bool:
        return self._database.erase(rewrite=rewrite, wait=_TO_ERASE)

    @guarded
    def expire_append_ids(self, before: float) -> int:
        database = self._database
        _check_time("before", before)

        def work() -> int:
            database.overwrite()
            return database.expire_seen(before)

        return database.run(work, write=True)

    @guarded
    def keep(self, *, newest: int | None = None, since: float | None = None) -> int:
        database = self._database
        if newest is None and since is None:
            raise ValueError("nothing says what to keep; give newest=... or since=...")
        if newest is not None:
            _check_number("newest", newest, least=0)
        if since is not None:
            _check_time("since", since)

        def find(counters: Counters) -> Sequence[int]:
            old = set() if since is None else set(database.places_before(since))
            if newest is not None:
                n_documents = counters.training + counters.held_out
                old |= set(database.oldest_places(n_documents - newest))
            return sorted(old)

        return self._writer.delete(find)

    @guarded
    def check(
        self, *, repair: bool = False, on_suspect: Callable[[str], None] | None = None
    ) -> CheckResult:
        database = self._database

        def work() -> CheckResult:
            return integrity_check.check(database, repairs=repair, on_suspect=on_suspect)

        try:
            return database.run(work, write=repair)
        finally:
            if repair:
                # What is remembered is not so any more.
                self._forget()

    # --- reading

    @guarded
    def totals(self) -> Totals:
        database = self._database
        return database.run(lambda: database.counters(write=False).totals(), write=False)

    @guarded
    def draw(
        self,
        n: int,
        rng: np.random.Generator | DrawOrder,
        *,
        held_out: bool = False,
        times: bool = False,
    ) -> Documents:
        _check_number("n", n, least=0)
        return self._reader.draw(lambda _: n, rng, held_out, times)[0]

    @guarded
    def draw_batch(
        self, size: Callable[[Totals], int], rng: np.random.Generator | DrawOrder
    ) -> tuple[Documents, Totals]:
        return self._reader.draw(size, rng)

    def read_slots(
        self, slots: NDArray[np.int64], *, held_out: bool = False
    ) -> tuple[Documents, int]:
        given = np.asarray(slots)
        if given.ndim != 1 or given.dtype.kind not in "iu" or (given < 0).any():
            raise ValueError("slots are an array of whole numbers, 0 or more")
        if given.dtype.kind == "u":
            # None of these is there, and as a signed number one would be below zero.
            given = given[given <= MAX_OFFSET]
        if np.unique(given).size != given.size:
            raise ValueError("a slot is given twice; a document is read once")
        return self._read_slots(given.astype(np.int64), held_out)

    @guarded
    def _read_slots(self, slots: NDArray[np.int64], held_out: bool) -> tuple[Documents, int]:
        return self._reader.read_slots(slots, held_out)

    def read(self, keys: Sequence[str]) -> Documents:
        return self._read(list(_several(keys)))

    @guarded
    def _read(self, keys: list[str]) -> Documents:
        return self._reader.read(keys, _possible(keys))

    def scan(
        self, block: int = 1000, *, after: int = -1, until: int | None = None
    ) -> Iterator[Documents]:
        _check_number("block", block)
        last = whole_number("after", after)
        until = None if until is None else whole_number("until", until)
        while True:
            documents, last = self._arrivals(last, block, until=until)
            if not documents.keys:
                return
            yield documents

    def block_ends(self, block: int = 1000) -> list[int]:
        _check_number("block", block)
        return self._block_ends(block)

    @guarded
    def _block_ends(self, block: int) -> list[int]:
        return self._database.run(lambda: self._database.block_ends(block), write=False)

    def arrivals(self, after: int, n: int) -> tuple[Documents, int]:
        _check_number("n", n)
        return self._arrivals(whole_number("after", after), n, training=True)

    @guarded
    def _arrivals(
        self, after: int, n: int, training: bool = False, until: int | None = None
    ) -> tuple[Documents, int]:
        return self._reader.arrivals(after, n, training=training, until=until)

    @guarded
    def newest(self, n: int, before: int | None = None) -> tuple[Documents, list[int]]:
        _check_number("n", n)
        before = None if before is None else whole_number("before", before)
        return self._reader.newest(n, before)

    @guarded
    def time_range(self) -> tuple[float, float] | None:
        return self._database.run(self._database.time_range, write=False)

    def texts(self, keys: Iterable[str]) -> dict[str, StoredText]:
        return self._texts(_possible(_several(keys)))

    @guarded
    def _texts(self, keys: list[str]) -> dict[str, StoredText]:
        return self._reader.texts(keys)

    @guarded
    def word_orders(self, after: int = -1, n: int = 1000) -> tuple[list[StoredOrder], int]:
        _check_number("n", n)
        return self._reader.word_orders(whole_number("after", after), n)

    @guarded
    def count_orders(self, mark: int) -> tuple[int, int]:
        database, mark = self._database, whole_number("mark", mark)
        return database.run(lambda: database.count_orders(mark), write=False)

    def vocabulary(self) -> Vocabulary:
        changes = self.vocabulary_since(-1)
        return Vocabulary(changes.words, changes.version)

    @guarded
    def vocabulary_since(self, version: int) -> VocabularyChanges:
        return self._reader.vocabulary_since(whole_number("version", version))

    def position(self, feed: str) -> Position | None:
        return self._look_up(feed, Database.position)

    # --- closing

    def close(self) -> None:
        if self._guard.elsewhere:
            # The database is the parent's; this process has let go of it when it was forked.
            self._opened = None
            return
        with self._guard.lock:
            self._guard.check_idle()
            database, self._opened = self._opened, None
            if database is not None:
                database.close()

    def __enter__(self) -> DocumentStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _check_time(name: str, time: object) -> None:
    if (fault := time_fault(time)) is not None:
        found, expected, advice = fault
        raise ValueError(f"{name} {found}; give {expected}{f' ({advice})' if advice else ''}")


def _check_number(name: str, value: object, least: int = 1) -> None:
    """Refuse what is no number of documents; True would be 1, and `newest=True` delete the rest."""
    if not is_number_from(least, value):
        raise ValueError(
            f"{name} is {short_repr(value)}; give a whole number of documents, {least} or more"
        )
    if int(value) > MAX_OFFSET:  # type: ignore[call-overload]
        raise ValueError(f"{name} is {short_repr(value)}; give at most 2^63 - 1 documents")


def _several(keys: Iterable[str]) -> Iterable[str]:
    if isinstance(keys, str):
        raise ValueError(f"keys are one string, {keys!r}; give a list of keys")
    return keys


def _possible(keys: Iterable[str]) -> list[str]:
    """The different keys that a document may have; databases stumble over others."""
    return [key for key in dict.fromkeys(keys) if name_fault(key) is None]
