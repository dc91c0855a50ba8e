"""Files that are damaged, may not be read, or are none: a FeedError of one sentence."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import os
import random
import socket
import zlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.feeds.helpers import documents, new_store
from trustream.feeds import FORMATS, FeedError, Item, ingest, read

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
LETTERS = "".join(random.Random(0).choices("abcdefghijklmnopqrstuvwxyz", k=2003))
LINES = [f"word{LETTERS[i : i + 2]} line{LETTERS[i : i + 3]}\n" for i in range(2000)]
CONTENT = "".join(LINES).encode()


def read_until_damage(path: Path, **options: Any) -> tuple[list[Item], str]:
    """The items before the error, and what the error says."""
    items: list[Item] = []
    with pytest.raises(FeedError) as error:
        for item in read(path, **options):
            items.append(item)
    assert "\n" not in str(error.value)
    return items, str(error.value)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_every_kind_of_damage_to_an_archive(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.txt{suffix}"
    good = COMPRESS[suffix](CONTENT)
    damaged = {
        "nothing": b"",
        "no archive": b"plain words\n",
        "cut short": good[: len(good) // 2],
        "cut at the end": good[:-3],
        "header": b"\0" + good[1:],
        "flipped in the middle": good[:400] + bytes([good[400] ^ 255]) + good[401:],
        "checksum": good[:-5] + bytes([good[-5] ^ 255]) + good[-4:],
        "something behind it": good + b"plain words",
        "damaged second stream": good + b"X" + good[1:],
    }
    if suffix == ".gz":
        del damaged["nothing"]  # which gzip takes for an archive of nothing
    for content in damaged.values():
        path.write_bytes(content)
        items, said = read_until_damage(path)
        assert said.startswith(f"cannot read x.txt{suffix}: ")
        words = [line.split() for line in LINES]
        assert [item.record.words for item in items if item.record] == words[: len(items)]


@pytest.mark.parametrize("suffix", COMPRESS)
def test_what_stands_before_the_damage_is_stored(tmp_path: Path, suffix: str) -> None:
    """Of a file shorter than the part that it is known by, too."""
    path = tmp_path / f"x.txt{suffix}"
    good = COMPRESS[suffix](b"cats\ndogs\n")
    path.write_bytes(good + good[:9])
    with new_store(tmp_path) as store:
        with pytest.raises(FeedError, match="cannot read"):
            ingest(store, path, on_error="skip")
        found = {key.partition(":")[2]: words for key, words in documents(store).items()}
        assert found == {"1": {"cats": 1}, "2": {"dogs": 1}}


@pytest.mark.parametrize("suffix", COMPRESS)
def test_streams_and_zeros_behind_one_another(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.txt{suffix}"
    parts = [COMPRESS[suffix](line.encode()) for line in LINES[:5]]
    path.write_bytes(b"\0\0\0\0".join(parts) + b"\0" * 8 if suffix != ".gz" else b"".join(parts))
    assert [item.record.words for item in read(path) if item.record] == [
        line.split() for line in LINES[:5]
    ]
    with new_store(tmp_path) as store:
        assert ingest(store, path).n_records == 5


def test_an_archive_that_asks_for_much_memory(tmp_path: Path) -> None:
    """Its dictionary is said to be 1.5 GiB large; `xz -9` has 64 MiB."""
    good = lzma.compress(b"cats\n")
    header = bytearray(good[12 : 12 + (good[12] + 1) * 4 - 4])
    assert header[2:4] == b"\x21\x01"
    header[4] = 37
    changed = good[:12] + header + zlib.crc32(header).to_bytes(4, "little")
    path = tmp_path / "x.txt.xz"
    path.write_bytes(changed + good[len(changed) :])
    _, said = read_until_damage(path)
    assert said == "cannot read x.txt.xz: Memory usage limit exceeded"


def test_every_format_takes_an_empty_file(tmp_path: Path) -> None:
    for name in FORMATS:
        path = tmp_path / "empty"
        path.write_bytes(b"")
        try:
            items = list(read(path, format=name, vocabulary=["x"]))
        except FeedError as error:
            assert name in ("parquet", "uci"), error
        else:
            assert all(item.record is None for item in items)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FeedError, match="is a directory"):
        read(tmp_path, format="text")
    with pytest.raises(FeedError, match="File name too long"):
        read(tmp_path / ("x" * 5000), format="text")
    with pytest.raises(FeedError, match="there is no file"):
        read("a\0b", format="text")
    place = socket.socket(socket.AF_UNIX)
    place.bind(str(tmp_path / "socket"))
    with pytest.raises(FeedError, match="cannot read socket"):
        read(tmp_path / "socket", format="text")
    place.close()
    assert list(read("/dev/null", format="text")) == []
    if os.geteuid():
        path = tmp_path / "secret.txt"
        path.write_text("x")
        path.chmod(0)
        with pytest.raises(FeedError, match=r"cannot read secret.txt: Permission denied"):
            list(read(path))


def test_a_file_that_goes_away(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(CONTENT)
    items = read(path)
    path.unlink()
    with pytest.raises(FeedError, match=r"cannot read x.txt: No such file"):
        next(items)


def test_a_table_that_becomes_empty(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id,text\na,cats\n")
    (first,) = read(path)
    path.write_text("")
    with pytest.raises(FeedError, match=r"x.csv has become empty"):
        list(FORMATS["csv"].read(_source(path), first.mark, _options()))


class Failing(io.RawIOBase):
    """A stream that ends in an error, or in something that is no bytes."""

    def __init__(self, last: Any) -> None:
        super().__init__()
        self.parts = [b"cats\n", last]

    def read(self, size: int = -1) -> Any:
        part = self.parts.pop(0)
        if isinstance(part, Exception):
            raise part
        return part


def test_streams_that_fail() -> None:
    for error in (zlib.error("incorrect header"), OSError(5, "Input/output error"), EOFError()):
        with pytest.raises(FeedError, match="cannot read stream: "):
            list(read(Failing(error), format="text"))  # type: ignore[arg-type]
    with pytest.raises(FeedError, match="stream gives str, expected bytes"):
        list(read(Failing("text"), format="text"))  # type: ignore[arg-type]


@pytest.fixture(params=["polars", "pyarrow"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The library that reads Parquet; pyarrow writes it."""
    importlib.import_module(request.param)
    other = "_Arrow" if request.param == "polars" else "_Polars"
    monkeypatch.setattr(f"trustream.feeds.parquet_rows.{other}", missing)
    return importlib.import_module("pyarrow")


