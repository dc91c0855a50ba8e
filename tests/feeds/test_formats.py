"""Every format gives the documents that a reader of the file would expect."""

from __future__ import annotations

import bz2
import csv
import gzip
import importlib
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.feeds.helpers import DUMP_DOCUMENTS, documents, new_store, write_dump
from trustream.feeds import FORMATS, Mark, Options, ingest, read
from trustream.feeds.formats import format_name
from trustream.feeds.sources import FileSource
from trustream.text import Tokeniser

PETS = {"a": {"cats": 2, "dogs": 1}, "b": {"birds": 1}}
VOCABULARY = ["cats", "dogs", "birds"]


def by_line(name: str, *lines: int) -> dict[str, dict[str, int]]:
    return {f"{name}:{line}": words for line, words in zip(lines, PETS.values(), strict=True)}


JSONL = """\ufeff{"id": "a", "text": "The cats, the DOGS; cats!"}

{"id": "b", "counts": {"birds": 1}, "time": "2020-01-01", "other": null}\r
"""

TOKENS = '{"id":"a","tokens":["cats","dogs","cats"]}\n{"id":"b","text":"birds"}'
LIKES = """user,item,rating,timestamp
a,cats,4,10
b,cats,1,11
a,dogs,5,12
a,cats,4.5,13
b,birds,5,14
"""

CASES: list[tuple[str, str, dict[str, Any], dict[str, dict[str, int]]]] = [
    ("pets.jsonl", JSONL, {}, PETS),
    ("pets.ndjson", TOKENS, {}, PETS),
    ("pets.txt", "cats dogs\tcats\n\n  \nBirds", {}, by_line("pets.txt", 1, 4)),
    ("pets.txt", "cats dogs cats\r\nbirds\r\n", {"name": "p"}, by_line("p", 1, 2)),
    ("pets.csv", 'id,text\na,"cats,\n""dogs"" cats"\n\nb,birds\n', {}, PETS),
    (
        "pets.csv",
        "day,body,key\n2020-01-01,cats dogs cats,a\n2020-01-02,birds,b\n",
        {"id_column": "key", "text_column": "body", "time_column": "day"},
        PETS,
    ),
    (
        "pets.tsv",
        "text\tn\ncats, dogs, cats\t1\nbirds\t2",
        {"id_column": None},
        by_line("pets.tsv", 2, 3),
    ),
    ("pets.csv", "id;text\na;cats dogs cats\nb;birds\n", {"delimiter": ";"}, PETS),
    (
        "likes.csv",
        LIKES,
        {"format": "ratings", "threshold": 4},
        PETS,
    ),
    (
        "plays.tsv",
        "who\twhat\tplays\na\tcats\t2\na\tdogs\t1\nb\tbirds\t1\nb\tcats\t0\n",
        {
            "format": "ratings",
            "user_column": "who",
            "item_column": "what",
            "rating_column": "plays",
        },
        PETS,
    ),
    (
        "clicks.csv",
        "user,item\na,cats\na,cats\na,dogs\nb,birds\n",
        {"format": "ratings", "rating_column": None},
        PETS,
    ),
    (
        "docword.pets.txt",
        "2\n3\n3\n1 1 2\n1 2 1\n2 3 1\n",
        {"vocabulary": VOCABULARY},
        by_line("docword.pets.txt", 1, 2),
    ),
    (
        "pets.ldac",
        "2 0:2 1:1\n1 2:1\n",
        {"vocabulary": VOCABULARY, "name": "p"},
        by_line("p", 1, 2),
    ),
    (
        "pets.dat",
        "2 0:2 1:1\n\n1 2:1\n",
        {"format": "ldac", "vocabulary": VOCABULARY},
        by_line("pets.dat", 1, 3),
    ),
]

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda content: content,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
@pytest.mark.parametrize("suffix", COMPRESS)
def test_text_formats(
    tmp_path: Path, case: tuple[str, str, dict[str, Any], dict[str, dict[str, int]]], suffix: str
) -> None:
    name, content, options, wanted = case
    path = tmp_path / f"{name}{suffix}"
    path.write_bytes(COMPRESS[suffix](content.encode()))
    wanted = {key.replace(f"{name}:", f"{name}{suffix}:"): words for key, words in wanted.items()}
    with new_store(tmp_path) as store:
        result = ingest(store, path, **options)
        assert documents(store) == wanted
    assert (result.n_documents, result.n_tokens, result.n_bad) == (2, 4, 0)
    assert result.finished


