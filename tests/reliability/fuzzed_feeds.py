"""Feeds that are nearly right: seeds of every format, and what is done to their bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from tests.feeds.helpers import DUMP

VOCABULARY = ["cats", "dogs", "birds", "mice"]
MOST = 200_000

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda content: content,
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@dataclass(frozen=True)
class Kind:
    """A format to be fuzzed.

    Attributes:
        name: of the file, without compression.
        seeds: contents that are right.
        tokens: what means something in the format.
        options: sets of options, one of which is taken.
        library: that reads Parquet.
    """

    name: str
    seeds: list[bytes]
    tokens: list[bytes]
    options: list[dict[str, Any]]
    library: str = ""


_ANYWHERE = [
    b"\n", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b" ", b"\t", b"9" * 20, b"9" * 5000, b"-1",
    b"1e999", b"nan", b"inf", b"\xcc\x81\xcc\xa3" * 40, b"\xed\xa0\x80", b"\xf0\x9f\x98\x80",
    b"\x1b[31m", b"x" * 600, b"2147483647", b"2147483648", b"\xe2\x80\xa8", b"0", b"1_0",
    "Σ".encode(), "İ".encode(), "ß".encode(), "한".encode(), "가".encode(),
]  # fmt: skip

_JSON = [
    b'{"id": "a", "text": "The cats, the DOGS; cats!"}\n\n{"id": "b", "counts": {"birds": 1}, '
    b'"time": "2020-01-01", "other": null}\r\n{"id": 7, "tokens": ["x", "y"], "append_id": "k"}\n',
    b'{"id":"a","tokens":["cats","dogs","cats"]}\n{"id":"b","text":"birds \\u00e9\\ud83d\\ude00"}',
    b'{"id": "n", "text": "deep", "more": ' + b"[" * 150 + b"]" * 150 + b"}\n",
]
_CSV = [
    b'id,text\na,"cats,\n""dogs"" cats"\n\nb,birds\n',
    b"id,text,day\na,cats dogs,2020-01-01\nb,birds,1999-12-31T23:59:59+01:00\nc,,12\n",
]
_TSV = [b"text\tid\ncats, dogs\t1\nbirds\t2"]
_RATINGS = [
    b"user,item,rating,timestamp\na,cats,4,10\nb,cats,1,11\na,dogs,5,12\na,cats,4.5,13\n",
    b'user,item,rating,timestamp\n"a, b","x""y",2,1e9\nc,d,0,0\n',
]
_UCI = [b"2\n4\n3\n1 1 2\n1 2 1\n2 3 1\n", b"3\n4\n2\n1 1 2147483647\n3 4 1\n"]
_LDAC = [b"2 0:2 1:1\n1 2:1\n", b"0\n\n3 0:1 1:2 0:4\n"]
_TEXT = ["cats dogs\tcats\n\n  \nBirds cafe\u0301 größe 日本語版\n".encode(), b"one\r\ntwo three"]
_WIKI = [
    DUMP.encode(),
    b"<mediawiki><page><title>x</title><ns>0</ns><revision><text>[[a|b]] {{c|{{d}}}} "
    b"&lt;ref name=x&gt;gone&lt;/ref&gt;{| |} '''bold''' &amp;amp; &amp;#65; http://x.org/y "
    b"__TOC__ [[File:a.jpg|[[b]]]]</text></revision></page></mediawiki>\n",
]

_JSON_TOKENS = [
    b'"', b"{", b"}", b"[", b"]", b":", b",", b"\\u0000", b"\\ud800", b"\\", b"null", b"NaN",
    b"true", b'"id"', b'"text"', b'"tokens"', b'"counts"', b'"time"', b'"append_id"', b"[" * 300,
    b'{"a":' * 300, b"1E400", b"-Infinity", b'"2020-13-45"', b'"0001-01-01T00:00:00+23:59"',
]  # fmt: skip
_CSV_TOKENS = [b'"', b'""', b",", b";", b'","', b'\n"', b"id", b"text", b",,,,,,", b"user", b'"\n']
_NUMBERS = [b":", b" ", b"1", b"0:1", b"-", b"+1", b"1:1 ", b"7:1", b"2147483647", b"9" * 4301]
_WIKI_TOKENS = [
    b"<page>", b"</page>", b"</mediawiki>", b"<mediawiki>", b"<title>", b"</title>", b"<ns>1</ns>",
    b"<revision>", b"</revision>", b"<text>", b"</text>", b"<redirect/>", b"[[", b"]]", b"{{",
    b"}}", b"{|", b"|}", b"|", b"&lt;ref&gt;", b"&lt;/ref&gt;", b"&lt;!--", b"--&gt;", b"&amp;",
    b"&#x110000;", b"&amp;#" + b"9" * 5000 + b";", b"&amp;#xffffffffffff;", b"<![CDATA[", b"]]>",
    b"<!DOCTYPE a [", b'<!ENTITY a "b">', b"&a;", b"<?xml encoding='utf-7'?>", b"'''", b"//", b"__",
    b"xmlns:a='b' a:",
]  # fmt: skip
_PARQUET_TOKENS = [b"PAR1", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff\x0f", b"\x15"]


def parquet_seeds() -> list[bytes]:
    """Tables of ordinary and of odd types, in several ways of writing."""
    import pyarrow as pa
    from pyarrow import parquet

    n = 300
    ids, texts = [f"d{i}" for i in range(n)], [f"cats and dogs {i * i % 57}" for i in range(n)]
    tables = [
        pa.table({"id": ids, "text": texts}),
        pa.table({"id": list(range(n)), "text": [text.split() for text in texts]}),
        pa.table({"id": ids, "text": [None, "x", ""] * (n // 3)}),
        pa.table({"id": [Decimal(i) for i in range(n)], "text": [b"\xff"] * n}),
        pa.table({"id": ids, "text": [[[1]], [None], None] * (n // 3)}),
        pa.table({"id": [None, True, False] * (n // 3), "text": [{"a": 1}] * n}),
        pa.table({"id": ids, "text": texts, "day": [datetime(2020, 1, 1)] * n}),
        pa.table(
            {
                "id": ids,
                "text": pa.array(texts).dictionary_encode(),
                "day": pa.array([2**62] * n, pa.timestamp("us")),
            }
        ),
        pa.table(
            {
                "id": ids,
                "text": texts,
                "day": pa.array([7, None, -(2**62)] * (n // 3), pa.duration("s")),
            }
        ),
        pa.table({"id": [], "text": []}, schema=pa.schema([("id", "string"), ("text", "string")])),
        pa.table([pa.array(ids), pa.array(texts), pa.array(texts)], names=["id", "text", "text"]),
        pa.table({"user": ids, "item": texts, "rating": [3.5] * n, "timestamp": list(range(n))}),
        pa.table({"user": ids, "item": texts, "rating": [Decimal("4.0")] * n}),
    ]
    ways: list[dict[str, Any]] = [
        {"compression": "none"},
        {"compression": "snappy", "row_group_size": 70},
        {"compression": "zstd", "use_dictionary": False, "data_page_version": "2.0"},
        {"compression": "gzip", "data_page_size": 64, "write_page_checksum": True},
    ]
    seeds = []
    for table in tables:
        for way in ways:
            file = io.BytesIO()
            parquet.write_table(table, file, store_schema=False, **way)
            seeds.append(file.getvalue())
    return seeds


def kinds() -> dict[str, Kind]:
    """What there is to fuzz, by a name of its own."""
    bags = [{"vocabulary": VOCABULARY}, {"vocabulary": VOCABULARY, "max_words": 1}]
    likes: list[dict[str, Any]] = [
        {"format": "ratings", "threshold": 4.0},
        {"format": "ratings"},
        {"format": "ratings", "in_order": True, "threshold": 0.0},
        {"format": "ratings", "rating_column": None},
    ]
    small: list[dict[str, Any]] = [{}, {"max_bytes": 50}, {"max_words": 2}]
    csv: list[dict[str, Any]] = [
        *small, {"id_column": None}, {"time_column": "day"}, {"delimiter": ";"}, {"max_columns": 2},
    ]  # fmt: skip
    found = {
        "jsonl": Kind("a.jsonl", _JSON, _JSON_TOKENS, [*small, {"max_depth": 3}]),
        "text": Kind("a.txt", _TEXT, [], small),
        "csv": Kind("a.csv", _CSV, _CSV_TOKENS, csv),
        "tsv": Kind("a.tsv", _TSV, [*_CSV_TOKENS, b"\t"], csv),
        "ratings": Kind("r.csv", _RATINGS, _CSV_TOKENS, likes),
        "uci": Kind("docword.a.txt", _UCI, _NUMBERS, bags),
        "ldac": Kind("a.ldac", _LDAC, _NUMBERS, bags),
        "mediawiki": Kind("a.xml", _WIKI, _WIKI_TOKENS, [*small, {"page_key": "id"}]),
    }
    for library in ("pyarrow", "polars"):
        tables: list[dict[str, Any]] = [
            {}, {"time_column": "day"}, {"id_column": None}, {"format": "ratings"},
            {"format": "ratings", "threshold": 3, "in_order": True},
        ]  # fmt: skip
        name = f"parquet-{library}"
        found[name] = Kind("a.pq", parquet_seeds(), _PARQUET_TOKENS, tables, library)
    return found


@dataclass(frozen=True)
class Input:
    """A feed: its name, its bytes, and how to read it."""

    name: str
    content: bytes
    options: dict[str, Any]


def make(kind: Kind, seed: str) -> Input:
    """The input of a seed, the same each time."""
    rng = random.Random(seed)
    tokens = kind.tokens if rng.random() < 0.7 else _ANYWHERE
    tokens = [*tokens, *_ANYWHERE] if rng.random() < 0.3 else tokens or _ANYWHERE
    content = rng.choice(kind.seeds)
    if kind.library and rng.random() < 0.8:
        # Any other length, and nothing is found at its place.
        for _ in range(rng.choice([1, 1, 2, 4])):
            content = overwritten(content, rng, tokens)
        return Input(kind.name, content, dict(rng.choice(_fitting(content, kind.options))))
    if rng.random() < 0.2:
        content += rng.choice(kind.seeds)
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 5])):
        content = mutated(content, rng, tokens, kind.seeds)
    suffix = rng.choice([*COMPRESSIONS, "", "", ""])
    packed = COMPRESSIONS[suffix](content)
    if suffix and rng.random() < 0.5:
        for _ in range(rng.choice([1, 1, 2, 4])):
            packed = mutated(packed, rng, [b"\0", b"\xff", b"\x1f\x8b"], [packed])
    if suffix and rng.random() < 0.1:
        packed += COMPRESSIONS[suffix](content)
    return Input(kind.name + suffix, packed, dict(rng.choice(kind.options)))


def _fitting(table: bytes, options: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The options that ask for columns which a Parquet file has."""
    likes, days = b"rating" in table, b"day" in table
    return [
        some
        for some in options
        if ("format" in some) == likes and (days or "time_column" not in some)
    ]


