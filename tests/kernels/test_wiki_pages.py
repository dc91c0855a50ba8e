"""Pages of dumps: the compiled kernel reads what its twin reads, or leaves a page to others."""

from __future__ import annotations

import io
from html.entities import html5
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.feeds.helpers import DUMP
from tests.reliability.fuzzed_feeds import kinds, make
from trustream import kernels
from trustream.feeds import Item, read
from trustream.feeds.page_scanner import PageScanner
from trustream.feeds.word_coder import word_coder
from trustream.kernels.wiki_pages.reference import ARTICLE, ASK, NO_ARTICLE, OTHER
from trustream.kernels.wiki_pages.reference_markup import MEDIA, strip_markup
from trustream.text import Tokeniser, tokenise

NAMES = [*sorted(MEDIA), "datei", "файл"]
PIECES = st.one_of(
    st.sampled_from(
        "[[ ]] {{ }} {| |} | [ ] { } a Bc : File: Datei: IMAGE\t: Файл: ФАЙЛ: Ключ: \u212aey: [[x]]"
        " [[y|z]] [[image:y|z]] [[Файл:y|z]] [[Ключ:y]] {{t}} <ref> </ref> </REF\n> <ref name=x />"
        " <br/> <br> <b> </b> <h1/> <ref-x> <!-- --> --> <math> </Math> </math\u00a0> <ſource>"
        " </source> <pre </pre> < > / // http:// https://x.y/z HTTPS://é.org [ftp://x mailto://"
        " httpſ://x éhttp://y \u00a0 \u2028 \u3000 \u200b é Σ ς & &amp; &amp;amp; &nbsp; &nbsp"
        " &ndash; &#160; &#xE9; &#xe9 &#0; &#128; &#99999999; &# &#x; &not; &notit; &T &copy; &é;"
        " &CounterClockwiseContourIntegral; &nGt; __ __NOTOC__ _ ' '' ''' ===".split(" ")
    ),
    st.sampled_from([" ", "\n", "[[" * 60, "{{[[" * 40, "]]" * 30, "}}" * 30, "<b>" * 201, "  "]),
    st.text(max_size=4),
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)


def page(text: str, title: str = "Cat") -> bytes:
    """A page as dumps have them."""
    return (
        f"<page>\n    <title>{escape(title)}</title>\n    <ns>0</ns>\n    <id>12</id>\n"
        "    <revision>\n      <id>7</id>\n      <parentid>6</parentid>\n"
        "      <timestamp>2015-07-06T12:00:00Z</timestamp>\n"
        "      <contributor>\n        <username>A</username>\n        <id>1</id>\n"
        "      </contributor>\n      <minor />\n      <comment>/* x */ &quot;y&quot;</comment>\n"
        "      <model>wikitext</model>\n      <format>text/x-wiki</format>\n"
        f'      <text bytes="{len(text)}" sha1="x" xml:space="preserve">{escape(text)}</text>\n'
        "      <sha1>x</sha1>\n    </revision>\n  </page>"
    ).encode(errors="replace")


def run(content: bytes, backend: str, met: tuple[str, ...] = ()) -> tuple[Any, ...]:
    """What a kernel makes of a page: what it is, its text and its fields."""
    parts: list[Any] = []
    for names in ([name for name in NAMES if name.isascii()], met):
        encoded = [name.encode() for name in names]
        parts.append(np.array(np.frombuffer(b"".join(encoded), np.uint8)))
        parts.append(np.cumsum([len(name) for name in encoded], dtype=np.int64))
    is_media = np.array([name.strip().lower() in NAMES for name in met], np.bool_)
    scratch, fields, text = (np.zeros(len(content), np.uint8) for _ in range(3))
    places = np.zeros((3, 2), np.int64)
    what, n = kernels.get("wiki_pages", backend).page_text(
        np.frombuffer(content, np.uint8), *parts, is_media, scratch, fields, places, text
    )
    found = text[:n].tobytes().decode() if n else ""
    if what != ARTICLE:
        return what, found
    return what, found, *(fields[a:b].tobytes().decode() for a, b in places.tolist())


def taken(content: bytes) -> bool:
    """Whether the compiled kernel takes a page, which then is what its twin says."""
    met: tuple[str, ...] = ()
    found = run(content, "compiled")
    while found[0] == ASK:
        assert found[1] not in met
        met = *met, found[1]
        found = run(content, "compiled", met)
    if found[0] == OTHER:
        return False
    assert found == run(content, "reference", (*met, "файл"))
    return True


