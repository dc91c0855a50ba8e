"""Cut a file into blocks of whole records, each of which can be read by itself."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import NamedTuple

from trustream.feeds.errors import FeedError
from trustream.feeds.items import Mark
from trustream.feeds.sources import FileSource

# Bytes of a block, if no record is longer: what fits into a pipe, so that nobody waits for it.
BLOCK = 2**19

# What stands at the end of a record, by format.
ENDS = {"jsonl": b"\n", "text": b"\n", "mediawiki": b"</page>"}


class Block(NamedTuple):
    """Bytes of a file between two records, or up to the file's end.

    Attributes:
        mark: where they begin.
        content: the bytes; None for what stands after the mark, if a record is too long to be in a
            block and the rest of the file has to be read in another way.
        last: whether the file ends with them.
    """

    mark: Mark
    content: bytes | None
    last: bool


def cut(
    chunks: Iterable[bytes | None], mark: Mark, end: bytes, longest: int, size: int = BLOCK
) -> Iterator[Block]:
    """Blocks of what stands after a mark; the last one may be empty.

    Args:
        chunks: bytes after the mark.
        mark: where they begin.
        end: what ends a record.
        longest: bytes without an end after which no more blocks are cut.
        size: bytes of a block.

    Raises:
        FeedError: as reading chunks does, after the records that stand before the damage.

    >>> for block in cut([b"one\\ntw", b"o\\nthr", b"ee"], Mark(), b"\\n", 100, size=4):
    ...     print(*block)
    Mark(offset=0, number=0) b'one\\n' False
    Mark(offset=4, number=1) b'two\\n' False
    Mark(offset=8, number=2) b'three' True
    """
    data = bytearray()
    searched = 0
    try:
        for chunk in chunks:
            data += chunk or b""
            if len(data) < size:
                continue
            # In what was searched before there is none, but a part of it may stand at its end.
            place = data.rfind(end, max(0, searched - len(end)))
            if place >= 0:
                mark = yield from _block(data, mark, place + len(end))
            elif len(data) > longest:
                yield Block(mark, None, False)
                return
            searched = len(data)
    except FeedError:
        if (place := data.rfind(end)) >= 0:
            yield from _block(data, mark, place + len(end))
        raise
    yield Block(mark, bytes(data), True)


def _block(data: bytearray, mark: Mark, stop: int) -> Generator[Block, None, Mark]:
    """The block of the first bytes, which are taken away; returns the mark after it."""
    content = bytes(data[:stop])
    del data[:stop]
    yield Block(mark, content, False)
    return Mark(mark.offset + stop, mark.number + content.count(b"\n"))


class BlockSource(FileSource):
    """A file of which only the bytes of a block are read."""

    block: Block

    @property
    def is_part(self) -> bool:
        """Whether the file goes on after the block."""
        return not self.block.last

    def chunks(self, offset: int = 0) -> Iterator[bytes | None]:
        """The bytes of the block, which begins at `offset`."""
        yield self.block.content
