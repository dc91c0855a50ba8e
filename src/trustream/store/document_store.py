"""The store on any backend: what `protocol.Store` says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import EllipsisType, TracebackType

import numpy as np

from trustream.store import checking, contents
from trustream.store.backend import Backend, Row, State
from trustream.store.check_result import CheckResult
from trustream.store.columns import Columns
from trustream.store.errors import StoreError
from trustream.store.places import draw_places
from trustream.store.positions import check_position
from trustream.store.protocol import (
    Appended,
    Documents,
    Position,
    Record,
    Settings,
    Totals,
    Vocabulary,
    VocabularyChanges,
)
from trustream.store.records import name_fault
from trustream.store.turns import Turns, in_turn
from trustream.store.writing import Writer

# Bytes of one part of what is kept under a name.
_PART = 1 << 24


class DocumentStore:
    """A store on a backend. `open_store` makes one.

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
    >>> store.close(); folder.cleanup()
    """

    def __init__(self, backend: Backend) -> None:
        self._backend: Backend | None = backend
        self._url, self._name = backend.url, backend.name
        self._settings = backend.settings
        self._turns = Turns(self._name, backend.lock)
        self._forget()

    def _forget(self) -> None:
        """Begin anew with what is kept in memory."""
        self._writer = Writer(self._open)
        self._columns = Columns()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name}{'' if self._backend else ', closed'}>"

    @property
    def url(self) -> str:
        """Where it is: `open_store` takes it. It has the password, if there is one."""
        return self._url

    @property
    def name(self) -> str:
        """Where it is, to be shown: without a password."""
        return self._name

    @property
    def settings(self) -> Settings:
        """What it was made with."""
        return self._settings

    @property
    def _open(self) -> Backend:
        if self._backend is None:
            raise StoreError(f"the store {self._name} was closed; open it again with open_store")
        return self._backend

    # --- writing

    def append(
        self,
        records: Iterable[Record],
        position: Position | None = None,
        *,
        after: Position | EllipsisType | None = ...,
    ) -> Appended:
        """Add records and commit the position of their feed, all or nothing.

        Args:
            records: documents or parts of documents.
            position: of the feed that they come from.
            after: the position that they come after, None if they are the feed's first; if the
                feed stands elsewhere by now, nothing is added. Not compared if left out.

        Raises:
            RecordError: a record is bad; its `index` says which.
            PositionError: another process has read the feed on.
            StoreError: the database cannot take them.
        """
        check_position(position, after)
        # Whoever gives the records may itself wait for a turn with this store.
        return self._append(list(records), position, after)

    @in_turn
    def _append(
        self,
        records: list[Record],
        position: Position | None,
        after: Position | EllipsisType | None,
    ) -> Appended:
        _ = self._open
        return self._writer.append(records, position, after)

    def delete(self, keys: Iterable[str]) -> int:
        """Delete documents; returns how many there were. Unknown keys are passed over."""
        return self._delete(_possible(_several(keys)))

    @in_turn
    def _delete(self, keys: list[str]) -> int:
        backend = self._open
        return self._writer.delete(lambda _: [row.place for row in backend.by_key(keys)])

    @in_turn
    def keep(self, *, newest: int | None = None, since: float | None = None) -> int:
        """Delete all but the `newest` documents by time, and those before `since`; how many.

        Of documents with equal times the last to arrive are the newest.
        """
        backend = self._open
        if newest is None and since is None:
            raise ValueError("nothing says what to keep; give newest=... or since=...")
        if newest is not None and (not isinstance(newest, int) or newest < 0):
            raise ValueError(f"newest is {newest!r}; give a whole number of documents, 0 or more")
        if since is not None and not math.isfinite(since):
            raise ValueError(f"since is {since!r}; give seconds since 1970")

        def find(state: State) -> Sequence[int]:
            old = set() if since is None else set(backend.places_before(since))
            if newest is not None:
                old |= set(backend.oldest_places(state.training + state.held_out - newest))
            return sorted(old)

        return self._writer.delete(find)

    @in_turn
    def check(
        self, *, repair: bool = False, on_suspect: Callable[[str], None] | None = None
    ) -> CheckResult:
        """Compare everything that the store counts with its documents; it reads all of it.

        Other processes may go on meanwhile; a repair makes those wait that want to write.

        Args:
            repair: whether to write anew what the documents say: counts, columns, places. Of
                documents whose contents are damaged what can be read is kept. All or nothing.
            on_suspect: called with the key of each document that should be deleted and ingested
                again, before the check is done: it cannot use this store. The result has the first.

        Raises:
            StoreError: the database cannot be read, or not be changed.

        >>> import tempfile
        >>> from trustream.store import Record, open_store
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with open_store(folder + "/topics.db") as store:
        ...         _ = store.append([Record("a", ["cat", "dog"])])
        ...         result = store.check()
        >>> result.ok, result.n_documents, result.n_tokens
        (True, 1, 2)
        """
        backend = self._open

        def work() -> CheckResult:
            return checking.check(backend, repairs=repair, on_suspect=on_suspect)

        try:
            return backend.run(work, write=repair)
        finally:
            if repair:
                # What is remembered is not so any more.
                self._forget()

    # --- reading

    @in_turn
    def totals(self) -> Totals:
        """Counts as of now, in O(1)."""
        backend = self._open
        state = backend.run(lambda: backend.state(write=False), write=False)
        return Totals(
            documents=state.training + state.held_out,
            training=state.training,
            held_out=state.held_out,
            tokens=state.tokens,
            words=state.words,
            added=state.added,
            sequence=state.sequence,
            vocabulary=state.vocabulary,
        )

    @in_turn
    def draw(self, n: int, rng: np.random.Generator, *, held_out: bool = False) -> Documents:
        """min(n, N) different documents, uniform over the live training (or held-out) ones."""
        backend = self._open
        if n < 0:
            raise ValueError(f"n is {n}; give a number of documents, 0 or more")

        before = rng.bit_generator.state

        def work() -> Documents:
            # Should the work be done again, it draws the same.
            rng.bit_generator.state = before
            state = backend.state(write=False)
            there = state.held_out if held_out else state.training
            places = draw_places(n, there, rng, held_out).tolist()
            rows = {row.place: row for row in backend.by_place(places)}
            return self._documents([rows[place] for place in places], state)

        return backend.run(work, write=False)

    def read(self, keys: Sequence[str]) -> Documents:
        """The documents of these keys, in this order; KeyError names one that is not there."""
        return self._read(list(_several(keys)))

    @in_turn
    def _read(self, keys: list[str]) -> Documents:
        backend = self._open

        def work() -> Documents:
            state = backend.state(write=False)
            rows = {row.key: row for row in backend.by_key(_possible(keys))}
            return self._documents([rows[key] for key in keys], state)

        return backend.run(work, write=False)

    def scan(self, block: int = 1000) -> Iterator[Documents]:
        """All live documents in the order of their arrival, `block` at a time.

        Each block is read on its own, so a long scan is in nobody's way: documents that come or
        go meanwhile may or may not be seen, the others are seen once.
        """
        if block < 1:
            raise ValueError(f"block is {block}; give a number of documents, 1 or more")
        last = -1
        while True:
            documents, last = self._block(last, block)
            if not documents.keys:
                return
            yield documents

    def arrivals(self, after: int, n: int) -> tuple[Documents, int]:
        """Training documents among the first n to arrive after one, and the last one's number."""
        if n < 1:
            raise ValueError(f"n is {n}; give a number of documents, 1 or more")
        return self._block(after, n, training=True)

    @in_turn
    def _block(self, last: int, block: int, training: bool = False) -> tuple[Documents, int]:
        backend = self._open

        def work() -> tuple[Documents, int]:
            state = backend.state(write=False)
            rows = backend.after(last, block)
            wanted = [row for row in rows if row.place >= 0] if training else rows
            return self._documents(wanted, state), rows[-1].number if rows else last

        return backend.run(work, write=False)

    def _documents(self, rows: Sequence[Row], state: State) -> Documents:
        """Rows over columns; words that do not take part are left out."""
        if state.vocabulary != self._columns.version:
            changes = self._open.columns_since(self._columns.version)
            self._columns.apply(changes, state.vocabulary)
        indptr, words, counts = contents.unpack([row.content for row in rows])
        columns = self._columns.of(words)
        takes_part = columns >= 0
        before = np.zeros(len(words) + 1, np.int64)
        np.cumsum(takes_part, out=before[1:])
        return Documents(
            keys=[row.key for row in rows],
            indptr=before[indptr],
            indices=columns[takes_part],
            counts=counts[takes_part].astype(np.float32),
            sequence=state.sequence,
            vocabulary=state.vocabulary,
        )

    def vocabulary(self) -> Vocabulary:
        """The words that take part, by column."""
        changes = self.vocabulary_since(-1)
        return Vocabulary(changes.words, changes.version)

    @in_turn
    def vocabulary_since(self, version: int) -> VocabularyChanges:
        """The columns that changed after a version, with the words that they have now."""
        backend = self._open

        def work() -> VocabularyChanges:
            state = backend.state(write=False)
            changes = backend.column_words_since(version)
            columns = np.array([column for column, _ in changes], np.int32)
            return VocabularyChanges(columns, [word for _, word in changes], state.vocabulary)

        return backend.run(work, write=False)

    @in_turn
    def position(self, feed: str) -> Position | None:
        """How far a feed has been read; None if never."""
        backend = self._open
        if name_fault(feed) is not None:
            return None
        return backend.run(lambda: backend.position(feed), write=False)

    # --- what is learned

    @in_turn
    def save(self, name: str, content: bytes) -> None:
        """Keep bytes under a name, replacing what was there (checkpoints of a trainer)."""
        backend = self._open
        _check_name("name", name)
        view = memoryview(content)
        parts = [bytes(view[i : i + _PART]) for i in range(0, max(len(view), 1), _PART)]
        backend.run(lambda: backend.put_saved(name, parts), write=True)

    @in_turn
    def load(self, name: str) -> bytes | None:
        """The bytes kept under a name; None if there are none."""
        backend = self._open
        if name_fault(name) is not None:
            return None
        parts = backend.run(lambda: backend.saved(name), write=False)
        return b"".join(parts) if parts else None

    @in_turn
    def saved_version(self, name: str) -> int | None:
        """How often bytes have been saved under a name; None if never. The bytes are not read."""
        backend = self._open
        if name_fault(name) is not None:
            return None
        return backend.run(lambda: backend.saved_version(name), write=False)

    # --- life

    def close(self) -> None:
        """Let go of the database; closing twice does nothing."""
        if self._turns.elsewhere:
            # The database is the parent's; this process has let go of it when it was forked.
            self._backend = None
            return
        with self._turns.lock:
            self._turns.check_idle()
            backend, self._backend = self._backend, None
            if backend is not None:
                backend.close()

    def __enter__(self) -> DocumentStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _several(keys: Iterable[str]) -> Iterable[str]:
    if isinstance(keys, str):
        raise ValueError(f"keys are one string, {keys!r}; give a list of keys")
    return keys


def _possible(keys: Iterable[str]) -> list[str]:
    """The different keys that a document may have; databases stumble over others."""
    return [key for key in dict.fromkeys(keys) if name_fault(key) is None]


def _check_name(what: str, name: str) -> None:
    fault = name_fault(name)
    if fault is not None:
        raise ValueError(f"{what} {name!r:.60} {fault}")
