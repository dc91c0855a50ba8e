"""Read the lines of a file, each of which knows where it ends, and records that are lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from trustream.feeds.errors import FeedError, InvalidValue, too_long
from trustream.feeds.items import Items, Mark, make_items
from trustream.feeds.options import Options
from trustream.feeds.sources import FileSource, Source
from trustream.store.records import Record

# Editors and spreadsheets put it before the first line.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A line without its end; `content` is None if it was too long to keep.

    `mark.number` is the line's number, `mark.offset` the place after it.
    """

    mark: Mark
    content: bytes | None

    @property
    def line(self) -> int:
        """Its number, from 1."""
        return self.mark.number

    def text(self, max_bytes: int) -> str:
        """The line as text.

        Raises:
            InvalidValue: it is too long or not UTF-8.

        >>> Line(Mark(3, 1), b"a b").text(10)
        'a b'
        """
        if self.content is None:
            raise too_long(max_bytes)
        content = self.content
        if self.mark.number == 1:
            content = content.removeprefix(BYTE_ORDER_MARK)
        return decoded(content)


def decoded(content: bytes) -> str:
    """Bytes as text.

    >>> decoded(b"caf\\xe9 au lait")
    Traceback (most recent call last):
    ...
    trustream.feeds.errors.InvalidValue: not UTF-8: byte 0xe9 at place 4 of it
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        byte = content[error.start]
        place = error.start + 1
        raise InvalidValue(f"not UTF-8: byte 0x{byte:02x} at place {place} of it") from None


def read_lines(source: Source, mark: Mark, max_bytes: int) -> Iterator[Line | None]:
    """The lines of a source after a mark; None when nothing new has come for a while.

    Raises:
        FeedError: the last line had no end when it was read, and has become longer.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> source = StreamSource(io.BytesIO(b"one\\ntwo\\n"))
    >>> for line in read_lines(source, Mark(), 100):
    ...     print(line.mark.number, line.mark.offset, line.content)
    1 4 b'one'
    2 8 b'two'
    """
    if ends_a_line(source, mark.offset):
        yield from split(source.chunks(mark.offset), mark, max_bytes)
        return
    before = Mark(mark.offset, mark.number - 1)
    for line in split(source.chunks(mark.offset), before, max_bytes):
        if line is not None and line.mark.number == mark.number:
            if line.content is None or line.content.strip():
                raise FeedError(
                    f"{source.name}, line {mark.number} had no end when it was read, and goes on "
                    "now: what was added to it is not in the store; again=True with replace=True "
                    "reads the file anew"
                )
            continue
        yield line


def read_line_records(
    source: Source, mark: Mark, options: Options, make: Callable[[str, int], Record]
) -> Items:
    """Items of lines after a mark; `make` makes the record of a text and the line's number.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> source = StreamSource(io.BytesIO(b"one\\n\\ntwo"))
    >>> make = lambda text, number: Record(str(number), [text])
    >>> [item.record for item in read_line_records(source, Mark(), Options(), make)][1:]
    [None, Record(key='3', words=['two'], time=None, append_id=None, replace=False)]
    """

    def record(line: Line) -> Record | None:
        text = line.text(options.max_bytes)
        return None if not text or text.isspace() else make(text, line.mark.number)

    return make_items(source.name, mark, read_lines(source, mark, options.max_bytes), record)


def split(chunks: Iterable[bytes | None], mark: Mark, max_bytes: int) -> Iterator[Line | None]:
    """Chunks of bytes as lines; of a line that is too long only the length is known.

    >>> [line.content for line in split([b"a\\nb", b"c\\r\\nlong line\\nd"], Mark(), 4)]
    [b'a', b'bc', None, b'd']
    """
    offset, number = mark
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        if chunk is None:
            yield None
            continue
        pieces = chunk.split(b"\n")
        for piece in pieces[:-1]:
            size += len(piece)
            parts.append(piece)
            offset, number = offset + size + 1, number + 1
            whole = b"".join(parts) if size <= max_bytes else None
            yield Line(Mark(offset, number), whole.removesuffix(b"\r") if whole else whole)
            parts, size = [], 0
        size += len(pieces[-1])
        if size <= max_bytes:
            parts.append(pieces[-1])
        else:
            parts = []
    if size:
        last = b"".join(parts) if size <= max_bytes else None
        yield Line(Mark(offset + size, number + 1), last)


def ends_a_line(source: Source, offset: int) -> bool:
    """Whether a place in a file stands behind the end of a line, or nothing can come after it."""
    # A compressed file does not grow, so that nothing comes after its last line.
    if not isinstance(source, FileSource) or source.compressed:
        return True
    return not offset or source.raw(offset - 1, 1) in (b"\n", b"")
