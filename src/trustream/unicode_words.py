"""Say what a word is in a text of any script, in time that grows with the length of the text.

A word is a letter and what follows it of

- letters: what ``[^\\W\\d_]`` matches;
- marks, Unicode's category M. Vowel signs of Hindi, Bengali or Tamil and vowel points of Arabic or
  Hebrew are marks, as are accents for which a letter has no character of its own;
- joiners, U+200C and U+200D, between two of these. They are a part of the spelling in Persian,
  Sinhala or Malayalam.

A text without marks and joiners has the words that ``[^\\W\\d_]+`` finds. Scripts that are written
without spaces between words have longer "words" by this rule: `unspaced` finds them.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import NamedTuple

LETTERS = re.compile(r"[^\W\d_]+")
JOINERS = "\u200c\u200d"
# Stretches Arabic words, and says nothing; Unicode has it among the letters.
_TATWEEL = "\u0640"

# Characters that are put in their normal form at once: the time grows with the square of a run of
# combining marks, and a thousand of them take a millisecond.
_PIECE = 1000
_SLACK = 100
# Marks in a row after which a run is broken, the number of Unicode's stream-safe text format.
_MAX_MARKS = 30
# Nothing before these characters changes with them, so that a text can be cut there: Latin letters
# and what else stands before the first mark, kana, Chinese characters, Korean syllables.
_BOUNDARY = re.compile("[\0-\u02ff\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3]")

# Where the first mark is, and the first character for which a class is no table.
_BEYOND_LATIN = re.compile("[\u0300-\U0010ffff]")
_BEYOND_TABLES = re.compile("[\U00010000-\U0010ffff]")

# Scripts without spaces between words, by what people call them.
_SCRIPTS = {
    "Chinese or Japanese": (
        "\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
        "\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003fffd"
    ),
    "Thai": "\u0e01-\u0e5b",
    "Lao": "\u0e81-\u0edf",
    "Burmese": "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f",
    "Khmer": "\u1780-\u17ff",
}
UNSPACED = re.compile(f"[{''.join(_SCRIPTS.values())}{JOINERS}]+")


def composed(text: str) -> str:
    """Return ``text`` in Unicode's normal form C, in time that grows with its length.

    A run of more than 30 combining marks in a long text is broken by U+034F, the combining
    grapheme joiner, as the stream-safe text format has it.

    Examples
    --------
    >>> composed("cafe\\u0301")
    'café'
    """
    if len(text) <= _PIECE or text.isascii():
        return unicodedata.normalize("NFC", text)
    pieces: list[str] = []
    start = 0
    while start < len(text):
        boundary = _BOUNDARY.search(text, start + _PIECE)
        end = boundary.start() if boundary else len(text)
        piece = text[start:end]
        if len(piece) > _PIECE + _SLACK:
            piece = _run_of_marks().sub("\\g<0>\u034f", piece)
        pieces.append(unicodedata.normalize("NFC", piece))
        start = end
    return "".join(pieces)


def lower_case(text: str, *, dotless: bool = False) -> str:
    """Return a text of normal form C in lower case, in the same form.

    Parameters
    ----------
    text : str
    dotless : bool
        Whether I becomes ı, as in Turkish; İ becomes i in any case.

    Examples
    --------
    >>> lower_case("DIYARBAKIR İSTANBUL"), lower_case("DIYARBAKIR İSTANBUL", dotless=True)
    ('diyarbakir istanbul', 'dıyarbakır istanbul')
    """
    if dotless:
        text = text.replace("I", "ı")
    if text.isascii():
        return text.lower()
    text = text.replace("İ", "i").lower()
    # Some letters have a character for them with a mark only in lower case.
    return composed(text) if has_marks(text) else text


def has_marks(text: str) -> bool:
    """Whether there are marks or joiners in a text.

    >>> has_marks("हिन्दी"), has_marks("Größe")
    (True, False)
    """
    if text.isascii() or _BEYOND_LATIN.search(text) is None:
        return False
    return _patterns_for(text).marks.search(text) is not None


def without_marks(text: str) -> str:
    """Return a text of normal form C without marks, joiners and the tatweel.

    Accents that are a part of a letter's character stay.

    >>> without_marks("за\\u0301мок, café, كِتَــاب")
    'замок, café, كتاب'
    """
    if text.isascii():
        return text
    return _patterns_for(text).marks.sub("", text).replace(_TATWEEL, "")


def words_of(text: str) -> list[str]:
    """Return the words of a text of normal form C, of any length.

    >>> words_of("हिन्दी में, Größe_2")
    ['हिन्दी', 'में', 'Größe']
    """
    if not has_marks(text):
        return LETTERS.findall(text)
    return [word.rstrip(JOINERS) for word in _patterns_for(text).words.findall(text)]


def word_pattern(text: str) -> re.Pattern[str]:
    """Return a pattern that finds the words of a text; joiners may be left at their ends."""
    return _patterns_for(text).words if has_marks(text) else LETTERS


def n_letters(word: str) -> int:
    """Return the number of letters of a word, without marks and joiners.

    >>> n_letters("हिन्दी"), n_letters("größe")
    (3, 5)
    """
    return len(_patterns_for(word).marks.sub("", word)) if has_marks(word) else len(word)


def unspaced_script(words: str, share: float = 0.3) -> str | None:
    """Return the script without spaces that words are in, None if few are.

    Parameters
    ----------
    words : str
        Words, or a text.
    share : float
        How much of its letters and marks is more than a few.

    Examples
    --------
    >>> unspaced_script("我来到北京"), unspaced_script("Größe von 日本"), unspaced_script("ภาษาไทย")
    ('Chinese or Japanese', None, 'Thai')
    """
    if words.isascii():
        return None
    sizes = {
        name: sum(map(len, pattern.findall(words))) for name, pattern in _script_patterns().items()
    }
    total = sum(map(len, words_of(words)))
    name = max(sizes, key=sizes.__getitem__)
    return name if sizes[name] > share * total else None


@cache
def _script_patterns() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(f"[{characters}]+") for name, characters in _SCRIPTS.items()}


class _Patterns(NamedTuple):
    """Marks and joiners, and words with them."""

    marks: re.Pattern[str]
    words: re.Pattern[str]


def _patterns_for(text: str) -> _Patterns:
    """Classes of characters below U+10000 alone are tables, which are many times faster."""
    return _patterns_up_to(0xFFFF if _BEYOND_TABLES.search(text) is None else sys.maxunicode)


@cache
def _patterns_up_to(last: int) -> _Patterns:
    marks = f"{_class_of_marks(last)}{JOINERS}"
    letters = LETTERS.pattern
    return _Patterns(
        re.compile(f"[{marks}]+"), re.compile(f"{letters}(?:[{marks}]+(?:{letters})?)*")
    )


def _class_of_marks(last: int) -> str:
    """All marks up to a code, as the ranges of a class of characters."""
    ranges: list[list[int]] = []
    # There is nothing between these but Chinese characters and what is not assigned.
    for code in (*range(0x300, 0x20000), *range(0xE0000, 0xE0200)):
        if code <= last and unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


@cache
def _run_of_marks() -> re.Pattern[str]:
    """Matches the longest run of marks that is allowed, if another mark follows."""
    # Some marks count as none before they are taken apart. There are none in the planes above.
    marks = "".join(
        mark
        for mark in map(chr, range(0x300, 0x20000))
        if unicodedata.combining(unicodedata.normalize("NFD", mark)[0])
    )
    return re.compile(f"[{marks}]{{{_MAX_MARKS}}}(?=[{marks}])")
