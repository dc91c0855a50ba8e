"""Texts of pages of a MediaWiki dump, in plain Python; `reference_markup` strips their markup.

A page is simple if it is an XML element of which the title, the id, the namespace, the revision,
its time and its text are there once, or not at all, and hold characters alone. Whatever else a page
may be, another reader has to say.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from trustream.kernels.wiki_pages.reference_markup import strip_markup

__all__ = ["page_text"]

Array = NDArray[Any]

# What a page is: an article, no article (a redirect, or of another namespace), not simple, or one
# whose text links to a namespace that has to be asked for.
ARTICLE, NO_ARTICLE, OTHER, ASK = range(4)
TITLE, ID, TIME = range(3)
# Bytes of the longest namespace that is asked for.
MAX_NAMESPACE = 200


def page_text(
    data: Array,
    media: Array, media_ends: Array, met: Array, met_ends: Array, met_is_media: Array,
    scratch: Array, fields: Array, places: Array, text: Array,
) -> tuple[int, int]:  # fmt: skip
    """(what, n): what a page is and, of an article, its text without markup in text[:n].

    Title, id and time of an article are written to fields, role r from places[r, 0] up to
    places[r, 1], which are the same if there is none or it is empty.

    The compiled twin may call a page `OTHER` that is simple: it takes none of which it is not
    certain. Letters beyond ASCII have no upper and lower case for it. It returns `ASK` for a link
    to a namespace with such letters in it that was not met yet, with its name in text[:n].

    Args:
        data: (bytes,) uint8, from `<page>` to `</page>`, in valid UTF-8.
        media: uint8, names of ASCII letters of the namespaces whose links are left out, in lower
            case, one after the other.
        media_ends: (names,) int64, where each ends.
        met: uint8, names with letters beyond ASCII that were asked for, as links have them.
        met_ends: (names met,) int64, where each ends.
        met_is_media: (names met,) bool, whether links to them are left out.
        scratch, fields, text: uint8, at least as long as data.
        places: (3, 2) int64.
    """
    try:
        root = ElementTree.fromstring(data.tobytes())
    except ElementTree.ParseError:
        return OTHER, 0
    revisions = root.findall("revision")
    leaves = [found for name in ("title", "id", "ns") for found in [root.findall(name)]]
    leaves += [r.findall(name) for r in revisions for name in ("timestamp", "text")]
    if len(revisions) > 1 or any(len(found) > 1 or any(map(len, found)) for found in leaves):
        return OTHER, 0
    if (root.findtext("ns") or "0").strip() != "0" or root.find("redirect") is not None:
        return NO_ARTICLE, 0
    if not revisions or revisions[0].findtext("timestamp") == "":
        return OTHER, 0
    values = root.findtext("title"), root.findtext("id"), revisions[0].findtext("timestamp")
    n = 0
    for role, value in enumerate(values):
        encoded = np.frombuffer((value or "").encode(), np.uint8)
        places[role] = n, n + len(encoded)
        fields[n : n + len(encoded)] = encoded
        n += len(encoded)
    known = {name.decode() for name in _split(media, media_ends)}
    for name, is_media in zip(_split(met, met_ends), met_is_media, strict=True):
        if is_media:
            known.add(name.decode().strip().lower())
    stripped = strip_markup(revisions[0].findtext("text") or "", known)
    encoded = np.frombuffer(stripped.encode(), np.uint8)
    text[: len(encoded)] = encoded
    return ARTICLE, len(encoded)


def _split(names: Array, ends: Array) -> list[bytes]:
    starts = [0, *ends.tolist()]
    return [names[a:b].tobytes() for a, b in pairwise(starts)]
