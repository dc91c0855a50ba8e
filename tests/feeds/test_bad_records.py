"""Bad records are named by their line, and end an ingest or are left out, as asked."""

from __future__ import annotations

import bz2
import gzip
import io
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.feeds.helpers import DUMP, documents, new_store
from trustream.feeds import BadRecord, BadRecordError, FeedError, Item, Mark, ingest, read
from trustream.feeds.mediawiki import split_pages

GOOD_LINE = '{"id": "good", "tokens": ["x"]}'
VOCABULARY = ["cats", "dogs", "birds"]

BAD_JSON = [
    (b"{", "not JSON: Expecting property name"),
    (b"[" * 100_000, "nested deeper than 200 levels; max_depth allows more"),
    (b'{"id": %s, "text": "x"}' % (b"7" * 5000), "has a number with thousands of digits"),
    (b'{"id": [[[[{}]]]], "text": "x"}', "id is [[[...]]], expected a string or a whole number"),
    (b'{"id": "a", "text": "caf\xe9"}', "not UTF-8: byte 0xe9 at place 25"),
    (b"[1]", "a JSON list, expected an object"),
    (b'{"id": "a"}', "has none of text, tokens and counts"),
    (b'{"id": "a", "text": "x", "tokens": []}', "has text and tokens, expected one"),
    (b'{"id": "", "text": "x"}', "id has 0 characters; give it 1 to 500"),
    (b'{"id": null, "text": "x"}', "id is None, expected a string or a whole number"),
    (b'{"id": "a", "text": 7}', "the text is a int, expected a string"),
    (b'{"id": "a", "tokens": "x"}', "the tokens are a str, expected a list"),
    (b'{"id": "a", "tokens": [1]}', "a token is 1, expected a string"),
    (b'{"id": "a", "tokens": [""]}', "a token has 0 characters; give it 1 to 500"),
    (
        b'{"id": "a", "tokens": ["a\\u0000b"]}',
        "a token has a NUL character, which databases",
    ),
    (b'{"id": "a", "tokens": ["\\ud800"]}', "a token has half of a surrogate pair"),
    (b'{"id": "a", "tokens": ["%s"]}' % (b"x" * 501), "a token has 501 characters"),
    (b'{"id": "a", "counts": ["x"]}', "the counts are a list, expected an object"),
    (b'{"id": "a", "counts": {"x": -1}}', "the count of 'x' is -1, expected a whole number"),
    (b'{"id": "a", "counts": {"x": 0}}', "the count of 'x' is 0"),
    (b'{"id": "a", "counts": {"x": 1.5}}', "the count of 'x' is 1.5"),
    (b'{"id": "a", "counts": {"x": true}}', "the count of 'x' is True"),
    (
        b'{"id": "a", "counts": {"x": 3000000000}}',
        "the count of 'x' is 3000000000, expected 2147483647 at most",
    ),
    (b'{"id": "a", "text": "x", "time": "noon"}', "the time is 'noon', expected seconds"),
    (b'{"id": "a", "text": "x", "time": NaN}', "the time is nan"),
    (b'{"id": "a", "text": "x", "time": 1.7e12}', "the time is 1.7e+12, expected seconds since"),
    (b'{"id": "a", "tokens": ["x"], "time": 1.7e18}', "the time is 1.7e+18, expected seconds"),
    (b'{"id": "a", "tokens": ["x"], "time": "-1e13"}', "the time is -1e+13, expected seconds"),
    (b'{"id": "a", "text": "%s"}' % (b"x " * 1000), "longer than 1000 bytes; max_bytes"),
]


@pytest.mark.parametrize(("line", "problem"), BAD_JSON, ids=[what for _, what in BAD_JSON])
def test_json_lines(tmp_path: Path, line: bytes, problem: str) -> None:
    path = tmp_path / "x.jsonl"
    good = GOOD_LINE.encode()
    path.write_bytes(b"\n".join([good, b"", line, good.replace(b"good", b"next"), b""]))
    options = {"max_bytes": 1000} if b"x x x" in line else {}
    with new_store(tmp_path) as store:
        with pytest.raises(BadRecordError) as error:
            ingest(store, path, **options)
        assert error.value.line == 3
        assert str(error.value).startswith(f"x.jsonl, line 3: {problem}")
        assert error.value.result.n_records == 1
        assert documents(store) == {"good": {"x": 1}}
        # Stopped before the bad line, so that it is the first to be read the next time.
        heard: list[Item] = []
        result = ingest(store, path, on_error="skip", on_bad=heard.append, **options)
        assert (result.n_records, result.n_bad, result.finished) == (1, 1, True)
        assert documents(store) == {"good": {"x": 1}, "next": {"x": 1}}
        assert result.problems[0].startswith(f"x.jsonl, line 3: {problem}")
        assert [(item.line, item.record) for item in heard] == [(3, None)]
        assert ingest(store, path).n_records == 0


