"""The layout of a model file, and ways to damage its bytes.

The layout of a file is written down here once more, so that the tests know it on their own.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

Rng = np.random.Generator

START = b'{"__metadata__":{"checksum":"crc32:'
# Pages of a disk are larger, but so are models.
BLOCK = 64


def parts(content: bytes) -> tuple[dict[str, Any], bytes]:
    """The JSON before the data, and the data."""
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def sealed(head: dict[str, Any] | bytes, data: bytes, *, checksums: bool = True) -> bytes:
    """A file of this JSON and these data, with checksums that match whatever it says."""
    text = head if isinstance(head, bytes) else json.dumps(head, separators=(",", ":")).encode()
    if checksums and text.startswith(START):
        at = len(START)
        text = text[:at] + b"%08x:" % zlib.crc32(data) + text[at + 9 :]
        length = len(text).to_bytes(8, "little")
        own = zlib.crc32(length + text[: at + 9] + text[at + 17 :])
        text = text[: at + 9] + b"%08x" % own + text[at + 17 :]
    return len(text).to_bytes(8, "little") + text + data


def header_of(content: bytes) -> dict[str, Any]:
    """What trustream keeps in the metadata."""
    found: dict[str, Any] = json.loads(parts(content)[0]["__metadata__"]["trustream"])
    return found


def with_header(content: bytes, outer: Any, *, text: str | None = None) -> bytes:
    """The same file with another header, sealed."""
    head, data = parts(content)
    head["__metadata__"]["trustream"] = json.dumps(outer) if text is None else text
    return sealed(head, data)


# --- damage


def flip(content: bytes, place: int, rng: Rng) -> bytes:
    changed = bytearray(content)
    changed[place] ^= int(rng.integers(1, 256))
    return bytes(changed)


def flip_length(content: bytes, rng: Rng) -> bytes:
    return flip(content, int(rng.integers(8)), rng)


def flip_header(content: bytes, rng: Rng) -> bytes:
    return flip(content, int(rng.integers(8, len(content) - len(parts(content)[1]))), rng)


def flip_data(content: bytes, rng: Rng) -> bytes:
    return flip(
        content, int(rng.integers(len(content) - len(parts(content)[1]), len(content))), rng
    )


def flip_exponent(content: bytes, rng: Rng) -> bytes:
    """A number made much larger or smaller: what hurts most where there is no checksum."""
    head, data = parts(content)
    sizes = {"F32": 4, "F64": 8}
    entries = [e for name, e in head.items() if name != "__metadata__" and e["dtype"] in sizes]
    entry = entries[int(rng.integers(len(entries)))]
    (start, stop), size = entry["data_offsets"], sizes[entry["dtype"]]
    number = start + size * int(rng.integers((stop - start) // size))
    return flip(content, len(content) - len(data) + number + size - int(rng.integers(1, 3)), rng)


def cut(content: bytes, rng: Rng) -> bytes:
    return content[: int(rng.integers(len(content)))]


def append(content: bytes, rng: Rng) -> bytes:
    return content + rng.bytes(int(rng.integers(1, 40)))


def swap(content: bytes, rng: Rng) -> bytes:
    """Two blocks in each other's place."""
    a, b = sorted(int(i) * BLOCK for i in rng.choice(len(content) // BLOCK, 2, replace=False))
    return b"".join(
        [
            content[:a],
            content[b : b + BLOCK],
            content[a + BLOCK : b],
            content[a : a + BLOCK],
            content[b + BLOCK :],
        ]
    )


def zero(content: bytes, rng: Rng) -> bytes:
    a = int(rng.integers(len(content) // BLOCK)) * BLOCK
    return content[:a] + bytes(BLOCK) + content[a + BLOCK :]


def repeat(content: bytes, rng: Rng) -> bytes:
    """A block twice, the next one lost."""
    a = int(rng.integers(len(content) // BLOCK - 1)) * BLOCK
    return content[: a + BLOCK] + content[a : a + BLOCK] + content[a + 2 * BLOCK :]


def lose(content: bytes, rng: Rng) -> bytes:
    """Some bytes out of the middle."""
    a = int(rng.integers(len(content) - BLOCK))
    return content[:a] + content[a + int(rng.integers(1, BLOCK)) :]


DAMAGES: dict[str, Callable[[bytes, Rng], bytes]] = {
    "length": flip_length,
    "header": flip_header,
    "data": flip_data,
    "exponent": flip_exponent,
    "cut": cut,
    "append": append,
    "swap": swap,
    "zero": zero,
    "repeat": repeat,
    "lose": lose,
}
# Of about ten files, so many are damaged in this way; of the others half a file each.
SHARES = {"header": 3, "data": 2, "exponent": 2, "length": 0.5, "cut": 1}


def damage(content: bytes, rng: Rng) -> tuple[str, bytes]:
    """Damage of some kind, which is never none at all."""
    weights = np.array([SHARES.get(name, 0.5) for name in DAMAGES])
    while True:
        name = str(rng.choice(list(DAMAGES), p=weights / weights.sum()))
        changed = DAMAGES[name](content, rng)
        if changed != content:
            return name, changed