def missing(*_: object) -> None:
    raise ImportError


def write_parquet(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), path, **options)
    return path


def test_damaged_parquet(tmp_path: Path, library: Any) -> None:
    ids = [str(i) for i in range(5000)]
    texts = [f"word{'abc'[i % 3]} and more {i}" for i in range(5000)]
    path = write_parquet(
        tmp_path / "x.parquet",
        {"id": ids, "text": texts},
        compression="none",
        use_dictionary=False,
        row_group_size=1000,
    )
    good = path.read_bytes()
    place = good.index(b"more 4567")
    cases = {
        "cut short": good[: len(good) // 2],
        "no end": good[:-4],
        "an end that is too long": good[:-8] + b"\xff\xff\xff\x7f" + good[-4:],
        "no text": good[:place] + b"\xff\xff" + good[place + 2 :],
        "only its name": b"PAR1",
        "nothing": b"",
    }
    for content in cases.values():
        path.write_bytes(content)
        _, said = read_until_damage(path)
        assert said.startswith("cannot read x.parquet: ")
        assert len(said) < 400
    path.write_bytes(cases["no text"])
    with new_store(tmp_path) as store, pytest.raises(FeedError, match=r"cannot read x\.parquet"):
        ingest(store, path, on_error="skip")


def test_odd_types_in_parquet(tmp_path: Path, library: Any) -> None:
    """Bad records or records, as the type is; a column of times beyond any calendar is an error."""
    from decimal import Decimal

    bad: dict[str, Any] = {
        "lists in lists": [[["a"]]],
        "nothing in a list": [["a", None]],
        "numbers": [3],
        "bytes": [b"cats"],
        "an object": [{"a": 1}],
        "none": [None],
        "a day": [datetime(2020, 1, 1)],
    }
    for text in bad.values():
        path = write_parquet(tmp_path / "x.parquet", {"id": ["a"], "text": text})
        (item,) = read(path)
        assert item.problem is not None and item.problem.startswith(("the text is", "a token is"))
    path = write_parquet(tmp_path / "x.parquet", {"id": [Decimal("1.5")], "text": ["cats"]})
    assert next(read(path)).problem == "id is Decimal('1.5'), expected a string or a whole number"
    words = library.array(["cats", "dogs"]).dictionary_encode()
    path = write_parquet(tmp_path / "x.parquet", {"id": [1, 2], "text": words})
    assert [item.record.words for item in read(path) if item.record] == [["cats"], ["dogs"]]
    ages = library.array([2**62], library.timestamp("us"))
    path = write_parquet(tmp_path / "x.parquet", {"id": ["a"], "text": ["cats"], "age": ages})
    _, said = read_until_damage(path, time_column="age")
    assert said.startswith("cannot read x.parquet: ")
    from pyarrow import parquet

    table = library.table([library.array(["a"])] * 3, names=["id", "text", "text"])
    parquet.write_table(table, path)
    with pytest.raises(FeedError, match=r"twice|more than one occurrence"):
        list(read(path))
    write_parquet(path, {"id": ["a"], "text": ["b"], "more": ["c"]})
    with pytest.raises(FeedError, match=r"x.parquet has more than 2 columns; max_columns allows"):
        list(read(path, max_columns=2))


def _source(path: Path) -> Any:
    from trustream.feeds.sources import FileSource

    return FileSource(path)


def _options() -> Any:
    from trustream.feeds import Options

    return Options()
