"""Rows of a store's tables, as its databases give and take them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from trustream.store.errors import StoreError
from trustream.store.limits import short_repr
from trustream.store.records import Totals


@dataclass(slots=True)
class Counters:
    """Everything that a store counts: the only row of the table `state`.

    Attributes:
        sequence: changes of documents so far.
        vocabulary: version of the vocabulary.
        training, held_out: documents in each part.
        tokens: tokens of the documents that are in the store.
        words: active words.
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

    def row(self) -> tuple[int, ...]:
        """The values in the table's order; `dataclasses.astuple` takes ten times as long."""
        return tuple(getattr(self, name) for name in self.__slots__)

    def totals(self) -> Totals:
        """What users see of it."""
        return Totals(
            documents=self.training + self.held_out,
            training=self.training,
            held_out=self.held_out,
            tokens=self.tokens,
            words=self.words,
            added=self.added,
            sequence=self.sequence,
            vocabulary=self.vocabulary,
            arrived=self.next_document,
        )


class DocumentRow(NamedTuple):
    """A stored document: a row of the table `document`.

    Attributes:
        place: its slot, see `document_slots`.
        number: documents are numbered in the order of their arrival.
        key: the name that its owner chose.
        time: seconds since 1970.
        content: its words and counts, see `document_encoding`.
        arrival: whether the time is that of its arrival, for it came without one; None if a version
            that did not note it has written the document.
    """

    place: int
    number: int
    key: str
    time: float
    content: bytes
    arrival: bool | None = False


def damaged_time(rows: Iterable[DocumentRow]) -> StoreError:
    """The error that names the first document whose time is no number."""
    row = next(row for row in rows if not isinstance(row.time, int | float))
    return StoreError(
        f"the time of document {row.key!r:.200} is damaged: it is {short_repr(row.time)}; find all "
        "such documents with trustream check STORE, delete them and ingest them again, or restore "
        "a copy"
    )


class LostWords(NamedTuple):
    """What is known of words that an early version lost: the only row of the table `fault`.

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
