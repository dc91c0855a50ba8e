"""Strip the markup of wiki text: what is left is what a reader of the article sees, or nearly."""

from __future__ import annotations

import html
import re
from collections.abc import Collection

# What is inside is not prose.
LOST = tuple(
    "ref math chem source syntaxhighlight code pre gallery timeline score graph"
    " templatedata".split()
)
# Tags inside at most: else many that are never closed would each be followed to the end.
MAX_TAGS = 200
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_EMPTY = re.compile(r"<[a-z]+\b[^<>]*/>", re.IGNORECASE)
_ELEMENT = re.compile(
    rf"<({'|'.join(LOST)})\b[^<>]*+>[^<]*+(?:<(?!/\1\s*>)[^<]*+){{0,{MAX_TAGS}}}+</\1\s*>",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*+>")
# Links and templates with nothing in brackets inside, which most are, are found as a whole.
_BRACKET = re.compile(r"(\[\[[^][{}]*+\]\]|\{\{[^][{}]*+\}\}|\{\{|\}\}|\{\||\|\}(?!\})|\[\[|\]\])")
_ADDRESS = re.compile(r"\[?(?:https?:|ftp:|mailto:)?//[^\s\[\]<>|]+", re.IGNORECASE)
_SWITCH = re.compile(r"__[A-Z]+__")
# Larger than any character's, and html.unescape does not take all of them.
_NUMBER = re.compile(r"&#(?:[0-9]{8,}+|[xX][0-9a-fA-F]{8,}+);?")
_PARTNER = {"}}": "{{", "|}": "{|", "]]": "[["}
DEPTH = 20
# Brackets inside one another. What is inside is copied each time that one of them is closed.
MAX_OPEN = 100

# Links into these are pictures and categories, not text.
MEDIA = frozenset({"file", "image", "media", "category"})


def strip_markup(text: str, media: Collection[str] = MEDIA) -> str:
    """Text without templates, tables, references, pictures, categories, tags and addresses.

    Links leave the words that are shown for them. Brackets that are never closed are left out and
    what is in them stays, so that a slip in an article does not take the rest of it; of more than
    a hundred that are open at once, the first count as such.

    Args:
        text: of a page.
        media: names of the namespaces, in lower case, whose links are left out.

    >>> strip_markup("'''Cats''' [[felid|are felids]].{{cite|a={{b}}}} [[File:x.jpg|a [[tom]]]]")
    'Cats are felids. '
    """
    # Looking for a character first is much quicker than a pattern that is not there.
    if "<" in text:
        text = _ELEMENT.sub(" ", _EMPTY.sub(" ", _COMMENT.sub(" ", text)))
    text = _without_brackets(text, media)
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "//" in text:
        text = _ADDRESS.sub(" ", text)
    if "&" in text:  # twice, for dumps have entities of entities
        text = _unescaped(_unescaped(text))
    if "__" in text:
        text = _SWITCH.sub(" ", text)
    return text.replace("'''", "").replace("''", "").replace("=", " ")


def _without_brackets(text: str, media: Collection[str]) -> str:
    """One walk from left to right; what was opened last is closed first."""
    parts = _BRACKET.split(text)
    pieces: list[str] = [parts[0]]
    opened: list[tuple[str, int]] = []
    for bracket, after in zip(parts[1::2], parts[2::2], strict=True):
        if bracket in _PARTNER:
            _close(bracket, pieces, opened, media)
        else:
            if len(opened) == MAX_OPEN:
                del opened[0]
            if len(bracket) == 2:
                opened.append((bracket, len(pieces)))
            elif bracket[0] == "[":
                link = bracket[2:-2]
                pieces.append(_shown(link, media) if "|" in link or ":" in link else link)
        pieces.append(after)
    return "".join(pieces)


def _close(
    bracket: str, pieces: list[str], opened: list[tuple[str, int]], media: Collection[str]
) -> None:
    """Put what is shown in the place of the pieces that a bracket closes."""
    partner = _PARTNER[bracket]
    # Those opened after it are taken as closed with it. Few are looked at, to save time.
    if partner not in [kind for kind, _ in opened[-DEPTH:]]:
        return
    while True:
        kind, start = opened.pop()
        if kind == partner:
            break
    inner = "".join(pieces[start:]) if kind == "[[" else ""
    pieces[start:] = [_shown(inner, media)]


def _unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a number of thousands of digits
        return html.unescape(_NUMBER.sub("\ufffd", text))


def _shown(link: str, media: Collection[str]) -> str:
    """What a reader sees of the inside of a link."""
    if ":" in link:
        target, _, _ = link.partition("|")
        namespace, colon, _ = target.partition(":")
        if colon and namespace.strip().lower() in media:
            return ""
    return link.rpartition("|")[2]
