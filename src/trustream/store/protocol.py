"""What you can do with a document store, whichever database holds it.

A document has a key that its owner chooses, and words with counts; parts of it may arrive at any
time. A store knows nothing of models. It numbers its words and decides which of them are active:
each active word has a column, and documents that are read come as rows over these columns, as in a
sparse matrix. The active words are the vocabulary.

Every change is one transaction: when a method returns, the change is durable; when the process dies
inside it, nothing of it has happened. Several processes may read and write one store at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trustream.store.check_result import CheckResult
from trustream.store.draw_order import DrawOrder
from trustream.store.lease import Lease, Leasing
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
from trustream.tokenisers import Specification


class Store(Leasing, Protocol):
    """A document store. Threads may share one; every process opens its own.

    Stores are context managers: `with open_store(...) as store` closes it at the end.
    """

    @property
    def url(self) -> str:
        """The address, with the password if there is one; `open_store` takes it."""

    @property
    def name(self) -> str:
        """The address without a password, to be shown."""

    @property
    def settings(self) -> Settings:
        """The settings that the store was made with."""

    # --- how texts become words

    def tokeniser(self) -> Specification | None:
        """How the texts of its documents became words; None if that is not known.

        The store keeps it for those who bring texts: `feeds.ingest` splits them by it, and a model
        takes it along. `append` takes words as they are.
        """

    def set_tokeniser(
        self, tokeniser: Specification, *, before: Specification | EllipsisType | None = ...
    ) -> Specification | None:
        """Keep how texts become words from now on; documents that are there keep their words.

        Args:
            tokeniser: a `trustream.text.Tokeniser`, or the name of a function.
            before: the one that the store must have, None for none, or nothing is changed; if it
                is left out, nothing is compared.

        Returns the one that the store has now.
        """

    # --- writing

    def append(
        self,
        records: Iterable[Record],
        position: Position | None = None,
        *,
        after: Position | EllipsisType | None = ...,
    ) -> Appended:
        """Add records, and commit the position of the feed that they come from, all or nothing.

        Words are numbered in the order of their first appearance, and get columns in the order
        in which they came to be in enough documents. Words that are not active yet are kept, so
        that they count from the first document once they are.

        Records count in their order: one with `replace=True` takes the place of what its document
        had before, in the store and in this append. A document that is replaced keeps its number
        and its part of the store, training or held-out.

        Args:
            records: documents or parts of documents.
            position: the new position of the feed that they come from.
            after: the position that they come after, None if they are the feed's first. If the
                feed is elsewhere by now, nothing is added: of two processes that read the same
                part of a feed, one stores it. Whether the end was reached is not compared. If it
                is left out, nothing is compared.

        Raises:
            RecordError: a record cannot be stored; its `index` says which. Nothing was added.
            PositionError: another process has read the feed further. Nothing was added.
            StoreError: the database cannot take them.
        """

    def append_groups(self, groups: Sequence[Iterable[Record]]) -> list[Appended]:
        """Add several groups of records in one transaction; returns what each of them did.

        It is as if each group were appended after the one before, but what makes them durable is
        done once, which takes most of the time of a small append.

        Raises:
            RecordError: a record of some group cannot be stored; `index` counts within its group.
                Nothing was added: append the groups one by one to find out which it is.
            StoreError: as for `append`.
        """

    def delete(
        self, keys: Iterable[str], *, on_unknown: Callable[[str], None] | None = None
    ) -> int:
        """Delete documents; returns how many were deleted.

        Words that no other document has leave the store too, unless its vocabulary is fixed. What
        was deleted is overwritten as `erase` says.

        Args:
            keys: of the documents.
            on_unknown: called afterwards with each key that no document had, once.
        """

    def rejoin(self, join: Callable[[Sequence[str]], list[str]], mark: int, n: int = 1000) -> int:
        """Make the words of some documents anew from the order in which they stood.

        For stores that keep it (`Settings.keep_order`), after the phrases of the tokeniser have
        changed. All else of the documents stays: numbers, times, texts.

        Args:
            join: makes words of a stretch of words, as `trustream.phrase_joining.PhraseJoiner`.
                It may be called more than once, and cannot use this store.
            mark: of its phrases, `trustream.word_order.phrase_mark`; documents whose words have it
                are passed over.
            n: documents that are looked at.

        Returns how many were looked at; 0 if the words of all have the mark.
        """

    def erase(self, *, rewrite: bool = False) -> bool:
        """Take away what deleted and replaced documents have left in the files of the database.

        SQLite overwrites in its file what a `delete` or a replacement removes, and this empties the
        write-ahead log, in which it may still stand; `delete` itself tries to. On rare occasions
        SQLite leaves a copy behind where it has rearranged a page, and versions without this method
        left many. PostgreSQL keeps what was deleted until `VACUUM` lets it be overwritten.

        Args:
            rewrite: write all files anew, so that nothing is left in them (`VACUUM`, on PostgreSQL
                `VACUUM FULL`): takes time and free space for the whole store, and others have to
                wait meanwhile.

        Returns:
            Whether it was done: False if another process kept on reading the log of a SQLite store,
            and for PostgreSQL without `rewrite`.
        """

    def keep(self, *, newest: int | None = None, since: float | None = None) -> int:
        """Delete all but the `newest` documents by time, and those before the time `since`.

        Of documents with equal times the last to arrive are the newest. Returns how many
        documents were deleted.
        """

    def expire_append_ids(self, before: float) -> int:
        """Forget append ids that were noted before a time; returns how many.

        A record that is sent again with such an id is added again. Ids that were noted by versions
        without times have the time at which this version first opened the store.

        Args:
            before: in seconds since 1970.
        """

    def check(
        self, *, repair: bool = False, on_suspect: Callable[[str], None] | None = None
    ) -> CheckResult:
        """Compare everything that the store counts with its documents; reads the whole store.

        Other processes may go on meanwhile; during a repair they have to wait to write.

        Args:
            repair: whether to write anew what the documents say: counts, columns, places. Of
                documents whose contents are damaged what can be read is kept. All or nothing.
            on_suspect: called with the key of each document that should be deleted and ingested
                again, before the check is done: it cannot use this store. The result has the first.

        Raises:
            StoreError: the database cannot be read, or not be changed.
        """

    # --- reading

    def totals(self) -> Totals:
        """How much is in the store now, in O(1)."""

    def draw(
        self,
        n: int,
        rng: np.random.Generator | DrawOrder,
        *,
        held_out: bool = False,
        times: bool = False,
    ) -> Documents:
        """Draw min(n, N) of the N training (or held-out) documents, uniformly, without replacement.

        They come in random order, so that a part of them is a uniform draw too. With a `DrawOrder`
        in the place of `rng`, draws one after the other go through all documents before one comes
        up again (`trustream.store.draw_order`). It takes time for
        the documents drawn, not for those in the store, also after deletions. What `rng` draws
        depends on n and N alone. With `times`, the documents come with theirs, which a trainer does
        not need.
        """

    def draw_batch(
        self, size: Callable[[Totals], int], rng: np.random.Generator | DrawOrder
    ) -> tuple[Documents, Totals]:
        """Draw as many training documents as the totals ask for; both are of one moment.

        Args:
            size: how many documents to draw from a store with these totals.
            rng: as in `draw`.
        """

    def read_slots(
        self, slots: NDArray[np.int64], *, held_out: bool = False
    ) -> tuple[Documents, int]:
        """Read training (or held-out) documents by their slots, in this order.

        The N training documents have the slots 0 to N - 1, and `draw` draws slots. Whoever draws
        slots by itself, with `trustream.store.draw_order` or otherwise, lets others read them
        here. Slots without a document are passed over.

        Returns the documents, and how many training documents had ever been removed when they were
        read. As long as that number is the same, a slot has the same document.
        """

    def read(self, keys: Sequence[str]) -> Documents:
        """Read documents by their keys, in this order; a KeyError names one that is not there."""

    def scan(
        self, block: int = 1000, *, after: int = -1, until: int | None = None
    ) -> Iterator[Documents]:
        """Read all documents in the order of their arrival, `block` at a time.

        Each block is read on its own, so a long scan delays nobody: documents that come or go
        meanwhile may or may not be seen, the others are seen once.

        Args:
            block: documents that are read together.
            after: only documents with a larger number in the order of arrival.
            until: only documents with this number or a smaller one; None is all. With the numbers
                that `block_ends` returns, several processes read a block each, and each document
                is in one of them.
        """

    def block_ends(self, block: int = 1000) -> list[int]:
        """Return the number in the order of arrival of the last document of each block of `scan`.

        The documents themselves are not read.
        """

    def arrivals(self, after: int, n: int) -> tuple[Documents, int]:
        """Read the training documents among the n that arrived next after a number.

        Documents are numbered in the order of their arrival; -1 is before the first. Returns the
        documents as they are now, and the number of the last of the n.
        """

    def newest(self, n: int, before: int | None = None) -> tuple[Documents, list[int]]:
        """Read the n documents that arrived last, the last one first, held-out ones included.

        Args:
            n: how many.
            before: only those with a smaller number in the order of arrival, to read on from
                there; None begins with the last.

        Returns the documents and their numbers.
        """

    def time_range(self) -> tuple[float, float] | None:
        """The earliest and the latest time of a document, found quickly; None without documents.

        Times that are more than 1e12 seconds from 1970, which earlier versions took, do not count.
        """

    def texts(self, keys: Iterable[str]) -> dict[str, StoredText]:
        """The texts of documents by their keys, those that there are.

        Only stores that keep texts have any (`Settings.keep_text`).
        """

    def word_orders(self, after: int = -1, n: int = 1000) -> tuple[list[StoredOrder], int]:
        """Read the order of words of the next n documents of which it is kept.

        Documents are numbered in the order of their arrival; -1 is before the first. Returns also
        the number of the last of them, which is `after` if there are none.
        """

    def count_orders(self, mark: int) -> tuple[int, int]:
        """Documents whose order of words is kept, and those of them whose words have a mark."""

    def vocabulary(self) -> Vocabulary:
        """The active words, by column."""

    def vocabulary_since(self, version: int) -> VocabularyChanges:
        """The columns that changed after a version, with the words that they have now."""

    def position(self, feed: str) -> Position | None:
        """How far a feed has been read; None if never."""

    # --- saved bytes

    def save(
        self,
        name: str,
        content: bytes,
        *,
        lease: Lease | None = None,
        beside: Mapping[str, bytes] | None = None,
    ) -> None:
        """Save bytes under a name, such as a model; they replace what was saved before.

        Args:
            name: of the bytes.
            content: the bytes.
            lease: saved only if this lease has not been taken over. If it has another name, the
                holder of a lease with this name is told: what it saves next is refused.
            beside: other bytes by name, saved in the same transaction.

        Raises:
            LeaseLostError: somebody else has taken the lease over. Nothing was saved.
            ReplacedError: somebody else has saved under the name with another lease, since this
                one was taken. Nothing was saved.
        """

    def saved_names(self) -> list[str]:
        """The names under which bytes are saved, in alphabetical order."""

    def load(self, name: str) -> bytes | None:
        """The bytes saved under a name; None if there are none."""

    def saved_version(self, name: str) -> int | None:
        """The version of the bytes saved under a name; None if nothing was ever saved.

        It is 1 for the first save and grows by one with each save, in the same transaction; no
        version is used twice. Asking is cheap, since the bytes are not read: a service asks again
        and again, and loads a model when the version has changed.
        """

    def change_saved(
        self,
        name: str,
        change: Callable[[bytes], bytes | None],
        *,
        missing: bytes | None = None,
    ) -> bool:
        """Change the bytes saved under a name; nobody can save others in between.

        Args:
            name: of the bytes.
            change: called with the bytes, perhaps more than once; returns those to save in their
                place, or None to leave them. It cannot use this store.
            missing: what it is called with if nothing is saved; if None, it is not called then.

        Returns:
            Whether they were changed. The old ones are overwritten, as by `delete`.
        """

    # --- history

    def note_history(
        self, name: str, content: bytes, time: float, *, every: Sequence[float]
    ) -> int:
        """Note bytes under a name in slots of time, once in each slot.

        Of several processes that note the same thing, the first in a slot counts.

        Args:
            name: of the history, such as that of a model.
            content: the bytes.
            time: in seconds since 1970.
            every: widths of slots in seconds. With several, there is a history for each of them,
                so that a fine one can be dropped earlier than a coarse one.

        Returns in how many slots it was noted.
        """

    def history(
        self, name: str, every: float, since: float | None = None, until: float | None = None
    ) -> list[tuple[float, bytes]]:
        """(time, bytes) that were noted in slots of this width between two times, in order."""

    def expire_history(self, name: str, every: float, before: float) -> int:
        """Forget what was noted before a time in slots of this width; returns how many slots."""

    # --- closing

    def close(self) -> None:
        """Close the store; closing it twice does nothing."""
