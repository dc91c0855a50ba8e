"""Find words that belong together, such as "new york", in one pass over texts and bounded memory.

`Phrases` counts words and pairs of words that stand next to one another, and scores the pairs:

    NPMI(a, b) = log(p(a b) / (p(a) p(b))) / -log p(a b),

from -1 to 1, which it is if neither word comes without the other, with p(x) = c(x) / N, where c
counts and N is the number of all words (Bouma, 2009); or

    G^2(a, b) = 2 sum_ij k_ij log(k_ij N / (k_i. k_.j)),

Dunning's log-likelihood ratio (1993) of the table k of counts, with k_11 = c(a b), k_1. = c(a),
k_.1 = c(b) and k_.. = N; it is given a minus sign if the pair comes less often than by chance. NPMI
says how much two words belong together, G^2 how certain it is that they do: it is large for every
pair that is frequent.

`text.Tokeniser(phrases=...)` makes one word of each phrase.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Any

from trustream.bounded_counts import BoundedCounts
from trustream.text import Tokeniser


@dataclass(frozen=True, slots=True)
class Phrase:
    """Two words that belong together.

    Attributes
    ----------
    text : str
        Both, with a space between them.
    count : int
        How often they were found next to one another, at least.
    score : float
    """

    text: str
    count: int
    score: float


class Phrases:
    """Count words and pairs of words as they come, and say which pairs are phrases.

    Parameters
    ----------
    min_count : int, default=10
        A phrase was found so often.
    threshold : float, default=None
        Least score of a phrase; None is 0.5 for NPMI, and 15.1 for the log-likelihood ratio, which
        one pair of 10,000 exceeds by chance.
    scoring : {"npmi", "log-likelihood"}, default="npmi"
    max_phrases : int, default=10000
        Most phrases that are named, those of the highest scores.
    max_counts : int, default=1000000
        Most pairs, and most words, that are counted at once; twice as many for a moment. What is
        rare goes first (`BoundedCounts`), and scores are such that a phrase has at least the score
        that is named: counts of pairs are too small by up to `error`, and those of words too large.

    Examples
    --------
    >>> phrases = Phrases(min_count=2)
    >>> phrases.update([["new", "york", "bank"], ["bank", "rates"], ["new", "york"], ["new"]])
    Phrases(of 8 words, min_count=2, threshold=0.5, scoring='npmi')
    >>> phrases.found()
    [Phrase(text='new york', count=2, score=0.707...)]
    """

    def __init__(
        self,
        *,
        min_count: int = 10,
        threshold: float | None = None,
        scoring: str = "npmi",
        max_phrases: int = 10_000,
        max_counts: int = 1_000_000,
    ) -> None:
        if scoring not in _SCORES:
            names = " or ".join(map(repr, _SCORES))
            raise ValueError(f"scoring is {scoring!r:.60}, expected {names}")
        for name, value in (
            ("min_count", min_count),
            ("max_phrases", max_phrases),
            ("max_counts", max_counts),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r:.60}, expected a whole number from 1 on")
        self.min_count, self.scoring = min_count, scoring
        self.threshold = _SCORES[scoring][1] if threshold is None else float(threshold)
        if scoring == "npmi" and not -1 <= self.threshold <= 1:
            raise ValueError(
                f"threshold is {threshold}, expected a number from -1 to 1, as NPMI is"
            )
        self.max_phrases, self.max_counts = max_phrases, max_counts
        self._words, self._pairs = BoundedCounts(max_counts), BoundedCounts(max_counts)

    def __repr__(self) -> str:
        return (
            f"Phrases(of {self.n_words} words, min_count={self.min_count}, "
            f"threshold={self.threshold:g}, scoring={self.scoring!r})"
        )

    @property
    def n_words(self) -> int:
        """Words that were counted."""
        return self._words.n

    @property
    def error(self) -> int:
        """By how much the count of a pair may be too small; 0 if nothing had to go."""
        return self._pairs.error

    def update(self, stretches: Iterable[Sequence[str]]) -> Phrases:
        """Count more words; returns itself.

        Parameters
        ----------
        stretches : iterable of sequences of str
            Words that stand next to one another, as `Tokeniser.stretches` returns them.
        """
        words: list[str] = []
        pairs: list[tuple[str, str]] = []
        for stretch in stretches:
            if isinstance(stretch, str):
                raise ValueError(
                    f"{stretch!r:.60} is a text, expected a list of words: Tokeniser().stretches"
                    "(text) makes such lists"
                )
            words += stretch
            pairs += pairwise(stretch)
            if len(words) > _AT_ONCE:
                self._words.add(words)
                self._pairs.add(pairs)
                words, pairs = [], []
        self._words.add(words)
        self._pairs.add(pairs)
        return self

    def copy(self) -> Phrases:
        """Return the same, with counts of its own."""
        return self.merge(self.empty())

    def merge(self, other: Phrases) -> Phrases:
        """Return the phrases of what both have counted, by the settings of this one.

        >>> one = Phrases(min_count=2, threshold=0).update([["new", "york"], ["old", "york"]])
        >>> other = Phrases().update([["new", "york"], ["new", "bank"]])
        >>> one.merge(other).found()[0].count
        2
        """
        found = self.empty()
        found._words = self._words.merged(other._words)
        found._pairs = self._pairs.merged(other._pairs)
        return found

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that it was made with."""
        names = ("min_count", "threshold", "scoring", "max_phrases", "max_counts")
        return {name: getattr(self, name) for name in names}

    def empty(self) -> Phrases:
        """Return one with the same settings that has counted nothing."""
        return Phrases(**self.settings)

    def score(self, first: str, second: str) -> float:
        """Return the score of a pair; minus infinity if it was not found.

        >>> Phrases().update([["new", "york"], ["new", "bank"]]).score("new", "york")
        0.5
        """
        count = self._pairs.counts[first, second]
        if not count:
            return -float("inf")
        words, n, error = self._words.counts, self._words.n, self._words.error
        ones, others = min(n, words[first] + error), min(n, words[second] + error)
        return _SCORES[self.scoring][0](count, ones, others, n)

    def found(self) -> list[Phrase]:
        """Return the phrases, those of the highest scores first; ties by the alphabet."""
        scored = (
            Phrase(f"{first} {second}", count, self.score(first, second))
            for (first, second), count in self._pairs.counts.items()
            if count >= self.min_count
        )
        found = [phrase for phrase in scored if phrase.score >= self.threshold]
        found.sort(key=lambda phrase: (-phrase.score, phrase.text))
        return found[: self.max_phrases]


