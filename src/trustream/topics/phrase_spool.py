"""Hold words of texts in their order, as numbers, until it is known which of them are phrases."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from trustream.phrase_joining import PhraseJoiner
from trustream.phrases import Phrases
from trustream.text import Tokeniser

# Documents that are counted together.
_AT_ONCE = 1000


class PhraseSpool:
    """Learn the phrases of texts that are read once, then count words and phrases of each text.

    It takes four bytes for each word of the texts, and eight for each stretch of words.

    Parameters
    ----------
    tokeniser : Tokeniser
        It may have phrases already.
    phrases : Phrases
        Settings, and what was counted before; it stays as it is.
    chunks : iterable of lists of str
        The texts, which are read now.

    Attributes
    ----------
    tokeniser : Tokeniser
        With the phrases that were found; the same as before if there are no more.
    phrases : Phrases
        With the counts of these texts.

    Examples
    --------
    >>> texts = [["New York", "a bank in New York"], ["bank rates"]]
    >>> spool = PhraseSpool(Tokeniser(), Phrases(min_count=2), texts)
    >>> spool.tokeniser.phrases, [sorted(spool.counted(i)) for i in range(3)]
    (('new york',), [['new_york'], ['bank', 'new_york'], ['bank', 'rates']])
    """

    def __init__(
        self, tokeniser: Tokeniser, phrases: Phrases, chunks: Iterable[Sequence[str]]
    ) -> None:
        counted = phrases.copy()
        apart = Tokeniser.from_dict({**tokeniser.to_dict(), "phrases": []})
        join = PhraseJoiner(tokeniser.phrases)
        numbers: dict[str, int] = {}
        # Numbers of words; where stretches end among them, and documents among the stretches.
        self._codes, self._ends, self._documents = array("i"), array("q", [0]), array("q", [0])
        for chunk in chunks:
            joined: list[list[str]] = []
            for text in chunk:
                for words in apart.stretches(text):
                    joined.append(join(words))
                    self._codes.extend([numbers.setdefault(w, len(numbers)) for w in words])
                    self._ends.append(len(self._codes))
                self._documents.append(len(self._ends) - 1)
            counted.update(joined)
        self._words = list(numbers)
        self.phrases, self.tokeniser = counted, tokeniser
        if more := [phrase.text for phrase in counted.found()]:
            self.tokeniser = tokeniser.with_phrases(more)
        self._join = PhraseJoiner(self.tokeniser.phrases)

    def chunks(self) -> Iterator[range]:
        """Yield the numbers of the documents, which `GrowingWords.read` takes as it takes texts."""
        n = len(self._documents) - 1
        for first in range(0, n, _AT_ONCE):
            yield range(first, min(n, first + _AT_ONCE))

    def counted(self, document: int, number: int = 0) -> Counter[str]:
        """Return how often each word and phrase is in a document, as the tokeniser makes them."""
        found: Counter[str] = Counter()
        for i in range(self._documents[document], self._documents[document + 1]):
            codes = self._codes[self._ends[i] : self._ends[i + 1]]
            found.update(self._join([self._words[code] for code in codes]))
        return found
