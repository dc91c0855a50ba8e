"""Make one word of words that belong together: "new york" becomes "new_york"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

JOINT = "_"


class PhraseJoiner:
    """Join the phrases in lists of words: from the left, the longest phrase first.

    Parameters
    ----------
    phrases : iterable of str
        Each of two words or more, with spaces between them.

    Examples
    --------
    >>> join = PhraseJoiner(["new york", "new york times", "times square"])
    >>> join(["the", "new", "york", "times", "square", "in", "new", "york"])
    ['the', 'new_york_times', 'square', 'in', 'new_york']
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._known: dict[tuple[str, ...], str] = {}
        # Words of the longest phrase that begins with a word.
        self._longest: dict[str, int] = {}
        for phrase in phrases:
            words = tuple(phrase.split(" "))
            self._known[words] = self.joined(phrase)
            self._longest[words[0]] = max(len(words), self._longest.get(words[0], 0))

    @staticmethod
    def joined(phrase: str) -> str:
        """Return the word that a phrase becomes."""
        return phrase.replace(" ", JOINT)

    def __call__(self, words: Sequence[str]) -> list[str]:
        """Return the words, with one word for each phrase."""
        if self._longest.keys().isdisjoint(words):
            return list(words)
        found: list[str] = []
        place, n = 0, len(words)
        while place < n:
            size = min(self._longest.get(words[place], 1), n - place)
            while size > 1 and tuple(words[place : place + size]) not in self._known:
                size -= 1
            if size > 1:
                found.append(self._known[tuple(words[place : place + size])])
            else:
                found.append(words[place])
            place += max(size, 1)
        return found


def checked_phrases(
    phrases: Iterable[str], normal: Callable[[str], str], is_word: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return phrases in their normal form, sorted; refuse those that no text can have.

    Parameters
    ----------
    phrases : iterable of str
    normal : callable
        Makes the normal form of a text.
    is_word : callable
        Whether a text may have a word.

    Examples
    --------
    >>> checked_phrases(["New  York", "new york"], str.lower, str.isalpha)
    ('new york',)
    >>> checked_phrases(["new york 2"], str.lower, str.isalpha)
    Traceback (most recent call last):
    ...
    ValueError: the phrase 'new york 2' has '2', which is a stop word, too short, or no word: no \
text has such a phrase
    """
    if isinstance(phrases, str):
        raise ValueError(f"phrases is the text {phrases!r:.60}, expected a list of them, or a Path")
    found: set[str] = set()
    for phrase in phrases:
        if not isinstance(phrase, str):
            raise ValueError(f"a phrase is of type {type(phrase).__name__}, expected text")
        words = normal(phrase).split()
        if len(words) < 2:
            raise ValueError(
                f"the phrase {phrase!r:.60} has {len(words)} words, expected two or more with "
                "spaces between them"
            )
        for word in words:
            if not is_word(word):
                raise ValueError(
                    f"the phrase {phrase!r:.60} has {word!r:.60}, which is a stop word, too "
                    "short, or no word: no text has such a phrase"
                )
        found.add(" ".join(words))
    return tuple(sorted(found))