@pytest.mark.parametrize("name", ["wiki.xml", "wiki.xml.bz2"])
def test_mediawiki(tmp_path: Path, name: str) -> None:
    path = write_dump(tmp_path / name)
    with new_store(tmp_path) as store:
        result = ingest(store, path)
        assert documents(store) == DUMP_DOCUMENTS
        assert (result.n_records, result.n_bad) == (2, 0)
    by_id = [item.record.key for item in read(path, page_key="id") if item.record]
    assert by_id == ["12", "15"]
    first = next(item.record for item in read(path) if item.record)
    assert first.time == 120.0


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    importlib.import_module(library)
    polars = importlib.import_module("polars")
    if library == "polars":
        monkeypatch.setattr("trustream.feeds.parquet_rows._Arrow", missing)
    path = tmp_path / "pets.parquet"
    texts = ["cats dogs cats", "birds", None]
    polars.DataFrame({"id": ["a", "b", "c"], "text": texts}).write_parquet(path)
    tokens = tmp_path / "tokens.parquet"
    lists = {"key": [7, 8], "words": [["cats", "dogs", "cats"], ["birds"]]}
    polars.DataFrame(lists).write_parquet(tokens)
    with new_store(tmp_path) as store:
        result = ingest(store, path, on_error="skip")
        assert documents(store) == PETS
        assert result.problems == (
            "pets.parquet, line 3: the text is None, expected a string or a list of tokens",
        )
        ingest(store, tokens, id_column="key", text_column="words")
        assert documents(store) == {**PETS, "7": PETS["a"], "8": PETS["b"]}


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_parquet_from_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    """Over blocks and groups of rows of other sizes than the block."""
    importlib.import_module(library)
    polars = importlib.import_module("polars")
    if library == "polars":
        monkeypatch.setattr("trustream.feeds.parquet_rows._Arrow", missing)
    path = tmp_path / "many.parquet"
    ids = [str(i) for i in range(10_000)]
    frame = polars.DataFrame({"id": ids, "text": ["some words"] * len(ids)})
    frame.write_parquet(path, row_group_size=3000)
    reader = FORMATS["parquet"].read
    for start in (0, 1, 2999, 3000, 4096, 7777, 9999, 10_000):
        items = reader(FileSource(path), Mark(start, start), Options())
        assert [item.record.key for item in items if item.record] == ids[start:]


def test_the_format_that_is_given_decides(tmp_path: Path) -> None:
    polars = importlib.import_module("polars")
    frame = polars.DataFrame({"id": ["a", "b"], "text": ["cats dogs cats", "birds"]})
    for name, options in {
        "data.pq": {},
        "DATA.PQ": {},
        "data.PARQUET": {},
        "data.csv": {"format": "parquet"},
        "data.txt": {"format": "parquet"},
        "data": {"format": "parquet"},
    }.items():
        frame.write_parquet(tmp_path / name)
        with new_store(tmp_path, f"{name}.db") as store:
            result = ingest(store, tmp_path / name, **options)
            assert documents(store) == PETS
            assert (result.n_records, result.finished) == (2, True)
            assert ingest(store, tmp_path / name, **options).n_records == 0
        # It cannot grow, and is known by its end.
        frame.head(1).write_parquet(tmp_path / name)
        with new_store(tmp_path, f"{name}.db") as store:
            with pytest.raises(ValueError, match=r"begins otherwise|has changed since"):
                ingest(store, tmp_path / name, **options)
        with pytest.raises(ValueError, match="cannot be followed as it grows"):
            read(tmp_path / name, follow=True, **options)
    for name in ("data.parquet", "data.pq", "data.jsonl", "data"):
        (tmp_path / name).write_text("id,text\na,cats dogs cats\nb,birds\n")
        items = list(read(tmp_path / name, format="csv"))
        assert [item.record.key for item in items if item.record] == ["a", "b"]
    packed = tmp_path / "data.pq.gz"
    packed.write_bytes(gzip.compress((tmp_path / "data.pq").read_bytes()))
    for format in ("parquet", "ratings", None):
        with pytest.raises(ValueError, match="is no plain file, and Parquet needs one"):
            list(read(packed, format=format))


