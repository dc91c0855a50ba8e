"""What a document store does, whatever holds it.

A document has a key that its owner chooses, and words with counts; parts of it may come at any
time. A store knows nothing of models. It numbers its words, says which of them take part (the
vocabulary) and gives each of these a column; documents that are read come as rows over columns.

Every change is one transaction: when a method returns, it is durable; when the process dies inside
it, nothing of it has happened. Several processes may read and write one store at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trustream.store.check_result import CheckResult


@dataclass(frozen=True, slots=True)
class Record:
    """A document, or a part of one that is added to what is there.

    Attributes:
        key: names the document; 1 to 500 characters.
        words: tokens in order, or a mapping from words to counts (positive integers).
        time: when the document came to be, in seconds since 1970, for retention; None is now,
            in whole seconds. A later part moves it forward, never back.
        append_id: chosen by whoever sends it: a second append with the same id does nothing.
    """

    key: str
    words: Sequence[str] | Mapping[str, int]
    time: float | None = None
    append_id: str | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """How far a feed has been read, committed with the records that were read.

    Attributes:
        feed: names the feed (a file's path or whatever tells it from others).
        offset: bytes or records read.
        finished: whether its end was reached.
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
        n_records: records added to the store.
        n_documents: documents that were not there before.
        n_tokens: tokens added.
        n_repeated: records left out because their append id had been seen.
        sequence: the store's sequence number after it.
    """

    n_records: int
    n_documents: int
    n_tokens: int
    n_repeated: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts, each known without looking at documents.

    Attributes:
        documents: live documents, `training` + `held_out`.
        training: those that a trainer may learn from.
        held_out: those of the held-out slice, chosen by a hash of the key.
        tokens: of live documents, words that do not take part included (but for words outside
            a fixed vocabulary, which are not kept).
        words: that take part.
        added: documents ever added to the training part; never falls.
        sequence: changes so far; every append, deletion and retention that changes documents
            raises it by one.
        vocabulary: version of the vocabulary; rises when a word begins or ceases to take part.
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
    """Some documents as rows over columns; words that do not take part are left out.

    Attributes:
        keys: of the documents, in the order of the rows.
        indptr: (D+1,) int64.
        indices: (nnz,) int32, columns; in no particular order, each at most once in a row.
        counts: (nnz,) float32, how often each occurs.
        sequence: the store's sequence number when they were read.
        vocabulary: the vocabulary's version that the columns are of.
    """

    keys: list[str]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    counts: NDArray[np.float32]
    sequence: int
    vocabulary: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words that take part.

    Attributes:
        words: by column; None for a column whose word was evicted and that waits for another.
        version: rises with every change.
    """

    words: list[str | None]
    version: int


@dataclass(frozen=True, slots=True)
class VocabularyChanges:
    """What became of the vocabulary after a version: a trainer need not read all of it again.

    Attributes:
        columns: (changes,) int32, rising; a column that changed twice is here once.
        words: the word that each of these columns has now, None if it waits for another.
        version: of the vocabulary that they lead to.
    """

    columns: NDArray[np.int32]
    words: list[str | None]
    version: int


@dataclass(frozen=True, slots=True)
class Settings:
    """What a store is made with and keeps.

    Attributes:
        held_out: share of documents, by a hash of the key, that trainers never learn from.
        min_documents: a word takes part once it is in that many documents, until it gives way
            to others or no document has it any more.
        max_words: most words that take part; the rarest (fewest documents, then the newest)
            give way. None is no limit.
        fixed: whether the vocabulary was given and does not grow. Then other words are not kept,
            `min_documents` is 1 and `max_words` None.
    """

    held_out: float = 0.02
    min_documents: int = 5
    max_words: int | None = 200_000
    fixed: bool = False


class Store(Protocol):
    """A document store. Threads that share one take turns; every process opens its own."""

    @property
    def url(self) -> str:
        """Where it is: `open_store` takes it. It has the password, if there is one."""

    @property
    def name(self) -> str:
        """Where it is, to be shown: without a password."""

    @property
    def settings(self) -> Settings:
        """What it was made with."""

    # --- writing

    def append(
        self,
        records: Iterable[Record],
        position: Position | None = None,
        *,
        after: Position | EllipsisType | None = ...,
    ) -> Appended:
        """Add records, and commit the position of the feed that they come from, all or nothing.

        With `after`, the position that they come after (None if they are the feed's first), they
        are added only if the feed still stands there: of two processes that read the same part of
        a feed, one stores it. Whether the end was reached is not compared.

        Words are numbered in the order of their first appearance, and get columns in the order
        in which they came to be in enough documents. Words that do not take part yet are kept,
        so that they count from the first document once they do.

        Raises:
            RecordError: a record is bad; its `index` says which. Nothing was added.
            PositionError: the feed does not stand at `after` any more. Nothing was added.
            StoreError: the database cannot take them.
        """

    def delete(self, keys: Iterable[str]) -> int:
        """Delete documents; returns how many there were. Unknown keys are passed over."""

    def keep(self, *, newest: int | None = None, since: float | None = None) -> int:
        """Delete all but the `newest` documents by time, and those before `since`; how many."""

    def check(
        self, *, repair: bool = False, on_suspect: Callable[[str], None] | None = None
    ) -> CheckResult:
        """Compare everything that the store counts with its documents, and repair it if asked to.

        `on_suspect` is called with the key of each document that should be ingested again.
        """

    # --- reading

    def totals(self) -> Totals:
        """Counts as of now, in O(1)."""

    def draw(self, n: int, rng: np.random.Generator, *, held_out: bool = False) -> Documents:
        """min(n, N) different documents, uniform over the live training (or held-out) ones.

        They come in random order, so that a part of them is a uniform draw too.
        Takes time for the documents drawn, not for those there are, also after deletions. What
        `rng` draws depends on n and N alone.
        """

    def read(self, keys: Sequence[str]) -> Documents:
        """The documents of these keys, in this order; KeyError names one that is not there."""

    def scan(self, block: int = 1000) -> Iterator[Documents]:
        """All live documents in the order of their arrival, `block` at a time.

        Documents that come or go meanwhile may or may not be seen; the others are seen once.
        """

    def arrivals(self, after: int, n: int) -> tuple[Documents, int]:
        """Training documents among the first n to arrive after one, and the last one's number.

        Numbers rise with arrival; -1 is before all. Each comes as it is now.
        """

    def vocabulary(self) -> Vocabulary:
        """The words that take part, by column."""

    def vocabulary_since(self, version: int) -> VocabularyChanges:
        """The columns that changed after a version, with the words that they have now."""

    def position(self, feed: str) -> Position | None:
        """How far a feed has been read; None if never."""

    # --- what is learned

    def save(self, name: str, content: bytes) -> None:
        """Keep bytes under a name, replacing what was there (checkpoints of a trainer)."""

    def load(self, name: str) -> bytes | None:
        """The bytes kept under a name; None if there are none."""

    def saved_version(self, name: str) -> int | None:
        """How often bytes have been saved under a name; None if never. The bytes are not read.

        It grows by one with each save, in the same transaction, and never falls: whoever sees a
        higher version than before finds newer bytes with `load`.
        """

    # --- life

    def close(self) -> None:
        """Let go of the database; closing twice does nothing. Stores are context managers."""
