"""What coherence refuses, and that it says why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trustream.evaluation.topic_coherence import coherence

COUNTS = np.array([[1, 2, 0], [0, 1, 1]])
TEXTS = [["a", "b"], ["c"]]
NAN = np.array([[1.0, np.nan, 0.0]])


@pytest.mark.parametrize(
    ("topics", "reference", "options", "message"),
    [
        ([[0, 1]], COUNTS, {"measure": "c_w2v"}, "measure must be one of"),
        ([[0, 1]], COUNTS, {"n_words": 1}, "n_words must be at least 2, got 1"),
        (np.ones((2, 3)), COUNTS, {"n_words": 4}, "n_words is 4, but topics have 3"),
        (np.ones((2, 4)), COUNTS, {"n_words": 2}, "topics have 4 words and the reference 3"),
        ([[0, 3]], COUNTS, {}, "topic 0 has word numbers from 0 to 3, expected 0 to 2"),
        ([[0, -1]], COUNTS, {}, "topic 0 has word numbers from -1"),
        ([[0, 1], [2]], COUNTS, {}, "topic 1 has a single word"),
        ([[0, 1], []], COUNTS, {}, "topic 1 is"),
        ([[0, 1, 0]], COUNTS, {}, "topic 0 has a word twice"),
        ([[0.5, 0.2]], COUNTS, {}, "weights must come as an array"),
        ([[0, 1], ["a", "b"]], COUNTS, {}, "expected one kind"),
        ([], COUNTS, {}, "at least one list"),
        ("ab", COUNTS, {}, "topics are 'ab'"),
        (["ab"], TEXTS, {}, "topic 0 is 'ab'"),
        (np.ones(3), COUNTS, {}, r"shape \(3,\)"),
        (NAN, COUNTS, {"n_words": 2}, "topic 0 has NaN"),
        ([[0, 1]], COUNTS * np.nan, {}, "entry nan"),
        ([[0, 1]], -COUNTS, {}, "entry -2, expected counts"),
        ([[0, 1]], COUNTS[:0], {}, "pass documents"),
        ([[0, 1]], 0 * COUNTS, {}, "pass documents"),
        ([[0, 1]], COUNTS.astype(str), {}, "the reference .* entries of type <U"),
        ([[0, 1]], COUNTS, {"window": 10}, "no order of words"),
        ([[0, 1]], COUNTS, {"vocabulary": ["a"]}, "vocabulary has 1 words, the reference 3"),
        ([["a", "b"]], COUNTS, {}, "pass the words of its columns"),
        ([["a", "z"]], COUNTS, {"vocabulary": list("abc")}, "not in the vocabulary, such as 'z'"),
        ([["a", "b"]], COUNTS, {"vocabulary": list("aba")}, "a word twice"),
        ([["a", "b"]], TEXTS, {"window": 0}, "window must be at least 1"),
        ([["a", "b"]], TEXTS, {"window_rule": "none"}, "window_rule must be"),
        ([["a", "b"]], [], {}, "0 texts and no tokens"),
        ([["a", "b"]], [[], []], {}, "2 texts and no tokens"),
        ([["a", "b"]], "a b", {}, "reference is a str"),
        ([["a", "b"]], ["a b"], {}, "split it into words"),
        ([["a", "b"]], [["a"], "b"], {}, "split it into words"),
        ([["a", "b"]], None, {}, "reference is a NoneType"),
        ([["a", "b"]], [[0, 1]], {}, "texts are numbers: pass vocabulary"),
        ([[0, 1]], TEXTS, {}, "texts are strings: pass vocabulary"),
        ([[0, 3]], TEXTS, {"vocabulary": list("abc")}, "expected 0 to 2"),
        (np.ones((1, 4)), TEXTS, {"vocabulary": list("abc"), "n_words": 2}, "3 words, topics"),
        ([[0, 1]], [[0, -2]], {}, "word numbers from -2 to 0"),
        (np.ones((1, 4)), [[0, 4]], {"n_words": 2}, "from 0 to 4, expected 0 to 3"),
        ([[0, 1]], [[0, 0.5]], {}, "dtype float64"),
    ],
)
def test_bad_input(topics: Any, reference: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coherence(topics, reference, **options)