@settings(deadline=None, max_examples=600)
@given(text=TEXTS)
@example(text="<ref>" + "<b>" * 200 + "x</ref>y")
@example(text="<ref>" + "<b>" * 201 + "x</ref>y")
@example(text="a <!-- x <ref> --> b</ref> <!--> c <!---> d --> e <!-- f")
@example(text="[[a:b|c [[File:x]] d]] {{x|{{y}} [[z]]}} {|\n|}\n{{{p|q}}}")
@example(text="[[ \t File \n:x]] [[:File:x]] [[a|File:x]] [[File|:x]]")
@example(text="[http://a.b/c d] [//x] ///y // z xhttp://[https://u] http:// http://v|w\u00a0x")
@example(text="'''''a''''' ''b''''c' ''''d")
@example(text="____A__B__ __A_ __a__ __TOC____X__")
@example(text="&amp;lt;b&amp;gt; &lt;i&gt; AT&T &amp;#65; &#x41;")
def test_twins(text: str) -> None:
    taken(page(text))


@settings(deadline=None, max_examples=400)
@given(text=st.text("'=_/&;#xA1<>!-b[]{}|: \u00a0é", max_size=60))
def test_twins_of_few_letters(text: str) -> None:
    taken(page(text))


XML = st.sampled_from(
    [
        b"<page>", b"</page>", b"</page >", b"<title>", b"</title>", b"<title/>", b"<ns>0</ns>",
        b"<ns>1</ns>", b"<ns> 0</ns>", b"<ns/>", b"<id>3</id>", b"<id></id>", b"<redirect />",
        b"<revision>", b"</revision>", b"<text>", b"</text>", b"<text />", b"<text x='1'>",
        b'<text x="1" x="2">', b'<text xmlns="z">', b'<text xml:space="a" b="c>">', b"<timestamp>",
        b"</timestamp>", b"<timestamp/>", b"<a:b>", b"<!-- -->", b"<![CDATA[x]]>", b"<?x?>", b"]]>",
        b"&lt;", b"&amp;", b"&quot;", b"&apos;", b"&gt;", b"&#65;", b"&nbsp;", b"&", b"<", b">",
        b"\r\n", b"\t", b"\x01", b"\xef\xbf\xbe", b"\xef\xbf\xbd", b"\xc3\xa9", b"[[x|y]]",
        b"<text>a</text>", b"<title>b</title>", b"<timestamp>c</timestamp>", b"<revision>x",
    ]
)  # fmt: skip


@settings(deadline=None, max_examples=600)
@given(
    pieces=st.lists(XML, max_size=8), places=st.lists(st.integers(0, 800), min_size=8, max_size=8)
)
def test_twins_of_xml(pieces: list[bytes], places: list[int]) -> None:
    """A page with something put anywhere into it."""
    content = page("Cats & [[dog]]s")
    for piece, place in zip(pieces, sorted(places), strict=False):
        place %= len(content)
        content = content[:place] + piece + content[place:]
    taken(content)


@settings(deadline=None, max_examples=400)
@given(pieces=st.lists(XML, max_size=12))
def test_twins_of_small_pages(pieces: list[bytes]) -> None:
    taken(b"<page>" + b"".join(pieces) + b"</page>")


def test_what_a_page_is() -> None:
    stamp = "2015-07-06T12:00:00Z"
    assert run(page("'''A''' [[b|c]]", "D & e"), "compiled") == (
        ARTICLE, "A c", "D & e", "12", stamp
    )  # fmt: skip
    content = page("x")
    for old, new, what in [
        (b"<ns>0", b"<ns>1", NO_ARTICLE),
        (b"<ns>0</ns>", b'<redirect title="x" />', NO_ARTICLE),
        (b"<ns>0</ns>", b"", ARTICLE),
        (b"</id>", b"</id><title>x</title>", OTHER),
        (b"</page>", b"<revision></revision></page>", OTHER),
        (b"</page>", b"", OTHER),
        (b"</page>", b"</page> ", OTHER),
    ]:
        changed = content.replace(old, new, 1)
        assert changed != content and run(changed, "compiled")[0] == what
        assert what == ARTICLE or taken(changed) == (what != OTHER)


