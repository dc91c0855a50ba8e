"""Files of ratings as columns: named otherwise, compressed, damaged."""

from __future__ import annotations

import gzip
import importlib
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from trustream.feeds import BadRecordError, RatingColumns, read_ratings

LIKES = {"user": ["ann", "bob"], "item": [7, 9], "rating": [4.5, 3.0]}


@pytest.mark.parametrize("name", ["likes.parquet", "likes.pq", "LIKES.PQ"])
@pytest.mark.parametrize("without", [(), ("pyarrow",), ("polars",)], ids=str)
def test_parquet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, without: tuple[str, ...]
) -> None:
    polars = importlib.import_module("polars")
    if "polars" in without:
        importlib.import_module("pyarrow")
        importlib.import_module("pandas")
    polars.DataFrame(LIKES).write_parquet(tmp_path / name)
    for module in without:
        monkeypatch.setitem(sys.modules, module, None)
    found: Any = read_ratings(tmp_path / name)
    assert {column: list(found[column]) for column in LIKES} == LIKES
    good = (tmp_path / name).read_bytes()
    for content in (b"", b"PAR1", good[:-20], good[:40] + good[60:]):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=f"^cannot read {name}: ") as error:
            read_ratings(tmp_path / name)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"user,item,rating\nann,7,\xff\n", r"likes\.csv, line 2: not UTF-8: byte 0xff"),
        (b"user,item,user\na,b,c\n", r"likes\.csv has a column twice: user$"),
        (
            b"user,item,rating\na,b," + b"x" * 1000 + b"\n",
            r"line 2: the rating is 'x+\.\.\.x+', expected",
        ),
        (b"user,item,rating\na,b," + b"x" * 200_000, r"the rating is 'x{20,30}\.\.\.x{20,30}', "),
        (
            b"user,item,rating," + b",".join(b"c%d" % i for i in range(50_000)) + b"\na\n",
            r"likes\.csv has more than 10000 columns; max_columns allows more$",
        ),
        (
            b"user,item,rating," + b",".join(b"c%d" % i for i in range(5_000)) + b"\na\n",
            r"line 2: 1 value, expected 5003: user, item, rating, c0, .* c16 and 4983 more$",
        ),
    ],
)
def test_bad_text(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "likes.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=problem):
        read_ratings(path)


def test_dates_other_names_and_compression(tmp_path: Path) -> None:
    content = b"who;film;day\nann;7;1970-01-02\nbob;9;1970-01-01T00:01:00+00:01\n"
    path = tmp_path / "likes.csv.gz"
    path.write_bytes(gzip.compress(content))
    columns = RatingColumns("who", "film", None, "day")
    for source in (path, io.BytesIO(content)):
        found = read_ratings(source, columns, delimiter=";")
        assert {name: values.tolist() for name, values in found.items()} == {
            "who": ["ann", "bob"], "film": [7, 9], "day": [86400.0, 0.0],
        }  # fmt: skip


def test_a_bad_row_is_a_value_with_fields(tmp_path: Path) -> None:
    path = tmp_path / "likes.csv"
    path.write_text("user,item,rating\nann,7,4\nann,,3\n")
    with pytest.raises(BadRecordError) as error:
        read_ratings(path)
    bad = error.value.bad
    assert (bad.file, bad.line, bad.field, bad.found) == (
        "likes.csv",
        3,
        "item",
        "has 0 characters",
    )
    assert error.value.result is None