def overwritten(content: bytes, rng: random.Random, tokens: list[bytes]) -> bytes:
    """Some bytes with others in their place, of the same length."""
    place = rng.randrange(len(content))
    part = rng.choice([rng.randbytes(1), rng.randbytes(4), rng.choice(tokens)[:8]])
    if rng.random() < 0.3:
        part = bytes([content[place] ^ 1 << rng.randrange(8)])
    return (content[:place] + part + content[place + len(part) :])[: len(content)]


def mutated(
    content: bytes,
    rng: random.Random,
    tokens: list[bytes],
    others: list[bytes],
    alphabet: bytes = b"",
) -> bytes:
    """One thing done to some bytes."""
    size = len(content)
    start = rng.randrange(size + 1)
    end = min(size, start + rng.choice([1, 1, 2, 5, 20, 100]))
    before, part, after = content[:start], content[start:end], content[end:]
    what = rng.randrange(9)
    if what == 0 and not alphabet:
        part = bytes(byte ^ 1 << rng.randrange(8) for byte in part)
    elif what <= 1:
        part = bytes(rng.choices(alphabet or range(256), k=len(part)))
    elif what == 2:
        part = b""
    elif what == 3:
        part *= rng.choice([2, 3, 50, 1000])
    elif what == 4:
        part = rng.choice(tokens) * rng.choice([1, 1, 1, 2, 100])
    elif what == 5:
        part += rng.choice(tokens)
    elif what == 6:
        other = rng.choice(others)
        place = rng.randrange(len(other) + 1)
        part = other[place : place + rng.randrange(200)]
    elif what == 7:
        after = b""
    else:
        part = part[::-1]
    return (before + part + after)[:MOST]
