"""Make words of text, and counts of words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trustream import _schema
from trustream._stop_words import STOP_WORDS
from trustream.file_errors import lines_of

if TYPE_CHECKING:
    from scipy import sparse

_WORD = re.compile(r"[^\W\d_]{3,}")
_LETTERS = re.compile(r"[^\W\d_]+")
# What `Tokeniser.from_dict` takes, of which a store or a model file may hold anything.
_DATA = {
    "pattern": _schema.text,
    "min_length": _schema.integer(1),
    "stop_words": _schema.Rule(
        lambda value: isinstance(value, list) and all(isinstance(word, str) for word in value),
        "a list of words",
    ),
    "lower": _schema.boolean,
}

# Characters that are put in their normal form at once: the time grows with the square of a run of
# combining marks, and a thousand of them take a millisecond.
_PIECE = 1000
_SLACK = 100
# Marks in a row after which a run is broken, the number of Unicode's stream-safe text format.
_MAX_MARKS = 30
# Nothing before these characters changes with them, so that a text can be cut there: Latin letters
# and what else stands before the first mark, kana, Chinese characters, Korean syllables.
_BOUNDARY = re.compile("[\0-\u02ff\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3]")


def tokenise(text: str) -> list[str]:
    """Return the words of ``text``: Unicode letters, lower case, three or more, no stop words.

    Examples
    --------
    >>> tokenise("The Größe of n_samples2 arrays, isn't it?")
    ['größe', 'samples', 'arrays']
    """
    words = _WORD.findall(_composed(text).lower())
    return [word for word in words if word not in STOP_WORDS]


def _composed(text: str) -> str:
    """Return ``text`` in Unicode's normal form C, in time that grows with its length.

    A run of more than 30 combining marks in a long text is broken by U+034F, the combining
    grapheme joiner, as the stream-safe text format has it.

    Examples
    --------
    >>> _composed("cafe\\u0301")
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


class Tokeniser:
    """Make words of texts in another way than `tokenise` does.

    Parameters
    ----------
    pattern : str, optional
        A regular expression for words; runs of Unicode letters by default. If it has a group, the
        group is the word. How long it takes is up to the pattern: one that goes back over what it
        has matched, such as ``(a+)+b``, may never end on a text that was made for it.
    min_length : int
        Shorter words are left out.
    stop_words : collection of str, or path, optional
        Words that are left out: themselves, or a file with one word per line. English ones by
        default; an empty collection leaves none out.
    lower : bool
        Whether words, and stop words, are put in lower case.

    Examples
    --------
    >>> Tokeniser()("The Größe of n_samples2 arrays") == tokenise("The Größe of n_samples2 arrays")
    True
    >>> Tokeniser(r"[\\w-]+", min_length=1, stop_words=["a"], lower=False)("A trust-region a C++")
    ['A', 'trust-region', 'C']

    Two tokenisers are equal if they make the same words in the same way, and a tokeniser is plain
    data, so that a store or a model file can keep it:

    >>> words = Tokeniser(min_length=2, stop_words=["and"], lower=False)
    >>> words.to_dict()
    {'pattern': '[^\\\\W\\\\d_]+', 'min_length': 2, 'stop_words': ['and'], 'lower': False}
    >>> Tokeniser.from_dict(words.to_dict()) == words
    True
    """

    def __init__(
        self,
        pattern: str | None = None,
        *,
        min_length: int = 3,
        stop_words: Collection[str] | Path | None = None,
        lower: bool = True,
    ) -> None:
        try:
            self._pattern = _LETTERS if pattern is None else re.compile(pattern)
        except re.error as error:
            raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from error
        if not self._pattern.pattern:
            raise ValueError("pattern is empty, which no word matches; give a regular expression")
        if self._pattern.groups > 1:
            raise ValueError(f"pattern {pattern!r} has more than one group; write (?:...)")
        if min_length < 1:
            raise ValueError(f"min_length is {min_length}, expected 1 or more")
        self._min_length = min_length
        self._lower = lower
        self._stop_words = self._normal_words(STOP_WORDS if stop_words is None else stop_words)

    def __call__(self, text: str) -> list[str]:
        """Return the words of ``text``."""
        words = self._pattern.findall(self._normal(text))
        short, stop = self._min_length, self._stop_words
        return [word for word in words if len(word) >= short and word not in stop]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokeniser) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return (
            f"Tokeniser({self.pattern!r}, min_length={self.min_length}, "
            f"stop_words=<{len(self.stop_words)} words>, lower={self.lower})"
        )

    @property
    def pattern(self) -> str:
        """The regular expression of a word."""
        return self._pattern.pattern

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
    def _key(self) -> tuple[str, int, frozenset[str], bool]:
        return self.pattern, self.min_length, self.stop_words, self.lower

    def to_dict(self) -> dict[str, Any]:
        """Return it as values that JSON has, stop words and all."""
        return {
            "pattern": self.pattern,
            "min_length": self.min_length,
            "stop_words": sorted(self.stop_words),
            "lower": self.lower,
        }

    @classmethod
    def from_dict(cls, values: Any) -> Tokeniser:
        """Return the tokeniser that `to_dict` wrote down; a ValueError says what is wrong."""
        _schema.check_values(values, _DATA, "the tokeniser")
        return cls(
            values["pattern"],
            min_length=values["min_length"],
            stop_words=values["stop_words"],
            lower=values["lower"],
        )

    def _normal(self, text: str) -> str:
        text = _composed(text)
        return text.lower() if self._lower else text

    def _normal_words(self, words: Collection[str] | Path) -> frozenset[str]:
        if isinstance(words, str):
            raise ValueError(f"stop_words is the text {words!r}, expected words, or a Path")
        if isinstance(words, Path):
            words = lines_of(words)
        return frozenset(self._normal(word.strip()) for word in words)


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
    if type(tokenise) is Tokeniser and tokenise._pattern == _LETTERS:
        return LetterRules(tokenise._min_length, tokenise._stop_words, tokenise._lower)
    return None


