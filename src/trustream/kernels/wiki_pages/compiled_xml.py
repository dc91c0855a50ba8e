"""The parts of a page of a MediaWiki dump, in Numba: XML of the shape that such dumps have.

Elements with attributes, characters and the five entities of XML. Whatever else XML may have, such
as comments, sections, declarations or other entities, and whatever is no XML, is not taken.
"""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import numpy as np

from trustream.kernels import elementary
from trustream.kernels.jit import njit
from trustream.kernels.wiki_pages.reference import ARTICLE, ID, NO_ARTICLE, OTHER, TIME, TITLE

__all__ = ["read_fields"]

_TEXT, _NS, _REDIRECT, _REVISION = range(TIME + 1, TIME + 5)
_LESS, _GREATER, _SLASH, _AND, _QUOTE = ord("<"), ord(">"), ord("/"), ord("&"), ord('"')
_NEWLINE, _TAB, _SPACE, _EQUALS, _BRACKET = ord("\n"), ord("\t"), ord(" "), ord("="), ord("]")
_COLON, _ZERO = ord(":"), ord("0")
_MAX_DEPTH, _MAX_ATTRIBUTES = 8, 8
# Whether a byte is a letter, a letter or digit, and one of characters that needs a look.
_LETTER = np.zeros(256, np.bool_)
_LETTER[[*range(ord("a"), ord("z") + 1), *range(ord("A"), ord("Z") + 1)]] = True
_NAMED = _LETTER.copy()
_NAMED[ord("0") : ord("9") + 1] = True
_SPECIAL = np.zeros(256, np.bool_)
_SPECIAL[:32] = True
_SPECIAL[[_TAB, _NEWLINE]] = False
_SPECIAL[[_LESS, _GREATER, _AND, 0xEF]] = True
# Names of elements and what they stand for, and entities.
_TITLE_NAME, _ID_NAME, _NS_NAME, _REDIRECT_NAME, _REVISION_NAME, _TIME_NAME, _TEXT_NAME = (
    np.frombuffer(name, np.uint8)
    for name in (b"title", b"id", b"ns", b"redirect", b"revision", b"timestamp", b"text")
)
_XML, _XML_SPACE = np.frombuffer(b"xml", np.uint8), np.frombuffer(b"xml:space", np.uint8)
_LT, _GT, _AMP, _QUOT, _APOS = (
    np.frombuffer(name, np.uint8) for name in (b"lt;", b"gt;", b"amp;", b"quot;", b"apos;")
)


@njit(**elementary.INSIDE)
def _begins(data, place, size, name):
    """Whether a name stands at a place."""
    if place + name.size > size:
        return False
    for p in range(name.size):
        if data[place + p] != name[p]:
            return False
    return True


@njit(**elementary.INSIDE)
def _is(data, first, last, name):
    return last - first == name.size and _begins(data, first, last, name)


@njit(**elementary.INSIDE)
def _after_space(data, place, size):
    while place < size and (
        data[place] == _SPACE or data[place] == _NEWLINE or data[place] == _TAB
    ):
        place += 1
    return place


@njit(**elementary.INSIDE)
def _after_name(data, place, size):
    """The place behind a name, -1 if there is none."""
    if place >= size or not _LETTER[data[place]]:
        return -1
    while place < size and _NAMED[data[place]]:
        place += 1
    return place


@njit(**elementary.INSIDE)
def _after_attributes(data, place, size, attributes):
    """(place, empty): behind a tag that begins, and whether it ends there; -1 if not simple."""
    n = 0
    while True:
        first = _after_space(data, place, size)
        if first + 1 >= size:
            return -1, False
        if data[first] == _GREATER:
            return first + 1, False
        if data[first] == _SLASH:
            return (first + 2, True) if data[first + 1] == _GREATER else (-1, False)
        if first == place or n == _MAX_ATTRIBUTES:
            return -1, False
        if _begins(data, first, size, _XML):
            # Other such names say how XML is to be read.
            last = first + _XML_SPACE.size if _begins(data, first, size, _XML_SPACE) else -1
        else:
            last = _after_name(data, first, size)
        if last < 0 or last + 1 >= size or data[last] != _EQUALS or data[last + 1] != _QUOTE:
            return -1, False
        for i in range(n):
            if attributes[i, 1] - attributes[i, 0] == last - first:
                same = True
                for p in range(last - first):
                    same = same and data[first + p] == data[attributes[i, 0] + p]
                if same:
                    return -1, False
        attributes[n, 0], attributes[n, 1] = first, last
        n += 1
        place = last + 2
        while place < size and data[place] != _QUOTE:
            byte = data[place]
            if byte < 32 or (_SPECIAL[byte] and byte != _GREATER):
                return -1, False
            place += 1
        place += 1


