"""Follow a store's vocabulary: which word each column of a model stands for, and what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from trustream.store.protocol import Store


class WordChanges(NamedTuple):
    """What changed in a vocabulary: columns that are new or mean another word, and the word.

    Attributes:
        pairs: (column, word); a word is None where a column has none any more.
        version: of the vocabulary after them.
    """

    pairs: list[tuple[int, str | None]]
    version: int


class ModelWords:
    """Words by column, and which versions of the store's vocabulary they agree with."""

    def __init__(self, words: Iterable[str | None] = ()) -> None:
        self.words = list(words)
        self._version = -1  # of the vocabulary that the words are
        self._valid_from = -1  # the version since which no column came to mean another word

    def __len__(self) -> int:
        return len(self.words)

    def changes(self, store: Store, version: int) -> WordChanges | None:
        """What changed in the store since the words were taken in; None if that is `version`."""
        if version == self._version:
            return None
        found = store.vocabulary_since(self._version)
        pairs = [
            (column, word)
            for column, word in zip(found.columns.tolist(), found.words, strict=True)
            if column >= len(self.words) or word != self.words[column]
        ]
        return WordChanges(pairs, found.version)

    def savepoint(self, changes: WordChanges) -> Callable[[], None]:
        """What puts the words back after these changes were taken in, or some of them."""
        versions, n_words = (self._version, self._valid_from), len(self.words)
        old = [(column, self.words[column]) for column, _ in changes.pairs if column < n_words]

        def restore() -> None:
            del self.words[n_words:]
            for column, word in old:
                self.words[column] = word
            self._version, self._valid_from = versions

        return restore

    def take_in(self, changes: WordChanges) -> None:
        """These words from now on."""
        n_before = len(self.words)
        n_columns = max([n_before, *(column + 1 for column, _ in changes.pairs)])
        self.words += [None] * (n_columns - n_before)
        for column, word in changes.pairs:
            self.words[column] = word
        self._version = changes.version
        if any(column < n_before for column, _ in changes.pairs):
            self._valid_from = self._version

    def holds(self, version: int) -> bool:
        """Whether columns of that version of the vocabulary mean the same words here."""
        return version >= self._valid_from