_USUAL = tokenise


def build_vocabulary(
    documents: Iterable[Sequence[str]],
    *,
    min_documents: int = 5,
    max_fraction: float = 0.3,
    max_words: int = 10_000,
) -> list[str]:
    """Return the words, sorted, that are in neither too few nor too many documents.

    If more than ``max_words`` are left, those in most documents stay (ties by the alphabet).

    Examples
    --------
    >>> build_vocabulary([["a", "b"], ["a", "c"], ["a", "b"]], min_documents=2, max_fraction=0.9)
    ['b']
    """
    count = 0
    frequency: Counter[str] = Counter()
    for words in documents:
        count += 1
        frequency.update(set(words))
    limits = min_documents, max_fraction, max_words
    return frequent_words(frequency, count, *limits)


def frequent_words(
    frequency: Mapping[str, int],
    n_documents: int,
    min_documents: int,
    max_fraction: float,
    max_words: int | None,
) -> list[str]:
    """Return the words, sorted, that are in neither too few nor too many of the documents.

    Parameters
    ----------
    frequency : mapping from str to int
        How many documents each word is in.
    n_documents : int
        How many documents there are.
    min_documents, max_fraction, max_words
        As in `build_vocabulary`; `max_words` may be None, for all of them.

    Examples
    --------
    >>> frequent_words({"a": 3, "b": 2, "c": 1}, 3, 2, 0.9, None)
    ['b']
    """
    most = max_fraction * n_documents
    kept = [word for word, n in frequency.items() if min_documents <= n <= most]
    kept.sort(key=lambda word: (-frequency[word], word))
    return sorted(kept[:max_words])


def count_matrix(
    documents: Iterable[Sequence[str] | Mapping[str, int]], vocabulary: Sequence[str]
) -> sparse.csr_array:
    """Return the counts of the vocabulary's words as a (documents, words) CSR array of int64.

    A document is its words in order, or a mapping from words to counts; counts that are not
    integers are kept. A column whose name is "" has no word, and no counts.

    Examples
    --------
    >>> count_matrix([["b", "a", "b"], ["z"], {"b": 7, "z": 1}], ["a", "b"]).toarray()
    array([[1, 2],
           [0, 0],
           [0, 7]])
    """
    column = {word: index for index, word in enumerate(vocabulary) if word}
    rows: list[int] = []
    columns: list[int] = []
    counts: list[int] = []
    number = 0
    for number, words in enumerate(documents, start=1):
        known = [word for word in words if word in column]
        columns += [column[word] for word in known]
        counts += (
            [words[word] for word in known] if isinstance(words, Mapping) else [1] * len(known)
        )
        rows += [number - 1] * len(known)
    values = np.array(counts or np.empty(0, np.int64))
    # Loaded here: words can be made of texts without it, and it takes its time.
    from scipy import sparse

    # COO to CSR adds up what is in the same place, and sorts each row by columns.
    return sparse.coo_array((values, (rows, columns)), shape=(number, len(vocabulary))).tocsr()
