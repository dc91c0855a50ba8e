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
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trustream.store.check_result import CheckResult
from trustream.store.draw_order import DrawOrder


@dataclass(frozen=True, slots=True)
class Record:
    """A document to be stored, or a part that is added to a document in the store.

    Attributes:
        key: the name of the document; 1 to 500 characters.
        words: tokens in order, or a mapping from words to counts (positive integers). Tokens by
            their numbers in a table that many records share (`CodedWords`) are stored fastest.
        time: when the document was made, in seconds since 1970, for retention; None is now, in
            whole seconds. A later part moves it forward, never back.
        append_id: a name of this record that the sender chooses: a second record with the same id
            does nothing.
    """

    key: str
    words: Sequence[str] | Mapping[str, int]
    time: float | None = None
    append_id: str | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """How far a feed has been read, committed with the records that were read.

    Attributes:
        feed: the name of the feed (the path of a file, or whatever tells it from others).
        offset: how many bytes or records have been read.
        finished: whether the end of the feed was reached.
        detail: JSON values that the reader needs to go on.
    """

    feed: str
    offset: int
    finished: bool = False
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append did.

    Attributes:
        n_records: records that were added.
        n_documents: documents that were not in the store before.
        n_tokens: tokens that were added.
        n_repeated: records that were left out because their append id had been seen.
        sequence: the sequence number of the store after the append.
    """

    n_records: int
    n_documents: int
    n_tokens: int
    n_repeated: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Totals:
    """How much is in a store; known without reading documents.

    Attributes:
        documents: documents in the store, `training` + `held_out`.
        training: documents that a trainer may learn from.
        held_out: documents of the held-out part, chosen by a hash of the key.
        tokens: tokens of these documents, those of words that are not active included. Words
            outside a fixed vocabulary are not kept and do not count.
        words: active words.
        added: documents ever added to the training part; never falls.
        sequence: the sequence number: every append, deletion and retention that changes documents
            raises it by one.
        vocabulary: the version of the vocabulary; rises when a word becomes active or ceases to be.
    """

    documents: int
    training: int
    held_out: int
    tokens: int
    words: int
    added: int
    sequence: int
    vocabulary: int


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents as rows over columns, as in a CSR matrix; only active words are in it.

    Attributes:
        keys: keys of the documents, in the order of the rows.
        indptr: (D+1,) int64, where each row starts and ends.
        indices: (nnz,) int32, columns; in no particular order, each at most once in a row.
        counts: (nnz,) float32, how often each word occurs.
        sequence: the sequence number of the store when they were read.
        vocabulary: the version of the vocabulary that the columns belong to.
    """

    keys: list[str]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    counts: NDArray[np.float32]
    sequence: int
    vocabulary: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The active words.

    Attributes:
        words: words by column; None for a column that has no word at present.
        version: rises with every change.
    """

    words: list[str | None]
    version: int


@dataclass(frozen=True, slots=True)
class VocabularyChanges:
    """How the vocabulary has changed since a version, so that it need not be read as a whole.

    Attributes:
        columns: (changes,) int32, rising; a column that changed twice is here once.
        words: the word that each of these columns has now, None if it has none.
        version: the version of the vocabulary after the changes.
    """

    columns: NDArray[np.int32]
    words: list[str | None]
    version: int


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that a store was made with; they do not change.

    Attributes:
        held_out: share of documents, by a hash of the key, that trainers never learn from.
        min_documents: a word becomes active once it is in that many documents, and stays so until
            more frequent words need its column or no document has it any more.
        max_words: the most active words; the rarest (fewest documents, then the newest) give their
            columns to others. None is no limit.
        fixed: whether the vocabulary was given and does not grow. Then other words are not kept,
            `min_documents` is 1 and `max_words` None.
    """

    held_out: float = 0.02
    min_documents: int = 5
    max_words: int | None = 200_000
    fixed: bool = False


class Store(Protocol):
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

    def delete(self, keys: Iterable[str]) -> int:
        """Delete documents; returns how many were deleted. Unknown keys are ignored."""

    def keep(self, *, newest: int | None = None, since: float | None = None) -> int:
        """Delete all but the `newest` documents by time, and those before the time `since`.

        Of documents with equal times the last to arrive are the newest. Returns how many
        documents were deleted.
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
        self, n: int, rng: np.random.Generator | DrawOrder, *, held_out: bool = False
    ) -> Documents:
        """Draw min(n, N) of the N training (or held-out) documents, uniformly, without replacement.

        They come in random order, so that a part of them is a uniform draw too. With a `DrawOrder`
        in the place of `rng`, draws one after the other go through all documents before one comes
        up again (`trustream.store.draw_order`). It takes time for
        the documents drawn, not for those in the store, also after deletions. What `rng` draws
        depends on n and N alone.
        """

    def read(self, keys: Sequence[str]) -> Documents:
        """Read documents by their keys, in this order; a KeyError names one that is not there."""

    def scan(self, block: int = 1000) -> Iterator[Documents]:
        """Read all documents in the order of their arrival, `block` at a time.

        Each block is read on its own, so a long scan delays nobody: documents that come or go
        meanwhile may or may not be seen, the others are seen once.
        """

    def arrivals(self, after: int, n: int) -> tuple[Documents, int]:
        """Read the training documents among the n that arrived next after a number.

        Documents are numbered in the order of their arrival; -1 is before the first. Returns the
        documents as they are now, and the number of the last of the n.
        """

    def vocabulary(self) -> Vocabulary:
        """The active words, by column."""

    def vocabulary_since(self, version: int) -> VocabularyChanges:
        """The columns that changed after a version, with the words that they have now."""

    def position(self, feed: str) -> Position | None:
        """How far a feed has been read; None if never."""

    # --- saved bytes

    def save(self, name: str, content: bytes) -> None:
        """Save bytes under a name, such as a model; they replace what was saved before."""

    def load(self, name: str) -> bytes | None:
        """The bytes saved under a name; None if there are none."""

    def saved_version(self, name: str) -> int | None:
        """The version of the bytes saved under a name; None if nothing was ever saved.

        It is 1 for the first save and grows by one with each save, in the same transaction; no
        version is used twice. Asking is cheap, since the bytes are not read: a service asks again
        and again, and loads a model when the version has changed.
        """

    # --- closing

    def close(self) -> None:
        """Close the store; closing it twice does nothing."""
