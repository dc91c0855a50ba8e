"""Languages: stop words of many, what a tokeniser keeps of them, and what it says is missing."""

from __future__ import annotations

import json
import sys

import pytest

from trustream import languages, segmenters
from trustream.cli import data_parameters, phrases, tokeniser_parameters
from trustream.phrases import _SCORES
from trustream.text import BEFORE_MARKS, Tokeniser, tokenise
from trustream.tokenisers import described, difference, from_dict

# A word that every text of a language is full of.
COMMON = {
    "ar": "من", "bg": "не", "bn": "এবং", "ca": "per", "cs": "není", "da": "ikke", "de": "nicht",
    "el": "και", "en": "the", "es": "los", "fa": "که", "fi": "ovat", "fr": "les", "gu": "છે",
    "he": "את", "hi": "में", "hu": "nem", "id": "dan", "it": "non", "ja": "から", "ko": "그리고",
    "mr": "आणि", "nl": "een", "no": "ikke", "pl": "jest", "pt": "uma", "ro": "este", "ru": "что",
    "sk": "som", "sv": "inte", "th": "และ", "tr": "için", "uk": "або", "vi": "không",
    "zh": "因为",
}  # fmt: skip


def test_there_are_more_than_twenty() -> None:
    assert COMMON.keys() == languages.LANGUAGES.keys() and len(COMMON) >= 20


@pytest.mark.parametrize("code", COMMON)
def test_stop_words(code: str) -> None:
    tokeniser = Tokeniser(language=code)
    assert len(tokeniser.stop_words) > 40
    assert COMMON[code] in tokeniser.stop_words
    assert COMMON[code] not in tokeniser(f"{COMMON[code]} {COMMON[code]}")
    named = languages.LANGUAGES[code].name
    assert Tokeniser(language=named.upper()) == tokeniser
    # They are in the data, which need no package.
    kept = json.loads(json.dumps(tokeniser.to_dict()))
    assert COMMON[code] in kept["stop_words"] and from_dict(kept) == tokeniser
    assert named in described(tokeniser)


def test_stop_words_alone() -> None:
    german = Tokeniser(stop_words="german")
    assert german.stop_words == Tokeniser(language="de").stop_words
    assert german.language is None and german.min_length == 3
    assert Tokeniser(language="hi", stop_words=[], min_length=1)("में") == ["में"]


def test_words_of_lists_that_texts_do_not_have() -> None:
    """What a tokeniser would split is no stop word: parts of it may be words that matter."""
    french = Tokeniser(language="fr").stop_words
    assert not any("'" in word or " " in word or "-" in word for word in french)


@pytest.mark.parametrize(
    ("settings", "package", "extra"),
    [
        ({"language": "de"}, "stop_words", "languages"),
        ({"language": "el"}, "stopwordsiso", "languages"),
        ({"language": "zh", "stop_words": []}, "rjieba", "chinese"),
        ({"language": "ja", "stop_words": []}, "fugashi", "japanese"),
        ({"language": "th", "stop_words": []}, "pythainlp.tokenize", "thai"),
    ],
)
def test_a_package_that_is_missing(
    settings: dict[str, str], package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "我来到北京 日本の ภาษาไทย"
    kept = Tokeniser(**settings).to_dict()  # type: ignore[arg-type]
    segmenters._loaded.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"pip install 'trustream\[{extra}\]'"):
        Tokeniser(**settings)(text)  # type: ignore[arg-type]
    # A store or a file can be opened, and used if only the words of a list were needed.
    assert from_dict(kept).language == settings["language"]
    if extra == "languages":
        from_dict(kept)(text)
    segmenters._loaded.cache_clear()


def test_turkish_letters() -> None:
    assert Tokeniser(language="tr")("IŞIK İzmir") == ["ışık", "izmir"]
    assert Tokeniser(language="tr", lower=False)("IŞIK") == ["IŞIK"]
    assert Tokeniser(language="tr") != Tokeniser(stop_words=Tokeniser(language="tr").stop_words)


def test_marks() -> None:
    with_points, without = "כָּתַב", "כתב"
    assert Tokeniser(language="he")(with_points) == Tokeniser(language="he")(without) == [without]
    assert Tokeniser(language="he", drop_marks=False)(with_points) == [with_points]
    assert Tokeniser(drop_marks=True)("за\u0301мок") == ["замок"]


def test_scripts_beside_one_another() -> None:
    chinese = Tokeniser(language="zh")
    assert chinese("iPhone手机的价格 Größe") == ["iphone", "手机", "价格", "größe"]
    bigrams = Tokeniser(segmenter="bigrams", min_length=1, stop_words=())
    assert bigrams("大学 a我b 日本語") == ["大学", "a", "我", "b", "日本", "本語"]


@pytest.mark.parametrize("name", segmenters.NAMES)
def test_segmenters_lose_nothing(name: str) -> None:
    long = "我来到北京日本の首都ภาษาไทยเป็น" * 1000
    pieces = segmenters.segmenter(name)(long)
    if name in segmenters.N_GRAMS:
        n = segmenters.N_GRAMS[name]
        assert pieces == [long[i : i + n] for i in range(len(long) - n + 1)]
    else:
        assert "".join(pieces) == long


def test_the_tokeniser_of_before_is_still_there() -> None:
    """What stores and files have kept makes the words that it made, and is kept as it was."""
    kept = {"pattern": r"[^\W\d_]+", "min_length": 3, "lower": True}
    kept["stop_words"] = sorted(Tokeniser().stop_words)
    before = from_dict(kept)
    assert before == BEFORE_MARKS and before.to_dict() == kept
    assert before("हिन्दी cafe\u0301 n_samples2") == ["café", "samples"]
    assert before != Tokeniser() and tokenise("हिन्दी") == ["हिन्दी"]
    assert "letters with marks" in difference(before, Tokeniser())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"language": "xx"}, "language is 'xx', expected one of ar, bg"),
        ({"language": 7}, "language is 7, expected one of"),
        ({"segmenter": "mecab"}, "segmenter is 'mecab', expected one of jieba, fugashi"),
        ({"segmenter": "jieba", "pattern": "x"}, "a pattern or a segmenter"),
        ({"stop_words": "klingon"}, "expected words, or a Path, or one of the languages ar, bg"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tokeniser(**settings)  # type: ignore[arg-type]


def test_names_that_are_repeated() -> None:
    assert tokeniser_parameters.SEGMENTERS == segmenters.NAMES
    module = sys.modules["trustream.cli.phrases"]
    assert module.SCORES == tuple(_SCORES) and phrases and data_parameters
