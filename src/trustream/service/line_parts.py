"""Cut lines that arrive into parts, of which one is in memory at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator

from trustream.service.problem_error import ProblemError

# Bytes from which on a part is given away, and of the longest line.
PART, LONGEST = 4 * 2**20, 8 * 2**20


async def line_parts(chunks: AsyncIterator[bytes], size: int = PART) -> AsyncIterator[bytes]:
    """Whole lines of a stream of bytes, some megabytes at a time; the last may have no end.

    Args:
        chunks: as they come.
        size: bytes of a part, at least, but for the last.

    >>> import asyncio
    >>> async def chunks():
    ...     for chunk in (b"a\\nb", b"c\\n", b"d\\n", b"e"):
    ...         yield chunk
    >>> async def parts():
    ...     return [part async for part in line_parts(chunks(), 3)]
    >>> asyncio.run(parts())
    [b'a\\nbc\\n', b'd\\ne']
    """
    lines, rest = bytearray(), bytearray()
    async for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            lines += rest + chunk[:end]
            rest = bytearray(chunk[end:])
        else:
            rest += chunk
        if len(lines) >= size:
            yield bytes(lines)
            lines.clear()
        if len(rest) > LONGEST:
            raise ProblemError(
                413, "too-large", f"a line is longer than {LONGEST:,} bytes: send shorter ones"
            )
    if lines or rest:
        yield bytes(lines + rest)
