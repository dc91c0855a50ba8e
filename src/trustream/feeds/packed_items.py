"""Send items from one process to another, so that little has to be sent.

Words go as codes of a table that both sides have; a word is sent once, when it comes to the table.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import IO, Any, NamedTuple

import numpy as np

from trustream.feeds.errors import BadRecord, FeedError
from trustream.feeds.items import Item, Mark
from trustream.feeds.rows import Rows
from trustream.file_errors import reason
from trustream.store.coded_records import CodedRecords
from trustream.store.coded_words import CodedTokens, CodedWords, WordTable
from trustream.store.records import Record

# Bytes of the message that follows.
HEADER = struct.Struct("<Q")


class PackedRows(NamedTuple):
    """What `Rows` are, but for the codes of their words.

    Attributes:
        keys: with newlines between them; a list if there are any in them.
        lengths, offsets: int64 each, as bytes.
        line: of the first record.
        times, append_ids: of each record; None if none has any.
    """

    keys: str | list[str]
    lengths: bytes
    offsets: bytes
    line: int
    times: list[float | None] | None
    append_ids: list[str | None] | None


class PackedItems(NamedTuple):
    """What is in a block, so that little has to be sent.

    Attributes:
        entries: an item each, (offset, number, line) and what it has: nothing, a bad record, or
            (key, words, time, append id); words are the number of codes, or as the record has them.
            Text and title come last where they are kept.
            Or many records, see `PackedRows`.
        codes: codes of all records, one after the other.
        tables: by how many of the codes the words are in which table; whether it is a new one, and
            the words that came to it.
        error: what reading stopped at.
    """

    entries: list[tuple[Any, ...] | PackedRows]
    codes: bytes
    tables: list[tuple[int, bool, list[str]]]
    error: FeedError | None = None


class Packer:
    """Makes answers of items and rows; one for each `Unpacker`.

    Args:
        keep_text: whether texts and titles are sent, too.
    """

    def __init__(self, *, keep_text: bool) -> None:
        self._keep_text = keep_text
        # The table that was used last, and how many of its words were told.
        self._table: WordTable | None = None
        self._told = 0

    def answer(self, items: Iterable[Item | Rows], name: str) -> PackedItems:
        """What is in them; of what the file with this name is read."""
        entries: list[tuple[Any, ...] | PackedRows] = []
        parts: list[tuple[WordTable, Any]] = []
        error = None
        try:
            for item in items:
                if isinstance(item, Rows):
                    parts += item.records.words.parts
                    entries.append(_packed(item))
                    continue
                record = item.record
                if record is None:
                    what: tuple[Any, ...] = () if item.bad is None else (item.bad,)
                else:
                    words: Any = record.words
                    if isinstance(words, CodedWords):
                        parts.append((words.table, words.codes))
                        words = len(words)
                    what = record.key, words, record.time, record.append_id
                    if self._keep_text:
                        what = *what, record.text, record.title
                entries.append((*item.mark, item.line, *what))
        except FeedError as stopped:
            error = stopped
        except Exception as stopped:
            error = FeedError(f"cannot read {name}: {reason(stopped)}")
        codes = np.concatenate([np.zeros(0, np.int32), *(codes for _, codes in parts)])
        return PackedItems(entries, codes.tobytes(), self._tables(parts), error)

    def _tables(self, parts: list[tuple[WordTable, Any]]) -> list[tuple[int, bool, list[str]]]:
        tables = []
        for _, group in groupby(parts, lambda part: id(part[0])):
            together = list(group)
            table = together[0][0]
            is_new = table is not self._table
            told = 0 if is_new else self._told
            self._table, self._told = table, len(table)
            n = sum(len(codes) for _, codes in together)
            tables.append((n, is_new, table.words_of(np.arange(told, len(table)))))
        return tables


def _packed(rows: Rows) -> PackedRows:
    records = rows.records
    lengths, offsets = records.lengths.tobytes(), rows.offsets.tobytes()
    keys: str | list[str] = "\n".join(records.keys)
    if keys.count("\n") >= len(records.keys):
        keys = list(records.keys)
    return PackedRows(keys, lengths, offsets, rows.line, records.times, records.append_ids)


class Unpacker:
    """Makes items and rows of the answers of one process."""

    def __init__(self) -> None:
        self._table = WordTable()

    def items(self, answer: PackedItems) -> Iterator[Item | Rows]:
        """The items and rows of an answer.

        Raises:
            FeedError: what reading stopped at, after what stands before it.

        >>> unpacker = Unpacker()
        >>> answer = PackedItems([(23, 2, 2, "a", 2, None, None)], b"\\1\\0\\0\\0\\0\\0\\0\\0",
        ...                 [(2, True, ["cats", "dogs"])])
        >>> [item.record.words for item in unpacker.items(answer)]
        [['dogs', 'cats']]
        """
        codes = np.frombuffer(answer.codes, np.int32)
        place, end, tables = 0, 0, iter(answer.tables)
        for entry in answer.entries:
            if isinstance(entry, PackedRows):
                lengths = np.frombuffer(entry.lengths, np.int64)
                stop = place + int(lengths.sum())
                while stop > end:
                    end += self._take(next(tables))
                tokens = CodedTokens([(self._table, codes[place:stop])])
                place = stop
                keys = entry.keys.split("\n") if isinstance(entry.keys, str) else entry.keys
                records = CodedRecords(keys, tokens, lengths, entry.times, entry.append_ids)
                yield Rows(records, np.frombuffer(entry.offsets, np.int64), entry.line)
                continue
            offset, number, line, *what = entry
            mark = Mark(offset, number)
            if len(what) < 2:
                bad: BadRecord | None = what[0] if what else None
                yield Item(mark, line, bad=bad)
                continue
            key, words, time, append_id, *kept = what
            if type(words) is int:
                stop = place + words
                while stop > end:
                    end += self._take(next(tables))
                words = CodedWords(self._table, codes[place:stop])
                place = stop
            yield Item(mark, line, Record(key, words, time, append_id, False, *kept))
        for table in tables:
            self._take(table)
        if answer.error is not None:
            raise answer.error

    def _take(self, table: tuple[int, bool, list[str]]) -> int:
        n, is_new, words = table
        if is_new:
            self._table = WordTable()
        self._table.extend(words)
        return n


def frame(message: object) -> bytes:
    """A message as bytes, with its length before it."""
    content = pickle.dumps(message, protocol=5)
    return HEADER.pack(len(content)) + content


def message(inbox: IO[bytes]) -> Any:
    """The next message of a stream; None if there is no more, or not all of it."""
    header = inbox.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (size,) = HEADER.unpack(header)
    content = inbox.read(size)
    return pickle.loads(content) if len(content) == size else None
