"""Words of any script: letters with their marks, in linear time; other texts are as they were."""

from __future__ import annotations

import re
import sys
import time
import unicodedata

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from trustream.feeds.word_coder import word_coder
from trustream.text import BEFORE_MARKS, Tokeniser, tokenise
from trustream.unicode_words import (
    JOINERS,
    composed,
    has_marks,
    lower_case,
    n_letters,
    unspaced_script,
    words_of,
)

# Letters and marks of many scripts, joiners, what composes only in lower case, and what does not.
SAMPLES = (
    "a T t İ I ı ß Σ σ ς é Н й Ж а हि न् दी كِ تَ ابـ שָׁ ก ำ ไ 漢 カ 가 ᄀ ᅡ "
    "\u0301 \u0308 \u0331 \u0327 \u200c \u200d \u034f \u0f73 \U0001e8d0 \ufe0f \u20e3 \U000e0100 "
    "\U00011127 🙂 , - 2 _ ² ½ ٣"
)
ODD = st.sampled_from([" ", *SAMPLES.split()])
TEXTS = st.lists(st.one_of(ODD, st.text(max_size=4)), max_size=50).map("".join)

SENTENCES = {
    "hi": (
        "मेरा नाम राम है और मैं नई दिल्ली में हिन्दी साहित्य पढ़ता हूँ।",
        ["नाम", "राम", "नई", "दिल्ली", "हिन्दी", "साहित्य", "पढ़ता"],
    ),
    "ar": (
        "ذَهَبَ الوَلَدُ إلى المَدْرَسَةِ، وقرأ كتابًا جديــدًا.",
        ["ذهب", "الولد", "المدرسة", "وقرأ", "كتابا", "جديدا"],
    ),
    "de": ("Der Fluß fließt nicht über die Straße.", ["fluß", "fließt", "straße"]),
    "el": ("Η ΘΆΛΑΣΣΑ είναι γαλανή και ο ουρανός", ["θάλασσα", "γαλανή", "ουρανός"]),
    "ru": ("Старый за\u0301мок стоял у реки", ["старый", "замок", "стоял", "реки"]),
    "ko": ("서울은 대한민국의 수도이다.", ["서울은", "대한민국의", "수도이다"]),
    "tr": ("Irmak İstanbul'un IŞIĞI için", ["ırmak", "istanbul", "ışığı"]),
    "zh": (
        "我来到北京清华大学，学习自然语言处理。",
        ["北京", "清华大学", "学习", "自然语言", "处理"],
    ),
    "ja": (
        "日本の首都は東京で、学生が自然言語を勉強する。",
        ["日本", "首都", "東京", "学生", "自然", "言語", "勉強"],
    ),
    "th": ("ภาษาไทยเป็นภาษาราชการของประเทศไทย", ["ภาษาไทย", "ภาษาราชการ", "ประเทศ", "ไทย"]),
}  # fmt: skip


@pytest.mark.parametrize("language", SENTENCES)
def test_sentences(language: str) -> None:
    text, words = SENTENCES[language]
    tokeniser = Tokeniser(language=language)
    for form in ("NFC", "NFD"):
        found = tokeniser(unicodedata.normalize(form, text))
        assert [word for word in found if word in words] == words
        # What is left beside them are short words that the lists do not have.
        assert len(found) <= len(words) + 2, found
    again = Tokeniser.from_dict(tokeniser.to_dict())
    assert again == tokeniser and again(text) == tokeniser(text)


def test_words_with_marks_are_whole() -> None:
    assert tokenise("हिन्दी साहित्य") == ["हिन्दी", "साहित्य"]
    assert BEFORE_MARKS("हिन्दी साहित्य") == []
    # The joiner is a part of the spelling within a word, and nothing at its end.
    assert tokenise("می\u200cخواهم\u200c, خانه") == ["می\u200cخواهم", "خانه"]
    # Letters with a mark that have a character of their own in lower case only.
    assert tokenise("T\u0308ail t\u0308ail") == ["ẗail", "ẗail"]
    assert tokenise("İstanbul") == ["istanbul"]


def test_length_counts_letters() -> None:
    """Two letters and a vowel sign are two letters, and a mark is none."""
    assert n_letters("राम") == 2 and tokenise("राम") == []
    assert Tokeniser(min_length=2)("राम कि") == ["राम"]
    assert Tokeniser(min_length=1)("कि") == ["कि"]
    # A pattern of one's own counts characters, as it did.
    assert Tokeniser(r"\w[\w\u093e]*", min_length=3)("राम") == ["राम"]


