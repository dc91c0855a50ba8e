"""Text as counts of words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import sparse

from trustream._stop_words import STOP_WORDS

_WORD = re.compile(r"[^\W\d_]{3,}")


def tokenise(text: str) -> list[str]:
    """Return the words of ``text``: Unicode letters, lower case, three or more, no stop words.

    Examples
    --------
    >>> tokenise("The Größe of n_samples2 arrays, isn't it?")
    ['größe', 'samples', 'arrays']
    """
    words = _WORD.findall(unicodedata.normalize("NFC", text).lower())
    return [word for word in words if word not in STOP_WORDS]


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
    kept = [w for w, n in frequency.items() if min_documents <= n <= max_fraction * count]
    kept.sort(key=lambda word: (-frequency[word], word))
    return sorted(kept[:max_words])


def count_matrix(documents: Iterable[Sequence[str]], vocabulary: Sequence[str]) -> sparse.csr_array:
    """Return the counts of the vocabulary's words as a (documents, words) CSR array of int64.

    Examples
    --------
    >>> count_matrix([["b", "a", "b"], ["z"]], ["a", "b"]).toarray()
    array([[1, 2],
           [0, 0]])
    """
    column = {word: index for index, word in enumerate(vocabulary)}
    rows: list[int] = []
    columns: list[int] = []
    number = 0
    for number, words in enumerate(documents, start=1):
        known = [column[word] for word in words if word in column]
        columns += known
        rows += [number - 1] * len(known)
    ones = np.ones(len(rows), dtype=np.int64)
    # COO to CSR adds up what is in the same place.
    return sparse.coo_array((ones, (rows, columns)), shape=(number, len(column))).tocsr()
