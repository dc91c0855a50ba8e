"""The compiled tokeniser makes the words that the other one makes, of any text."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trustream.feeds import word_coder as module
from trustream.feeds.word_coder import word_coder
from trustream.store.coded_words import CodedWords
from trustream.text import Tokeniser, tokenise

# Marks, letters that compose or have no lower case of their own, digits, scripts of all kinds.
ODD = list(
    "\u0301\u0323\u0308\u0344\u0f73\u3099\u0338\u05b0\u034f\u0345éÉİıſKÅßẞΣσςŒǅ²½٣_ªºⅧ日か가"
)
ODD += [
    "\u1100",
    "\u1161",
    "\u09c7",
    "\u09be",
    "\u212b",
    "\ud800",
    "\udfff",
    "\u2019",
    "—",
    "😀",
    "ﬁ",
]
PIECES = st.one_of(
    st.sampled_from(["the", "Cat", "cat", "CATS", "dog", " ", ", ", "'", ".", "\n", "x2vec", "T"]),
    st.sampled_from(ODD),
    st.text(max_size=5),
)
TEXTS = st.lists(PIECES, max_size=60).map("".join)

TOKENISERS = {
    "usual": tokenise,
    "case": Tokeniser(lower=False, stop_words=["Cat", "é"]),
    "short": Tokeniser(min_length=1, stop_words=["cat", "don't", "É", "日"]),
}


def words_of(tokenise: object, text: str) -> list[str]:
    """As a store takes them."""
    return [word for word in tokenise(text) if len(word) <= 500]  # type: ignore[operator]


@pytest.mark.parametrize("kind", TOKENISERS)
@settings(deadline=None, max_examples=400)
@given(texts=st.lists(TEXTS, min_size=1, max_size=5))
@example(texts=["ΑΣ'Α ΑΣ", "T\u0308ail t\u0308ail", "=\u0338abc", "x" * 500, "y" * 501])
@example(texts=["a" + "\u0301\u0323" * 40 + " dogs" + " word" * 300, "é" * 3000])
def test_the_same_words(kind: str, texts: list[str]) -> None:
    slow = TOKENISERS[kind]
    fast = word_coder(slow)
    for text in [*texts, *texts]:
        found = fast(text)
        assert isinstance(found, CodedWords)
        assert list(found) == words_of(slow, text)


@settings(deadline=None, max_examples=100)
@given(texts=st.lists(TEXTS, min_size=1, max_size=8))
def test_a_table_that_is_given_up(texts: list[str]) -> None:
    """Words that were found before stay what they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FIRST_ENTRIES", 2)
        patch.setattr(module, "_MAX_ENTRIES", 300)
        patch.setattr(module, "_FIRST_BYTES", 8)
        patch.setattr(module, "_MAX_BYTES", 2000)
        fast = word_coder(tokenise)
        many = " ".join(f"word{'abcdefghij'[i % 10]}{'klmnopqrst'[i // 10]}" for i in range(100))
        texts = [*texts, many, *texts, many[::-1], *texts]
        found = [fast(text) for text in texts]
        assert [list(words) for words in found] == [words_of(tokenise, text) for text in texts]
        tables = {id(words.table) for words in found if isinstance(words, CodedWords)}
        assert len(tables) > 1


def test_a_text_of_more_words_than_a_table_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_ENTRIES", 10)
    monkeypatch.setattr(module, "_FIRST_ENTRIES", 10)
    letters = np.array(list("abcdefghijklmnop"))
    rng = np.random.default_rng(0)
    text = " ".join("".join(row) for row in rng.choice(letters, (2000, 5)))
    assert list(word_coder(tokenise)(text)) == tokenise(text)


def test_what_the_coder_rests_on() -> None:
    """Facts of Unicode: see the module. A Python with a newer Unicode is checked anew."""
    others = [chr(c) for c in range(128) if not chr(c).isalpha()]
    marks = [
        c
        for c in map(chr, range(128, sys.maxunicode + 1))
        if unicodedata.normalize("NFC", "=" + c) != "=" + c
    ]
    odd = [c for c in marks if unicodedata.normalize("NFC", c) == c or unicodedata.combining(c)]
    assert "\u0338" in odd
    for other in others:
        for mark in odd:
            composed = unicodedata.normalize("NFC", other + mark)
            alone = unicodedata.normalize("NFC", mark)
            is_letter = [c.isalnum() for c in composed]
            assert is_letter[1:] == [c.isalnum() for c in alone][len(alone) - len(composed) + 1 :]
            assert composed[0] == other or not composed[0].isalpha()
    for c in map(chr, range(128, sys.maxunicode + 1)):
        assert c == "\u03a3" or "\u03a3" not in unicodedata.normalize("NFC", c)
        # Lower case depends on what stands around it for sigma alone.
        if c != "\u03a3" and c.lower() != c:
            assert ("a" + c).lower() == ("a" + c + "a").lower()[:-1] == "a" + c.lower()


def test_not_for_other_tokenisers_and_not_for_little_text() -> None:
    other = Tokeniser(r"[\w-]+")
    assert word_coder(other) is other
    assert word_coder(str.split) is str.split
    later = word_coder(tokenise, after=10)
    assert type(later("Cats and dogs")) is list
    assert type(later("Cats and dogs")) is CodedWords