@settings(deadline=None, max_examples=200)
@given(text=TEXTS)
@example(text="ΑΣ'Α ΑΣ, x²y ½Ⅷ")
def test_texts_without_marks_have_the_words_they_had(text: str) -> None:
    assume(not has_marks(composed(text)) and "İ" not in composed(text))
    assert tokenise(text) == BEFORE_MARKS(text)
    assert Tokeniser(lower=False)(text) == Tokeniser(r"[^\W\d_]+", lower=False)(text)


@settings(deadline=None, max_examples=200)
@given(text=TEXTS, lower=st.booleans())
@example(text="a\u200c b\u0301\u200d\u200c, c\u200cd", lower=True)
def test_what_words_are(text: str, lower: bool) -> None:
    """By the definition, character by character, in normal form C; and they are words again."""
    tokeniser = Tokeniser(min_length=1, stop_words=(), lower=lower)
    words = tokeniser(text)
    normal = composed(lower_case(composed(text)) if lower else text)
    assert words == by_definition(normal)
    for word in words:
        assert unicodedata.is_normalized("NFC", word)
        assert tokeniser(word) == [word]
        assert n_letters(word) == sum(is_letter(c) for c in word) >= 1
    spread = [word for stretch in tokeniser.stretches(text) for word in stretch]
    assert spread == words


def is_letter(character: str) -> bool:
    return re.fullmatch(r"[^\W\d_]", character) is not None


def by_definition(text: str) -> list[str]:
    words: list[str] = []
    word = ""
    for character in text + " ":
        follows = unicodedata.category(character)[0] == "M" or character in JOINERS
        if is_letter(character) or (word and follows):
            word += character
        elif word:
            words.append(word.rstrip(JOINERS))
            word = ""
    return words


TWINS = {
    "usual": tokenise,
    "before": BEFORE_MARKS,
    "hi": Tokeniser(language="hi"),
    "ar": Tokeniser(language="ar"),
    "short": Tokeniser(min_length=1, stop_words=["हि", "é"], lower=False),
}


@pytest.mark.parametrize("kind", TWINS)
@settings(deadline=None, max_examples=200)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
@example(texts=[text for text, _ in SENTENCES.values()])
def test_the_compiled_tokeniser_makes_the_same_words(kind: str, texts: list[str]) -> None:
    slow = TWINS[kind]
    fast = word_coder(slow)
    assert fast is not slow
    for text in [*texts, *texts]:
        assert list(fast(text)) == [word for word in slow(text) if len(word) <= 500]


def test_not_compiled() -> None:
    """ASCII letters are not all that the kernel would have to know."""
    for other in ("tr", "zh"):
        tokeniser = Tokeniser(language=other)
        assert word_coder(tokeniser) is tokeniser
    joined = Tokeniser(phrases=["new york"])
    assert word_coder(joined) is joined


@pytest.mark.parametrize(
    "text",
    [
        "a" + "\u0301\u0323" * 150_000,
        "x\u0327\u0301" * 100_000,
        "a\u200c" * 150_000,
        "a" + "\u200d" * 300_000,
    ],
    ids=["marks", "letters and marks", "joiners between", "joiners"],
)  # fmt: skip
def test_hostile_marks_take_linear_time(text: str) -> None:
    """Twice the text takes about twice the time; the square would take four times."""

    def seconds(text: str) -> float:
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            tokenise(text)
            best = min(best, time.process_time() - start)
        return best

    seconds(text[:1000])
    short, long = text[: len(text) // 8], text
    assert seconds(long) < 30 * max(seconds(short), 0.005)


def test_scripts_without_spaces_are_named() -> None:
    assert unspaced_script("我来到北京") == unspaced_script("カタカナ") == "Chinese or Japanese"
    for name, text in {
        "Thai": "ภาษาไทย",
        "Khmer": "ភាសាខ្មែរ",
        "Lao": "ພາສາລາວ",
        "Burmese": "မြန်မာ",
    }.items():
        assert unspaced_script(text) == name
    assert unspaced_script("서울은 대한민국") is unspaced_script("हिन्दी") is None
    assert unspaced_script("plain words") is unspaced_script("") is unspaced_script("…") is None
    assert unspaced_script("Ein Text über das Zeichen 日") is None


def test_marks_of_this_python_are_where_they_are_looked_for() -> None:
    """A Python with a newer Unicode is checked anew."""
    for code in range(0x80, sys.maxunicode + 1):
        character = chr(code)
        is_mark = unicodedata.category(character)[0] == "M" or character in JOINERS
        assert has_marks(character) == is_mark
    assert words_of("a\U0001e8d0b") == ["a\U0001e8d0b"]
