"""What goes into a document store and what comes out of it: plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Record:
    """A document to be stored, or a part that is added to a document in the store.

    Attributes:
        key: the name of the document; 1 to 500 characters.
        words: tokens in order, or a mapping from words to counts (positive integers). Tokens by
            their numbers in a table that many records share (`CodedWords`) are stored fastest.
            A store that keeps the order of words (`Settings.keep_order`) knows it of
            `trustream.word_order.OrderedWords` only.
        time: when the document was made, in seconds since 1970, for retention and for topics over
            time; None is now, in whole seconds. A later part moves it forward, never back.
        append_id: a name of this record that the sender chooses: a second record with the same id
            does nothing.
        replace: whether the record takes the place of all that the document has, its time too;
            parts that come later are added to it. Without words the document stays, empty:
            `Store.delete` removes it.
        text: what the words were made of, for a store that keeps texts (`Settings.keep_text`);
            others pass it over. Parts are kept one after the other, each on a line of its own.
        title: of the document, for people; kept with the text, cut at 500 characters. That of a
            later part counts.
    """

    key: str
    words: Sequence[str] | Mapping[str, int]
    time: float | None = None
    append_id: str | None = None
    replace: bool = False
    text: str | None = field(default=None, repr=False)
    title: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class StoredText:
    """The text of a document, as a store keeps it.

    Attributes:
        text: its first characters, as many as the store keeps (`Settings.keep_text`).
        title: None if it came without one.
    """

    text: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class StoredOrder:
    """The order of a document's words, as a store keeps it.

    Attributes:
        key: of the document.
        stretches: lists of words that stood next to one another, before phrases were joined.
    """

    key: str
    stretches: list[list[str]]


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
        n_tokens: tokens that were added; those of a record that another one in the same append
            replaced are not among them.
        n_repeated: records that were left out because their append id had been seen.
        sequence: the sequence number of the store after the append.
        extended: documents that were in the store before and have more words now, by their
            numbers in the order of arrival (`Totals.arrived`).
        replaced: the same for documents that were replaced.
        n_removed: tokens that these had.
    """

    n_records: int
    n_documents: int
    n_tokens: int
    n_repeated: int
    sequence: int
    extended: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
    n_removed: int = 0


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
        arrived: documents ever added to either part, and so the number that the next one gets in
            the order of arrival; never falls.
    """

    documents: int
    training: int
    held_out: int
    tokens: int
    words: int
    added: int
    sequence: int
    vocabulary: int
    arrived: int = 0


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
        times: (D,) float64, the time of each document in seconds since 1970: the latest of its
            records' (`Record.time`), which is when it arrived where none was given. None if they
            were not asked for, by `Store.draw`.
        arrival: (D,) bool, where the time is that of the arrival; None as well. Documents that a
            version without this wrote are taken to have had a time.
    """

    keys: list[str]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    counts: NDArray[np.float32]
    sequence: int
    vocabulary: int
    times: NDArray[np.float64] | None = None
    arrival: NDArray[np.bool_] | None = None

    @property
    def n_pairs(self) -> int:
        """Pairs of document and word."""
        return int(self.indices.size)

    @property
    def newest_vocabulary(self) -> int:
        """The same version: they were all read at once."""
        return self.vocabulary


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
        keep_text: characters of each document's text that are kept; 0 keeps no texts.
        keep_order: whether the order of words is kept where it is known, to find phrases in it.
    """

    held_out: float = 0.02
    min_documents: int = 5
    max_words: int | None = 200_000
    fixed: bool = False
    keep_text: int = 0
    keep_order: bool = False
