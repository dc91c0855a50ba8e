"""Find the words of a text: by a pattern, by letters, or by a segmenter."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from trustream import segmenters
from trustream.unicode_words import (
    JOINERS,
    LETTERS,
    UNSPACED,
    composed,
    lower_case,
    n_letters,
    without_marks,
    word_pattern,
    words_of,
)

# What may stand between words that stand next to one another.
_GAP = re.compile(r"[\s\u2010\u2011-]*")


class WordFinder:
    """The way from a text to words, for `trustream.text.Tokeniser`, which says what is left out.

    Args:
        pattern: of words; None for letters with their marks.
        min_length: letters of a long word.
        lower: whether texts are put in lower case.
        dotless: whether the lower case of I is then \u0131.
        drop_marks: whether marks that are no part of a character are left out.
        segmenter: what cuts runs of letters of scripts without spaces; None leaves them.

    >>> finder = WordFinder(None, min_length=3)
    >>> finder.pieces(finder.normal("The trust-region step"))
    ['the', 'trust', 'region', 'step']
    """

    def __init__(
        self,
        pattern: str | None,
        *,
        min_length: int,
        lower: bool = True,
        dotless: bool = False,
        drop_marks: bool = False,
        segmenter: str | None = None,
    ) -> None:
        self._pattern = None if pattern is None else _compiled(pattern)
        if min_length < 1:
            raise ValueError(f"min_length is {min_length}, expected 1 or more")
        if segmenter is not None:
            if pattern is not None:
                raise ValueError("a tokeniser has a pattern or a segmenter: give one of them")
            if segmenter not in segmenters.NAMES:
                segmenters.segmenter(segmenter)
        self.min_length = min_length
        self.lower = lower
        self.dotless = dotless
        self.drop_marks = drop_marks
        self.segmenter = segmenter

    @property
    def pattern(self) -> str | None:
        """The regular expression for words, None for letters."""
        return None if self._pattern is None else self._pattern.pattern

    def normal(self, text: str) -> str:
        """A text in which words that are the same are spelled alike."""
        text = composed(text)
        if self.lower:
            text = lower_case(text, dotless=self.dotless)
        return without_marks(text) if self.drop_marks else text

    def pieces(self, text: str) -> list[str]:
        """Words of a normal text, also short ones."""
        if self._pattern is not None:
            return self._pattern.findall(text)
        if self.segmenter is None:
            return words_of(text)
        return [piece for word in words_of(text) for piece in self._segments(word)]

    def is_long(self, word: str) -> bool:
        """Whether a word has as many letters as it should."""
        if self._pattern is None and not word.isascii():
            return n_letters(word) >= self.min_length
        return len(word) >= self.min_length

    def stretches(self, text: str, stop_words: Collection[str]) -> Iterator[list[str]]:
        """Yield the words of a normal text in lists of those that stand next to one another.

        >>> list(WordFinder(None, min_length=2).stretches("new york, on a long line", {"on"}))
        [['new', 'york'], ['long', 'line']]
        """
        pattern = word_pattern(text) if self._pattern is None else self._pattern
        group = pattern.groups if self._pattern is not None else 0
        stretch: list[str] = []
        end = 0
        for match in pattern.finditer(text):
            if stretch and not _is_gap(text[end : match.start()]):
                yield stretch
                stretch = []
            word, end = match[group], match.end()
            if pattern is not LETTERS and self._pattern is None:
                word = word.rstrip(JOINERS)
            for piece in self._segments(word) if self.segmenter is not None else (word,):
                if piece not in stop_words and self.is_long(piece):
                    stretch.append(piece)
                elif stretch:
                    yield stretch
                    stretch = []
        if stretch:
            yield stretch

    def _segments(self, word: str) -> list[str]:
        """A run of letters cut into words, where it is of a script without spaces."""
        found: list[str] = []
        end = 0
        for match in UNSPACED.finditer(word):
            found.append(word[end : match.start()])
            found += segmenters.segmenter(self.segmenter or "")(match[0])
            end = match.end()
        return [piece for piece in (*found, word[end:]) if piece]


def _is_gap(between: str) -> bool:
    """Whether words with this between them stand next to one another."""
    return between == " " or (_GAP.fullmatch(between) is not None and between.count("\n") <= 1)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from error
    if not pattern:
        raise ValueError("pattern is empty, which no word matches; give a regular expression")
    if compiled.groups > 1:
        raise ValueError(f"pattern {pattern!r} has more than one group; write (?:...)")
    return compiled
