"""Make words of text, and counts of words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from trustream._stop_words import STOP_WORDS
from trustream.tokeniser import Tokeniser
from trustream.unicode_words import LETTERS, composed, has_marks, lower_case, n_letters, words_of
from trustream.word_counts import build_vocabulary, count_matrix, frequent_words

__all__ = [
    "BEFORE_MARKS",
    "LetterRules",
    "Tokeniser",
    "build_vocabulary",
    "count_matrix",
    "frequent_words",
    "leaves_clauses",
    "letter_rules",
    "tokenise",
]

_WORD = re.compile(r"[^\W\d_]{3,}")


def tokenise(text: str) -> list[str]:
    """Return the words of ``text``: Unicode letters, lower case, three or more, no stop words.

    Marks that follow a letter, such as the vowel signs of Hindi, belong to the word and do not
    count as letters (`trustream.unicode_words`). The stop words are English. For other languages,
    and for scripts without spaces between words, see `Tokeniser`.

    Examples
    --------
    >>> tokenise("The Größe of n_samples2 arrays, isn't it?")
    ['größe', 'samples', 'arrays']
    """
    text = lower_case(composed(text))
    if has_marks(text):
        words = [word for word in words_of(text) if n_letters(word) >= 3]
    else:
        words = _WORD.findall(text)
    return [word for word in words if word not in STOP_WORDS]


class LetterRules(NamedTuple):
    """Which runs of letters are the words of a tokeniser.

    Attributes
    ----------
    min_length : int
        Letters that a word has at least.
    stop_words : frozenset of str
        Words that are left out.
    lower : bool
        Whether letters are put in lower case first.
    """

    min_length: int
    stop_words: frozenset[str]
    lower: bool


def letter_rules(tokenise: Callable[[str], Sequence[str]]) -> LetterRules | None:
    """Return the rules of `tokenise` or a `Tokeniser`, None if words are not just runs of letters.

    Examples
    --------
    >>> letter_rules(Tokeniser(min_length=2, stop_words=["a"], lower=False))
    LetterRules(min_length=2, stop_words=frozenset({'a'}), lower=False)
    >>> letter_rules(Tokeniser(r"[\\w-]+")), letter_rules(str.split)
    (None, None)
    """
    if tokenise is _USUAL:
        return LetterRules(3, STOP_WORDS, True)
    if type(tokenise) is Tokeniser and leaves_clauses(tokenise):
        if tokenise.phrases or tokenise._finder.dotless:
            return None
        return LetterRules(tokenise.min_length, tokenise.stop_words, tokenise.lower)
    return None


def leaves_clauses(tokenise: Callable[[str], Sequence[str]]) -> bool:
    """Whether a tokeniser takes what has no spaces in it as one word.

    >>> leaves_clauses(tokenise), leaves_clauses(Tokeniser(segmenter="bigrams"))
    (True, False)
    """
    if tokenise is _USUAL:
        return True
    if type(tokenise) is not Tokeniser or tokenise.segmenter is not None:
        return False
    return tokenise.pattern in (None, LETTERS.pattern)


_USUAL = tokenise

# What made words of texts before marks were a part of words: stores and model files that do not say
# what theirs were made by have these.
BEFORE_MARKS = Tokeniser(LETTERS.pattern)