# Words that are counted in one go.
_AT_ONCE = 100_000


def npmi(both: int, first: int, second: int, n: int) -> float:
    """Return the normalised pointwise mutual information of two words.

    Parameters
    ----------
    both, first, second : int
        How often the pair and each of the words was found.
    n : int
        Words in all.

    Examples
    --------
    >>> round(npmi(10, 10, 10, 1000), 12), round(npmi(1, 100, 100, 10_000), 12)
    (1.0, 0.0)
    """
    if both == n:
        return 1.0
    return log(both * n / (first * second)) / -log(both / n)


def log_likelihood(both: int, first: int, second: int, n: int) -> float:
    """Return Dunning's log-likelihood ratio of two words, negative if they come apart.

    Takes the same as `npmi`.

    Examples
    --------
    >>> round(log_likelihood(10, 10, 10, 1000), 2), abs(log_likelihood(1, 100, 100, 10_000)) < 1e-9
    (112.0, True)
    """
    rows, columns = (first, n - first), (second, n - second)
    table = ((both, first - both), (second - both, max(0, n - first - second + both)))
    total = sum(
        k * log(k * n / (rows[i] * columns[j]))
        for i, row in enumerate(table)
        for j, k in enumerate(row)
        if k > 0
    )
    return 2 * total if both * n >= first * second else -2 * total


_SCORES: dict[str, tuple[Callable[[int, int, int, int], float], float]] = {
    "npmi": (npmi, 0.5),
    "log-likelihood": (log_likelihood, 15.1),
}


def find_phrases(
    texts: Iterable[str], tokeniser: Tokeniser | None = None, **settings: Any
) -> list[Phrase]:
    """Return the phrases of texts, found in one pass.

    Parameters
    ----------
    texts : iterable of str
    tokeniser : Tokeniser, default=None
        Makes words of them; None is `Tokeniser()`. With one that has phrases already, phrases are
        found of which the words may be phrases, such as "new_york times".
    **settings
        Of `Phrases`.

    Examples
    --------
    >>> texts = ["A bank in New York raised its rates", "New York: rates of a bank"] * 10
    >>> [phrase.text for phrase in find_phrases(texts)]
    ['new york', 'york raised']
    """
    if isinstance(texts, str):
        raise ValueError("texts are a single string: give a list of texts, also of one")
    tokeniser = tokeniser or Tokeniser()
    counted = Phrases(**settings)
    return counted.update(s for text in texts for s in tokeniser.stretches(text)).found()
