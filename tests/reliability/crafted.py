"""Model files that nobody would write by accident: wrong contents under checksums that match."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tests.reliability.damage import START, Rng, header_of, parts, sealed, with_header

NASTY: list[Any] = [
    None, True, False, 0, 1, -1, 2, 7, 2**31, 2**63, 2**64, 10**30, -(10**30), 10**300, 0.5, -0.5,
    1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf"), "", "x", "__class__",
    "float16", "trust-region", "\x1b[31m\n", "\ud800", [], [1], {}, {"a": 1}, [[[[]]]], "0.1",
    "PCG64",
]  # fmt: skip

CHANGES = (
    "nan", "inf", "negate", "zero", "huge", "tiny", "noise", "drop", "copy", "wider", "longer",
    "shorter", "flat", "swap", "cast",
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths to everything inside a JSON value."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in list(enumerate(value))[:4]:
            found += places(item, (*path, index))
    return found


def changed_at(value: Any, path: tuple[Any, ...], change: str, new: Any) -> Any:
    """A copy with one place set, removed, renamed or added to."""
    copy = json.loads(json.dumps(value))
    inside = copy
    for key in path[:-1]:
        inside = inside[key]
    key = path[-1]
    if change == "remove":
        del inside[key]
    elif change == "rename" and isinstance(inside, dict):
        inside[f"{key}x"] = inside.pop(key)
    elif change == "add" and isinstance(inside, dict):
        inside["_" + str(key)] = new
    else:
        inside[key] = new
    return copy


def craft_header(content: bytes, rng: Rng) -> tuple[str, bytes]:
    """One value of the header changed, checksums right."""
    outer = header_of(content)
    paths = places(outer)
    path = paths[int(rng.integers(len(paths)))]
    change = str(rng.choice(["set", "set", "set", "remove", "rename", "add"]))
    new = NASTY[int(rng.integers(len(NASTY)))]
    where = ".".join(map(str, path))
    return f"{change} {where} {new!r}", with_header(content, changed_at(outer, path, change, new))


def craft_entry(content: bytes, rng: Rng) -> tuple[str, bytes]:
    """What the file says of its arrays changed, checksums right."""
    head, data = parts(content)
    entries = {name: value for name, value in head.items() if name != "__metadata__"}
    paths = places(entries)
    path = paths[int(rng.integers(len(paths)))]
    change = str(rng.choice(["set", "set", "remove", "rename", "add"]))
    new = NASTY[int(rng.integers(len(NASTY)))]
    if path[-1] == "dtype":
        new = str(rng.choice(["F64", "F32", "I64", "U8", "BOOL", "F16", "BF16", "C64"]))
    elif isinstance(path[-1], int):
        new = int(rng.choice([0, 1, 2, -1, 10**6, 3 * 10**8, 2**40, 2**62]))
    where = ".".join(map(str, path))
    changed = changed_at(entries, path, change, new)
    metadata = {"__metadata__": head["__metadata__"]}
    return f"{change} {where} {new!r}", sealed({**metadata, **changed}, data)


def craft_arrays(content: bytes, rng: Rng) -> tuple[str, bytes]:
    """An array changed, with an entry that fits it, checksums right."""
    head, data = parts(content)
    metadata = head.pop("__metadata__")
    names = list(head)
    name = str(rng.choice(names))
    change = str(rng.choice(CHANGES))
    types = {"F64": "f8", "F32": "f4", "I64": "i8", "I32": "i4", "U8": "u1", "BOOL": "?"}
    arrays = {
        key: np.frombuffer(data[slice(*entry["data_offsets"])], types[entry["dtype"]]).reshape(
            entry["shape"]
        )
        for key, entry in head.items()
    }
    array = arrays[name].copy()
    some = rng.integers(max(array.size, 1))
    if array.size and change in ("nan", "inf", "negate", "zero", "huge", "tiny", "noise"):
        value = array.flat[some]
        is_float = array.dtype.kind == "f"
        values = {
            "nan": np.nan if is_float else 255,
            "inf": np.inf if is_float else 127,
            "negate": -abs(float(value)) - 1 if array.dtype.kind != "u" else 0,
            "zero": 0,
            "huge": 1e30 if is_float else 100,
            "tiny": 1e-30 if is_float else 1,
            "noise": float(value) * 3 + 1 if is_float else value // 2,
        }
        array.flat[some] = values[change]
    elif change == "wider":
        array = array[..., np.newaxis]
    elif change == "longer":
        array = np.concatenate([array.reshape(-1), array.reshape(-1)])
    elif change == "shorter":
        array = array.reshape(-1)[:-1]
    elif change == "flat":
        array = array.reshape(-1)
    elif change == "swap" and array.ndim == 2:
        array = np.ascontiguousarray(array.T)
    elif change == "cast":
        array = array.astype(str(rng.choice(["f4", "f8", "i8", "u1"])))
    arrays[name] = array
    if change == "drop":
        del arrays[name]
    elif change == "copy":
        arrays[f"{name}2"] = array
    codes = {np.dtype(code): known for known, code in types.items()}
    entries, place = {}, 0
    for key, value in arrays.items():
        stop = place + value.nbytes
        code, shape = codes[value.dtype], list(value.shape)
        entries[key] = {"dtype": code, "shape": shape, "data_offsets": [place, stop]}
        place = stop
    body = b"".join(value.tobytes() for value in arrays.values())
    return f"{change} {name}", sealed({"__metadata__": metadata, **entries}, body)


def craft(content: bytes, rng: Rng) -> tuple[str, bytes]:
    """A file that was made to be wrong, checksums right."""
    makers = (craft_header, craft_header, craft_entry, craft_arrays)
    while True:
        name, changed = makers[int(rng.integers(len(makers)))](content, rng)
        if changed != content:
            return name, changed


def by_hand(content: bytes) -> dict[str, bytes]:
    """Files that each try one thing; all of them are to be refused."""
    head, data = parts(content)
    outer = header_of(content)
    text = json.dumps(head, separators=(",", ":"))
    some = next(name for name in head if name != "__metadata__")
    huge = {"dtype": "F32", "shape": [300_000_000, 1000], "data_offsets": [0, 1_200_000_000_000]}
    deep = "[" * 100_000 + "]" * 100_000
    return {
        "a claim of a terabyte": sealed({**head, some: huge}, data),
        "a claim of a terabyte, old": sealed({**head, some: huge}, data, checksums=False),
        "more axes than there are": sealed(
            {**head, some: {**head[some], "shape": [1] * 10_000 + head[some]["shape"]}}, data
        ),
        "bytes that two arrays share": sealed({**head, "again": head[some]}, data),
        "a name twice": sealed(text[:-1].encode() + b',"x":1,"x":1}', data),
        "nested too deep": sealed(START + b'0:0"},"x":' + deep.encode() + b"}", data),
        "a header nested too deep": with_header(content, None, text='{"format":' + deep + "}"),
        "a header value nested too deep": with_header(
            content, None, text=json.dumps(outer)[:-2] + ',"x":' + deep + "}}"
        ),
        "not a dictionary": sealed(b"[]", b""),
        "no metadata": sealed({k: v for k, v in head.items() if k != "__metadata__"}, data),
        "metadata that are no text": sealed({**head, "__metadata__": {"trustream": 5}}, data),
        "an integer of many digits": with_header(
            content, None, text=json.dumps(outer)[:-2] + ',"x":' + "9" * 5000 + "}}"
        ),
        "no JSON": sealed(b"{" + bytes(range(256)), b""),
        "a length beyond all": (2**64 - 1).to_bytes(8, "little") + content[8:],
        "a length of nothing": bytes(8) + content[8:],
        "another format": with_header(content, {**outer, "format": "other"}),
        "another version": with_header(content, {**outer, "version": 2}),
        "a version of nothing": with_header(content, {**outer, "version": 0}),
        "a version in words": with_header(content, {**outer, "version": "1"}),
        "no header": with_header(content, {**outer, "header": None}),
        "a key too many": with_header(content, {**outer, "header": {**outer["header"], "x": 1}}),
        "an empty header": with_header(content, {**outer, "header": {}}),
    }
