"""Read the articles of a MediaWiki XML dump."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from xml.etree import ElementTree

from trustream.feeds.errors import FeedError, InvalidValue, too_long
from trustream.feeds.items import Items, Mark, make_items
from trustream.feeds.options import Options
from trustream.feeds.page_scanner import PageScanner
from trustream.feeds.sources import FileSource, Source
from trustream.feeds.validation import make_record, make_words, with_text
from trustream.kernels.wiki_pages.reference_markup import MEDIA, strip_markup
from trustream.store.records import Record

_BEGIN, _END = b"<page>", b"</page>"
_HEAD = 2**16
# What is kept of bytes that are passed over, to see the end of the dump.
_KEPT = 64
# Pictures and categories have names of their own in every language.
_NAMESPACE = re.compile(rb'<namespace key="(?:6|14)"[^<>]*+>([^<]++)</namespace>')


def read_mediawiki(source: Source, mark: Mark, options: Options) -> Items:
    """Records of the articles (namespace 0), without redirects and without markup.

    A page is found by its tags, which stand nowhere else because text in XML is escaped, and then
    parsed by itself: so reading can begin at any page, and go on after one that is broken. Its
    time is that of its revision; of several revisions in a page the last is taken.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> text = b"<title>Cat</title><ns>0</ns><revision><text>A [[felid]]</text></revision>"
    >>> stream = io.BytesIO(b"<mediawiki><page>" + text + b"</page></mediawiki>")
    >>> [item.record.words for item in read_mediawiki(StreamSource(stream), Mark(), Options())]
    [['felid']]
    """
    media = _media(source)
    chunks = source.chunks(mark.offset)
    pages = split_pages(chunks, mark, options.max_bytes, is_part=source.is_part)
    scanner = PageScanner(options.tokenise, media)
    yield from make_items(
        source.name, mark, pages, lambda page: _record(page, options, media, scanner)
    )


class Page(NamedTuple):
    """The bytes of a page, or what is wrong; `mark.number` counts line ends before its end."""

    mark: Mark
    line: int
    content: bytes = b""
    error: InvalidValue | None = None


def split_pages(
    chunks: Iterable[bytes | None], mark: Mark, max_bytes: int, *, is_part: bool = False
) -> Iterator[Page | None]:
    """Chunks of bytes as pages; what is between pages is passed over.

    Unless they are a part of a dump, the dump should be complete when they end.

    >>> chunks = [b"<mediawiki>\\n<page>1</pa", b"ge><page>22</page></mediawiki>"]
    >>> [page.content for page in split_pages(chunks, Mark(), 100)]
    [b'<page>1</page>', b'<page>22</page>']
    """
    offset, number = mark
    data = bytearray()  # from `offset` on
    line, searched, inside, lost = 0, 0, False, False
    for chunk in chunks:
        if chunk is None:
            yield None
            continue
        data += chunk
        while (place := data.find(_END if inside else _BEGIN, searched)) >= 0:
            end = place + len(_END) if inside else place
            offset, number = offset + end, number + data.count(b"\n", 0, end)
            lost = lost or (inside and end > max_bytes)
            content = bytes(data[:end]) if inside and not lost else b""
            del data[:end]
            if inside:
                mark = Mark(offset, number)
                yield Page(mark, line, content, too_long(max_bytes) if lost else None)
            else:
                line = number + 1
            inside, lost, searched = not inside, False, 0
        lost = lost or (inside and len(data) > max_bytes)
        if lost or not inside:
            gone = max(0, len(data) - _KEPT)
            offset, number = offset + gone, number + data.count(b"\n", 0, gone)
            del data[:gone]
        # Its end may hold a part of the tag that is looked for.
        searched = max(0, len(data) - len(_END) + 1)
    if inside or not (is_part or b"</mediawiki>" in data):
        error = InvalidValue("the dump ends here: it is incomplete")
        yield Page(mark, line if inside else number + 1, b"", error)


def _record(
    page: Page, options: Options, media: frozenset[str], scanner: PageScanner
) -> Record | None:
    if page.error is not None:
        raise page.error
    scanned = scanner.page(page.content)
    if scanned is not None:
        if not scanned.is_article:
            return None
        key = scanned.title if options.page_key == "title" else scanned.id
        if key:
            record = make_record(
                key.strip(), scanned.words, scanned.time, max_words=options.max_words
            )
            text = scanned.text.decode() if options.keep_text else None
            return with_text(record, text, scanned.title, options)
    try:
        root = ElementTree.fromstring(page.content)
    except ElementTree.ParseError as error:
        raise InvalidValue(f"is not XML: {error}", field="the page") from None
    if (root.findtext("ns") or "0").strip() != "0" or root.find("redirect") is not None:
        return None
    key = root.findtext(options.page_key)
    if not key:
        raise InvalidValue(f"has no {options.page_key}", field="the page")
    revisions = root.findall("revision")
    if not revisions:
        raise InvalidValue("has no revision", field="the page")
    text = strip_markup(revisions[-1].findtext("text") or "", media)
    words = make_words(options.tokenise, text)
    time = revisions[-1].findtext("timestamp")
    record = make_record(key.strip(), words, time, max_words=options.max_words)
    return with_text(record, text, root.findtext("title"), options)


def _media(source: Source) -> frozenset[str]:
    if not isinstance(source, FileSource):
        return MEDIA
    head = source.head(_HEAD)
    if head and b"<mediawiki" not in head:
        raise FeedError(f"{source.name} does not begin as a MediaWiki dump does, with <mediawiki")
    return MEDIA | {name.decode(errors="replace").lower() for name in _NAMESPACE.findall(head)}