@njit(**elementary.INSIDE)
def _characters(data, place, size, out, n):
    """(place, n): write what stands up to the next tag, without entities; -1 if not simple."""
    while place < size:
        byte = data[place]
        if not _SPECIAL[byte]:
            out[n] = byte
            n, place = n + 1, place + 1
        elif byte == _LESS:
            return place, n
        elif byte == _AND:
            place += 1
            if _begins(data, place, size, _LT):
                out[n] = _LESS
                place += 3
            elif _begins(data, place, size, _GT):
                out[n] = _GREATER
                place += 3
            elif _begins(data, place, size, _AMP):
                out[n] = _AND
                place += 4
            elif _begins(data, place, size, _QUOT):
                out[n] = _QUOTE
                place += 5
            elif _begins(data, place, size, _APOS):
                out[n] = ord("'")
                place += 5
            else:
                return -1, n
            n += 1
        else:
            if byte == _GREATER:  # which may not stand behind two brackets
                if place > 1 and data[place - 1] == _BRACKET and data[place - 2] == _BRACKET:
                    return -1, n
            elif byte == 0xEF:  # U+FFFE and U+FFFF are no characters
                if place + 2 < size and data[place + 1] == 0xBF and data[place + 2] >= 0xBE:
                    return -1, n
            else:
                return -1, n
            out[n] = byte
            n, place = n + 1, place + 1
    return -1, n


@njit(**elementary.INSIDE)
def _role(data, first, last, depth, in_revision):
    """What an element is for, by its name and how many others it stands in; -1 for nothing."""
    if depth == 1:
        if _is(data, first, last, _TITLE_NAME):
            return TITLE
        if _is(data, first, last, _ID_NAME):
            return ID
        if _is(data, first, last, _NS_NAME):
            return _NS
        if _is(data, first, last, _REDIRECT_NAME):
            return _REDIRECT
        if _is(data, first, last, _REVISION_NAME):
            return _REVISION
    elif depth == 2 and in_revision:
        if _is(data, first, last, _TIME_NAME):
            return TIME
        if _is(data, first, last, _TEXT_NAME):
            return _TEXT
    return -1


@njit(**elementary.INSIDE)
def _end(data, place, size, first, last):
    """The place behind the tag that ends the element of a name, -1 if it is another one."""
    for p in range(last - first):
        if place + p >= size or data[place + p] != data[first + p]:
            return -1
    place = _after_space(data, place + last - first, size)
    return place + 1 if place < size and data[place] == _GREATER else -1


@njit(**elementary.INSIDE)
def read_fields(data, text, fields, places, rest):
    """(what, n): what a page is, with the characters of its text in text[:n].

    Of an article title, id and time are in fields; characters that are for nothing go to rest.
    """
    size = data.size
    names = np.zeros((_MAX_DEPTH, 2), np.int64)
    attributes = np.zeros((_MAX_ATTRIBUTES, 2), np.int64)
    seen = np.zeros(_REVISION + 1, np.bool_)
    places[:] = 0
    place, depth, leaf, n_text, n_fields = 0, 0, 0, 0, 0
    in_revision = article = True
    while place + 1 < size and data[place] == _LESS:
        role = -1
        if data[place + 1] == _SLASH:
            if depth == 0:
                return OTHER, 0
            depth -= 1
            place = _end(data, place + 2, size, names[depth, 0], names[depth, 1])
            if place < 0:
                return OTHER, 0
            if depth == 0:
                break
            if depth < leaf:
                leaf = 0
        else:
            first = place + 1
            last = _after_name(data, first, size)
            if last < 0 or leaf or depth == _MAX_DEPTH:
                return OTHER, 0
            role = _role(data, first, last, depth, in_revision)
            place, empty = _after_attributes(data, last, size, attributes)
            if place < 0:
                return OTHER, 0
            if role >= 0:
                if seen[role] and role != _REDIRECT:
                    return OTHER, 0
                seen[role] = True
            if empty:
                if depth == 0 or role == TIME:
                    return OTHER, 0
                role = -1
            else:
                if depth == 1:
                    in_revision = role == _REVISION
                names[depth, 0], names[depth, 1] = first, last
                depth += 1
                if role >= 0 and role < _REDIRECT:
                    leaf = depth
        if role == _TEXT:
            place, n_text = _characters(data, place, size, text, 0)
        elif role == TITLE or role == ID or role == TIME or role == _NS:
            first = n_fields
            place, n_fields = _characters(data, place, size, fields, n_fields)
            if role == _NS:
                for p in range(first, n_fields):
                    if fields[p] < _ZERO or fields[p] > ord("9"):
                        return OTHER, 0
                article = n_fields == first or (n_fields == first + 1 and fields[first] == _ZERO)
            else:
                places[role, 0], places[role, 1] = first, n_fields
                if role == TIME and first == n_fields:
                    return OTHER, 0
        else:
            place, _ = _characters(data, place, size, rest, 0)
        if place < 0:
            return OTHER, 0
    if depth > 0 or place != size:
        return OTHER, 0
    if not article or seen[_REDIRECT]:
        return NO_ARTICLE, 0
    if not seen[_REVISION]:
        return OTHER, 0
    return ARTICLE, n_text
