"""Phrases in a `TopicModel`, and texts whose words it cannot find."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import trustream
from trustream import TopicModel
from trustream.phrases import Phrases
from trustream.text import Tokeniser
from trustream.topics import phrase_files

RNG = np.random.default_rng(0)
PETS = ["cats", "dogs", "a guinea pig", "birds", "fish", "the guinea pig"]
MONEY = ["bank", "interest rates", "bonds", "Wall Street", "low interest rates", "stocks"]
TEXTS = [", ".join(RNG.choice([PETS, MONEY][i % 2], 6)) for i in range(200)]
CHINESE = ["我来到北京清华大学，学习自然语言处理", "我们的大学在北京的郊外，学生很多"]


def test_phrases_become_words() -> None:
    model = TopicModel(2, phrases=True, random_state=0).fit(text for text in TEXTS)
    assert {"guinea pig", "wall street", "interest rates"} <= set(model.phrases_)
    assert {"guinea_pig", "wall_street", "interest_rates"} <= set(model.words_)
    assert not {"guinea", "pig", "wall", "street"} & set(model.words_)
    # The same as with a tokeniser that knows the phrases, on any texts.
    known = TopicModel(2, tokeniser=Tokeniser(phrases=model.phrases_), random_state=0).fit(TEXTS)
    assert known.words_ == model.words_
    np.testing.assert_array_equal(known.transform(TEXTS), model.transform(TEXTS))
    np.testing.assert_array_equal(known.estimator_.components_, model.estimator_.components_)


def test_phrases_that_overlap_are_joined_as_the_tokeniser_does() -> None:
    texts = ["aaa bbb ccc", "aaa bbb", "bbb ccc", "ccc ddd eee"] * 20
    start = Tokeniser(phrases=["bbb ccc"])
    model = TopicModel(
        2, tokeniser=start, phrases=Phrases(threshold=-1), min_documents=1, random_state=0
    ).fit(texts)
    known = TopicModel(
        2, tokeniser=start.with_phrases(model.phrases_), min_documents=1, random_state=0
    ).fit(texts)
    assert "aaa bbb ccc" in model.phrases_ and "bbb ccc" in model.phrases_
    assert model.words_ == known.words_
    np.testing.assert_array_equal(model.estimator_.components_, known.estimator_.components_)


def test_phrases_are_found_as_texts_come(tmp_path: Path) -> None:
    """Counts go on from call to call, and in a file; what was joined stays."""
    model = TopicModel(2, phrases=Phrases(min_count=20), random_state=0)
    model.partial_fit([*TEXTS[:100], *["New York"] * 12])
    before = model.phrases_
    assert len(before) >= 3 and {"new", "york"} <= set(model.words_), "12 are too few"
    model.save(tmp_path / "topics.safetensors")
    again = trustream.load(tmp_path / "topics.safetensors")
    assert again.phrases_ == before
    for one in (model, again):
        one.partial_fit([*TEXTS[100:], *["New York"] * 12])
        assert set(one.phrases_) >= {*before, "new york"}, "24 are enough"
        assert {"new", "york", "new_york", "guinea_pig"} <= set(one.words_)
        # Texts that it is asked about are split in the same way, also by its file's estimator.
        column = one.words_.index("new_york")
        assert one.count(["In New York"]).toarray()[0].nonzero()[0].tolist() == [column]
        assert one.estimator_._tokeniser.phrases == one.phrases_
    np.testing.assert_array_equal(model.estimator_.components_, again.estimator_.components_)
    assert model._words.phrases._pairs.counts == again._words.phrases._pairs.counts
    # All texts in one call, or in several: the same pairs are counted, but for those of phrases.
    whole = TopicModel(2, phrases=Phrases(min_count=20), random_state=0).fit(
        [*TEXTS, *["New York"] * 24]
    )
    assert set(whole.phrases_) >= {*before, "new york"}
    assert not {"new", "york"} & set(whole.words_)


def test_a_phrase_without_a_new_column_is_a_part_of_the_tokeniser() -> None:
    model = TopicModel(2, phrases=Phrases(min_count=20), min_documents=5, random_state=0)
    model.partial_fit([*TEXTS[:100], *["New York"] * 19])
    # One more finds the phrase, and no new word is in five documents yet.
    n = len(model.words_)
    model.partial_fit(["New York bank"])
    assert "new york" in model.phrases_ and len(model.words_) == n
    assert model.estimator_._tokeniser.phrases == model.phrases_
    model.partial_fit(["New York bank"] * 4)
    assert model.words_[-1] == "new_york"


def test_an_error_leaves_phrases_as_they_were() -> None:
    model = TopicModel(2, phrases=Phrases(min_count=20), random_state=0).fit(TEXTS)
    before, n = model.phrases_, model._words.phrases.n_words
    with pytest.raises(ValueError, match="7"):
        model.partial_fit([*["New York"] * 40, 7])
    assert model.phrases_ == before and model._words.phrases.n_words == n


def test_a_model_of_an_estimator_finds_phrases_from_then_on() -> None:
    lda = TopicModel(2, random_state=0).fit(TEXTS).estimator_
    model = TopicModel.from_estimator(lda, phrases=True, min_documents=5)
    assert model.phrases_ == ()
    model.partial_fit(TEXTS)
    assert "guinea pig" in model.phrases_ and "guinea_pig" in model.words_


def test_bounded_counts_are_in_files_with_their_errors() -> None:
    rng = np.random.default_rng(0)
    counted = Phrases(max_counts=5, min_count=2, threshold=-1, scoring="log-likelihood")
    counted.update([rng.choice(list("abcdefgh"), 6).tolist() for _ in range(50)])
    arrays, header = phrase_files.to_arrays(counted)
    again = phrase_files.from_arrays(header, arrays)
    assert counted.error > 0 and again.settings == counted.settings
    for one, other in ((counted._words, again._words), (counted._pairs, again._pairs)):
        assert vars(one) == vars(other)
    assert again.found() == counted.found()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a, h: h.update(n_words=3), "more words or pairs"),
        (lambda a, h: h.update(scoring="magic"), "scoring is 'magic'"),
        (lambda a, h: h.pop("max_counts"), "max_counts"),
        (lambda a, h: a["phrases.pairs"].__setitem__(0, 10**6), "words that are not there"),
        (lambda a, h: a.update({"phrases.pairs": a["phrases.pairs"][:-2]}), "not as many counts"),
    ],
)
def test_damaged_counts_of_phrases(change: Any, message: str) -> None:
    arrays, header = phrase_files.to_arrays(Phrases().update([["a", "b", "c"]] * 5))
    assert phrase_files.from_arrays(header, arrays)._pairs.counts == {("a", "b"): 5, ("b", "c"): 5}
    change(arrays, header)
    with pytest.raises(ValueError, match=message):
        phrase_files.from_arrays(header, arrays)


def test_settings_are_not_changed() -> None:
    settings = Phrases(min_count=20)
    TopicModel(2, phrases=settings, random_state=0).fit(TEXTS)
    assert settings.n_words == 0
    # What was counted elsewhere counts.
    elsewhere = Phrases(min_count=300).update([["guinea", "pig"]] * 300)
    model = TopicModel(2, phrases=elsewhere, random_state=0).fit(TEXTS)
    assert model.phrases_ == ("guinea pig",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"phrases": ["new york"]}, "a list of phrases is for Tokeniser"),
        (
            {"phrases": True, "tokeniser": str.split},
            "phrases are found in the words of a Tokeniser",
        ),
        ({"phrases": True, "tokeniser": CountVectorizer()}, "of type CountVectorizer: give a"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TopicModel(2, **settings)


def test_clauses_that_became_words_are_said() -> None:
    with pytest.warns(UserWarning, match='language="zh", language="ja" or segmenter="bigrams"'):
        TopicModel(2, random_state=0).fit(CHINESE * 20)
    many = [f"{a}在{b}学习自然语言" for a in "我你他她它谁" for b in "东南西北中外上下"]
    with pytest.raises(ValueError, match="whole clauses of Chinese or Japanese"):
        TopicModel(2).fit(many)
    with pytest.warns(UserWarning, match="whole clauses of Thai"):
        TopicModel(2).fit(["ภาษาไทยเป็นภาษาราชการของประเทศไทย"] * 19)


def test_nothing_is_said_without_a_reason() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chinese = TopicModel(2, tokeniser=Tokeniser(language="zh"), random_state=0)
        assert {"北京", "大学", "学习"} <= set(chinese.fit(CHINESE * 5).words_)
        TopicModel(2, tokeniser=lambda text: list(text)).fit(CHINESE * 20)
        TopicModel(2).fit(["서울은 대한민국의 수도이다", "हिन्दी साहित्य का इतिहास"] * 20)
        TopicModel(2).fit([*TEXTS, "東京大学で勉強する学生"])
