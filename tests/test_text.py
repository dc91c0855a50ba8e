"""What counts as a word, and how words are counted."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest

from trustream.text import Tokeniser, build_vocabulary, count_matrix, tokenise
from trustream.unicode_words import composed

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def test_tokenise_words() -> None:
    assert tokenise("Größe ÉCOLE naïve 日本語版 Ωμέγα") == [
        "größe", "école", "naïve", "日本語版", "ωμέγα",
    ]  # fmt: skip
    assert tokenise("ab abc a1b2c3 foo_bar x2vec") == ["abc", "foo", "bar", "vec"]
    assert tokenise("") == []


def test_tokenise_composes_accents() -> None:
    assert tokenise("cafe\u0301 nai\u0308ve") == ["café", "naïve"]


def test_long_texts_are_composed_as_short_ones() -> None:
    """Whatever stands at the cuts, with marks, letters that compose, and scripts of all kinds."""
    rng = np.random.default_rng(0)
    marks = ["\u0301", "\u0323", "\u0308", "\u0344", "\u0f73", "\u3099", "\U0001d165", "\u05b0"]
    others = [*"aeo <=z\n", "\u1100", "\u1161", "\u11a8", "가", "か", "日", "\u09c7", "\u09be"]
    others += ["\u0958", "\u212b", "ǖ", "Ж", "ب", "ก", "😀", "é"]
    for _ in range(300):
        alphabet = rng.choice([*marks, *others], size=rng.integers(2, 8))
        text = "".join(rng.choice(alphabet, size=rng.integers(0, 4000)))
        if longest_run(text, set(marks)) > 30:
            continue
        assert composed(text) == unicodedata.normalize("NFC", text)


def longest_run(text: str, characters: set[str]) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character in characters else 0
        longest = max(longest, run)
    return longest


def test_a_run_of_marks_is_broken() -> None:
    """Words before and behind it are what they are without it, and nothing is lost."""
    marks = "\u0301\u0323" * 50_000
    assert tokenise(f"caf\u0065\u0301 {marks} dogs") == ["café", "dogs"]
    broken = composed(f"x{marks}")
    assert broken.count("\u034f") > 3000
    apart = [unicodedata.normalize("NFD", piece) for piece in broken.split("\u034f")]
    assert sorted("".join(apart)) == sorted(f"x{marks}")
    whole = Tokeniser(r"\S+", stop_words=[])(f"a{marks}b")
    assert len(whole) == 1


def test_tokenise_drops_stop_words_whatever_their_case() -> None:
    assert tokenise("The model, WITHOUT which this doesn't work") == ["model", "work"]


TEXT = "The cafe\u0301 in NAI\u0308VE Türkei: ab abc x2vec foo_bar, without which it's 日本語版"


def test_the_usual_tokeniser_is_the_function() -> None:
    assert Tokeniser()(TEXT) == tokenise(TEXT)
    assert Tokeniser(stop_words=["café"])(TEXT) != tokenise(TEXT)


def test_tokenisers_of_ones_own(tmp_path: Path) -> None:
    assert Tokeniser(min_length=2, stop_words=[])("It is ab a") == ["it", "is", "ab"]
    assert Tokeniser(lower=False, stop_words=["Cat"])("Cat cat") == ["cat"]
    assert Tokeniser(stop_words=["CAFE\u0301"])("Café Bar") == ["bar"]
    assert Tokeniser(r"#(\w+)", min_length=1)("#One and #2") == ["2"]
    words = tmp_path / "stop.txt"
    words.write_text("Birds\n\n cats \n", encoding="utf-8")
    assert Tokeniser(stop_words=words)("Cats, birds, the dogs") == ["the", "dogs"]


def test_bad_tokenisers(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no regular expression"):
        Tokeniser("[")
    with pytest.raises(ValueError, match="more than one group"):
        Tokeniser("(a)(b)")
    with pytest.raises(ValueError, match="min_length is 0"):
        Tokeniser(min_length=0)
    with pytest.raises(ValueError, match="expected words, or a Path"):
        Tokeniser(stop_words="the")
    with pytest.raises(ValueError, match=r"cannot read none.txt: No such file"):
        Tokeniser(stop_words=tmp_path / "none.txt")
    (tmp_path / "stop.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(ValueError, match=r"cannot read stop.txt: it is not UTF-8 \(byte 0xe9\)"):
        Tokeniser(stop_words=tmp_path / "stop.txt")


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


def test_columns_without_a_word_are_kept_and_stay_empty() -> None:
    """A model whose words were evicted has columns named "", of which there may be several."""
    counts = count_matrix([["b", "", "a"], {"b": 2.5, "": 1}], ["", "a", "", "b"])
    assert counts.toarray().tolist() == [[0, 1, 0, 1], [0, 0, 0, 2.5]]
