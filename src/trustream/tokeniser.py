"""Make words of texts by rules that are data, so that a store or a model file can keep them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from trustream import _schema, languages, segmenters
from trustream._stop_words import STOP_WORDS
from trustream.file_errors import lines_of
from trustream.phrase_joining import PhraseJoiner, checked_phrases
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
_words = _schema.Rule(
    lambda value: isinstance(value, list) and all(isinstance(word, str) for word in value),
    "a list of words",
)
# What `Tokeniser.from_dict` takes, of which a store or a model file may hold anything.
_DATA = {
    "pattern": _schema.optional(_schema.text),
    "min_length": _schema.integer(1),
    "stop_words": _words,
    "lower": _schema.boolean,
    "language": _schema.one_of(languages.LANGUAGES),
    "drop_marks": _schema.boolean,
    "segmenter": _schema.one_of(segmenters.NAMES),
    "phrases": _words,
}
# Written down only if they are not as here.
_UNLESS = {"language": None, "drop_marks": False, "segmenter": None, "phrases": ()}


class Tokeniser:
    """Make words of texts in another way than `trustream.text.tokenise` does.

    Parameters
    ----------
    pattern : str, optional
        A regular expression for words; letters with their marks by default, as
        `trustream.unicode_words` describes. If it has a group, the group is the word. How long it
        takes is up to the pattern: one that goes back over what it has matched, such as
        ``(a+)+b``, may never end on a text that was made for it.
    min_length : int, optional
        Words of fewer letters are left out; marks are no letters. With a pattern it counts
        characters. 3 by default, or what suits the language.
    stop_words : collection of str, path, or str, optional
        Words that are left out: themselves, a file with one word per line, or the name of a
        language. Those of the language by default, and English ones if there is none; an empty
        collection leaves none out.
    lower : bool
        Whether words, and stop words, are put in lower case.
    language : str, optional
        Code or English name of a language (`trustream.languages`), which decides on what is not
        given: stop words, the shortest words, `drop_marks` and the segmenter. In Turkish the lower
        case of I is ı.
    drop_marks : bool, optional
        Whether marks that are no part of a letter's character are left out, so that a word with
        vowel points is the same as without. By the language, and False without one.
    segmenter : str, optional
        What finds words in Chinese, Japanese and Thai, which have no spaces between them
        (`trustream.segmenters`): "jieba", "fugashi", "pythainlp", or "characters", "bigrams" and
        "trigrams", which need no dictionary.
    phrases : collection of str, or path, optional
        Words that become one if they stand next to one another: "new york" makes "new_york". A
        file has one phrase per line. `trustream.phrases` finds them.

    Examples
    --------
    >>> Tokeniser()("The Größe of n_samples2 arrays")
    ['größe', 'samples', 'arrays']
    >>> Tokeniser(r"[\\w-]+", min_length=1, stop_words=["a"], lower=False)("A trust-region a C++")
    ['A', 'trust-region', 'C']
    >>> Tokeniser(language="de")("Die Größe der Felder ist nicht bekannt")
    ['größe', 'felder', 'bekannt']
    >>> Tokeniser(segmenter="bigrams", min_length=2)("清华大学 is in New York")
    ['清华', '华大', '大学', 'is', 'in', 'new', 'york']
    >>> Tokeniser(phrases=["new york"])("New York, and a new York-based bank")
    ['new_york', 'new_york', 'based', 'bank']

    Two tokenisers are equal if they make the same words in the same way, and a tokeniser is plain
    data, so that a store or a model file can keep it:

    >>> words = Tokeniser(min_length=2, stop_words=["and"], lower=False)
    >>> words.to_dict()
    {'pattern': None, 'min_length': 2, 'stop_words': ['and'], 'lower': False}
    >>> Tokeniser.from_dict(words.to_dict()) == words
    True
    """

    def __init__(
        self,
        pattern: str | None = None,
        *,
        min_length: int | None = None,
        stop_words: Collection[str] | Path | None = None,
        lower: bool = True,
        language: str | None = None,
        drop_marks: bool | None = None,
        segmenter: str | None = None,
        phrases: Collection[str] | Path = (),
    ) -> None:
        self._pattern = None if pattern is None else _compiled(pattern)
        known = None if language is None else languages.language(language)
        self._language = known
        usual = known or languages.LANGUAGES["en"]
        self._min_length = usual.min_length if min_length is None else min_length
        if self._min_length < 1:
            raise ValueError(f"min_length is {min_length}, expected 1 or more")
        self._lower = lower
        self._drop_marks = usual.drop_marks if drop_marks is None else drop_marks
        self._segmenter = usual.segmenter if segmenter is None and pattern is None else segmenter
        if self._segmenter is not None:
            if pattern is not None:
                raise ValueError("a tokeniser has a pattern or a segmenter: give one of them")
            if self._segmenter not in segmenters.NAMES:
                segmenters.segmenter(self._segmenter)
        self._stop_words = self._normal_words(usual.code if stop_words is None else stop_words)
        self._phrases = self._normal_phrases(phrases)

    def __call__(self, text: str) -> list[str]:
        """Return the words of ``text``."""
        if self._phrases:
            return [word for stretch in self.stretches(text) for word in stretch]
        text, stop = self._normal(text), self._stop_words
        return [word for word in self._pieces(text) if word not in stop and self._is_long(word)]

    def stretches(self, text: str) -> list[list[str]]:
        """Return the words of ``text`` in lists of those that stand next to one another.

        Nothing but spaces, hyphens or the end of a line is between them: no stop word, no short
        word and no other character. Phrases are found in these lists (`trustream.phrases`).

        >>> Tokeniser().stretches("New York City, the trust-region step; a\\nlong line")
        [['new', 'york', 'city'], ['trust', 'region', 'step'], ['long', 'line']]
        """
        stretches = self._next_to_one_another(self._normal(text))
        return [self._joiner(words) if self._phrases else words for words in stretches]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokeniser) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        shown = [repr(self.pattern), f"min_length={self.min_length}"]
        shown += [f"stop_words=<{len(self.stop_words)} words>", f"lower={self.lower}"]
        for name, usual in _UNLESS.items():
            value = getattr(self, name)
            if value != usual:
                shown.append(
                    f"phrases=<{len(value)}>" if name == "phrases" else f"{name}={value!r}"
                )
        return f"Tokeniser({', '.join(shown)})"

    @property
    def pattern(self) -> str | None:
        """The regular expression of a word; None if words are letters with their marks."""
        return None if self._pattern is None else self._pattern.pattern

    @property
    def min_length(self) -> int:
        """Letters of the shortest word."""
        return self._min_length

    @property
    def stop_words(self) -> frozenset[str]:
        """The words that are left out, as they are compared."""
        return self._stop_words

    @property
    def lower(self) -> bool:
        """Whether words are put in lower case."""
        return self._lower

    @property
    def language(self) -> str | None:
        """The code of the language that it was made for."""
        return None if self._language is None else self._language.code

    @property
    def drop_marks(self) -> bool:
        """Whether marks that are no part of a letter's character are left out."""
        return self._drop_marks

    @property
    def segmenter(self) -> str | None:
        """What finds words in scripts without spaces."""
        return self._segmenter

    @property
    def phrases(self) -> tuple[str, ...]:
        """The phrases that become one word, sorted."""
        return self._phrases

    @property
    def _dotless(self) -> bool:
        return self._lower and self._language is not None and self._language.dotless

    @property
    def _key(self) -> tuple[Any, ...]:
        words = self.pattern, self.min_length, self.stop_words, self.lower, self._dotless
        return *words, self.drop_marks, self.segmenter, self.phrases

    def is_word(self, word: str) -> bool:
        """Whether it is long enough for a word, and none that is left out.

        >>> Tokeniser().is_word("york"), Tokeniser().is_word("the"), Tokeniser().is_word("ny")
        (True, False, False)
        """
        return bool(word) and word not in self._stop_words and self._is_long(word)

    def with_phrases(self, phrases: Iterable[str]) -> Tokeniser:
        """Return a tokeniser that makes one word of more phrases than this one.

        Parameters
        ----------
        phrases : iterable of str
            Words with spaces between them; they may be words that this one has joined.

        Examples
        --------
        >>> one = Tokeniser(phrases=["new york"])
        >>> one.with_phrases(["new_york times"]).phrases
        ('new york', 'new york times')
        """
        apart = {self._joiner.joined(phrase): phrase for phrase in self.phrases}
        more = [" ".join(apart.get(word, word) for word in phrase.split()) for phrase in phrases]
        return Tokeniser.from_dict({**self.to_dict(), "phrases": [*self.phrases, *more]})

    def to_dict(self) -> dict[str, Any]:
        """Return it as values that JSON has, stop words and all."""
        values = {
            "pattern": self.pattern,
            "min_length": self.min_length,
            "stop_words": sorted(self.stop_words),
            "lower": self.lower,
        }
        more = {name: getattr(self, name) for name in _UNLESS}
        more["phrases"] = list(self.phrases) or ()
        return values | {name: value for name, value in more.items() if value != _UNLESS[name]}

    @classmethod
    def from_dict(cls, values: Any) -> Tokeniser:
        """Return the tokeniser that `to_dict` wrote down; a ValueError says what is wrong."""
        _schema.check_values(values, _DATA, "the tokeniser", may_lack=_UNLESS)
        # A language decides on what is not given, and this was decided.
        return cls(**{"drop_marks": False, **values})

    # --- the way from a text to words

    def _normal(self, text: str) -> str:
        text = composed(text)
        if self._lower:
            text = lower_case(text, dotless=self._dotless)
        return without_marks(text) if self._drop_marks else text

    def _pieces(self, text: str) -> list[str]:
        """Words of a normal text, also short ones and stop words."""
        if self._pattern is not None:
            return self._pattern.findall(text)
        if self._segmenter is None:
            return words_of(text)
        return [piece for word in words_of(text) for piece in self._segments(word)]

    def _segments(self, word: str) -> list[str]:
        """A run of letters cut into words, where it is of a script without spaces."""
        found: list[str] = []
        end = 0
        for match in UNSPACED.finditer(word):
            found.append(word[end : match.start()])
            found += segmenters.segmenter(self._segmenter or "")(match[0])
            end = match.end()
        return [piece for piece in (*found, word[end:]) if piece]

    def _is_long(self, word: str) -> bool:
        if self._pattern is None and not word.isascii():
            return n_letters(word) >= self._min_length
        return len(word) >= self._min_length

    def _next_to_one_another(self, text: str) -> Iterator[list[str]]:
        """Yield the words of a normal text in lists, see `stretches`."""
        pattern = word_pattern(text) if self._pattern is None else self._pattern
        group = pattern.groups if self._pattern is not None else 0
        stop, cuts = self._stop_words, self._segmenter is not None
        stretch: list[str] = []
        end = 0
        for match in pattern.finditer(text):
            if stretch and not _is_gap(text[end : match.start()]):
                yield stretch
                stretch = []
            word, end = match[group], match.end()
            if pattern is not LETTERS and self._pattern is None:
                word = word.rstrip(JOINERS)
            for piece in self._segments(word) if cuts else (word,):
                if piece not in stop and self._is_long(piece):
                    stretch.append(piece)
                elif stretch:
                    yield stretch
                    stretch = []
        if stretch:
            yield stretch

    @cached_property
    def _joiner(self) -> PhraseJoiner:
        return PhraseJoiner(self._phrases)

    # --- words and phrases that are given

    def _normal_words(self, words: Collection[str] | Path) -> frozenset[str]:
        if isinstance(words, Path):
            words = lines_of(words)
        if not isinstance(words, str):
            return frozenset(self._normal(word.strip()) for word in words)
        try:
            listed = languages.stop_words(words)
        except ValueError:
            raise ValueError(
                f"stop_words is the text {words!r:.60}, expected words, or a Path, or one of the "
                f"languages {', '.join(languages.LANGUAGES)}"
            ) from None
        if listed is STOP_WORDS:
            return listed
        # Some have apostrophes, and others several words: what is no word by itself is not used.
        found = (self._pieces(self._normal(word)) for word in listed)
        return frozenset(pieces[0] for pieces in found if len(pieces) == 1)

    def _normal_phrases(self, phrases: Collection[str] | Path) -> tuple[str, ...]:
        if isinstance(phrases, Path):
            phrases = [line for line in lines_of(phrases) if line.strip()]
        if not phrases:
            return ()
        if self._segmenter in segmenters.N_GRAMS:
            raise ValueError(f"phrases are made of words, and {self._segmenter} are none")
        return checked_phrases(phrases, self._normal, self.is_word)


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