def test_ratings_are_parquet_if_they_look_like_it(tmp_path: Path) -> None:
    polars = importlib.import_module("polars")
    likes = polars.DataFrame({"user": ["a", "a", "a", "b"], "rating": [1, 1, 1, 1]})
    likes = likes.with_columns(item=polars.Series(["cats", "dogs", "cats", "birds"]))
    for name in ("likes.parquet", "likes.pq", "likes.csv", "likes.dat", "likes"):
        likes.write_parquet(tmp_path / name)
        with new_store(tmp_path, f"{name}.db") as store:
            ingest(store, tmp_path / name, format="ratings")
            assert documents(store) == PETS
        with pytest.raises(ValueError, match="cannot be followed as it grows"):
            read(tmp_path / name, format="ratings", follow=True)
    # What begins like it and does not end like it is text.
    (tmp_path / "likes").write_text("PAR1,user,item,rating\nx,a,cats,2\n")
    (item,) = read(tmp_path / "likes", format="ratings")
    assert item.record is not None and item.record.words == {"cats": 2}


def test_tabs_are_told_by_the_name_unless_they_are_given(tmp_path: Path) -> None:
    for name in ("x.tsv", "x.TSV", "x.tsv.gz"):
        content = b"id\ttext\na\tcats, dogs\n"
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        for options in ({}, {"format": "csv"}):
            (item,) = read(tmp_path / name, **options)
            assert item.record is not None and item.record.words == ["cats", "dogs"]
    (tmp_path / "x.tsv").write_text("id,text\na,cats\n")
    (item,) = read(tmp_path / "x.tsv", delimiter=",")
    assert item.record is not None and item.record.words == ["cats"]


def missing(*_: object) -> None:
    raise ImportError


def test_parquet_without_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trustream.feeds.parquet_rows._Arrow", missing)
    monkeypatch.setattr("trustream.feeds.parquet_rows._Polars", missing)
    path = tmp_path / "pets.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(ValueError, match="needs pyarrow or polars: pip install polars"):
        list(read(path))


def test_parquet_that_is_none(tmp_path: Path) -> None:
    importlib.import_module("polars")
    path = tmp_path / "pets.parquet"
    path.write_bytes(b"no parquet at all")
    with pytest.raises(ValueError, match=r"cannot read pets\.parquet"):
        list(read(path))


def test_csv_as_the_standard_library_reads_it(tmp_path: Path) -> None:
    """Rows of random characters that matter in CSV, in chunks of odd sizes."""
    rng = np.random.default_rng(1)
    alphabet = np.array(list('ab,"\n é'))
    for seed in range(20):
        rows = [
            ["".join(rng.choice(alphabet, rng.integers(1, 9))) for _ in range(3)] for _ in range(30)
        ]
        rows = [row for row in rows if any(field.strip() for field in row)]
        file = io.StringIO()
        quoting = csv.QUOTE_ALL if seed % 2 else csv.QUOTE_MINIMAL
        csv.writer(file, quoting=quoting).writerows([["x", "id", "text"], *rows])
        path = tmp_path / f"{seed}.csv"
        path.write_text(file.getvalue(), encoding="utf-8", newline="")
        split = Tokeniser(r"(?s).+", min_length=1, stop_words=[], lower=False)
        items = list(read(path, tokenise=split))
        found = [(item.record.key, item.record.words) for item in items if item.record]
        assert found == [(key, [text]) for _, key, text in rows]
        # Every mark is a place to go on from.
        for place, item in enumerate(items, start=1):
            rest = FORMATS["csv"].read(FileSource(path), item.mark, Options(tokenise=split))
            assert [i.record for i in rest] == [i.record for i in items[place:]]


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
def test_every_mark_is_a_place_to_go_on_from(
    tmp_path: Path, case: tuple[str, str, dict[str, Any], dict[str, dict[str, int]]]
) -> None:
    name, content, options, _ = case
    path = tmp_path / name
    path.write_bytes(content.encode())
    items = [item for item in read(path, **options) if item.record]
    settings = Options(**{k: v for k, v in options.items() if k != "format"})
    kind = FORMATS[options.get("format") or format_name(FileSource(path))]
    for place, item in enumerate(items, start=1):
        rest = [i for i in kind.read(FileSource(path), item.mark, settings) if i.record]
        assert rest == items[place:]


