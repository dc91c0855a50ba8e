"""The process that makes records of blocks, for `trustream.feeds.workers`.

It reads messages from its standard input and answers each on its standard output, until there is no
more. The first message is a `Task`, all others are blocks. Messages are received and answers sent
by threads, so that it has something to do while the other process is busy with a transaction and
looks at no pipe. Whoever sends blocks sees to it that they are not too many.
"""

from __future__ import annotations

import gc
import pickle
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import groupby
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any, NamedTuple

import numpy as np

from trustream.feeds.blocks import Block, BlockSource
from trustream.feeds.errors import BadRecord, FeedError
from trustream.feeds.formats import FORMATS
from trustream.feeds.items import Item, Mark
from trustream.feeds.json_scanner import json_scanner
from trustream.feeds.options import Options
from trustream.feeds.rows import Rows
from trustream.feeds.word_coder import WordCoder, word_coder
from trustream.file_errors import reason
from trustream.store.coded_records import CodedRecords
from trustream.store.coded_words import CodedTokens, CodedWords, WordTable
from trustream.store.records import Record

# Bytes of the message that follows.
HEADER = struct.Struct("<Q")


class Task(NamedTuple):
    """What is read, and how."""

    path: str
    format: str
    options: Options


class PackedRows(NamedTuple):
    """What `Rows` are, but for the codes of their words.

    Attributes:
        keys: with newlines between them.
        lengths, offsets: int64 each, as bytes.
        line: of the first record.
        times, append_ids: of each record; None if none has any.
    """

    keys: str
    lengths: bytes
    offsets: bytes
    line: int
    times: list[float | None] | None
    append_ids: list[str | None] | None


class Answer(NamedTuple):
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


def frame(message: object) -> bytes:
    """A message as bytes, with its length before it."""
    content = pickle.dumps(message, protocol=5)
    return HEADER.pack(len(content)) + content


class Maker:
    """Makes answers of blocks."""

    def __init__(self, task: Task) -> None:
        self._source = BlockSource(task.path)
        self._read = FORMATS[task.format].read
        tokenise = word_coder(task.options.tokenise)
        if isinstance(tokenise, WordCoder):
            tokenise.load()
        self._options = replace(task.options, tokenise=tokenise)
        self._scanner = (
            json_scanner(self._source, self._options) if task.format == "jsonl" else None
        )
        # The table that was used last, and how many of its words were told.
        self._table: WordTable | None = None
        self._told = 0

    def answer(self, block: Block) -> Answer:
        """The answer to a block.

        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        ...     maker = Maker(Task(file.name, "text", Options(name="pets")))
        ...     answer = maker.answer(Block(Mark(7, 1), b"Cats, dogs, cats", True))
        >>> answer.entries, np.frombuffer(answer.codes, np.int32).tolist(), answer.tables
        ([(23, 2, 2, 'pets:2', 3, None, None)], [0, 1, 0], [(3, True, ['cats', 'dogs'])])
        """
        entries: list[tuple[Any, ...] | PackedRows] = []
        parts: list[tuple[WordTable, Any]] = []
        error = None
        try:
            for item in self._items(block):
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
                    if self._options.keep_text:
                        what = *what, record.text, record.title
                entries.append((*item.mark, item.line, *what))
        except FeedError as stopped:
            error = stopped
        except Exception as stopped:
            error = FeedError(f"cannot read {self._source.name}: {reason(stopped)}")
        codes = np.concatenate([np.zeros(0, np.int32), *(codes for _, codes in parts)])
        return Answer(entries, codes.tobytes(), self._tables(parts), error)

    def _items(self, block: Block) -> Iterator[Item | Rows]:
        if self._scanner is not None:
            return self._scanner.items(block)
        self._source.block = block
        return self._read(self._source, block.mark, self._options)

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
    keys = "\n".join(records.keys)
    return PackedRows(keys, lengths, offsets, rows.line, records.times, records.append_ids)


class Unpacker:
    """Makes items and rows of the answers of one process."""

    def __init__(self) -> None:
        self._table = WordTable()

    def items(self, answer: Answer) -> Iterator[Item | Rows]:
        """The items and rows of an answer.

        Raises:
            FeedError: what reading stopped at, after what stands before it.

        >>> unpacker = Unpacker()
        >>> answer = Answer([(23, 2, 2, "a", 2, None, None)], b"\\1\\0\\0\\0\\0\\0\\0\\0",
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
                records = CodedRecords(
                    entry.keys.split("\n"), tokens, lengths, entry.times, entry.append_ids
                )
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


def main() -> None:
    """Answer messages until there are no more."""
    # Thousands of small objects are made for a block, and hardly a cycle among them.
    gc.set_threshold(100_000, 20, 100)
    inbox, outbox = sys.stdin.buffer, sys.stdout.buffer
    # Whatever a library prints must not get among the answers.
    sys.stdout = sys.stderr
    received: SimpleQueue[Any] = SimpleQueue()
    answers: SimpleQueue[bytes | None] = SimpleQueue()
    Thread(target=_receive, args=(inbox, received), daemon=True).start()
    sender = Thread(target=_send, args=(answers, outbox), daemon=True)
    sender.start()
    task = received.get()
    maker = None
    if isinstance(task, Task):
        with _without("scipy"):
            maker = Maker(task)
    while maker is not None and isinstance(block := received.get(), Block):
        answers.put(frame(maker.answer(block)))
    answers.put(None)
    sender.join()


def _receive(inbox: IO[bytes], received: SimpleQueue[Any]) -> None:
    """Take all messages, None after the last."""
    message: Any = True
    while message is not None:
        message = _message(inbox)
        received.put(message)


def _send(answers: SimpleQueue[bytes | None], outbox: IO[bytes]) -> None:
    """Send answers up to None, or until nobody wants them."""
    with suppress(BrokenPipeError):
        while (answer := answers.get()) is not None:
            outbox.write(answer)
            outbox.flush()


@contextmanager
def _without(library: str) -> Iterator[None]:
    """Load other libraries as if one were not there, which takes its time and is not needed.

    Numba looks into SciPy for linear algebra, of which there is none here.
    """
    sys.modules[library] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[library]


def _message(inbox: IO[bytes]) -> Any:
    header = inbox.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (size,) = HEADER.unpack(header)
    content = inbox.read(size)
    return pickle.loads(content) if len(content) == size else None
