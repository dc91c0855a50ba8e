"""Texts of pages of a MediaWiki dump, in Numba; the twin in `reference` says what they are."""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

from trustream.kernels import elementary
from trustream.kernels.jit import njit
from trustream.kernels.wiki_pages.compiled_markup import strip_markup
from trustream.kernels.wiki_pages.compiled_xml import read_fields
from trustream.kernels.wiki_pages.reference import ARTICLE

__all__ = ["page_text"]


@njit(**elementary.KERNEL)
def page_text(
    data,
    media, media_ends, met, met_ends, met_is_media,
    scratch, fields, places, text,
):  # fmt: skip
    """(what, n): what a page is and, of an article, its text without markup in text[:n]."""
    what, n = read_fields(data, scratch, fields, places, text)
    if what != ARTICLE:
        return what, 0
    return strip_markup(scratch, n, media, media_ends, met, met_ends, met_is_media, text)
