"""Keep some of the documents that a model learned from, to look at its topics through them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from trustream.topics.documents import DocumentBatch
from trustream.topics.texts import excerpt


class KeptDocuments:
    """A random sample of all documents that came, with counts and the beginning of each text.

    All of them are kept as long as they are no more than `most`. Each document draws a number, and
    the largest numbers stay, so that every document has the same chance, whenever it came.

    Parameters
    ----------
    most : int or None
        None keeps all.
    seed : int

    Examples
    --------
    >>> kept = KeptDocuments(2, seed=0)
    >>> for text in ["cats", "dogs", "birds", "fish"]:
    ...     noted = kept.noting()
    ...     _ = list(noted.passing([[text]]))
    ...     kept.take(noted, sparse.csr_array([[1]]))
    >>> kept.n_seen, len(kept), kept.numbers.size
    (4, 2, 2)
    """

    def __init__(self, most: int | None, seed: int) -> None:
        self.most, self.n_seen = most, 0
        self._rng = np.random.default_rng(seed)
        self._draws, self._numbers = np.empty(0), np.empty(0, np.int64)
        self._excerpts: list[str] = []
        self._counts: list[Any] = []

    def __len__(self) -> int:
        return int(self._numbers.size)

    @property
    def numbers(self) -> np.ndarray:
        """Which documents are kept, of all that came, from 0."""
        return self._numbers

    def noting(self) -> NotedTexts:
        """Return what notes texts while they are read, for `take`."""
        full = self.most is not None and len(self) >= self.most
        least = float(self._draws.min(initial=1.0)) if full else -1.0
        # A copy: texts that are not learned from, and come again, draw the same numbers.
        return NotedTexts(self.n_seen, self.most, least, copy.deepcopy(self._rng))

    def take(self, noted: NotedTexts, counts: Any) -> None:
        """Keep some of the documents that were noted; counts are of all of them.

        To do it again changes nothing.
        """
        if noted.first != self.n_seen:
            return
        draws = np.concatenate([self._draws, noted.draws])
        numbers = np.concatenate([self._numbers, self.n_seen + noted.rows])
        excerpts = [*self._excerpts, *noted.excerpts]
        whole = noted.rows.size == noted.n_texts
        parts = [*self._counts, counts if whole else counts[noted.rows]]
        if self.most is not None and draws.size > self.most:
            stay = _largest(draws, self.most)
            parts = [_stacked(parts, counts.shape[1])[stay]]
            draws, numbers = draws[stay], numbers[stay]
            excerpts = [excerpts[i] for i in stay.tolist()]
        # In one call, which no interrupt divides.
        self.__dict__.update(
            _draws=draws,
            _numbers=numbers,
            _excerpts=excerpts,
            _counts=parts,
            _rng=noted.rng,
            n_seen=self.n_seen + noted.n_texts,
        )

    def batch(self, n_words: int) -> DocumentBatch | None:
        """Return the documents that are kept, in their order; None if they have no words.

        `keys` are their numbers, `titles` the beginnings of the texts.
        """
        if not len(self):
            return None
        counts = _stacked(self._counts, n_words)
        self._counts = [counts]
        if not counts.nnz:
            return None
        return DocumentBatch(counts, keys=self._numbers, titles=self._excerpts)


class NotedTexts:
    """Texts that are read now, of which some will be kept."""

    def __init__(
        self, first: int, most: int | None, least: float, rng: np.random.Generator
    ) -> None:
        self.first, self.most, self.least, self.rng = first, most, least, rng
        self.n_texts = 0
        self.draws, self.rows = np.empty(0), np.empty(0, np.int64)
        self.excerpts: list[str] = []

    def passing(self, chunks: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
        """Yield the same texts, and note the beginnings of those that may be kept."""
        for chunk in chunks:
            self._note(chunk)
            yield chunk

    def _note(self, texts: Sequence[str]) -> None:
        draws = self.rng.random(len(texts))
        found = np.flatnonzero(draws > self.least) if self.most != 0 else np.empty(0, np.int64)
        self.draws = np.concatenate([self.draws, draws[found]])
        self.rows = np.concatenate([self.rows, self.n_texts + found])
        self.excerpts += [excerpt(texts[i]) for i in found.tolist()]
        self.n_texts += len(texts)
        # Twice as many before some are dropped, so that it is done seldom.
        if self.most is not None and self.rows.size > 2 * self.most + 1000:
            stay = _largest(self.draws, self.most)
            self.draws, self.rows = self.draws[stay], self.rows[stay]
            self.excerpts = [self.excerpts[i] for i in stay.tolist()]
            self.least = float(self.draws.min())


def _stacked(parts: Sequence[Any], n_words: int) -> sparse.csr_array:
    """All counts, in as many columns as there are words by now."""
    wide = [
        sparse.csr_array((part.data, part.indices, part.indptr), (part.shape[0], n_words))
        for part in parts
    ]
    return wide[0] if len(wide) == 1 else sparse.csr_array(sparse.vstack(wide, format="csr"))


def _largest(draws: np.ndarray, n: int) -> np.ndarray:
    """The places of the n largest numbers, in their order."""
    return np.sort(np.argpartition(draws, draws.size - n)[draws.size - n :])
