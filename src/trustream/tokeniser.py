"""Make words of texts by rules that are data, so that a store or a model file can keep them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from trustream import _schema, languages, segmenters
from trustream._stop_words import STOP_WORDS
from trustream.file_errors import lines_of
from trustream.phrase_joining import PhraseJoiner, checked_phrases
from trustream.word_finder import WordFinder

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
        known = None if language is None else languages.language(language)
        self._language = known
        usual = known or languages.LANGUAGES["en"]
        self._finder = WordFinder(
            pattern,
            min_length=usual.min_length if min_length is None else min_length,
            lower=lower,
            dotless=lower and known is not None and known.dotless,
            drop_marks=usual.drop_marks if drop_marks is None else drop_marks,
            segmenter=usual.segmenter if segmenter is None and pattern is None else segmenter,
        )
        self._stop_words = self._normal_words(usual.code if stop_words is None else stop_words)
        self._phrases = self._normal_phrases(phrases)

    def __call__(self, text: str) -> list[str]:
        """Return the words of ``text``."""
        if self._phrases:
            return [word for stretch in self.stretches(text) for word in stretch]
        finder, stop = self._finder, self._stop_words
        pieces = finder.pieces(finder.normal(text))
        return [word for word in pieces if word not in stop and finder.is_long(word)]

    def stretches(self, text: str) -> list[list[str]]:
        """Return the words of ``text`` in lists of those that stand next to one another.

        Nothing but spaces, hyphens or the end of a line is between them: no stop word, no short
        word and no other character. Phrases are found in these lists (`trustream.phrases`).

        >>> Tokeniser().stretches("New York City, the trust-region step; a\\nlong line")
        [['new', 'york', 'city'], ['trust', 'region', 'step'], ['long', 'line']]
        """
        stretches = self._finder.stretches(self._finder.normal(text), self._stop_words)
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
        return self._finder.pattern

    @property
    def min_length(self) -> int:
        """Letters of the shortest word."""
        return self._finder.min_length

    @property
    def stop_words(self) -> frozenset[str]:
        """The words that are left out, as they are compared."""
        return self._stop_words

    @property
    def lower(self) -> bool:
        """Whether words are put in lower case."""
        return self._finder.lower

    @property
    def language(self) -> str | None:
        """The code of the language that it was made for."""
        return None if self._language is None else self._language.code

    @property
    def drop_marks(self) -> bool:
        """Whether marks that are no part of a letter's character are left out."""
        return self._finder.drop_marks

    @property
    def segmenter(self) -> str | None:
        """What finds words in scripts without spaces."""
        return self._finder.segmenter

    @property
    def phrases(self) -> tuple[str, ...]:
        """The phrases that become one word, sorted."""
        return self._phrases

    @property
    def _key(self) -> tuple[Any, ...]:
        words = self.pattern, self.min_length, self.stop_words, self.lower, self._finder.dotless
        return *words, self.drop_marks, self.segmenter, self.phrases

    def is_word(self, word: str) -> bool:
        """Whether it is long enough for a word, and none that is left out.

        >>> Tokeniser().is_word("york"), Tokeniser().is_word("the"), Tokeniser().is_word("ny")
        (True, False, False)
        """
        return bool(word) and word not in self._stop_words and self._finder.is_long(word)

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

    @cached_property
    def _joiner(self) -> PhraseJoiner:
        return PhraseJoiner(self._phrases)

    # --- words and phrases that are given

    def _normal_words(self, words: Collection[str] | Path) -> frozenset[str]:
        if isinstance(words, Path):
            words = lines_of(words)
        if not isinstance(words, str):
            return frozenset(self._finder.normal(word.strip()) for word in words)
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
        found = (self._finder.pieces(self._finder.normal(word)) for word in listed)
        return frozenset(pieces[0] for pieces in found if len(pieces) == 1)

    def _normal_phrases(self, phrases: Collection[str] | Path) -> tuple[str, ...]:
        if isinstance(phrases, Path):
            phrases = [line for line in lines_of(phrases) if line.strip()]
        if not phrases:
            return ()
        if self._finder.segmenter in segmenters.N_GRAMS:
            raise ValueError(f"phrases are made of words, and {self._finder.segmenter} are none")
        return checked_phrases(phrases, self._finder.normal, self.is_word)
