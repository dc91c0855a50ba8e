"""The words of a model's columns: given by hand or by a frame, and kept in its file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

import trustream
from trustream import LatentDirichletAllocation
from trustream.text import Tokeniser
from trustream.tokenisers import CustomTokeniser

TEXTS = ["cat dog bird", "bank bond rate"] * 20
PETS, MONEY = {"cat", "dog", "bird"}, {"bank", "bond", "rate"}


@pytest.fixture(scope="module")
def counts() -> tuple[Any, Any]:
    vectorizer = CountVectorizer()
    return vectorizer.fit_transform(TEXTS), vectorizer.get_feature_names_out()


@pytest.fixture
def lda(counts: tuple[Any, Any]) -> LatentDirichletAllocation:
    return LatentDirichletAllocation(2, random_state=0).fit(counts[0])


def test_words_given_by_hand_are_in_the_file(
    lda: LatentDirichletAllocation, counts: tuple[Any, Any], tmp_path: Path
) -> None:
    assert lda.words_ is None and lda.top_words(1)[0][0].startswith("x")
    assert lda.set_words(counts[1]) is lda
    for model in (lda, saved(lda, tmp_path), saved(saved(lda, tmp_path), tmp_path)):
        assert {frozenset(words) for words in model.top_words(3)} == {
            frozenset(PETS),
            frozenset(MONEY),
        }
        assert model.words_ == list(counts[1]) and model.tokeniser_ is None
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nothing about names of columns
            model.transform(counts[0])
            model.partial_fit(counts[0])
        assert model.words_ == list(counts[1])
        assert model.top_words(1, feature_names=list("abcdef"))[0][0] in "abcdef"


def test_how_texts_are_split_is_in_the_file(
    lda: LatentDirichletAllocation, counts: tuple[Any, Any], tmp_path: Path
) -> None:
    split = Tokeniser(r"\w\w+", min_length=2, stop_words=())
    again = saved(lda.set_words(counts[1], tokenise=split), tmp_path)
    assert again.tokeniser_ == split and again.tokeniser_("The c_1") == ["the", "c_1"]
    again = saved(lda.set_words(counts[1], tokenise=str.split), tmp_path)
    assert again.tokeniser_ == CustomTokeniser("str.split")
    assert saved(lda.set_words(counts[1]), tmp_path).tokeniser_ is None


def test_columns_of_a_frame(counts: tuple[Any, Any], tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(counts[0].toarray(), columns=counts[1])
    lda = LatentDirichletAllocation(2, random_state=0).fit(frame)
    again = saved(lda, tmp_path)
    assert lda.words_ == again.words_ == list(counts[1])
    other = [f"{word}s" for word in counts[1]]
    again = saved(lda.set_words(other), tmp_path)
    assert again.words_ == other and list(again.feature_names_in_) == list(counts[1])


def test_another_fit_forgets_them(lda: LatentDirichletAllocation, counts: tuple[Any, Any]) -> None:
    """Its columns may be other words, and nobody would notice."""
    lda.set_words(counts[1], tokenise=Tokeniser())
    with pytest.raises(ValueError):
        lda.fit(-np.ones((2, 6)))
    assert lda.words_ == list(counts[1])
    lda.fit(counts[0])
    assert lda.words_ is None and lda.tokeniser_ is None
    assert not hasattr(clone(lda.set_words(counts[1])), "words_")
    lda.set_params(warm_start=True).fit(counts[0])  # goes on, with the same columns
    assert lda.words_ == list(counts[1])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a"], "words has 1 words, the model has 6 columns"),
        ("abcdef", "words is one text"),
        (range(6), "the word of column 0 is of type int"),
        ([*"abcde", "b"], "words has 'b' twice, for columns 1 and 5"),
        ([*"abcde", None], "the word of column 5 is of type NoneType"),
    ],
)
def test_wrong_words(lda: LatentDirichletAllocation, words: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lda.set_words(words)
    with pytest.raises(ValueError, match="expected a Tokeniser"):
        lda.set_words(list("abcdef"), tokenise=7)  # type: ignore[arg-type]
    assert lda.words_ is None
    assert lda.set_words([*"abcd", "", ""]).words_ == [*"abcd", "", ""]


def test_before_fit() -> None:
    lda = LatentDirichletAllocation(2)
    with pytest.raises(NotFittedError):
        lda.set_words(["a"])
    assert not hasattr(lda, "words_") and not hasattr(lda, "tokeniser_")


@pytest.mark.parametrize("damage", ["few", "twice", "tokeniser", "kind"])
def test_files_with_wrong_words(
    lda: LatentDirichletAllocation, counts: tuple[Any, Any], tmp_path: Path, damage: str
) -> None:
    from trustream import persist

    path = tmp_path / "model"
    lda.set_words(counts[1], tokenise=Tokeniser()).save(path)
    arrays, header = persist.read(path)
    if damage in ("few", "twice"):
        words = list("abcde") if damage == "few" else list("abcdea")
        arrays["words"] = persist.pack_strings(words)
    else:
        header["tokeniser"] = {"pattern": "("} if damage == "tokeniser" else "tokenise"
    persist.write(path, arrays, header)
    with pytest.raises(ValueError, match=r"cannot read .*model: it is damaged"):
        trustream.load(path)


def saved(model: Any, folder: Path) -> Any:
    model.save(folder / "topics.safetensors")
    return trustream.load(folder / "topics.safetensors")