def test_a_bad_record_is_a_value_with_fields(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"id": "a", "counts": {"x": -1}}\n{"id": "", "tokens": []}\n{"id": "a", "tokens": ["x"]}\n'
    )
    expected = "a whole number from 1 on"
    count = BadRecord("x.jsonl", 1, "the count of 'x'", "is -1", expected, name="counts")
    name = BadRecord("x.jsonl", 2, "id", "has 0 characters", advice="give it 1 to 500", name="id")
    long = BadRecord("x.jsonl", 3, found="longer than 10 bytes", advice="max_bytes allows more")
    assert [item.bad for item in read(path)] == [count, name, None]
    assert [item.bad for item in read(path, max_bytes=10)][2] == long
    with new_store(tmp_path) as store:
        with pytest.raises(BadRecordError) as error:
            ingest(store, path)
        assert error.value.bad == count
        heard: list[Item] = []
        result = ingest(store, path, on_error="skip", on_bad=heard.append)
        assert result.bad_records == (count, name)
        assert result.problems == (str(count), str(name))
        assert [item.bad for item in heard] == [count, name]


def test_the_field_that_a_store_refuses(tmp_path: Path) -> None:
    """What is wrong only with what the store has already."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": "a", "counts": {"x": 2147483647}}\n')
    with new_store(tmp_path) as store:
        assert ingest(store, path).n_records == 1
        with pytest.raises(BadRecordError, match="would occur 4294967294 times") as error:
            ingest(store, path, again=True, replace=False)
        assert (error.value.bad.name, error.value.bad.field) == ("counts", None)


def test_putting_a_bad_line_right(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{GOOD_LINE}\nnonsense\n{GOOD_LINE}\n")
    with new_store(tmp_path) as store:
        with pytest.raises(BadRecordError):
            ingest(store, path)
        path.write_text(f"{GOOD_LINE}\n" + '{"id": "mended", "text": "cats"}' + f"\n{GOOD_LINE}\n")
        assert ingest(store, path).n_records == 2
        assert documents(store) == {"good": {"x": 2}, "mended": {"cats": 1}}


OTHERS: list[tuple[str, bytes, dict[str, Any], list[tuple[int, str]]]] = [
    ("x.txt", b"fine words\n\xff\nmore words\n", {}, [(2, "not UTF-8: byte 0xff at place 1")]),
    ("x.txt", b"fine\n" + b"long " * 99 + b"\nmore\n", {"max_bytes": 99}, [(2, "longer than 99")]),
    ("x.csv", b"id,text\na\nb,cats,dogs\nc,fine\n", {}, [(2, "1 value, "), (3, "3 values, ")]),
    ("x.csv", b'id,text\na,"open\nb,fine\n', {}, [(2, "a quote is open at the end of the file")]),
    ("x.csv", b'id,text\na,"' + b"x,\n" * 99 + b'"\nb,fine\n', {"max_bytes": 99}, [(2, "longer")]),
    ("x.csv", b"id,text\na," + b"long " * 99 + b"\nb,fine\n", {"max_bytes": 99}, [(2, "longer")]),
    ("x.csv", b"id,text\na,\xfe\nb,fine\n", {}, [(2, "not UTF-8")]),
    ("x.csv", b"id,text\n,cats\nb,fine\n", {}, [(2, "id has 0 characters")]),
    ("r.csv", b"user,item,rating\na,x,much\n,x,5\na,x,nan\n", {"format": "ratings", "threshold": 3},
     [(2, "the rating is 'much'"), (3, "user has 0"), (4, "the rating is 'nan'")]),
    ("r.csv", b"user,item,rating\na,x,3.5\na,x,-1\n", {"format": "ratings"},
     [(2, "the rating is '3.5', which is no count; set a threshold"), (3, "the rating is '-1'")]),
    ("r.csv", b"user,item,timestamp\na,x,soon\n", {"format": "ratings", "rating_column": None},
     [(2, "the time is 'soon'")]),
    ("x.ldac", b"1 0:1\n2 0:1\n1 3:1\n1 0:-1\n1 0\nx\n2 1:1 1:0\n", {"vocabulary": VOCABULARY},
     [(2, "says 2 terms and has 1"), (3, "term 3, expected 0 to 2"), (4, "the count of 'cats'"),
      (5, "expected whole numbers"), (6, "expected whole numbers"), (7, "the count of term 1")]),
    ("docword.x.txt", b"2\n3\n7\n1 1 1\n1 4 1\n1 2 1\n3 1 1\n2 1 -1\nx\n2 1 1 1\n",
     {"vocabulary": VOCABULARY},
     [(5, "word 4, expected 1 to 3"), (7, "document 3, expected 1 to 2"), (8, "the count is -1"),
      (9, "expected three whole numbers"), (10, "expected three whole numbers")]),
    ("docword.x.txt", b"2\n3\n3\n1 1 1\n2 1 1\n", {"vocabulary": VOCABULARY},
     [(6, "ends after 2 of 3 lines: it is incomplete")]),
]  # fmt: skip


@pytest.mark.parametrize("case", OTHERS, ids=[f"{i}-{case[0]}" for i, case in enumerate(OTHERS)])
def test_other_formats(
    tmp_path: Path, case: tuple[str, bytes, dict[str, Any], list[tuple[int, str]]]
) -> None:
    name, content, options, wanted = case
    path = tmp_path / name
    path.write_bytes(content)
    items = list(read(path, **options))
    found = [(item.line, item.problem) for item in items if item.problem is not None]
    assert [line for line, _ in found] == [line for line, _ in wanted]
    for (_, problem), (_, start) in zip(found, wanted, strict=True):
        assert problem.startswith(start)
    with new_store(tmp_path) as store:
        with pytest.raises(BadRecordError, match=f"{name}, line {wanted[0][0]}: "):
            ingest(store, path, **options)
        result = ingest(store, path, on_error="skip", **options)
        assert result.n_bad == len(wanted)
        n_good = sum(item.record is not None for item in items)
        assert n_good == 0 or store.totals().documents > 0
        before = documents(store)
        assert ingest(store, path, on_error="skip", **options).n_records == 0
        assert documents(store) == before


def test_a_document_with_a_bad_line_keeps_its_other_lines(tmp_path: Path) -> None:
    path = tmp_path / "docword.x.txt"
    path.write_text("1\n3\n3\n1 1 1\n1 9 1\n1 2 4\n")
    with new_store(tmp_path) as store:
        ingest(store, path, vocabulary=VOCABULARY, on_error="skip", name="d")
        assert documents(store) == {"d:1": {"cats": 1, "dogs": 4}}


def test_mediawiki(tmp_path: Path) -> None:
    broken = DUMP.replace("<title>Cat &amp; dog</title>", "<title>Cat & dog</title>")
    path = tmp_path / "x.xml.bz2"
    path.write_bytes(bz2.compress(broken.encode()))
    with new_store(tmp_path) as store:
        with pytest.raises(BadRecordError, match="line 8: the page is not XML"):
            ingest(store, path)
        result = ingest(store, path, on_error="skip")
        assert (list(documents(store)), result.n_bad) == (["Bird"], 1)
    path = tmp_path / "long.xml"
    path.write_text(DUMP)
    found = [(item.line, item.problem) for item in read(path, max_bytes=300) if item.problem]
    assert found == [(8, "longer than 300 bytes; max_bytes allows more")]


def test_a_dump_that_is_cut_off_goes_on_when_the_rest_comes(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    content = DUMP.encode()
    path.write_bytes(content[: content.index(b"Birds fly")])
    line = content[: content.rindex(b"<page>")].count(b"\n") + 1
    with new_store(tmp_path) as store:
        with pytest.raises(BadRecordError, match=f"line {line}: the dump ends here"):
            ingest(store, path)
        assert list(documents(store)) == ["Cat & dog"]
        path.write_bytes(content)
        assert ingest(store, path).n_documents == 1
        assert list(documents(store)) == ["Cat & dog", "Bird"]


def test_a_page_of_any_length_takes_no_memory() -> None:
    """The reader keeps nothing of a page that is too long, wherever chunks end."""
    content = b"<mediawiki><page>" + b"x\n" * 500 + b"</page><page>y</page></mediawiki>"
    for size in (1, 2, 3, 7, 64, 5000):
        chunks = (content[i : i + size] for i in range(0, len(content), size))
        pages = [page for page in split_pages(chunks, Mark(), 100) if page is not None]
        assert [page.error is None for page in pages] == [False, True]
        assert [page.line for page in pages] == [1, 501]
        for page in pages:
            assert content[: page.mark.offset].endswith(b"</page>")
            assert content[: page.mark.offset].count(b"\n") == page.mark.number


@pytest.mark.parametrize(
    ("content", "options", "problem"),
    [
        (
            b"id,body\na,x\n",
            {"format": "csv"},
            "has no column 'text'; its columns are 'id', 'body'",
        ),
        (b"id,id\na,x\n", {"format": "csv"}, "has a column twice: id"),
        (b"x\n", {"format": "uci", "vocabulary": VOCABULARY}, "does not begin with three lines"),
        (b"1\n2\n0\n", {"format": "uci", "vocabulary": VOCABULARY}, "2 words, and the vocabulary"),
        (b"1 0:1\n", {"format": "ldac"}, "has words by number: give a vocabulary"),
    ],
)
def test_feeds_that_cannot_be_read(content: bytes, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(FeedError, match=problem):
        list(read(io.BytesIO(content), **options))


def test_damaged_compression_keeps_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    lines = "".join(f'{{"id": "{i}", "tokens": ["w{i * i}"]}}\n' for i in range(5000))
    path.write_bytes(gzip.compress(lines.encode())[:-100])
    with new_store(tmp_path) as store:
        with pytest.raises(FeedError, match=r"cannot read x\.jsonl\.gz"):
            ingest(store, path, on_error="skip")
        assert store.totals().documents > 4000


def test_what_only_the_store_refuses_is_a_bad_record_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here a word that is too long, behind the back of the reader."""
    monkeypatch.setattr("trustream.feeds.validation.text_fault", lambda text: None)
    path = tmp_path / "x.jsonl"
    long = '{"id": "long", "tokens": ["%s"]}' % ("x" * 600)
    path.write_text(f"{GOOD_LINE}\n{long}\n{GOOD_LINE}\n{long}\n")
    with new_store(tmp_path) as store:
        with pytest.raises(BadRecordError, match=r"x\.jsonl, line 2: word 'xxx.* has 600 char"):
            ingest(store, path)
        assert documents(store) == {"good": {"x": 1}}
        result = ingest(store, path, on_error="skip")
        assert (result.n_records, result.n_bad) == (1, 2)
        assert documents(store) == {"good": {"x": 2}}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"on_error": "ignore"}, "on_error is 'ignore', expected 'stop' or 'skip'"),
        ({"replaced": "no"}, "replaced is 'no'"),
        ({"batch": 0}, "batch is 0"),
        ({"batch": math.nan}, "batch is nan, expected a whole number, 1 or more"),
        ({"idle": math.nan}, "idle is nan, expected seconds"),
        ({"max_bytes": 0}, "max_bytes is 0"),
        ({"max_words": math.nan}, "max_words is nan, expected a whole number, 1 or more"),
        ({"max_depth": True}, "max_depth is True, expected a whole number"),
        ({"threshold": math.nan}, "threshold is nan, expected a number or None"),
        ({"threshold": math.inf}, "threshold is inf, expected a number or None"),
        ({"threshold": "4"}, "threshold is '4', expected a number or None"),
        ({"page_key": "x"}, "page_key is 'x'"),
        ({"delimiter": "ab"}, "delimiter is 'ab'"),
        ({"vocabulary": "words.txt"}, "vocabulary is a str, expected the words in a list"),
    ],
)
def test_bad_options(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    path = tmp_path / "x.txt"
    path.write_text("words\n")
    with new_store(tmp_path) as store, pytest.raises(ValueError, match=problem):
        ingest(store, path, **options)


def test_no_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was closed before Python began (`<&-`), or is that of a notebook."""
    for stream in (None, io.StringIO("cats")):
        monkeypatch.setattr(sys, "stdin", stream)
        with new_store(tmp_path) as store, pytest.raises(FeedError, match="is no standard input"):
            ingest(store, "-", format="text")


def test_what_one_record_may_cost(tmp_path: Path) -> None:
    """Each limit holds exactly, and is said with its name."""
    line = '{"id": "a", "tokens": ["x", "y", "z"], "more": [{"a": "[[["}]}'
    assert problems(line, "jsonl", max_words=3, max_depth=3) == []
    assert problems(line, "jsonl", max_words=2) == [
        "has 3 words, expected 2 at most; max_words sets it"
    ]
    assert problems(line, "jsonl", max_depth=2) == [
        "nested deeper than 2 levels; max_depth allows more"
    ]
    counts = '{"id": "a", "counts": {"x": 7, "y": 1}}'
    assert problems(counts, "jsonl", max_words=2) == []
    assert "has 2 words" in problems(counts, "jsonl", max_words=1)[0]
    for content, format, options in [
        ("cats dogs birds", "text", {}),
        ("id,text\na,cats dogs birds\n", "csv", {}),
        ("3 0:1 1:1 2:1", "ldac", {"vocabulary": VOCABULARY}),
        (DUMP, "mediawiki", {}),
    ]:
        assert "max_words sets it" in problems(content, format, max_words=1, **options)[0]
        assert problems(content, format, **options) == []
    # Documents of this format are stored in parts instead.
    bags = "1\n3\n3\n1 1 1\n1 2 1\n1 3 1\n"
    parts = read(io.BytesIO(bags.encode()), format="uci", vocabulary=VOCABULARY, max_words=2)
    assert [item.record.words for item in parts if item.record] == [
        {"cats": 1, "dogs": 1}, {"birds": 1},
    ]  # fmt: skip
    table = "id,text,c\na,cats,1\n"
    assert problems(table, "csv", max_columns=3) == []
    with pytest.raises(FeedError, match="more than 2 columns; max_columns allows more"):
        problems(table, "csv", max_columns=2)
    wide = "id,text\n" + "a," * 5000 + "\n"
    assert problems(wide, "csv", max_columns=3) == ["more than 3 values, expected 2: id, text"]
    many = ",".join(f"column{i}" for i in range(1000))
    (said,) = problems(f"id,text,{many}\na\n", "csv")
    assert said.startswith("1 value, expected 1002: id, text, column0, ")
    assert said.endswith("column17 and 982 more")


def problems(content: str, format: str, **options: Any) -> list[str]:
    items = read(io.BytesIO(content.encode()), format=format, **options)
    return [item.problem for item in items if item.problem is not None]


def test_documents_that_no_store_would_take() -> None:
    """A name that is too long, or a word of the vocabulary, is a bad record, not an error."""
    bags = b"2\n2\n2\n1 1 1\n2 2 1\n"
    for options in ({"name": "x" * 600}, {"vocabulary": ["cats", "a\0b"]}):
        given = {"vocabulary": ["cats", "dogs"], "name": "b", **options}
        items = list(read(io.BytesIO(bags), format="uci", **given))
        bad = [item.line for item in items if item.problem]
        assert bad == ([4, 5] if "name" in options else [5])


def test_a_number_in_wiki_text_that_is_too_long() -> None:
    text = f"cats &amp;#{'9' * 5000}; dogs &amp;#65;pes &amp;#x{'f' * 5000};"
    page = f"<title>x</title><revision><text>{text}</text></revision>"
    dump = f"<mediawiki><page>{page}</page></mediawiki>"
    (item,) = read(io.BytesIO(dump.encode()), format="mediawiki")
    assert item.record is not None and item.record.words == ["cats", "dogs", "apes"]


def test_memory_that_is_not_there() -> None:
    """The record is bad, and those after it are read."""

    def words(text: str) -> list[str]:
        if "large" in text:
            raise MemoryError
        return text.split()

    items = list(read(io.BytesIO(b"one\nlarge\ntwo\n"), format="text", tokenise=words))
    assert [item.problem is None for item in items] == [True, False, True]
    assert items[1].problem is not None and "needs more memory than there is" in items[1].problem
