"""Show which words of a text speak for which topic, in the text itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

# Letters and digits with their marks, of any script, and what stands between them.
_RUN = re.compile(r"[^\W_](?:[\w\u0300-\u036f'\u2019\u200c\u200d]*[\w\u0300-\u036f])?")
# Words of the longest phrase that is looked for.
_LONGEST = 4


@dataclass(frozen=True, slots=True)
class TextSegment:
    """A piece of a text.

    Attributes:
        text: the piece; pieces one after the other are the text.
        word: the word that a tokeniser makes of it; None between words.
        topic: id of the word's topic; None if it has none.
    """

    text: str
    word: str | None = None
    topic: int | None = None


def coloured_text(
    text: str, tokenise: Callable[[str], Sequence[str]], topic_of: Mapping[str, int]
) -> list[TextSegment]:
    """Cut a text into words that have a topic, and what is between them.

    Parameters
    ----------
    text : str
    tokenise : callable
        Makes words of a text, as those of the document were made.
    topic_of : mapping from str to int
        Topics of the words of the document.

    Examples
    --------
    >>> from trustream.text import tokenise
    >>> [(s.text, s.topic) for s in coloured_text("The Cats sleep.", tokenise, {"cats": 3})]
    [('The ', None), ('Cats', 3), (' sleep.', None)]
    """
    runs = [match.span() for match in _RUN.finditer(text)]
    phrases = bool(getattr(tokenise, "phrases", ()))
    words_of: dict[str, Sequence[str]] = {}

    def words(start: int, end: int) -> Sequence[str]:
        run = text[start:end]
        if run not in words_of:
            words_of[run] = tokenise(run)
        return words_of[run]

    found: list[TextSegment] = []
    place = i = 0

    def add(start: int, end: int, word: str) -> None:
        nonlocal place
        if word not in topic_of or start < place:
            return
        if start > place:
            found.append(TextSegment(text[place:start]))
        found.append(TextSegment(text[start:end], word, topic_of[word]))
        place = end

    while i < len(runs):
        start, end = runs[i]
        step = 1
        if phrases:
            for n in range(min(_LONGEST, len(runs) - i), 1, -1):
                joined = words(start, runs[i + n - 1][1])
                if len(joined) == 1 and joined[0] in topic_of:
                    add(start, runs[i + n - 1][1], joined[0])
                    step = n
                    break
        if step == 1:
            some = words(start, end)
            # All of a run that begins with its only word, or where the word has another form.
            if len(some) == 1 and text[start:end].lower().find(some[0].lower()) < 1:
                add(start, end, some[0])
            else:
                _add_parts(text, start, end, some, add)
        i += step
    if place < len(text):
        found.append(TextSegment(text[place:]))
    return found


def _add_parts(
    text: str, start: int, end: int, words: Sequence[str], add: Callable[[int, int, str], None]
) -> None:
    """Add the words of a run of several, where they stand in it as they are."""
    lower = text[start:end].lower()
    if len(lower) != end - start:
        return
    place = 0
    for word in words:
        at = lower.find(word.lower(), place)
        if at >= 0:
            place = at + len(word)
            add(start + at, start + place, word)
