"""The order of documents' words, in stores that keep it, in which phrases are found.

It is kept beside a document, under the document's number, if it is known of all of the document's
words: one value in the database, words with a NUL character between them and stretches with two, in
UTF-8, compressed by zlib. A mark says by which phrases the words of the document were joined
(`trustream.word_order.phrase_mark`).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from typing import NamedTuple

from trustream.store.compressed_text import decompressed
from trustream.store.database import Database
from trustream.store.errors import StoreError
from trustream.store.records import Record
from trustream.store.table_rows import DocumentRow
from trustream.word_order import MIXED, OrderedWords

_LEVEL = 1
# Bytes of an order: documents have no more words than fit.
_MOST = 2**30

# Words up to which a document that grows keeps their order. Each part that comes to it costs as
# much as the whole order, while nobody else can write: a tenth of a second for so many.
MAX_ORDERED = 200_000

Stretches = list[list[str]]


class _Order(NamedTuple):
    mark: int
    stretches: list[Sequence[str]]
    n_words: int

    @classmethod
    def of(cls, mark: int, stretches: Sequence[Sequence[str]]) -> _Order:
        return cls(mark, list(stretches), sum(map(len, stretches)))

    def with_part(self, mark: int, part: _Order) -> _Order | None:
        """With more words, None if there are too many; what this one has is changed."""
        n_words = self.n_words + part.n_words
        if n_words > MAX_ORDERED:
            return None
        self.stretches.extend(part.stretches)
        return _Order(mark, self.stretches, n_words)


def pack_order(stretches: Sequence[Sequence[str]]) -> bytes:
    """The bytes of an order.

    Stretches without words are left out.

    >>> unpack_order(pack_order([["new", "york"], [], ["bank"]]))
    [['new', 'york'], ['bank']]
    """
    return zlib.compress("\0\0".join(map("\0".join, filter(None, stretches))).encode(), _LEVEL)


def unpack_order(content: bytes) -> Stretches:
    """The order of a document's words.

    Raises:
        ValueError: the bytes are not those of an order.

    >>> unpack_order(pack_order([])), unpack_order(pack_order([["cats"]]))
    ([], [['cats']])
    """
    text = decompressed(content, _MOST)
    if not text:
        return []
    # An earlier version wrote stretches without words too.
    found = [stretch.split("\0") for stretch in text.split("\0\0") if stretch]
    if not all(map(all, found)):
        raise ValueError("has an empty word")
    return found


def order_of(key: str, content: bytes) -> Stretches:
    """The order of the words of the document with a key.

    Raises:
        StoreError: the order is damaged.
    """
    try:
        return unpack_order(content)
    except ValueError as error:
        raise StoreError(
            f"the order of words of document {key!r:.200} is damaged: it {error}; remove all such "
            "orders with trustream check STORE --repair, and ingest these documents again to find "
            "phrases in them"
        ) from error


def keep_orders(
    database: Database,
    records: Sequence[Record],
    of_record: Sequence[int],
    numbers: Sequence[int],
    rows: Mapping[int, DocumentRow],
    replaced: Set[int],
) -> None:
    """Keep the order of the words of records that are appended; see `keep_texts`.

    A document that gets words without an order has none from then on, and so has one that grows to
    more than `MAX_ORDERED` words. An order that is damaged counts as none.
    """
    orders: dict[int, _Order | None] = {}
    grown = [numbers[i] for i in rows if i not in replaced]
    before: dict[int, _Order] = {}
    for number, mark, content in database.orders_of(grown) if grown else ():
        with suppress(ValueError):
            before[number] = _Order.of(mark, unpack_order(content))
    for record, i in zip(records, of_record, strict=True):
        if i not in orders:
            is_new = i not in rows or i in replaced
            orders[i] = None if is_new else before.get(numbers[i])
            if is_new:
                orders[i] = _order_of(record)
                continue
        known, more = orders[i], _order_of(record)
        if known is None or more is None:
            orders[i] = None
        else:
            mark = known.mark if known.mark == more.mark else MIXED
            orders[i] = known.with_part(mark, more)
    if rows:
        # What they had may not stay behind when it is deleted.
        database.overwrite()
        database.remove_orders([numbers[i] for i in rows])
    database.put_orders(
        [
            (numbers[i], order.mark, pack_order(order.stretches))
            for i, order in orders.items()
            if order is not None
        ]
    )


def _order_of(record: Record) -> _Order | None:
    words = record.words
    if not isinstance(words, OrderedWords):
        return None
    stretches = words.stretches
    return _Order.of(words.mark, stretches) if _can_keep(stretches) else None


def _can_keep(stretches: Sequence[Sequence[str]]) -> bool:
    """Whether no word is empty or has a NUL, as by an unusual pattern."""
    return all(map(all, stretches)) and not any("\0" in w for words in stretches for w in words)
