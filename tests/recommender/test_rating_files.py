"""Files of ratings that are damaged, or named otherwise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from trustream.recommender import read_ratings

LIKES = {"user": ["ann", "bob"], "item": [7, 9], "rating": [4.5, 3.0]}


@pytest.mark.parametrize("name", ["likes.parquet", "likes.pq", "LIKES.PQ"])
@pytest.mark.parametrize("without", [(), ("pyarrow",), ("polars",)], ids=str)
def test_parquet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, without: tuple[str, ...]
) -> None:
    polars = pytest.importorskip("polars")
    if "polars" in without:
        pytest.importorskip("pyarrow")
        pytest.importorskip("pandas")
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
        (b"user,item,rating\nann,7,\xff\n", r"cannot read likes\.csv: it is not UTF-8"),
        (b"user,item,user\na,b,c\n", r"likes\.csv has a column twice: user$"),
        (b"user,item,rating\na,b," + b"x" * 1000 + b"\n", r"rating 1 is 'x{59}, expected a number"),
        (b"user,item,rating\na,b," + b"x" * 200_000, r"cannot read likes\.csv: field larger"),
        (
            b"user,item," + b",".join(b"c%d" % i for i in range(50_000)) + b"\na\n",
            r"line 2: 1 values, expected 50002, for user, item, c0, .* c17 and 49982 more$",
        ),
    ],
)
def test_bad_text(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "likes.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=problem):
        read_ratings(path)
