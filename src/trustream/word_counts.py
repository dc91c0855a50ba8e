"""Choose the words of documents that are used, and count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy import sparse


def build_vocabulary(
    documents: Iterable[Sequence[str]],
    *,
    min_documents: int = 5,
    max_fraction: float = 0.3,
    max_words: int = 10_000,
) -> list[str]:
    """Return the words, sorted, that are in neither too few nor too many documents.

    If more than ``max_words`` are left, those in most documents stay (ties by the alphabet).

    Examples
    --------
    >>> build_vocabulary([["a", "b"], ["a", "c"], ["a", "b"]], min_documents=2, max_fraction=0.9)
    ['b']
    """
    count = 0
    frequency: Counter[str] = Counter()
    for words in documents:
        count += 1
        frequency.update(set(words))
    limits = min_documents, max_fraction, max_words
    return frequent_words(frequency, count, *limits)


def frequent_words(
    frequency: Mapping[str, int],
    n_documents: int,
    min_documents: int,
    max_fraction: float,
    max_words: int | None,
) -> list[str]:
    """Return the words, sorted, that are in neither too few nor too many of the documents.

    Parameters
    ----------
    frequency : mapping from str to int
        How many documents each word is in.
    n_documents : int
        How many documents there are.
    min_documents, max_fraction, max_words
        As in `build_vocabulary`; `max_words` may be None, for all of them.

    Examples
    --------
    >>> frequent_words({"a": 3, "b": 2, "c": 1}, 3, 2, 0.9, None)
    ['b']
    """
    most = max_fraction * n_documents
    kept = [word for word, n in frequency.items() if min_documents <= n <= most]
    kept.sort(key=lambda word: (-frequency[word], word))
    return sorted(kept[:max_words])


def count_matrix(
    documents: Iterable[Sequence[str] | Mapping[str, int]], vocabulary: Sequence[str]
) -> sparse.csr_array:
    """Return the counts of the vocabulary's words as a (documents, words) CSR array of int64.

    A document is its words in order, or a mapping from words to counts; counts that are not
    integers are kept. A column whose name is "" has no word, and no counts.

    Examples
    --------
    >>> count_matrix([["b", "a", "b"], ["z"], {"b": 7, "z": 1}], ["a", "b"]).toarray()
    array([[1, 2],
           [0, 0],
           [0, 7]])
    """
    return column_counts(documents, word_columns(vocabulary), len(vocabulary))


def word_columns(vocabulary: Sequence[str]) -> dict[str, int]:
    """Return the column of each word.

    >>> word_columns(["a", "", "b"])
    {'a': 0, 'b': 2}
    """
    return {word: index for index, word in enumerate(vocabulary) if word}


def column_counts(
    documents: Iterable[Sequence[str] | Mapping[str, int]],
    column: Mapping[str, int],
    n_columns: int,
) -> sparse.csr_array:
    """Return what `count_matrix` does, for many calls with the same vocabulary.

    >>> column_counts([["b", "a", "b"]], word_columns(["a", "b"]), 2).toarray()
    array([[1, 2]])
    """
    rows: list[int] = []
    columns: list[int] = []
    counts: list[int] = []
    number = 0
    for number, words in enumerate(documents, start=1):
        known = [word for word in words if word in column]
        columns += [column[word] for word in known]
        counts += (
            [words[word] for word in known] if isinstance(words, Mapping) else [1] * len(known)
        )
        rows += [number - 1] * len(known)
    values = np.array(counts or np.empty(0, np.int64))
    # Loaded here: words can be made of texts without it, and it takes its time.
    from scipy import sparse

    # COO to CSR adds up what is in the same place, and sorts each row by columns.
    return sparse.coo_array((values, (rows, columns)), shape=(number, n_columns)).tocsr()
