"""Decompress files of bzip2, xz and Zstandard in pieces and in a bounded memory.

The standard library's readers pass over everything behind a damaged beginning of a later stream,
and a file has many streams if it was compressed by several threads, or a hundred pages at a time.
For xz they also take as much memory as the file asks for, which may be gigabytes.
"""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable
from typing import IO, Any

from trustream.feeds.errors import FeedError

CHUNK = 2**18
# Four times what `xz -9` needs.
MAX_XZ_MEMORY = 2**28


def decompressed_bz2(raw: IO[bytes]) -> Decompressed:
    """What is in a file of bzip2."""
    return Decompressed(raw, bz2.BZ2Decompressor)


def decompressed_xz(raw: IO[bytes]) -> Decompressed:
    """What is in a file of xz; one that needs more than `MAX_XZ_MEMORY` bytes is not read."""
    return Decompressed(raw, lambda: lzma.LZMADecompressor(memlimit=MAX_XZ_MEMORY))


def decompressed_zst(raw: IO[bytes]) -> Decompressed:
    """What is in a file of Zstandard, by Python 3.14 or the package backports.zstd.

    One that needs more than 128 MiB to be decompressed is not read.
    """
    return Decompressed(raw, _zstd().ZstdDecompressor)


def _zstd() -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        try:
            from backports import zstd  # type: ignore[import-not-found,no-redef,unused-ignore]
        except ImportError:
            raise FeedError(
                "reading files of Zstandard (.zst) needs Python 3.14 or backports.zstd: "
                "pip install backports.zstd"
            ) from None
    return zstd


class Decompressed:
    """The content of a compressed file, from its start on.

    Args:
        raw: the file.
        decoder: makes a decompressor, one for each stream in the file.

    >>> import io
    >>> file = decompressed_bz2(io.BytesIO(bz2.compress(b"one ") + bz2.compress(b"two")))
    >>> file.read1(100), file.read1(100), file.read1(100)
    (b'one ', b'two', b'')
    """

    def __init__(self, raw: IO[bytes], decoder: Callable[[], Any]) -> None:
        self._raw = raw
        self._new = decoder
        self._decoder = decoder()

    def seekable(self) -> bool:
        """No: it has to be read to a place."""
        return False

    def read1(self, size: int) -> bytes:
        """The next bytes, at most so many; none at the end.

        Raises:
            EOFError: the file ends inside of a stream.
            OSError, lzma.LZMAError: it is damaged, or needs too much memory.
        """
        while True:
            data = b""
            if self._decoder.eof:
                # Zeros may stand between streams and at the end.
                data = self._decoder.unused_data.lstrip(b"\0")
                while not data:
                    if not (more := self._raw.read(CHUNK)):
                        return b""
                    data = more.lstrip(b"\0")
                self._decoder = self._new()
            elif self._decoder.needs_input and not (data := self._raw.read(CHUNK)):
                raise EOFError("it ends before the end of its compressed data")
            if chunk := self._decoder.decompress(data, size):
                return bytes(chunk)
