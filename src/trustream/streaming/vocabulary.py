"""The words that a model's columns mean, kept in step with those of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from trustream.store.protocol import Store


class News(NamedTuple):
    """Changes of a vocabulary: (column, word) pairs that are new or mean another word, by column.

    Attributes:
        changes: the pairs; a word is None where a column has none any more.
        version: of the vocabulary after them.
    """

    changes: list[tuple[int, str | None]]
    version: int


class Vocabulary:
    """Words by column, and which versions of the store's vocabulary they agree with."""

    def __init__(self, words: Iterable[str | None] = ()) -> None:
        self.words = list(words)
        self._version = -1  # of the vocabulary that the words are
        self._valid_from = -1  # the version since which no column came to mean another word

    def __len__(self) -> int:
        return len(self.words)

    def news(self, store: Store, version: int) -> News | None:
        """What changed in the store since the words were taken in; None if that is `version`."""
        if version == self._version:
            return None
        found = store.vocabulary_since(self._version)
        pairs = zip(found.columns.tolist(), found.words, strict=True)
        changes = [
            (column, word)
            for column, word in pairs
            if column >= len(self.words) or word != self.words[column]
        ]
        return News(changes, found.version)

    def savepoint(self, news: News) -> Callable[[], None]:
        """What puts the words back after these changes were taken in, or some of them."""
        versions, n_words = (self._version, self._valid_from), len(self.words)
        old = [(column, self.words[column]) for column, _ in news.changes if column < n_words]

        def restore() -> None:
            del self.words[n_words:]
            for column, word in old:
                self.words[column] = word
            self._version, self._valid_from = versions

        return restore

    def take_in(self, news: News, n_columns: int) -> None:
        """Words for n_columns from now on."""
        n_before = len(self.words)
        self.words += [None] * (n_columns - n_before)
        for column, word in news.changes:
            self.words[column] = word
        self._version = news.version
        if any(column < n_before for column, _ in news.changes):
            self._valid_from = self._version

    def holds(self, version: int) -> bool:
        """Whether columns of that version of the vocabulary mean the same words here."""
        return version >= self._valid_from