ARTICLE_TEXT = """{{short description|Small [[felid]] animal}}
{{Infobox animal
| name = Cat | image = [[File:Cat.jpg|thumb|A [[tom cat|tom]]]]
| range = {{cvt|10|km}}&nbsp;wide
}}
The '''cat''' (''Felis catus''), also called '''house cat''' &ndash; a [[domestication|domestic]]
species of [[mammal]]s.<ref name="Linné">{{cite book |last=Linné |url=https://example.org/a?b=c&d=e
|title=Systema naturæ}}</ref><ref name="x" /> R&D at AT&T cost 5&nbsp;&euro;, or 4 &#8211; 6&#160;$.
== Étymology ==
<!-- see the talk page -->It comes from Latin ''cattus''.{{efn|[[Isidore of Seville|Isidore]] said}}
* one <small>and</small> two<br />three <math>x < y</math>
{| class="wikitable"
! Head !! [[Other]]
|-
| cell || {{val|3}}
|}
See [https://example.org the site] or http://example.net/x_(y). __NOTOC__
{{Reflist}}
[[Category:Cats]] [[de:Hauskatze]] [[Datei:x.png]]
"""


def test_usual_articles_are_taken() -> None:
    content = page(ARTICLE_TEXT)
    assert taken(content)
    found = run(content, "compiled")
    assert found[:2] == (ARTICLE, strip_markup(ARTICLE_TEXT, NAMES))
    # No slip of the twin either: what a reader sees.
    assert "domestic\nspecies of mammals" in found[1] and "Linné" not in found[1]


def test_entities() -> None:
    """Each is what it stands for, or left to others; those that are in use are not."""
    for name in html5:
        assert taken(page(f"a&{name}b &amp;{name} c")) or not name.endswith(";") or name[0] == "n"
    for number in [*range(0, 700), 0x2013, 0x20AC, 0xD7FF, 0xD800, 0xFDD0, 0xFFFF, 0x1F600, 2**40]:
        is_taken = taken(page(f"x&#{number}; &#x{number:X};y"))
        assert is_taken or not (160 <= number < 700 or number in (0x2013, 0x20AC))
    assert all(taken(page(f"&{name};")) for name in ("nbsp", "ndash", "amp", "quot", "lt", "times"))


def items(content: bytes, **options: Any) -> list[Item]:
    return list(read(io.BytesIO(content), format="mediawiki", **options))


@pytest.mark.parametrize(
    "tokeniser", [tokenise, Tokeniser(lower=False, min_length=1), Tokeniser(r"\w+")]
)
def test_the_same_items(tokeniser: Any) -> None:
    """Records, marks, lines and errors are those of the reader that knows all of XML."""
    coder = word_coder(tokeniser)
    texts = [ARTICLE_TEXT, "Σίσυφος [[ΦΣ]]", "[[Файл:x|y]] [[Кот: z]] w", "<ſource>x</source>", ""]
    dump = b"<mediawiki>\n" + b"\n".join(page(text) for text in 2 * texts) + b"\n</mediawiki>\n"
    assert len(items(dump)) == 10
    for content in (dump, DUMP.encode(), dump.replace(b"12:00", b"noon"), dump[:-900]):
        for options in ({}, {"page_key": "id"}, {"max_words": 3}, {"keep_text": 9}):
            expected = items(content, tokenise=tokeniser, **options)
            assert items(content, tokenise=coder, **options) == expected


def test_the_same_items_of_hostile_dumps() -> None:
    coder, kind = word_coder(tokenise), kinds()["mediawiki"]
    for number in range(300):
        given = make(kind, f"twins-{number}")
        found = []
        for one in (tokenise, coder):
            try:
                found.append((items(given.content, tokenise=one, **given.options), None))
            except ValueError as error:
                found.append(([], str(error)))
        assert found[0] == found[1], number


def test_namespaces_are_asked_for_once() -> None:
    scanner = PageScanner(word_coder(tokenise), {*MEDIA, "файл"})
    content = page("cats [[Файл:gone]] [[ФАЙЛ : gone]] [[Кот: mice]]")
    assert [scanner.page(content) is None for _ in range(5)] == [True, True, True, False, False]
    found = scanner.page(content)
    assert found is not None and found.words == ["cats", "кот", "mice"]


def test_too_many_namespaces() -> None:
    """They are not kept for ever, and pages are read all the same."""
    scanner = PageScanner(word_coder(tokenise), MEDIA)
    for i in range(400):
        assert scanner.page(page(f"[[é{i}: x]]")) is None
    assert scanner.page(page("[[é7: cats]]")) is not None
    assert scanner.page(page("[[é399: cats]]")) is None
    assert scanner.page(page(f"[[{'é' * 101}: cats]]")) is None


def test_what_is_no_utf_8_is_left_to_others() -> None:
    assert (
        PageScanner(word_coder(tokenise), MEDIA).page(page("x").replace(b">x<", b">\xff<")) is None
    )
