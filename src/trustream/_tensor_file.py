"""The bytes of a model file: the safetensors format, with checksums in a fixed place.

    8 bytes   length of the JSON that follows, little endian
    JSON      {"__metadata__":{"checksum":"crc32:DDDDDDDD:HHHHHHHH","trustream":TEXT},
               NAME:{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...}, then spaces
    data      array after array without gaps, in C order, little endian

DDDDDDDD is the CRC-32 of the data, HHHHHHHH that of everything before the data but these eight
digits themselves. They stand first, so that they are found before anything is parsed; together
they cover every byte of the file. Other programs that read safetensors see two metadata entries.
Files of versions without checksums lack the first of them, and are read all the same.

Why CRC-32: it catches any change within 32 neighbouring bits, so every damaged byte, and all
but one in four billion of other changes. It takes 22 ms for 80 MB (200,000 words and 100 topics),
less than copying them; blake2b takes 104 ms. Nothing here is meant to keep out somebody who can
write files: what a file says is checked in any case (`trustream._schema`).
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from trustream._schema import shown

# Other readers of safetensors refuse longer headers.
MAX_HEADER = 100_000_000

_DTYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32",
    "I32": "int32", "U64": "uint64", "I64": "int64", "F16": "float16", "F32": "float32",
    "F64": "float64",
}  # fmt: skip
_CODES = {name: code for code, name in _DTYPES.items()}
_METADATA, _CHECKSUM = "__metadata__", "checksum"
# What a file with checksums starts with, after the length of its JSON.
_START = b'{"__metadata__":{"checksum":"crc32:'
_DIGITS = 8
# Bytes before the digits of the header's own checksum.
_BEFORE = len(_START) + _DIGITS + 1
# An array has at most this many axes, and less bytes than this, whatever a file says.
_MAX_AXES, _MAX_BYTES = 32, 2**62


class Entry(NamedTuple):
    """What a file says of one array: data type, shape, and where its bytes stand in the data."""

    dtype: str
    shape: tuple[int, ...]
    start: int = 0
    stop: int = 0


class NotTensors(ValueError):
    """The bytes are not those of a safetensors file."""


class Head(NamedTuple):
    """All that stands before the data.

    Attributes:
        entries: by name, in the order of the data.
        metadata: text by name.
        data_checksum: of the data, None in files without.
    """

    entries: dict[str, Entry]
    metadata: dict[str, str]
    data_checksum: int | None


def is_storable(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this type can be written.

    >>> is_storable(np.dtype("float32")), is_storable(np.dtype("complex64"))
    (True, False)
    """
    return dtype.name in _CODES


def pack(arrays: Mapping[str, np.ndarray], key: str, text: str) -> list[bytes | memoryview]:
    """The parts of a file with these arrays and one metadata entry; they share the arrays' memory.

    >>> parts = pack({"x": np.arange(3, dtype=np.uint8)}, "about", "three numbers")
    >>> bytes(parts[-1])
    b'\\x00\\x01\\x02'
    """
    # The widest first, so that every array is aligned.
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    entries: dict[str, Any] = {}
    data: list[bytes | memoryview] = []
    place = checksum = 0
    for name in order:
        array = arrays[name]
        part = _bytes_of(array)
        shape, stop = list(array.shape), place + array.nbytes
        code = _CODES[array.dtype.name]
        entries[name] = {"dtype": code, "shape": shape, "data_offsets": [place, stop]}
        data.append(part)
        place, checksum = stop, zlib.crc32(part, checksum)
    value = f"crc32:{checksum:08x}:" + "0" * _DIGITS
    head = _json({_METADATA: {_CHECKSUM: value, key: text}, **entries})
    head += b" " * (-len(head) % 8)
    if len(head) > MAX_HEADER:
        raise ValueError(
            f"the header takes {len(head)} bytes, more than a safetensors file can hold; "
            "put long lists in arrays (trustream.persist.pack_strings)"
        )
    length = len(head).to_bytes(8, "little")
    digits = f"{_checksum_of_head(length, head):08x}".encode()
    return [length, head[:_BEFORE], digits, head[_BEFORE + _DIGITS :], *data]


def read_head(file: BinaryIO, size: int) -> Head:
    """What stands before the data of a file of `size` bytes; nothing larger than it is made.

    Raises:
        NotTensors: the file is of another kind.
        ValueError: it is damaged.
    """
    if size == 0:
        raise ValueError("it is empty")
    first = file.read(8)
    length = int.from_bytes(first, "little")
    if len(first) < 8:
        raise ValueError(f"it is cut short: it has {size} bytes")
    start = file.read(1)
    if length > MAX_HEADER or start not in (b"{", b""):
        raise NotTensors("it is not a safetensors file")
    if length > size - 8 or not start:
        raise ValueError(f"it is cut short: it has {size} bytes, its header alone {length + 8}")
    head = start + file.read(length - 1)
    if len(head) != length:
        raise ValueError("it changed while it was read")
    data_checksum = None
    if head.startswith(_START):
        data_checksum = _verified(first, head)
    entries, metadata = _parsed(head, size - 8 - length)
    # Files without checksums have a single entry: another one could be a damaged checksum.
    if data_checksum is None and (len(metadata) > 1 or _CHECKSUM in metadata):
        raise ValueError("its checksum is not where it should be")
    return Head(entries, metadata, data_checksum)


