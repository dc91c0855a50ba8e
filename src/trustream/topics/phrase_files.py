"""Counts of words and of pairs of words as arrays of a file, and back with checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from trustream import persist
from trustream._schema import Array, check_values, integer, number, text
from trustream.bounded_counts import BoundedCounts
from trustream.phrases import Phrases

_SETTINGS = {
    "min_count": integer(1),
    "threshold": number(),
    "scoring": text,
    "max_phrases": integer(1),
    "max_counts": integer(1),
}
_COUNTED = {name: integer(0) for name in ("n_words", "words_error", "n_pairs", "pairs_error")}
ARRAYS = {
    "phrases.words": Array(None, ("uint8",)),
    "phrases.counts": Array(None, ("int64",), least=0.0),
    "phrases.pairs": Array(None, ("int32",), least=0.0),
    "phrases.pair_counts": Array(None, ("int64",), least=1.0),
}


def to_arrays(phrases: Phrases) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return (arrays, header) of what was counted, and of the settings."""
    words, pairs = phrases._words, phrases._pairs
    # Words of pairs may have been too rare to be counted any more.
    numbers = {word: i for i, word in enumerate(words.counts)}
    ids = [numbers.setdefault(word, len(numbers)) for pair in pairs.counts for word in pair]
    arrays = {
        "phrases.words": persist.pack_strings(list(numbers)),
        "phrases.counts": np.array([words.counts[word] for word in numbers], np.int64),
        "phrases.pairs": np.array(ids, np.int32),
        "phrases.pair_counts": np.array(list(pairs.counts.values()), np.int64),
    }
    counted = {
        "n_words": words.n,
        "words_error": words.error,
        "n_pairs": pairs.n,
        "pairs_error": pairs.error,
    }
    return arrays, {**phrases.settings, **counted}


def from_arrays(header: Any, arrays: Mapping[str, np.ndarray]) -> Phrases:
    """Return what `to_arrays` wrote down; a ValueError says what is wrong."""
    check_values(header, _SETTINGS | _COUNTED, "the phrases")
    found = Phrases(**{name: header[name] for name in _SETTINGS})
    words = persist.unpack_strings(arrays["phrases.words"])
    counts, pairs = arrays["phrases.counts"], arrays["phrases.pairs"]
    if len(words) != counts.size or pairs.size != 2 * arrays["phrases.pair_counts"].size:
        raise ValueError("there are not as many counts as words and pairs that were counted")
    if pairs.size and pairs.max() >= len(words):
        raise ValueError("pairs were counted of words that are not there")
    found._words = _counts(
        found.max_counts,
        {word: n for word, n in zip(words, counts.tolist(), strict=True) if n},
        header["n_words"],
        header["words_error"],
    )
    both = [(words[a], words[b]) for a, b in pairs.reshape(-1, 2).tolist()]
    of_pairs = dict(zip(both, arrays["phrases.pair_counts"].tolist(), strict=True))
    found._pairs = _counts(found.max_counts, of_pairs, header["n_pairs"], header["pairs_error"])
    return found


def _counts(most: int, counts: dict[Any, int], n: int, error: int) -> BoundedCounts:
    found = BoundedCounts(most)
    found.counts, found.n, found.error = Counter(counts), n, error
    if sum(counts.values()) > n or len(counts) > 2 * most:
        raise ValueError("more words or pairs were counted than there were")
    return found
