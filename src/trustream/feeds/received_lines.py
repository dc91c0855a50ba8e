"""Read lines of JSON that came as bytes, as a request brings them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trustream.feeds.blocks import Block, BlockSource
from trustream.feeds.items import Item, Mark
from trustream.feeds.json_lines import read_json_lines
from trustream.feeds.json_scanner import JsonScanner, json_scanner
from trustream.feeds.options import Options
from trustream.feeds.rows import Rows
from trustream.feeds.word_coder import word_coder

# Bytes from which on loading compiled code pays.
_LARGE = 20_000


class _Received(BlockSource):
    """Bytes that are no file's."""

    def __init__(self) -> None:
        self.name, self.compressed = "body", False

    def raw(self, offset: int, size: int) -> bytes:
        """What stands before a part of the bytes: parts begin with a line."""
        return b"\n"


class ReceivedLines:
    """Reads lines of JSON, most of them by a compiled kernel, into items or rows.

    One of them serves many requests, one after the other, so that words that were met before need
    not be made again.

    Args:
        options: how records are read.

    >>> lines = ReceivedLines(Options())
    >>> [item.record.key for item in lines.items(b'{"id": "a", "text": "Cats"}')]
    ['a']
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.coded = replace(options, tokenise=word_coder(options.tokenise))
        self._source = _Received()
        self._scanner: JsonScanner | None = None
        self._tried = False

    def items(self, content: bytes) -> Iterator[Item | Rows]:
        """The records of all lines, in order."""
        block = Block(Mark(), content, True)
        if len(content) >= _LARGE and not self._tried:
            self._scanner = json_scanner(self._source, self.coded)
            self._tried = True
        if self._scanner is not None and len(content) >= _LARGE:
            return self._scanner.items(block)
        self._source.block = block
        options = self.coded if len(content) >= _LARGE else self.options
        return read_json_lines(self._source, block.mark, options)
