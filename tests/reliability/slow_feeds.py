"""Feeds that were made to take long: each of them once did, or would with a careless change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Slow:
    """A feed of a size.

    Attributes:
        format: of the feed.
        make: its bytes, about as many as asked for.
        options: to read it with.
        factor: how much larger it is than others: a square that is small does no harm.
    """

    format: str
    make: Callable[[int], bytes]
    options: dict[str, Any] = field(default_factory=dict)
    factor: int = 1


def repeated(part: bytes, before: bytes = b"", after: bytes = b"") -> Callable[[int], bytes]:
    """The same part again and again."""
    return lambda size: before + part * (size // len(part)) + after


def nested(opening: bytes, closing: bytes, middle: bytes = b"") -> Callable[[int], bytes]:
    """Brackets inside one another, with as many bytes in the middle."""

    def make(size: int) -> bytes:
        n = size // (len(opening) + len(closing) + len(middle))
        return opening * n + middle * n + closing * n

    return make


def page(make: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """A page of a dump with this text."""
    before = b"<mediawiki><page><title>x</title><revision><text>"
    after = b"</text></revision></page></mediawiki>"
    return lambda size: before + make(size) + after


def xml(make: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """A page of a dump with this in it."""
    return lambda size: b"<mediawiki><page>" + make(size) + b"</page></mediawiki>"


def columns(size: int) -> bytes:
    """A table with as many columns as there is space for."""
    return b"id,text," + b",".join(b"%x" % i for i in range(size // 6)) + b"\na,b\n"


def short_rows(size: int) -> bytes:
    """Rows with too few values for thousands of columns."""
    return b"id,text," + b",".join(b"c%d" % i for i in range(9_000)) + b"\n" + b"a\n" * (size // 9)


WORDS = {"vocabulary": ["cats", "dogs", "birds"]}
_MARKS = "\u0301\u0323".encode()
_RATINGS = b"user,item,rating\na,b,"

SLOW: dict[str, Slow] = {
    "combining marks": Slow("text", repeated(_MARKS, b"a"), factor=6),
    "combining marks in pieces": Slow("text", repeated(_MARKS * 499 + b" a")),
    "combining marks without a class": Slow("text", repeated("\u0f73".encode(), b"a"), factor=6),
    "combining marks in json": Slow(
        "jsonl", repeated(b"\\u0301\\u0323", b'{"id":1,"text":"', b'"}'), factor=12
    ),
    "korean letters": Slow("text", repeated("\u1100\u1161\u11a8".encode())),
    "capital sigmas": Slow("text", repeated("Σ".encode(), b"a")),
    "empty lines": Slow("text", repeated(b"\n")),
    "columns": Slow("csv", columns, factor=10),
    "columns that are allowed": Slow("csv", columns, {"max_columns": 10**7}, factor=10),
    "a column many times": Slow("csv", repeated(b"c,"), {"max_columns": 10**7}, factor=10),
    "short rows": Slow("csv", short_rows, factor=16),
    "delimiters": Slow("csv", repeated(b",", b"id,text\n")),
    "quotes": Slow("csv", repeated(b'"', b"id,text\n")),
    "quotes of lines": Slow("csv", repeated(b'a,"x\n', b"id,text\n")),
    "quotes and values": Slow("csv", repeated(b'a,"x",', b"id,text\n")),
    "digits of a rating": Slow("ratings", repeated(b"9", _RATINGS)),
    "deep json": Slow("jsonl", repeated(b"[")),
    "deep objects": Slow("jsonl", nested(b'{"a":', b"}", b"")),
    "flat json": Slow("jsonl", repeated(b"[],", b'{"id":1,"text":"x","o":[', b"1]}")),
    "quotes in json": Slow("jsonl", repeated(b'\\"[', b'{"id":1,"text":"', b'"}')),
    "digits of an id": Slow("jsonl", repeated(b"9", b'{"id":', b',"text":"x"}')),
    "a value instead of an id": Slow("jsonl", repeated(b"[1],", b'{"text":"","id":[', b"1]}")),
    "digits of a term": Slow("ldac", repeated(b"9", b"1 0:"), WORDS),
    "colons": Slow("ldac", repeated(b":"), WORDS),
    "digits of a total": Slow("uci", repeated(b"9", b"", b"\n3\n1\n1 1 1\n"), WORDS),
    "documents in turns": Slow("uci", repeated(b"1 1 1\n2 1 1\n", b"2\n3\n9\n"), WORDS),
    "links in links": Slow("mediawiki", page(nested(b"[[x ", b"]] y")), factor=30),
    "a long text in links": Slow("mediawiki", page(nested(b"[[", b"]]", b"word ")), factor=30),
    "templates in templates": Slow("mediawiki", page(nested(b"{{", b"}}")), factor=5),
    "links that are open": Slow("mediawiki", page(repeated(b"[[a|"))),
    "references that are open": Slow("mediawiki", page(repeated(b"&lt;ref&gt;"))),
    "tags that are open": Slow("mediawiki", page(repeated(b"&lt;ref "))),
    "comments that are open": Slow("mediawiki", page(repeated(b"&lt;!--"))),
    "entities": Slow("mediawiki", page(repeated(b"&amp;amp;"))),
    "digits of an entity": Slow("mediawiki", page(repeated(b"9", b"&amp;#"))),
    "tags in references": Slow(
        "mediawiki", page(repeated(b"&lt;ref&gt;a &lt;b&gt; c ", b"", b"&lt;/ref&gt;"))
    ),
    "addresses": Slow("mediawiki", page(repeated(b"[[a|[http://x "))),
    "namespaces": Slow("mediawiki", page(repeated("[[\u00e9: x]] ".encode()))),
    "a long namespace": Slow("mediawiki", page(nested(b"[[\xc3\xa9", b"]]", b":"))),
    "lines": Slow("mediawiki", page(repeated(b"__A"))),
    "deep xml": Slow("mediawiki", xml(nested(b"<a>", b"</a>"))),
    "attributes": Slow(
        "mediawiki",
        xml(lambda n: b"<a " + b" ".join(b"a%d=''" % i for i in range(n // 9)) + b"/>"),
    ),
    "pages without an end": Slow("mediawiki", repeated(b"<page>", b"<mediawiki>")),
    "empty pages": Slow("mediawiki", repeated(b"<page></page>", b"<mediawiki>", b"</mediawiki>")),
}


def made(size: int) -> Iterator[tuple[str, Slow, bytes]]:
    """All of them, with their bytes."""
    for name, slow in SLOW.items():
        yield name, slow, slow.make(size * slow.factor)
