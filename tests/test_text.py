"""What counts as a word, and how words are counted."""

from __future__ import annotations

import numpy as np

from trustream.text import build_vocabulary, count_matrix, tokenise

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def test_tokenise_words() -> None:
    assert tokenise("Größe ÉCOLE naïve 日本語版 Ωμέγα") == [
        "größe", "école", "naïve", "日本語版", "ωμέγα",
    ]  # fmt: skip
    assert tokenise("ab abc a1b2c3 foo_bar x2vec") == ["abc", "foo", "bar", "vec"]
    assert tokenise("") == []


def test_tokenise_composes_accents() -> None:
    assert tokenise("cafe\u0301 nai\u0308ve") == ["café", "naïve"]


def test_tokenise_drops_stop_words_whatever_their_case() -> None:
    assert tokenise("The model, WITHOUT which this doesn't work") == ["model", "work"]


def test_vocabulary_bounds_and_order() -> None:
    documents = [
        ["all", "most", "pair", "x"],
        ["all", "most", "pair", "x"],
        ["all", "most"],
        ["all"],
    ]
    words = build_vocabulary(documents, min_documents=2, max_fraction=0.75)
    assert words == ["most", "pair", "x"]
    assert build_vocabulary(documents, min_documents=2, max_fraction=0.75, max_words=2) == [
        "most",
        "pair",
    ]
    assert build_vocabulary([]) == []


def test_vocabulary_counts_documents_not_tokens() -> None:
    assert build_vocabulary([["often"] * 10, ["x"]], min_documents=2, max_fraction=1.0) == []


def test_count_matrix_against_counting() -> None:
    rng = np.random.default_rng(0)
    words = list(LETTERS)
    documents = [list(rng.choice(words, size=n)) for n in (0, 1, 30, 200, 0)]
    vocabulary = words[3:20]
    expected = [[document.count(word) for word in vocabulary] for document in documents]
    counts = count_matrix(documents, vocabulary)
    assert counts.shape == (5, 17)
    assert counts.has_canonical_format
    assert counts.toarray().tolist() == expected
    assert count_matrix([], vocabulary).shape == (0, 17)
