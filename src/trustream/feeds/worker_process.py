"""The process that makes records of blocks, for `trustream.feeds.workers`.

It reads messages from its standard input and answers each on its standard output, until there is no
more. The first message is a `Task`, all others are blocks. Messages are received and answers sent
by threads, so that it has something to do while the other process is busy with a transaction and
looks at no pipe. Whoever sends blocks sees to it that they are not too many.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any, NamedTuple

from trustream.feeds.blocks import Block, BlockSource
from trustream.feeds.formats import FORMATS
from trustream.feeds.items import Item
from trustream.feeds.json_scanner import json_scanner
from trustream.feeds.options import Options
from trustream.feeds.packed_items import PackedItems, Packer, frame, message
from trustream.feeds.rows import Rows
from trustream.feeds.word_coder import WordCoder, word_coder
from trustream.missing_library import without


class Task(NamedTuple):
    """What is read, and how."""

    path: str
    format: str
    options: Options


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
        self._packer = Packer(keep_text=bool(task.options.keep_text))

    def answer(self, block: Block) -> PackedItems:
        """The answer to a block.

        >>> import tempfile
        >>> import numpy as np
        >>> from trustream.feeds.items import Mark
        >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        ...     maker = Maker(Task(file.name, "text", Options(name="pets")))
        ...     answer = maker.answer(Block(Mark(7, 1), b"Cats, dogs, cats", True))
        >>> answer.entries, np.frombuffer(answer.codes, np.int32).tolist(), answer.tables
        ([(23, 2, 2, 'pets:2', 3, None, None)], [0, 1, 0], [(3, True, ['cats', 'dogs'])])
        """
        return self._packer.answer(self._items(block), self._source.name)

    def _items(self, block: Block) -> Iterator[Item | Rows]:
        if self._scanner is not None:
            yield from self._scanner.items(block)
        else:
            self._source.block = block
            yield from self._read(self._source, block.mark, self._options)


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
        # Numba looks into SciPy for linear algebra, of which there is none here.
        with without("scipy"):
            maker = Maker(task)
    while maker is not None and isinstance(block := received.get(), Block):
        answers.put(frame(maker.answer(block)))
    answers.put(None)
    sender.join()


def _receive(inbox: IO[bytes], received: SimpleQueue[Any]) -> None:
    """Take all messages, None after the last."""
    found: Any = True
    while found is not None:
        found = message(inbox)
        received.put(found)


def _send(answers: SimpleQueue[bytes | None], outbox: IO[bytes]) -> None:
    """Send answers up to None, or until nobody wants them."""
    with suppress(BrokenPipeError):
        while (answer := answers.get()) is not None:
            outbox.write(answer)
            outbox.flush()
