"""Read texts that a store keeps compressed, within bounds."""

from __future__ import annotations

import zlib


def decompressed(content: bytes, most: int) -> str:
    """The text of compressed bytes.

    Args:
        content: as `zlib.compress` makes it of UTF-8.
        most: bytes that the text may have.

    Raises:
        ValueError: the bytes are not those of such a text, or it is longer.

    >>> decompressed(zlib.compress("Café".encode()), 100)
    'Café'
    >>> decompressed(zlib.compress(bytes(1000)), 100)
    Traceback (most recent call last):
    ...
    ValueError: does not end where it should
    """
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(content, most)
    except (zlib.error, TypeError):
        raise ValueError("is not compressed") from None
    if not stream.eof or stream.unused_data:
        raise ValueError("does not end where it should")
    try:
        return plain.decode()
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
