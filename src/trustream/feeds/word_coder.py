"""Make words of texts as a tokeniser does, many times faster, as codes in a table of words.

A compiled kernel finds the runs of letters of a text, and looks each of them up. What is ASCII it
knows itself. A run with other characters is given to the tokeniser when it is met for the first
time, and its words are remembered: letters, normal forms and lower case of Unicode are defined in
one place only. That this is the same as giving the whole text to the tokeniser rests on these
facts, which tests check:

- no word goes beyond a run, for marks and joiners are not ASCII, no ASCII character that is not a
  letter becomes one, whatever marks follow it, and nothing before an ASCII character changes with
  it in normal form C;
- lower case depends on what stands around a letter only for the Greek capital sigma;
- only a stretch of more than 100 characters without a boundary can have marks so many that the
  tokeniser breaks their run.

Texts with a sigma or with such a stretch are given to the tokeniser whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream import kernels
from trustream.kernels.words.reference import NOTHING
from trustream.store.coded_words import CodedWords, WordTable
from trustream.store.limits import MAX_CHARACTERS
from trustream.text import LetterRules, letter_rules

Tokenise = Callable[[str], Sequence[str]]

_SIGMA = "\u03a3".encode()
# Entries and bytes of a table at first and at most; a fuller one is replaced by a new one.
_FIRST_ENTRIES, _MAX_ENTRIES = 2**14, 2**19
_FIRST_BYTES, _MAX_BYTES = 2**18, 2**24


def word_coder(tokenise: Tokenise, *, after: int = 0, backend: str = "compiled") -> Tokenise:
    """A tokeniser with the same words, as `CodedWords`; or itself, if its words are not letters.

    Words of more than 500 letters, which no store takes, are left out.

    Args:
        tokenise: makes words of text.
        after: characters of text for which the old one does, so that a small file does not pay for
            loading compiled code.
        backend: of the kernel.

    >>> from trustream.text import tokenise
    >>> words = word_coder(tokenise, backend="reference")
    >>> words("The Caf\\u00e9 of my cats")
    ['café', 'cats']
    """
    rules = letter_rules(tokenise)
    return tokenise if rules is None else WordCoder(tokenise, rules, after, backend)


class WordCoder:
    """See `word_coder`."""

    def __init__(self, tokenise: Tokenise, rules: LetterRules, after: int, backend: str) -> None:
        self._tokenise = tokenise
        self._rules = rules
        self._left = after
        self._backend = backend
        self._kernels: Any = None

    def __call__(self, text: str) -> Sequence[str]:
        if self._left > 0:
            self._left -= len(text)
            return self._tokenise(text)
        try:
            return self.words_of(text.encode())
        except UnicodeEncodeError:  # half of a surrogate pair
            self.load()
            return self._by_tokeniser(text)

    @property
    def is_ready(self) -> bool:
        """Whether texts are given to the kernel by now."""
        return self._left <= 0

    def words_of(self, text: bytes) -> CodedWords:
        """The words of a text in UTF-8.

        >>> from trustream.text import tokenise
        >>> word_coder(tokenise, backend="reference").words_of(b"My cats")
        ['cats']
        """
        self.load()
        if self._rules.lower and not text.isascii() and _SIGMA in text:
            return self._by_tokeniser(text.decode())
        data = np.frombuffer(text, np.uint8)
        n, n_open, place = self._run(data, 0)
        if place == len(data) and not n_open and self._state[0] == self._named:
            # Nothing is new in it, as in nearly all texts.
            return CodedWords(self.table, self._found[:n].copy())
        codes = self._codes(data)
        if codes is None:
            return self._by_tokeniser(text.decode())
        return CodedWords(self.table, codes)

    def load(self) -> None:
        """Load the kernels and begin a table, unless this was done before."""
        if self._kernels is None:
            self._kernels = kernels.get("words", self._backend)
            self.begin()

    # --- for kernels that find words in something else

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What `code_words` is told of words, and the table."""
        rules = self._rules
        return (
            rules.lower, rules.min_length, MAX_CHARACTERS,
            self._slots, self._hashes, self._starts, self._arena, self._meanings, self._state,
        )  # fmt: skip

    def explain(
        self, codes: NDArray[np.int32], lengths: NDArray[np.int64], n_open: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Codes of words, of which none is left open, and how many each text has.

        Args:
            codes: of texts one after the other, as `code_words` leaves them.
            lengths: how many each text has.
            n_open: how many are open.
        """
        if self._state[0] > self._named:
            self._name_entries()
        if not n_open:
            return codes, lengths
        explained, sizes = self._explained(codes)
        texts = np.repeat(np.arange(len(lengths)), lengths)
        return explained, np.bincount(texts, sizes, len(lengths)).astype(np.int64)

    # --- the table

    def begin(self) -> None:
        """Begin with an empty table, but for the stop words."""
        self.table = WordTable()
        # Codes of words that came from the tokeniser, and the codes of entries of many words.
        self._others: dict[str, int] = {}
        self._several: dict[int, list[int]] = {}
        self._hashes = np.zeros(0, np.uint64)
        self._starts = np.zeros(1, np.int64)
        self._arena = np.zeros(0, np.uint8)
        self._meanings = np.zeros(0, np.int32)
        self._found = np.zeros(0, np.int32)
        # Entries, codes, and the seed of the hash.
        self._state = np.array([0, 0, int.from_bytes(os.urandom(7))], np.int64)
        stop_words = sorted(word for word in self._rules.stop_words if word.isascii())
        data = np.frombuffer(" ".join(filter(str.isalpha, stop_words)).encode(), np.uint8)
        self._grow(_FIRST_ENTRIES + len(stop_words), _FIRST_BYTES + len(data))
        self._run(data, 0)
        self._named = int(self._state[0])
        self._meanings[: self._named] = NOTHING
        self._state[1] = 0

    def _grow(self, n_entries: int, n_bytes: int) -> None:
        """Give the table room for so many entries and bytes."""
        n_new = n_entries - len(self._meanings)
        if n_new > 0:
            self._hashes = np.append(self._hashes, np.zeros(n_new, np.uint64))
            self._starts = np.append(self._starts, np.zeros(n_new, np.int64))
            self._meanings = np.append(self._meanings, np.zeros(n_new, np.int32))
            self._slots = np.full(1 << (2 * n_entries).bit_length(), -1, np.int32)
            self._kernels.fill_slots(self._slots, self._hashes, int(self._state[0]))
        n_new = n_bytes - len(self._arena)
        if n_new > 0:
            self._arena = np.append(self._arena, np.zeros(n_new, np.uint8))

    def make_room(self) -> bool:
        """Double what is full; False if the table is as large as may be."""
        n_entries, n_bytes = len(self._meanings), len(self._arena)
        if int(self._state[0]) == n_entries:
            if n_entries >= _MAX_ENTRIES:
                return False
            self._grow(2 * n_entries, n_bytes)
        elif n_bytes >= _MAX_BYTES:
            return False
        else:
            self._grow(n_entries, 2 * n_bytes)
        return True

    # --- codes

    def _run(self, data: NDArray[np.uint8], begin: int) -> tuple[int, int, int]:
        room = (len(data) + 1) // 2
        if len(self._found) < room:
            self._found = np.empty(2 * room, np.int32)
        rules = self._rules
        n, n_open, place = self._kernels.code_words(
            data, begin, rules.lower, rules.min_length, MAX_CHARACTERS,
            self._slots, self._hashes, self._starts, self._arena, self._meanings, self._state,
            self._found,
        )  # fmt: skip
        return n, n_open, place

    def _codes(self, data: NDArray[np.uint8]) -> NDArray[np.int32] | None:
        """Codes of the words of a text; None if it has to be given to the tokeniser whole."""
        parts: list[NDArray[np.int32]] = []
        place, fresh = 0, False
        while True:
            n, n_open, place = self._run(data, place)
            if self._state[0] > self._named:
                self._name_entries()
            if place < 0:
                return None
            codes = self._found[:n]
            parts.append(self._explained(codes)[0] if n_open else codes.copy())
            if place == len(data):
                return parts[0] if len(parts) == 1 else np.concatenate(parts)
            if not self.make_room():
                if fresh:
                    return None
                # From the start: what was found so far are codes of the old table.
                self.begin()
                parts, place, fresh = [], 0, True

    def _name_entries(self) -> None:
        """Note the words of new entries that have got a code."""
        first, last = self._named, int(self._state[0])
        self._named = last
        arena = self._arena[: self._starts[last]].data
        starts = self._starts[first : last + 1].tolist()
        coded = (self._meanings[first:last] >= 0).tolist()
        self.table.extend(
            str(arena[start:end], "ascii")
            for start, end, is_word in zip(starts, starts[1:], coded, strict=False)
            if is_word
        )

    def _explained(self, codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Codes with words in the place of entries that the kernel does not know, and how many."""
        is_open = codes < 0
        found = [self._words_of_entry(-1 - code) for code in codes[is_open].tolist()]
        sizes = np.ones(len(codes), np.int64)
        sizes[is_open] = [len(one) for one in found]
        explained = np.repeat(codes, sizes)
        explained[np.repeat(is_open, sizes)] = list(chain.from_iterable(found))
        return explained, sizes

    def _words_of_entry(self, entry: int) -> list[int]:
        """Codes of the words of an entry, by the tokeniser."""
        if entry not in self._several:
            start, end = self._starts[entry : entry + 2]
            words = self._tokenise(self._arena[start:end].tobytes().decode())
            self._several[entry] = self._codes_of(words)
            if len(self._several[entry]) < 2:
                # The kernel knows from now on.
                self._meanings[entry] = [*self._several[entry], NOTHING][0]
        return self._several[entry]

    def _codes_of(self, words: Sequence[str]) -> list[int]:
        """Codes of words from the tokeniser; a word may have another one from the kernel too."""
        codes = []
        for word in words:
            if len(word) > MAX_CHARACTERS:
                continue
            if word not in self._others:
                self._others[word] = len(self.table)
                self.table.extend([word])
                self._state[1] += 1
            codes.append(self._others[word])
        return codes

    def _by_tokeniser(self, text: str) -> CodedWords:
        if len(self._others) > _MAX_ENTRIES:
            self.begin()
        return CodedWords(self.table, np.array(self._codes_of(self._tokenise(text)), np.int32))
