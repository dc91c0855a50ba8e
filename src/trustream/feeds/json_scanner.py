"""Read blocks of JSON lines from bytes to codes of words in one pass, where lines are simple.

A compiled kernel reads lines that are objects of plain values with an id and a text, which nearly
all are. It takes no line of which it is not certain: those, and what is wrong with a line, are left
to `trustream.feeds.json_lines`, so that records and errors are the same as without it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from itertools import accumulate
from typing import Any

import numpy as np

from trustream import kernels
from trustream.feeds.blocks import Block, BlockSource
from trustream.feeds.errors import InvalidValue
from trustream.feeds.items import Item, Mark
from trustream.feeds.json_lines import read_json_lines
from trustream.feeds.options import Options
from trustream.feeds.rows import Rows
from trustream.feeds.validation import make_name, make_time
from trustream.feeds.word_coder import WordCoder
from trustream.kernels.json_lines.reference import APPEND, FULL, KEY, REFUSED, TEXT, TIME
from trustream.store.coded_records import CodedRecords
from trustream.store.coded_words import CodedTokens

# Lines that are left to the other reader at once, at most; twice as many each time as long as no
# line is simple.
_MOST = 256
# Options that this reader keeps to, and those that mean nothing for lines of JSON.
_KNOWN = frozenset(
    "tokenise name max_bytes max_words max_depth require_id id_column text_column time_column"
    " max_columns vocabulary delimiter threshold in_order page_key"
    " user_column item_column rating_column timestamp_column".split()
)
# Bytes of the shortest simple line.
_SHORTEST = len('{"":"","":0}\n')


def json_scanner(
    source: BlockSource, options: Options, backend: str = "compiled"
) -> JsonScanner | None:
    """A reader of blocks, None if something is asked for that only the other reader can do.

    Args:
        source: of the blocks.
        options: how records are read; `tokenise` is a `WordCoder`.
        backend: of the kernel.
    """
    if not isinstance(options.tokenise, WordCoder) or options.id_column is None:
        return None
    roles = {options.id_column: KEY, options.text_column: TEXT, "append_id": APPEND}
    roles |= {options.time_column or "time": TIME}
    if len(roles) < 4 or any("." in name or not name for name in roles):
        return None
    # Options that this reader does not know of may ask for anything.
    for field in fields(Options):
        if field.name not in _KNOWN and getattr(options, field.name) != field.default:
            return None
    return JsonScanner(source, options, roles, backend)


class JsonScanner:
    """See `json_scanner`."""

    def __init__(
        self, source: BlockSource, options: Options, roles: dict[str, int], backend: str
    ) -> None:
        assert isinstance(options.tokenise, WordCoder)
        self._source = source
        self._options = options
        self._coder = options.tokenise
        self._coder.load()
        self._scan = kernels.get("json_lines", backend).scan_lines
        for name in ("tokens", "counts"):
            roles = {name: REFUSED, **roles}
        names = [name.encode(errors="surrogatepass") for name in roles]
        self._fields = (
            np.frombuffer(b"".join(names), np.uint8),
            np.array([*accumulate(map(len, names))], np.int64),
            np.array([*roles.values()], np.int64),
        )
        self._needs_time = options.time_column is not None

    def items(self, block: Block) -> Iterator[Item | Rows]:
        """The items of a block, those of simple lines as rows.

        Raises:
            FeedError: as the other reader does.
        """
        content = block.content or b""
        if not _is_text(content) or not _fits(content, self._options.max_bytes):
            yield from self._by_reader(block)
            return
        # Written to nowhere, but kernels are compiled for arrays that may be.
        data = np.array(np.frombuffer(content, np.uint8))
        buffers = _buffers(len(data))
        place, number, left, fresh = 0, block.mark.number, 1, False
        while place < len(content):
            rows, stop, why = self._rows(data, place, buffers, block.mark.offset, number)
            if stop > place:
                if rows is not None:
                    yield rows
                else:
                    yield from self._by_reader(_part(block, place, stop, number))
                number += content.count(b"\n", place, stop) + (content[stop - 1] != 10)
                place, left, fresh = stop, 1, False
            if why == FULL and not fresh:
                if not self._coder.make_room():
                    self._coder.begin()
                    fresh = True
            elif place < len(content):
                for _ in range(left):
                    stop = content.find(b"\n", stop) + 1 or len(content)
                    if stop == len(content):
                        break
                yield from self._by_reader(_part(block, place, stop, number))
                number += content.count(b"\n", place, stop)
                place, left, fresh = stop, min(2 * left, _MOST), False

    def _rows(
        self, data: Any, place: int, buffers: tuple[Any, ...], offset: int, number: int
    ) -> tuple[Rows | None, int, int]:
        """(rows, stop, why): simple lines up to a place; None if the other reader has to judge."""
        _, codes, keys, ends, lengths, spans = buffers
        n, n_codes, n_open, n_bytes, stop, why = self._scan(
            data, place, *self._fields, *self._coder.arguments, *buffers
        )
        found, sizes = self._coder.explain(codes[:n_codes].copy(), lengths[:n].copy(), n_open)
        if not n:
            return None, stop, why
        times, append_ids = None, None
        try:
            if spans[:n].any():
                times = _values(data, spans[:n, :2], make_time)
                append_ids = _values(data, spans[:n, 2:], lambda v: make_name("append_id", v))
        except (InvalidValue, ValueError):
            return None, stop, why
        if sizes.max() > self._options.max_words or (
            self._needs_time and (times is None or None in times)
        ):
            return None, stop, why
        names = keys[: n_bytes - 1].tobytes().decode().split("\n")
        words = CodedTokens([(self._coder.table, found)])
        records = CodedRecords(names, words, sizes, times, append_ids)
        return Rows(records, offset + ends[:n], number + 1), stop, why

    def _by_reader(self, block: Block) -> Iterator[Item]:
        self._source.block = block
        yield from read_json_lines(self._source, block.mark, self._options)


def _part(block: Block, start: int, stop: int, number: int) -> Block:
    content = block.content or b""
    last = block.last and stop == len(content)
    return Block(Mark(block.mark.offset + start, number), content[start:stop], last)


def _buffers(size: int) -> tuple[Any, ...]:
    """What the kernel writes to, for so many bytes."""
    n = size // _SHORTEST + 1
    return (
        np.empty(size, np.uint8), np.empty((size + 1) // 2, np.int32), np.empty(size, np.uint8),
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 4), np.int64),
    )  # fmt: skip


def _values(data: Any, spans: Any, make: Any) -> list[Any] | None:
    """Values of a field of each line, None where there is none; None if no line has any."""
    if not spans.any():
        return None
    return [
        make(json.loads(data[start:stop].tobytes())) if stop else None
        for start, stop in spans.tolist()
    ]


def _is_text(content: bytes) -> bool:
    try:
        return content.isascii() or bool(content.decode())
    except UnicodeDecodeError:
        return False


def _fits(content: bytes, max_bytes: int) -> bool:
    """Whether no line is too long."""
    if len(content) <= max_bytes:
        return True
    return max(map(len, content.split(b"\n"))) <= max_bytes