def read_arrays(file: BinaryIO, head: Head) -> dict[str, np.ndarray]:
    """The arrays, in memory of their own, from a file that was read as far as its head."""
    arrays: dict[str, np.ndarray] = {}
    checksum = 0
    for name, entry in head.entries.items():
        dtype = np.dtype(entry.dtype).newbyteorder("<")
        array = np.empty(entry.shape, dtype)
        part = _bytes_of(array)
        _fill(file, part)
        if head.data_checksum is not None:
            checksum = zlib.crc32(part, checksum)
        if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
            raise ValueError(f"the array {shown(name)} holds something else than true and false")
        arrays[name] = array.astype(entry.dtype, copy=False)
    if head.data_checksum is not None and checksum != head.data_checksum:
        raise ValueError("the checksum of its arrays does not match")
    return arrays


def _fill(file: BinaryIO, part: memoryview) -> None:
    while part.nbytes:
        n = file.readinto(part)  # type: ignore[attr-defined]
        if not n:
            raise ValueError("it is cut short: it was changed while it was read")
        part = part[n:]


def _bytes_of(array: np.ndarray) -> memoryview:
    """The memory of an array in C order."""
    return memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _checksum_of_head(length: bytes, head: bytes) -> int:
    """CRC-32 of all before the data but its own digits."""
    view = memoryview(head)
    checksum = zlib.crc32(view[:_BEFORE], zlib.crc32(length))
    return zlib.crc32(view[_BEFORE + _DIGITS :], checksum)


def _verified(length: bytes, head: bytes) -> int:
    """The checksum of the data, which a head whose own checksum matches holds."""
    own = head[_BEFORE : _BEFORE + _DIGITS]
    if own != f"{_checksum_of_head(length, head):08x}".encode():
        raise ValueError("the checksum of its header does not match")
    return int(head[len(_START) : len(_START) + _DIGITS], 16)


def _parsed(head: bytes, n_data: int) -> tuple[dict[str, Entry], dict[str, str]]:
    """Entries, in the order of the data, and metadata; n_data is the number of bytes of data."""
    values = json.loads(head, object_pairs_hook=_without_repetition)
    if not isinstance(values, dict):
        raise ValueError("its header is not a JSON object")
    metadata = values.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ValueError("its metadata are not text")
    found = {name: _entry(name, value) for name, value in values.items()}
    # Arrays without bytes stand between others; by their ends they come in the right order.
    entries = dict(sorted(found.items(), key=lambda item: (item[1].start, item[1].stop)))
    place = 0
    for name, entry in entries.items():
        if entry.start != place:
            raise ValueError(f"the array {shown(name)} begins at {entry.start}, expected {place}")
        place = entry.stop
    if place != n_data:
        what = "it is cut short" if place > n_data else "something follows its end"
        raise ValueError(f"{what}: its arrays take {place} bytes, it holds {n_data}")
    return entries, metadata


def _entry(name: str, value: Any) -> Entry:
    if not isinstance(value, dict) or value.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"the array {shown(name)} is not described by type, shape and place")
    code, shape, place = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(code, str) or code not in _DTYPES:
        raise ValueError(f"the array {shown(name)} has an unknown type")
    if not (_are_sizes(shape) and len(shape) <= _MAX_AXES):
        raise ValueError(f"the array {shown(name)} has no shape")
    if not (_are_sizes(place) and len(place) == 2 and place[0] <= place[1]):
        raise ValueError(f"the array {shown(name)} has no place")
    dtype = np.dtype(_DTYPES[code])
    # Python's integers: no product is too large for them.
    if math.prod(max(n, 1) for n in shape) * dtype.itemsize > _MAX_BYTES:
        raise ValueError(f"the array {shown(name)} would be larger than any memory")
    n_bytes = math.prod(shape) * dtype.itemsize
    if place[1] - place[0] != n_bytes:
        raise ValueError(
            f"the array {shown(name)} of shape {tuple(shape)} takes {n_bytes} bytes, "
            f"but {place[1] - place[0]} are set aside for it"
        )
    return Entry(dtype.name, tuple(shape), place[0], place[1])


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < 2**63 for n in value)


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("its header has a name twice")
    return values
