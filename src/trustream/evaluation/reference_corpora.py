"""Read reference corpora for coherence, and map the words of topics to theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from trustream import matrices

Texts = Iterable[Sequence[Any]]


def is_matrix(reference: Any) -> bool:
    """Return whether a reference is a documents x words matrix rather than texts.

    >>> is_matrix(np.zeros((2, 3))), is_matrix([[0, 1], [2]])
    (True, False)
    """
    return sp.issparse(reference) or getattr(reference, "ndim", 0) == 2


def matrix(reference: Any) -> sp.csr_array:
    """Return a reference as a CSR matrix of counts; the argument is not modified.

    >>> matrix(np.eye(3)).nnz
    3
    """
    documents = matrices.csr(reference, "the reference", summed=True)
    if documents.shape[0] == 0 or documents.nnz == 0:
        raise ValueError(
            f"the reference has shape {documents.shape} and {documents.nnz} entries: "
            "pass documents with words in them"
        )
    # The minimum is NaN if any entry is.
    if not documents.data.min() >= 0:
        raise ValueError(
            f"the reference has an entry {documents.data.min()}, expected counts of at least 0"
        )
    return documents


def columns(
    words: list[list[Any]], width: int | None, n_features: int, vocabulary: Sequence[str] | None
) -> list[np.ndarray]:
    """Return topics as arrays of columns of a matrix of `n_features` words.

    `width` is the number of columns of topics given as an array, None for lists of words.

    >>> columns([["b", "a"]], None, 2, ["a", "b"])
    [array([1, 0])]
    """
    if width is not None and width != n_features:
        raise ValueError(
            f"topics have {width} words and the reference {n_features}: both must have the same "
            "columns. Word numbers must come as lists, not as an array"
        )
    if vocabulary is not None and len(vocabulary) != n_features:
        raise ValueError(f"vocabulary has {len(vocabulary)} words, the reference {n_features}")
    if isinstance(words[0][0], str):
        if vocabulary is None:
            raise ValueError(
                "topics are strings and the reference is a matrix: pass the words of its columns "
                "as vocabulary"
            )
        words = _numbers(words, vocabulary)
    _check_numbers(words, n_features)
    return [np.array(topic) for topic in words]


def texts(
    reference: Any, words: list[list[Any]], width: int | None, vocabulary: Sequence[str] | None
) -> tuple[Texts, Callable[[Sequence[Any]], np.ndarray], list[np.ndarray]]:
    """Return texts, a function that maps a text to word numbers, and the topics as word numbers.

    >>> _, column_of, topics = texts([["a", "x", "b"]], [["b", "a"]], None, None)
    >>> column_of(["a", "x", "b"]), topics
    (array([ 1, -1,  0]), [array([0, 1])])
    """
    if vocabulary is not None and width not in (None, len(vocabulary)):
        raise ValueError(f"vocabulary has {len(vocabulary)} words, topics have {width}")
    strings, reference = _peek(reference)
    n_features = width if vocabulary is None else len(vocabulary)
    if isinstance(words[0][0], str):
        # Checks them against the vocabulary as well.
        numbers = None if vocabulary is None else _numbers(words, vocabulary)
    else:
        _check_numbers(words, n_features)
        numbers = words
    if not strings:
        if numbers is None:
            raise ValueError("topics are strings and texts are numbers: pass vocabulary")
        return reference, _NumberedText(n_features), [np.array(topic) for topic in numbers]
    if numbers is words:
        if vocabulary is None:
            raise ValueError("topics are numbers and texts are strings: pass vocabulary")
        words = [[vocabulary[v] for v in topic] for topic in words]
    number = {word: i for i, word in enumerate(dict.fromkeys(chain.from_iterable(words)))}
    topics = [np.array([number[word] for word in topic]) for topic in words]
    return reference, _StringText(number), topics


def _peek(reference: Any) -> tuple[bool, Texts]:
    """Whether tokens are strings, and an iterable of all texts."""
    if isinstance(reference, str) or not isinstance(reference, Iterable):
        raise ValueError(
            f"the reference is a {type(reference).__name__}, expected a matrix "
            "(n_documents, n_features) or texts as lists of tokens"
        )
    remaining: Iterator[Any] = iter(reference)
    taken = []
    for text in remaining:
        _check_text(text)
        taken.append(text)
        if len(text):
            return isinstance(text[0], str), chain(taken, remaining)
    raise ValueError(f"the reference has {len(taken)} texts and no tokens: pass texts with words")


def _check_text(text: Any) -> None:
    if isinstance(text, str) or not hasattr(text, "__len__"):
        raise ValueError(
            f"a text of the reference is a {type(text).__name__}, expected a sequence of tokens: "
            "split it into words"
        )


class _StringText:
    """Maps strings to word numbers, -1 for words in no topic."""

    def __init__(self, number: dict[str, int]) -> None:
        self._number = number

    def __call__(self, text: Sequence[str]) -> np.ndarray:
        _check_text(text)
        find = self._number.get
        try:
            return np.fromiter((find(word, -1) for word in text), np.int64, len(text))
        except TypeError as error:
            raise ValueError(f"a text has a token that is not a string: {error}") from None


class _NumberedText:
    """Checks texts of word numbers, where -1 stands for a word outside the vocabulary."""

    def __init__(self, n_features: int | None) -> None:
        self._n_features = n_features

    def __call__(self, text: Sequence[int]) -> np.ndarray:
        _check_text(text)
        if len(text) == 0:
            return np.empty(0, np.int64)
        ids = np.asarray(text)
        if ids.dtype.kind not in "iu" or ids.ndim != 1:
            raise ValueError(f"a text has tokens of dtype {ids.dtype}, expected word numbers")
        if ids.min() < -1 or (self._n_features is not None and ids.max() >= self._n_features):
            most = "" if self._n_features is None else f" to {self._n_features - 1}"
            raise ValueError(
                f"a text has word numbers from {ids.min()} to {ids.max()}, expected 0{most}, or "
                "-1 for a word outside the vocabulary"
            )
        return ids.astype(np.int64)


def _numbers(words: list[list[str]], vocabulary: Sequence[str]) -> list[list[int]]:
    """Strings as positions in the vocabulary."""
    place = {word: v for v, word in enumerate(vocabulary)}
    if len(place) < len(vocabulary):
        raise ValueError("vocabulary has a word twice: expected each word once")
    unknown = sorted({word for topic in words for word in topic if word not in place})
    if unknown:
        raise ValueError(
            f"{len(unknown)} words of topics are not in the vocabulary, such as {unknown[0]!r}: "
            "leave them out, or pass the vocabulary that topics were made with"
        )
    return [[place[word] for word in topic] for topic in words]


def _check_numbers(words: list[list[int]], n_features: int | None) -> None:
    for k, topic in enumerate(words):
        if min(topic) < 0 or (n_features is not None and max(topic) >= n_features):
            most = "" if n_features is None else f" to {n_features - 1}"
            raise ValueError(
                f"topic {k} has word numbers from {min(topic)} to {max(topic)}, expected 0{most}"
            )