def test_ratings_in_order_of_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorted in several parts; equal times stay as they are in the file."""
    monkeypatch.setattr("trustream.feeds.time_order.in_order.__defaults__", (7,))
    rng = np.random.default_rng(2)
    times = rng.integers(0, 30, 50)
    rows = [f"u{i % 5},i{i},5,{time}" for i, time in enumerate(times)]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(["user,item,rating,timestamp", *rows, "u1,i,bad,3"]))
    order = np.argsort(times, kind="stable")
    items = list(read(path, format="ratings", threshold=4, in_order=True))
    assert items[0].line == 52
    assert items[0].problem == "the rating is 'bad', expected a number"
    found = [next(iter(item.record.words)) for item in items if item.record]
    assert found == [f"i{i}" for i in order]
    assert found != [f"i{i}" for i in range(50)]
    middle = FORMATS["ratings"].read(
        FileSource(path), Mark(20, 20), Options(threshold=4, in_order=True)
    )
    assert [next(iter(item.record.words)) for item in middle if item.record] == found[20:]


def test_every_format_has_a_case(tmp_path: Path) -> None:
    covered = {"parquet", "mediawiki"}
    for name, _, options, _ in CASES:
        (tmp_path / name).touch()
        covered.add(format_name(FileSource(tmp_path / name), options.get("format")))
    assert covered == set(FORMATS)


def test_another_tokeniser(tmp_path: Path) -> None:
    path = tmp_path / "code.txt"
    path.write_text("The C++ if x")
    split = Tokeniser(r"\S+", min_length=1, stop_words=["IF"])
    with new_store(tmp_path) as store:
        ingest(store, path, tokenise=split)
        assert documents(store) == {"code.txt:1": {"the": 1, "c++": 1, "x": 1}}


def test_texts_with_endless_words_are_no_bad_records(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text(f"cats {'gattaca' * 100} dogs")
    with new_store(tmp_path) as store:
        ingest(store, path)
        assert documents(store) == {"x.txt:1": {"cats": 1, "dogs": 1}}


def test_json_times_and_append_ids(tmp_path: Path) -> None:
    lines = [
        {"id": 1, "tokens": ["x"], "time": 5, "append_id": 9},
        {"id": 1, "tokens": ["x"], "time": "1970-01-01T01:00:00+01:00"},
    ]
    stream = io.BytesIO("\n".join(map(json.dumps, lines)).encode())
    first, second = (item.record for item in read(stream, format="jsonl"))
    assert first is not None and second is not None
    assert (first.key, first.time, first.append_id) == ("1", 5.0, "9")
    assert (second.time, second.append_id) == (0.0, None)


def test_unknown_formats(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"cannot tell the format of data\.bin"):
        read(path)
    with pytest.raises(ValueError, match="format is 'word', expected one of jsonl, text"):
        read(path, format="word")
    with pytest.raises(ValueError, match="there is no file"):
        read(tmp_path / "nothing.txt")
    with pytest.raises(ValueError, match="is a directory"):
        read(tmp_path)
    with pytest.raises(ValueError, match="stream of text: open it in binary mode"):
        read(io.StringIO("x"), format="text")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="wrong"):
        read(path, format="text", wrong=1)


def test_terms_that_stand_twice_are_added_up() -> None:
    content, options = b"3 0:1 1:2 0:4\n2 1:1 2:1\n", {"vocabulary": ["x", "y", "y"]}
    first, second = read(io.BytesIO(content), format="ldac", **options)
    assert first.record is not None and second.record is not None
    assert (first.record.words, second.record.words) == ({"x": 5, "y": 2}, {"y": 2})
