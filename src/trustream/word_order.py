"""Words of a text together with the order in which they stood, in which phrases are found.

A bag of words does not say which word stood beside which. `OrderedWords` do: they are the words as
a tokeniser makes them, phrases joined, and beside them the stretches of words that they were made
of, so that a store that keeps these (`Settings.keep_order`) can find phrases, and join them later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b

from trustream.phrase_joining import PhraseJoiner
from trustream.text import Tokeniser

# The mark of words that were joined by the phrases of several tokenisers.
MIXED = -1


class OrderedWords(list[str]):
    """The words of a text, with the stretches that they come from.

    Parameters
    ----------
    stretches : sequence of sequences of str
        Words that stood next to one another, before phrases are joined, as
        `Tokeniser.stretches` returns them.
    join : callable, optional
        Makes words of a stretch, a `PhraseJoiner` for example.
    mark : int, default=0
        Tells its phrases from others, see `phrase_mark`.

    Examples
    --------
    >>> words = OrderedWords([["new", "york", "bank"], ["rates"]], PhraseJoiner(["new york"]))
    >>> words, words.stretches
    (['new_york', 'bank', 'rates'], [['new', 'york', 'bank'], ['rates']])
    """

    def __init__(
        self,
        stretches: Sequence[Sequence[str]] = (),
        join: Callable[[Sequence[str]], Sequence[str]] | None = None,
        mark: int = 0,
    ) -> None:
        joined = stretches if join is None else map(join, stretches)
        super().__init__(word for stretch in joined for word in stretch)
        self.stretches, self.mark = stretches, mark


class OrderedTokeniser:
    """Makes the same words as a tokeniser, as `OrderedWords`.

    Parameters
    ----------
    tokeniser : Tokeniser
    max_characters : int
        Longer words are left out; those beside them do not stand next to one another.

    Attributes
    ----------
    tokeniser : Tokeniser
    mark : int
        Of its phrases, see `phrase_mark`.

    Examples
    --------
    >>> words = OrderedTokeniser(Tokeniser(phrases=["new york"]), 500)
    >>> words("A bank, New York").stretches, words.join(["new", "york"])
    ([['bank'], ['new', 'york']], ['new_york'])
    """

    def __init__(self, tokeniser: Tokeniser, max_characters: int) -> None:
        self.tokeniser = tokeniser
        self.mark = phrase_mark(tokeniser.phrases)
        self._apart = Tokeniser.from_dict({**tokeniser.to_dict(), "phrases": []})
        self._join, self._most = PhraseJoiner(tokeniser.phrases), max_characters

    def __call__(self, text: str) -> OrderedWords:
        stretches, most = self._apart.stretches(text), self._most
        if len(text) > most and any(len(word) > most for words in stretches for word in words):
            stretches = [part for words in stretches for part in _cut(words, most)]
        return OrderedWords(stretches, self.join if self.mark else None, self.mark)

    def join(self, words: Sequence[str]) -> list[str]:
        """Return the words of a stretch, with one word for each phrase."""
        if len(words) < 2 or not self.mark:
            return list(words)
        return [word for word in self._join(words) if len(word) <= self._most]


def _cut(words: Sequence[str], most: int) -> Iterable[list[str]]:
    part: list[str] = []
    for word in words:
        if len(word) <= most:
            part.append(word)
        elif part:
            yield part
            part = []
    if part:
        yield part


def phrase_mark(phrases: Iterable[str]) -> int:
    """Return a number that tells the phrases of a tokeniser from others; 0 if there are none.

    >>> phrase_mark([]), phrase_mark(["new york"]) == phrase_mark(("new york",))
    (0, True)
    """
    listed = sorted(phrases)
    if not listed:
        return 0
    digest = blake2b("\n".join(listed).encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) >> 1 or 1
