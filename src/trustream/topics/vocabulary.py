"""Count words of texts, in columns that stay while new words come."""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from trustream.segmenters import unspaced_advice
from trustream.text import frequent_words, leaves_clauses
from trustream.tokenisers import Specification, described
from trustream.topics.word_sources import WordFunction

# Words that are too rare yet whose documents are counted; half of it after a clearance.
_MOST_WAITING = 200_000
# Documents that a word must be in if nobody says, and of how many documents that is asked.
_ENOUGH, _OF = 5, 20
# Of the documents that a word may be in.
_USUAL_SHARE = 0.5
# New words that are looked at for clauses that should be cut.
_LOOKED_AT = 1000


class WordRules(NamedTuple):
    """Which words get a column.

    Attributes:
        min_documents: a word has to be in so many documents; None is 5, and fewer if there are
            fewer than 100 documents, one of 20.
        max_fraction: and in at most this share of them; None is a half, and all if there are fewer
            than 20 documents.
        max_words: the most columns; None is no limit.
    """

    min_documents: int | None = None
    max_fraction: float | None = None
    max_words: int | None = None

    def least(self, n_documents: int) -> int:
        """Return the documents that a word has to be in, of so many.

        >>> [WordRules().least(n) for n in (1, 45, 1000)], WordRules(3).least(1000)
        ([1, 2, 5], 3)
        """
        if self.min_documents is not None:
            return self.min_documents
        return min(_ENOUGH, max(1, n_documents // _OF))

    def most(self, n_documents: int) -> float:
        """Return the share of so many documents that a word may be in.

        >>> [WordRules().most(n) for n in (1, 45)], WordRules(max_fraction=0.3).most(5)
        ([1.0, 0.5], 0.3)
        """
        if self.max_fraction is not None:
            return self.max_fraction
        return 1.0 if n_documents < _OF else _USUAL_SHARE


@dataclass(frozen=True, eq=False)
class Counted:
    """What was found in some texts.

    Attributes:
        counts: (documents, words), the words that are new now included.
        new: words that get a column now, in the order of the columns.
        waiting: documents that other unknown words are in now, those of before included.
        n_documents: documents seen, with these.
        source: what makes words of texts from now on; None if it is the same as before.
    """

    counts: sparse.csr_array
    new: Sequence[str]
    waiting: dict[str, int]
    n_documents: int
    source: WordFunction | None = None


@dataclass(eq=False)
class GrowingWords:
    """Words by column, which more words join once they are in enough documents.

    Attributes:
        source: what makes words of texts.
        rules: which words get a column.
        columns: columns by word.
        waiting: documents by word, of words without a column.
        n_documents: documents seen.

    Examples
    --------
    >>> words = GrowingWords(WordFunction(str.split), WordRules(min_documents=2, max_fraction=1.0))
    >>> found = words.read([["cat dog", "dog bird", "dog cat cat"]])
    >>> words.take(found)
    >>> words.words, found.counts.toarray().tolist()
    (['cat', 'dog'], [[1, 1], [0, 1], [2, 1]])
    >>> words.take(words.read([["bird"]]))
    >>> words.words
    ['cat', 'dog', 'bird']
    """

    source: WordFunction
    rules: WordRules
    columns: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, int] = field(default_factory=dict)
    n_documents: int = 0

    @property
    def words(self) -> list[str]:
        """Words by column."""
        return list(self.columns)

    @property
    def made_by(self) -> Any:
        """What `TopicModel` was given as its tokeniser, or the same."""
        return self.source.function

    @property
    def specification(self) -> Specification:
        """What the estimator's file says of what makes words."""
        return self.source.specification()

    def count(self, texts: Sequence[str], first: int = 0) -> sparse.csr_array:
        """Return counts of the words that have a column; errors number texts from `first`."""
        rows = _Rows(self.source.counted, self.columns)
        rows.add(texts, first)
        return rows.matrix(rows.places([]))

    def read(
        self,
        chunks: Iterable[Sequence[Any]],
        counted: Callable[[Any, int], Mapping[str, int]] | None = None,
    ) -> Counted:
        """Return counts of texts and the words that get a column with them; changes nothing.

        `counted` counts the words of what is in the chunks if these are no texts.
        """
        rows, first = _Rows(counted or self.source.counted, self.columns), 0
        for chunk in chunks:
            rows.add(chunk, first)
            first += len(chunk)
        n_documents = self.n_documents + rows.n_documents
        waiting = {
            word: n + self.waiting.get(word, 0)
            for word, n in zip(rows.unknown, rows.n_documents_of_unknown().tolist(), strict=True)
        }
        n_known, most = len(self.columns), self.rules.max_words
        new = frequent_words(
            waiting,
            n_documents,
            min_documents=self.rules.least(n_documents),
            max_fraction=self.rules.most(n_documents),
            max_words=None if most is None else max(0, most - n_known),
        )
        for word in new:
            del waiting[word]
        if not rows.indices:
            raise ValueError(self._nothing(rows.n_documents))
        advice = None
        if n_known == 0 and leaves_clauses(self.source.function):
            advice = unspaced_advice(islice(rows.unknown, _LOOKED_AT))
        if n_known == 0 and not new:
            raise ValueError(advice or self._too_rare(len(waiting), n_documents))
        if advice is not None:
            warnings.warn(advice, stacklevel=4)
        return Counted(rows.matrix(rows.places(new)), new, waiting, n_documents)

    def take(self, counted: Counted) -> None:
        """Take in what `read` has found; to do it again changes nothing."""
        if counted.n_documents == self.n_documents:
            return
        first = counted.counts.shape[1] - len(counted.new)
        for column, word in enumerate(counted.new, start=first):
            self.waiting.pop(word, None)
            self.columns[word] = column
        self.waiting.update(counted.waiting)
        if counted.source is not None:
            self.source = counted.source
        waiting = self.waiting
        if len(waiting) > _MOST_WAITING:
            # The most frequent ones stay, of equal ones those that came first.
            kept = sorted(waiting.items(), key=lambda item: -item[1])[: _MOST_WAITING // 2]
            waiting = dict(kept)
        # At once and at last: the number says that all was done.
        self.waiting, self.n_documents = waiting, counted.n_documents

    def _nothing(self, n_documents: int) -> str:
        return (
            f"no word was found in {n_documents} text{'s' * (n_documents != 1)}; texts are split "
            f"into {described(self.specification)}: give other texts, or another tokeniser"
        )

    def _too_rare(self, n_words: int, n_documents: int) -> str:
        least, most = self.rules.least(n_documents), self.rules.most(n_documents)
        return (
            f"of the {n_words} words in {n_documents} text{'s' * (n_documents != 1)} none is in "
            f"{least} or more, and in at most {most:.0%} of them: give more texts, a smaller "
            "min_documents or a larger max_fraction"
        )


class _Rows:
    """Counts of documents, one after the other; words without a column are numbered behind them."""

    def __init__(
        self, counted: Callable[[Any, int], Mapping[str, int]], columns: dict[str, int]
    ) -> None:
        self.counted, self.columns = counted, columns
        self.unknown: dict[str, int] = {}
        self.indptr, self.indices, self.data = array("q", [0]), array("i"), array("i")

    @property
    def n_documents(self) -> int:
        return len(self.indptr) - 1

    def add(self, texts: Iterable[Any], first: int) -> None:
        columns, unknown, n_known = self.columns, self.unknown, len(self.columns)
        for number, text in enumerate(texts, start=first):
            for word, n in self.counted(text, number).items():
                column = columns.get(word)
                if column is None:
                    column = unknown.get(word)
                    if column is None:
                        column = n_known + len(unknown)
                        unknown[_checked(word, number)] = column
                self.indices.append(column)
                self.data.append(n)
            self.indptr.append(len(self.indices))

    def n_documents_of_unknown(self) -> np.ndarray:
        """(U,) documents that each of the unknown words is in."""
        found = np.frombuffer(self.indices, np.int32) if self.indices else np.empty(0, np.int32)
        n_known = len(self.columns)
        return np.bincount(found[found >= n_known] - n_known, minlength=len(self.unknown))

    def places(self, new: Sequence[str]) -> np.ndarray:
        """The columns of all words that were found, -1 for those that have none."""
        n_known = len(self.columns)
        places = np.full(n_known + len(self.unknown) + 1, -1, np.int32)
        places[:n_known] = np.arange(n_known)
        for column, word in enumerate(new, start=n_known):
            places[self.unknown[word]] = column
        return places

    def matrix(self, places: np.ndarray) -> sparse.csr_array:
        """The counts of words that have a column."""
        shape = self.n_documents, int(places.max(initial=-1)) + 1
        if not self.indices:
            return sparse.csr_array(shape, dtype=np.int32)
        columns = places[np.frombuffer(self.indices, np.int32)]
        kept = columns >= 0
        ends = np.concatenate([[0], np.cumsum(kept)])[np.frombuffer(self.indptr, np.int64)]
        if ends[-1] < 2**31:
            ends = ends.astype(np.int32)  # both kinds of indices become the larger type
        data = np.frombuffer(self.data, np.int32)[kept]
        found = sparse.csr_array((data, columns[kept], ends), shape=shape)
        found.sort_indices()
        return found


def _checked(word: Any, number: int) -> str:
    if not isinstance(word, str):
        raise ValueError(
            f"the tokeniser finds {word!r:.60} in text {number}, of type {type(word).__name__}; "
            "expected words, which are strings"
        )
    return str(word)


def batches(words: Any, chunks: Iterable[Sequence[str]]) -> Iterator[tuple[Any, Sequence[str]]]:
    """Yield counts and texts of each chunk."""
    first = 0
    for chunk in chunks:
        yield words.count(chunk, first), chunk
        first += len(chunk)
