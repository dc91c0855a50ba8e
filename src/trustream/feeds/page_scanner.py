"""Read pages of a MediaWiki dump from bytes to words by compiled code, where they are simple.

The kernel takes no page of which it is not certain: those, and what is wrong with a page, are left
to `trustream.feeds.mediawiki`, so that records and errors are the same as without it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trustream import kernels
from trustream.feeds.word_coder import Tokenise, WordCoder
from trustream.kernels.names import joined
from trustream.kernels.wiki_pages.reference import ARTICLE, ASK, ID, NO_ARTICLE, TIME, TITLE
from trustream.store.coded_words import CodedWords

# Names of namespaces that are kept: a dump has a few, and links with colons in them any number.
_MAX_NAMES = 256


class ScannedPage(NamedTuple):
    """A page of which nothing is in doubt.

    Attributes:
        is_article: else it is a redirect, or of another namespace, and has nothing.
        title, id, time: None if there is none.
        words: of its text.
        text: without markup, in UTF-8.
    """

    is_article: bool
    title: str | None = None
    id: str | None = None
    time: str | None = None
    words: CodedWords | None = None
    text: bytes = b""


class PageScanner:
    """Reads pages.

    Args:
        tokenise: makes words of texts; pages are read if it is a `WordCoder`.
        media: names of the namespaces, in lower case, whose links are left out.
        backend: of the kernel.

    >>> from trustream.feeds.word_coder import word_coder
    >>> from trustream.text import tokenise
    >>> scanner = PageScanner(word_coder(tokenise, backend="reference"), {"file"}, "reference")
    >>> revision = b"<revision><text>A [[felid]]</text></revision>"
    >>> scanner.page(b"<page><title>Cat</title>" + revision + b"</page>")
    ScannedPage(is_article=True, title='Cat', id=None, time=None, words=['felid'], text=b'A felid')
    """

    def __init__(
        self, tokenise: Tokenise, media: Collection[str], backend: str = "compiled"
    ) -> None:
        self._coder = tokenise if isinstance(tokenise, WordCoder) else None
        self._media = media
        self._backend = backend
        self._arguments: tuple[NDArray[np.generic], ...] = ()
        self._met: dict[bytes, bool] = {}
        self._buffers = [np.zeros(0, np.uint8)] * 3
        self._places = np.zeros((3, 2), np.int64)

    def page(self, content: bytes) -> ScannedPage | None:
        """What is in a page, None if the other reader has to say."""
        if self._coder is None or not self._coder.is_ready or not _is_text(content):
            return None
        if not self._arguments:
            self._take_names()
        page_text = kernels.get("wiki_pages", self._backend).page_text
        if len(self._buffers[0]) < len(content):
            self._buffers = [np.zeros(2 * len(content), np.uint8) for _ in range(3)]
        scratch, fields, text = self._buffers
        data = np.frombuffer(content, np.uint8)
        what, n = page_text(data, *self._arguments, scratch, fields, self._places, text)
        if what == NO_ARTICLE:
            return ScannedPage(False)
        if what == ASK:
            self._ask(text[:n].tobytes())
        if what != ARTICLE:
            return None
        values: list[str | None] = [None] * 3
        for role, (first, last) in enumerate(self._places.tolist()):
            if last > first:
                values[role] = fields[first:last].tobytes().decode()
        encoded = text[:n].tobytes()
        words = self._coder.words_of(encoded)
        return ScannedPage(True, values[TITLE], values[ID], values[TIME], words, encoded)

    def _ask(self, name: bytes) -> None:
        """Find out whether links to a namespace are left out, for the next page that has one."""
        if len(self._met) < _MAX_NAMES:
            self._met[name] = name.decode().strip().lower() in self._media
            self._take_names()

    def _take_names(self) -> None:
        media, ends = joined([name.encode() for name in sorted(self._media) if name.isascii()])
        met, met_ends = joined([*self._met])
        is_media = np.array([*self._met.values()], np.bool_)
        self._arguments = media, ends, met, met_ends, is_media


def _is_text(content: bytes) -> bool:
    try:
        return content.isascii() or bool(content.decode())
    except UnicodeDecodeError:
        return False
