"""Words of a document as numbers in a list of words that many documents share.

A list of strings for each document costs more time than all else that is done with it. Readers of
large files number the words as they find them, and the store takes these numbers as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray


class WordTable:
    """Words by code, from 0 on: words may be added, and none ever changes.

    >>> table = WordTable(["cat"])
    >>> table.extend(["dog"])
    >>> len(table), table[1]
    (2, 'dog')
    """

    # Weak references to tables tell what is known of their words.
    __slots__ = ("__weakref__", "_words")

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words = list(words)

    def extend(self, words: Iterable[str]) -> None:
        """Give these words the next codes."""
        self._words.extend(words)

    def __len__(self) -> int:
        return len(self._words)

    def __getitem__(self, code: int) -> str:
        return self._words[code]

    def words_of(self, codes: NDArray[np.integer[Any]]) -> list[str]:
        """The words of some codes, in their order."""
        return list(map(self._words.__getitem__, codes.tolist()))


class CodedWords(Sequence[str]):
    """Tokens in order, as `Record.words` has them, by their codes in a table of words.

    Args:
        table: the words.
        codes: (tokens,) integers, each the code of a word in the table; not changed afterwards.

    >>> words = CodedWords(WordTable(["cat", "dog"]), np.array([1, 0, 1], np.int32))
    >>> list(words), words[0], len(words), words == ["dog", "cat", "dog"]
    (['dog', 'cat', 'dog'], 'dog', 3, True)
    """

    __slots__ = ("codes", "table")

    def __init__(self, table: WordTable, codes: NDArray[np.int32]) -> None:
        self.table = table
        self.codes = codes

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return self.table.words_of(self.codes[index])
        return self.table[self.codes[index]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.words_of(self.codes))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class CodedTokens(Sequence[str]):
    """The words of many records, one after the other, by their codes in some tables.

    Args:
        parts: (table, codes) of records that follow each other and share a table.

    >>> pets, money = WordTable(["cat", "dog"]), WordTable(["bank"])
    >>> tokens = CodedTokens([(pets, np.array([1, 0])), (money, np.array([0]))])
    >>> len(tokens), tokens[1], tokens.pick(np.array([0, 2]))
    (3, 'cat', ['dog', 'bank'])
    """

    def __init__(self, parts: Sequence[tuple[WordTable, NDArray[np.integer[Any]]]]) -> None:
        self.parts = parts
        self._ends = np.cumsum([len(codes) for _, codes in parts])

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        found = self.pick(np.arange(len(self))[index].reshape(-1))
        return found if isinstance(index, slice) else found[0]

    def pick(self, places: NDArray[np.int64]) -> list[str]:
        """The words in some places, which rise."""
        words: list[str] = []
        for table, codes in self._picked(places):
            words += table.words_of(codes)
        return words

    def distinct(self, places: NDArray[np.int64]) -> list[str]:
        """The different words in some places, which rise, in the order in which they come.

        A word that has several codes may come several times.

        >>> CodedTokens([(WordTable(["cat", "dog"]), np.array([1, 0, 1]))]).distinct(np.arange(3))
        ['dog', 'cat']
        """
        words: list[str] = []
        for table, codes in self._picked(places):
            _, first = np.unique(codes, return_index=True)
            words += table.words_of(codes[np.sort(first)])
        return words

    def _picked(
        self, places: NDArray[np.int64]
    ) -> Iterator[tuple[WordTable, NDArray[np.integer[Any]]]]:
        start = 0
        for (table, codes), end in zip(self.parts, self._ends.tolist(), strict=True):
            first, last = np.searchsorted(places, [start, end])
            yield table, codes[places[first:last] - start]
            start = end

    def part(self, start: int, stop: int) -> CodedTokens:
        """The words between two places.

        >>> CodedTokens([(WordTable(["cat", "dog"]), np.array([1, 0]))]).part(1, 2)[:]
        ['cat']
        """
        found = []
        first = 0
        for (table, codes), end in zip(self.parts, self._ends.tolist(), strict=True):
            some = codes[max(start - first, 0) : max(stop - first, 0)]
            if len(some):
                found.append((table, some))
            first = end
        return CodedTokens(found)
