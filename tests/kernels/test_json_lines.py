"""Lines of JSON: the compiled kernel reads what its twin reads, and what the other reader reads."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trustream import kernels
from trustream.feeds import Options, read
from trustream.feeds import json_scanner as json_scanner_module
from trustream.feeds.blocks import Block, BlockSource
from trustream.feeds.items import Mark
from trustream.feeds.json_scanner import JsonScanner, json_scanner
from trustream.feeds.rows import Rows, each
from trustream.feeds.word_coder import word_coder
from trustream.kernels.json_lines.reference import APPEND, END, KEY, OTHER, REFUSED, TEXT, TIME
from trustream.text import Tokeniser, tokenise

ROLES = {"id": KEY, "text": TEXT, "time": TIME, "append_id": APPEND, "tokens": REFUSED}
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(["Cats", "dogs", "café", "don’t", "ΑΣ'Α", "\ud800", "😀", "\n", "\\", '"']),
        st.text(max_size=6),
    ),
    max_size=12,
).map(" ".join)
NUMBERS = st.one_of(st.integers(), st.floats(), st.sampled_from([10**20, -0.0, 10**60]))
VALUES = st.one_of(TEXTS, NUMBERS, st.booleans(), st.none(), st.just(["x"]), st.just({"a": 1}))
OBJECTS = st.builds(
    lambda usual, others: usual | others,
    st.fixed_dictionaries(
        {}, optional={"id": st.one_of(TEXTS, st.integers(0, 10**19)), "text": TEXTS}
    ),
    st.dictionaries(st.sampled_from([*ROLES, "é", "x y", "counts", "ids"]), VALUES, max_size=3),
)
LINES = st.builds(
    lambda value, plain, spaces, end: (
        json.dumps(value, ensure_ascii=plain, separators=spaces) + end
    ).encode(errors="surrogatepass"),
    OBJECTS,
    st.booleans(),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", "\t : ")]),
    st.sampled_from(["", " ", "\r", " \t\r", " x"]),
)
ODD = st.sampled_from(
    [
        b"",
        b" ",
        b"{}",
        b"[]",
        b'{"id":"a","text":"b"',
        b'{"id":"a","text":"b",}',
        b'{"id":"a","text":"b","id":"c"}',
        b'{"id":01,"text":"b"}',
        b'{"id":-0,"text":"b"}',
        b'{"id":1.,"text":"b"}',
        b'{"id":"a","text":"b","n":1e5,"m":-2.5E-3,"k":0}',
        b'{"id":"a","text":"b","n":1e}',
        b'{"id":"a","text":"b","n":NaN}',
        b'{"id":"a","text":"b","n":tru}',
        b'{"id":"a","text":"b\tc"}',
        b'{"id":"a","text":"\\ud83d\\ude00 \\u00c9t\\u00e9 \\n\\/"}',
        b'{"id":"a","text":"\\ud83dx"}',
        b'{"id":"a","text":"\\u12g4"}',
        b'{"id":"a","text":"\\x"}',
        b'{"\\u0069d":"a","text":"b"}',
        b'{"id":"a","text":"cats","time":null,"append_id":"z"}',
        b'{"id":"a","text":"cats","time":"2015-07-06","append_id":7}',
        b'{"id":"a","text":"cats","time":"never"}',
        b'{"id":"a","text":"cats","time":true}',
        b'{"id":"","text":"cats"}',
        b'{"id":"%s","text":"cats"}' % (b"x" * 500),
        b'{"id":"%s","text":"cats"}' % (b"x" * 501),
        b'{"id":"a","text":"%s"}' % ("é".encode() * 80),
        b'\xef\xbb\xbf{"id":"a","text":"cats"}',
        b'{"id":"a","text":"\xff"}',
    ]
)
CONTENTS = st.lists(LINES | LINES | ODD, max_size=12).map(b"\n".join)


class Run:
    """A table and what a kernel makes of bytes with it."""

    def __init__(self, n_entries: int, backend: str) -> None:
        self.scan = kernels.get("json_lines", backend).scan_lines
        self.table = (
            np.full(1 << (2 * n_entries).bit_length(), -1, np.int32),
            np.zeros(n_entries, np.uint64), np.zeros(n_entries + 1, np.int64),
            np.zeros(3000, np.uint8),
            np.zeros(n_entries, np.int32), np.array([0, 0, 12345], np.int64),
        )  # fmt: skip

    def __call__(self, content: bytes, begin: int, lower: bool) -> tuple[Any, ...]:
        names = [name.encode() for name in ROLES]
        fields = (
            np.frombuffer(b"".join(names), np.uint8),
            np.cumsum([len(name) for name in names]),
            np.array([*ROLES.values()]),
        )
        size = len(content)
        buffers = (
            np.zeros(size, np.uint8), np.zeros((size + 1) // 2, np.int32),
            np.zeros(size, np.uint8), np.zeros(size, np.int64), np.zeros(size, np.int64),
            np.zeros((size, 4), np.int64),
        )  # fmt: skip
        data = np.array(np.frombuffer(content, np.uint8))
        result = self.scan(data, begin, *fields, lower, 3, 500, *self.table, *buffers)
        n, n_codes, _, n_bytes = result[:4]
        _, codes, keys, ends, lengths, spans = buffers
        found = (ends[:n], lengths[:n], spans[:n], codes[:n_codes], keys[:n_bytes])
        return result, *(array.tolist() for array in found)

    def content(self) -> tuple[Any, ...]:
        """What the twins keep alike."""
        _, _, starts, arena, meanings, state = self.table
        n = int(state[0])
        return state.tolist(), arena[: starts[n]].tobytes(), meanings[:n].tolist()


@settings(deadline=None, max_examples=150)
@given(
    content=CONTENTS, n_entries=st.sampled_from([2, 400]), lower=st.booleans(), at=st.integers(0, 3)
)
def test_twins(content: bytes, n_entries: int, lower: bool, at: int) -> None:
    content = content.decode(errors="replace").encode()
    compiled, reference = Run(n_entries, "compiled"), Run(n_entries, "reference")
    begins = [0, *(i + 1 for i, byte in enumerate(content) if byte == 10)]
    begin = begins[min(at, len(begins) - 1)]
    if content:
        assert compiled(content, begin, lower) == reference(content, begin, lower)
    if n_entries > 100:  # a full table keeps what was met of a line, in any order
        assert compiled.content() == reference.content()


def test_what_is_simple() -> None:
    content = b'{"id": 7, "text": "The cats"}\n{"text": "caf\\u00e9", "id": "b"}\r\n{"id": "c"}\n'
    result, ends, lengths, spans, codes, keys = Run(100, "compiled")(content, 0, True)
    assert result == (2, 3, 1, 4, ends[-1], OTHER)
    assert (lengths, codes, bytes(keys)) == ([2, 1], [0, 1, -3], b"7\nb\n")
    assert content[ends[-1] :] == b'{"id": "c"}\n'
    assert not np.any(spans)
    assert Run(100, "compiled")(content[: ends[-1]], 0, True)[0][-1] == END


def scanner(path: Path, options: dict[str, Any]) -> JsonScanner | None:
    path.touch()
    given = {**options, "tokenise": word_coder(options.get("tokenise", tokenise))}
    return json_scanner(BlockSource(path), Options(**given))


OPTIONS: list[dict[str, Any]] = [
    {},
    {"tokenise": Tokeniser(lower=False, min_length=1), "max_words": 3},
    {"id_column": "ids", "text_column": "text", "max_bytes": 60},
    {"text_column": "tokens", "time_column": "time"},
    {"require_id": True, "name": "pets"},
    {"require_id": False, "max_depth": 1},
]


@pytest.mark.parametrize("options", OPTIONS)
@settings(deadline=None, max_examples=60)
@given(content=CONTENTS, last=st.booleans())
@example(
    content=b'{"id":"a","text":"cats"}\n' * 40 + b"x\n" * 40 + b'{"id":"b","text":"y"}', last=True
)
def test_the_same_items(options: dict[str, Any], content: bytes, last: bool) -> None:
    """Records, marks, lines and errors are those of the reader that knows all of JSON."""
    content += b"" if last else b"\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.jsonl")
        path.write_bytes(content)
        made = scanner(path, options)
        assert made is not None
        # Twice, with a table that knows the words.
        for _ in range(2):
            found = list(each(made.items(Block(Mark(), content, last))))
            assert found == list(read(path, **options))


def test_simple_lines_come_as_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    line = b'{"id":"a%d","text":"Cats and l\\u2019heure","time":%d,"append_id":"n%d"}\n'
    content = b"".join(line % (i, i, i) for i in range(50)) + b"wrong\n"
    path.write_bytes(content)
    made = scanner(path, {})
    assert made is not None
    rows, bad = made.items(Block(Mark(100, 3), content, False))
    assert isinstance(rows, Rows) and not isinstance(bad, Rows)
    assert (len(rows), rows.n_tokens, rows.line) == (50, 100, 4)
    assert bad.mark == Mark(100 + len(content), 54)


@pytest.mark.parametrize(
    "options",
    [
        {"id_column": None},
        {"id_column": "text"},
        {"text_column": "article.body"},
        {"time_column": "append_id"},
    ],
)
def test_what_only_the_other_reader_can_do(tmp_path: Path, options: dict[str, Any]) -> None:
    assert scanner(tmp_path / "x.jsonl", options) is None


def test_options_that_are_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is added to options one day is not passed over without a word."""
    monkeypatch.setattr(json_scanner_module, "_KNOWN", json_scanner_module._KNOWN - {"max_words"})
    assert scanner(tmp_path / "x.jsonl", {}) is not None
    assert scanner(tmp_path / "x.jsonl", {"max_words": 7}) is None


def test_a_table_that_is_full(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """New tables are begun, and a line of more words than a table has is read all the same."""
    from trustream.feeds import word_coder as module

    monkeypatch.setattr(module, "_FIRST_ENTRIES", 4)
    monkeypatch.setattr(module, "_MAX_ENTRIES", 8)
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("abcdef"), 5)) for _ in range(60)])
    content = b"".join(
        json.dumps({"id": i, "text": " ".join(rng.choice(words, i % 9 * 5))}).encode() + b"\n"
        for i in range(60)
    )
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    made = scanner(path, {})
    assert made is not None
    found = list(each(made.items(Block(Mark(), content, True))))
    assert found == list(read(io.BytesIO(content), format="jsonl", name="x.jsonl"))
