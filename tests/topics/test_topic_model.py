"""A topic model of texts: learning, new words, looking, merging and naming."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from tests.helpers import snapshot
from tests.reliability.interrupts import count_moments, interrupted
from tests.topics.texts import SUBJECTS, mixed_texts, texts_about
from trustream import LatentDirichletAllocation, TopicModel, topics
from trustream.streaming.lda.words import starts
from trustream.text import Tokeniser, build_vocabulary, count_matrix, tokenise
from trustream.topic_names import UnknownTopicError

TEXTS = mixed_texts(300)


def fitted(texts: Any = TEXTS, **options: Any) -> TopicModel:
    return TopicModel(**{"n_topics": 3, "random_state": 0, **options}).fit(texts)


def bits(model: TopicModel) -> Any:
    """All that was learned, random states and words that wait included."""
    model = copy.deepcopy(model)
    lda, words = model.estimator_, model._words
    learned = [lda._state.lambda_, lda._state.prior, lda._state.n_steps, lda._n_samples_seen]
    draws = lda._rng.random(2).tolist()
    rest = model.words_, words.waiting, model.n_documents_, model.topics_.names
    return snapshot([*learned, draws]), rest


@pytest.fixture(scope="module")
def model() -> TopicModel:
    return fitted()


def topic_of(model: TopicModel, subject: int) -> int:
    """The id of the topic that a subject has become."""
    row = int(model.transform([" ".join(SUBJECTS[subject])])[0].argmax())
    return model.topics_.names.ids[row]


# --- the same numbers as the parts


def test_it_is_tokeniser_vocabulary_and_estimator(model: TopicModel) -> None:
    documents = [tokenise(text) for text in TEXTS]
    vocabulary = build_vocabulary(documents, max_fraction=0.5)
    counts = count_matrix(documents, vocabulary)
    lda = LatentDirichletAllocation(3, random_state=0).fit(counts)
    assert model.words_ == vocabulary and model.n_documents_ == 300
    assert (model.count(TEXTS) != counts).nnz == 0
    assert np.array_equal(model.estimator_.components_, lda.components_)
    assert np.array_equal(model.transform(TEXTS), lda.transform(counts))
    assert {topic_of(model, subject) for subject in range(3)} == {0, 1, 2}
    assert model.estimator_.words_ == vocabulary
    assert model.estimator_.tokeniser_ == Tokeniser()


def test_views_are_those_of_the_functions(model: TopicModel) -> None:
    counts, times = model.count(TEXTS), np.arange(300.0)
    table = topics.topic_info(model.topics_, counts)
    for found in (
        model.topic_info(),
        model.topic_info(iter(TEXTS)),
        topics.topic_info(model, counts),
    ):
        assert found == table
    assert model.topic_info(n_words=3, threshold=0.5) == topics.topic_info(
        model, counts, n_words=3, threshold=0.5
    )
    for topic in range(3):
        expected = topics.representative_documents(model, topic, counts, n=12)
        for best in (
            model.representative_documents(topic, 12),
            model.representative_documents(topic, n=12, texts=(text for text in TEXTS)),
        ):
            assert [d.row for d in best] == [d.row for d in expected]
            assert [d.proportion for d in best] == [d.proportion for d in expected]
            assert [d.title for d in best] == [TEXTS[d.row] for d in best]
            assert {d.key for d in best} == {None}
    expected_trends = topics.topics_over_time(model, counts, times, bins=4)
    for trends in (model.topics_over_time(times, 4), model.topics_over_time(times, 4, TEXTS)):
        assert np.array_equal(trends.shares, expected_trends.shares)
        assert trends.words == expected_trends.words


def test_functions_take_the_model(model: TopicModel) -> None:
    assert topics.topic_map(model).positions.shape == (3, 2)
    assert topics.merge_topics(model, [0, 1]).n_topics == 2
    assert model.n_topics_ == 3


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(TEXTS, index=range(1000, 700, -1)),
        pd.Series(TEXTS, dtype="string"),
        pl.Series(TEXTS),
        np.array(TEXTS),
        tuple(TEXTS),
        (text for text in TEXTS),
    ],
    ids=["pandas", "string", "polars", "array", "tuple", "generator"],
)
def test_texts_of_all_kinds(model: TopicModel, column: Any) -> None:
    assert bits(fitted(column)) == bits(model)


def test_a_generator_is_read_as_it_goes() -> None:
    """Never more than a chunk of texts is asked for before it was counted."""
    asked, counted = 0, 0

    def words_of(text: str) -> list[str]:
        nonlocal counted
        counted += 1
        return tokenise(text)

    def generate() -> Iterator[str]:
        nonlocal asked
        for text in mixed_texts(3500):
            asked += 1
            assert asked <= counted + 2000
            yield text

    assert fitted(generate(), tokeniser=words_of, max_iter=1).n_documents_ == asked == counted


# --- fit and partial_fit


def test_a_second_fit_forgets_the_first() -> None:
    model = fitted(mixed_texts(60, 1)).set_labels({1: "old"}).merge_topics([0, 2])
    model.partial_fit(["zebra zebra"] * 5)
    assert bits(model.fit(TEXTS)) == bits(fitted())
    assert model.n_topics_ == 3 and not model.topics_.names.labels
    assert model.topic_info().n_documents == 300


def test_partial_fit_without_new_words_is_the_estimators() -> None:
    model = fitted()
    lda, more = copy.deepcopy(model.estimator_), mixed_texts(50, 1)
    model.partial_fit(more)
    lda.partial_fit(model.count(more))
    assert np.array_equal(model.estimator_.components_, lda.components_)
    assert model.n_documents_ == 350


def test_the_first_partial_fit_chooses_words() -> None:
    model = TopicModel(3, random_state=0).partial_fit(iter(TEXTS))
    assert model.words_ == fitted().words_ and model.estimator_.n_batch_iter_ == 1
    for seed in range(1, 5):
        model.partial_fit(mixed_texts(100, seed))
    assert {topic_of(model, subject) for subject in range(3)} == {0, 1, 2}


def test_new_words_enter_once_they_are_in_enough_documents() -> None:
    model = fitted()
    old, pets = model.words_, topic_of(model, 0)
    more = [text + " zebra" for text in texts_about([0] * 4)]
    model.partial_fit(more)
    assert model.words_ == old and model._words.waiting == {"zebra": 4}
    model.partial_fit([*texts_about([0], 1), "a zebra and a lynx"])
    assert model.words_ == [*old, "zebra"] and model._words.waiting == {"lynx": 1}
    assert model.estimator_.words_ == model.words_
    assert model.count(["zebra zebra cat"]).shape == (1, 31)
    for seed in range(30):
        model.partial_fit([text + " zebra" for text in texts_about([0] * 5, seed)])
    row = model.topics_.row(pets)
    assert model.transform(["zebra zebra zebra"])[0].argmax() == row
    # Documents of before have no zebra, and are looked at with the words of now.
    assert model.topic_info().n_documents == 300 + 6 + 150


def test_new_words_start_as_in_a_stream() -> None:
    """From where the word itself says, and the words that were there stay where they are."""
    model = fitted(dtype="float64")
    before = copy.deepcopy(model.estimator_._state)
    from trustream.streaming.lda.model import TopicStream

    state = TopicStream(n_components=3, random_state=0).follow(before, [(30, "zebra")])
    rows = state.lambda_.dense(state.prior.pattern)
    np.testing.assert_allclose(rows[30], starts(["zebra"], 3, 0)[0])
    estimator = copy.deepcopy(model.estimator_)
    estimator._state, estimator.n_features_in_ = state, 31
    more = ["zebra cat"] * 5
    model.partial_fit(more)
    estimator.partial_fit(model.count(more))
    assert np.array_equal(model.estimator_.components_, estimator.components_)


def test_the_most_words() -> None:
    model = fitted(max_words=31).partial_fit(["zebra lynx", "zebra lynx otter"] * 5)
    assert model.words_[30:] == ["lynx"]
    model.partial_fit(["zebra"] * 50)
    assert len(model.words_) == 31 and "zebra" not in model.words_
    frequent = fitted(max_words=5).words_
    documents = [set(tokenise(text)) for text in TEXTS]
    assert frequent == build_vocabulary(documents, max_fraction=0.5, max_words=5)


def test_rare_words_are_forgotten_if_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trustream.topics.vocabulary._MOST_WAITING", 8)
    model = fitted()
    rare = [f"word{letter}" for letter in "abcdefgh"]
    model.partial_fit([" ".join(rare), "wordc", "wordh"])
    assert model._words.waiting == {word: 1 + (word[-1] in "ch") for word in rare}
    model.partial_fit(["wordz wordy wordz"])
    assert model._words.waiting == {"wordc": 2, "wordh": 2, "worda": 1, "wordb": 1}
    assert model.partial_fit(["wordh"] * 3).words_[-1] == "wordh"


def test_texts_without_known_words_are_counted_alone() -> None:
    model = fitted()
    before = model.estimator_.components_
    assert model.topic_info().n_documents == 300
    model.partial_fit(["zebra"] * 4)
    assert model.topic_info().n_documents == 304
    assert np.array_equal(model.estimator_.components_, before)
    assert (
        model.n_documents_ == 304
        and model.estimator_.n_batch_iter_ == fitted().estimator_.n_batch_iter_
    )
    assert model.partial_fit(["zebra"]).words_[-1] == "zebra"


def test_few_texts_have_words_too() -> None:
    assert TopicModel(2, random_state=0).fit(["One cat"]).words_ == ["cat"]
    assert fitted(mixed_texts(30), n_topics=2).words_ == fitted().words_
    rare = [*TEXTS, *["zebra"] * 4]
    assert "zebra" not in fitted(rare).words_
    assert "zebra" in fitted(rare, min_documents=4).words_
    common = [text + " zebra" for text in TEXTS]
    assert "zebra" not in fitted(common).words_
    assert "zebra" in fitted(common, max_fraction=1).words_


@pytest.mark.parametrize("has_new", [True, False], ids=["new words", "known words"])
def test_a_step_is_taken_wholly_or_not_at_all(has_new: bool) -> None:
    rng, hit = np.random.default_rng(5), 0
    model = fitted(mixed_texts(60), n_jobs=1)
    for i in range(40):
        new = " zebra" + "ab" * i if has_new else ""
        more = [text + new for text in texts_about([0] * 9, i)]
        before, twin = bits(model), copy.deepcopy(model)
        length = count_moments(lambda m=twin, t=more: m.partial_fit(t))
        after = bits(twin)
        # Most are chosen near the end, where the step is stored.
        first = 1 if i % 4 == 0 else int(0.8 * length)
        stopped = interrupted(lambda t=more: model.partial_fit(t), int(rng.integers(first, length)))
        hit += stopped
        found = bits(model)
        assert found == after if not stopped else found in (before, after)
        if found == before:
            model.partial_fit(more)
        assert bits(model) == after
    assert hit > 15 and model.topic_info().n_documents == model.n_documents_ == 60 + 40 * 9
    assert len(model.words_) == 30 + 40 * has_new


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_leaves_the_model_as_it_is(copied: Any) -> None:
    """What is remembered of an earlier look must not be put back."""
    model = TopicModel(2, random_state=0).fit(mixed_texts(30))
    model.topic_info()
    model.partial_fit(mixed_texts(20))
    before = snapshot(model.estimator_._state)
    again = copied(model)
    assert snapshot(model.estimator_._state) == before == snapshot(again.estimator_._state)
    pd.testing.assert_frame_equal(model.topic_info().frame(), again.topic_info().frame())


def test_errors_leave_everything_as_it_was() -> None:
    model = fitted()
    before = bits(model)

    def breaking() -> Iterator[str]:
        yield from ["zebra"] * 2000
        raise OSError("the disk is gone")

    for learn in (model.fit, model.partial_fit):
        with pytest.raises(OSError, match="disk"):
            learn(breaking())
        with pytest.raises(ValueError, match="text 5 is of type int"):
            learn([*["zebra"] * 5, 7])
    model.estimator_.learning_method = "guessing"
    with pytest.raises(ValueError, match="learning_method"):
        model.partial_fit(["zebra cat"] * 5)
    model.estimator_.learning_method = "trust-region"
    assert bits(model) == before
    assert model.partial_fit(["zebra cat"] * 5).words_[-1] == "zebra"


# --- looking


def test_trends() -> None:
    subjects = [*([0, 1] * 100), *([1, 1, 1, 2] * 50)]
    texts = texts_about(subjects)
    model = fitted(texts, max_fraction=1.0)
    found = model.topics_over_time([f"{2000 + i // 40}-05-01" for i in range(400)], bins=10)
    kinds = {trend.topic: trend.kind for trend in found.trends}
    assert kinds[topic_of(model, 0)] == "fading" and kinds[topic_of(model, 2)] == "new"
    dates = pl.Series([f"{2000 + i // 40}-05-01" for i in range(400)]).str.to_datetime()
    assert np.array_equal(model.topics_over_time(dates).shares, found.shares)


def test_a_sample_is_kept() -> None:
    texts = [f"{text} number {i}" for i, text in enumerate(mixed_texts(5000))]
    model = fitted(texts[:2500], keep_documents=200, max_iter=1)
    for first in range(2500, 5000, 500):
        model.partial_fit(texts[first : first + 500])
    numbers = model._kept.numbers
    assert numbers.size == 200 and (np.diff(numbers) > 0).all()
    # Each had the same chance, whenever it came: 100 in each half, give or take 7.
    assert 75 <= (numbers < 2500).sum() <= 125 and 25 <= (numbers >= 4000).sum() <= 58
    sample = [texts[i] for i in numbers]
    assert model.topic_info() == model.topic_info(sample)
    assert model.topic_info().n_documents == 200
    for topic in range(3):
        best = model.representative_documents(topic)
        assert [d.title for d in best] == [texts[d.row] for d in best]
        assert [d.title for d in best] == [
            d.title for d in model.representative_documents(topic, texts=sample)
        ]
    shares = model.topics_over_time(np.arange(5000.0), bins=[0, 2500, 5000]).shares
    expected = model.topics_over_time(numbers.astype(float), [0, 2500, 5000], sample).shares
    assert np.array_equal(shares, expected)
    with pytest.raises(ValueError, match="200 times, but 5000 documents were learned from"):
        model.topics_over_time(numbers)


def test_no_documents_are_kept() -> None:
    model = fitted(keep_documents=0)
    assert model.topic_info().n_documents is None
    assert model.topic_info(TEXTS) == fitted().topic_info()
    with pytest.raises(ValueError, match=r"no documents are kept.*representative_documents\("):
        model.representative_documents(0)
    with pytest.raises(ValueError, match=r"no documents are kept.*topics_over_time\("):
        model.topics_over_time(range(300))
    assert len(model.representative_documents(0, 2, TEXTS)) == 2
    assert fitted(keep_documents=None).topic_info() == fitted().topic_info()


def test_documents_are_read_once_for_all_topics(model: TopicModel) -> None:
    """What is found stays until the model learns or is changed."""
    model = copy.deepcopy(model)
    best = model.representative_documents(0)
    looked = model._cached["looked at"][1]
    model.topic_info(), model.representative_documents(2, 10), model.set_labels({0: "pets"})
    assert model.representative_documents(0) == best
    assert model._cached["looked at"][1] is looked
    model.partial_fit(TEXTS[:10])
    assert model.representative_documents(0)[0].proportion != best[0].proportion
    assert model.topic_info().n_documents == 310


# --- merging and naming


def test_merged_topics_go_on_learning() -> None:
    model = fitted(n_topics=6).set_labels({2: "kept", 4: "gone"})
    lda, alpha = copy.deepcopy(model.estimator_), model.topics_.alpha
    assert model.merge_topics([2, 4]) is model
    assert model.topics_.names.ids == (0, 1, 2, 3, 5) and model.n_topics_ == 5
    assert dict(model.topics_.names.labels) == {2: "kept"}
    np.testing.assert_allclose(model.topics_.alpha[2], alpha[2] + alpha[4])
    expected = topics.merging(topics.TopicNames.of(6), [2, 4]).of_estimator(lda)
    assert np.array_equal(model.estimator_.components_, expected.components_)
    assert model.transform(TEXTS[:4]).shape == (4, 5)
    assert {info.topic for info in model.topic_info()} == {0, 1, 2, 3, 5}
    assert len(model.representative_documents(5, 3)) == 3
    model.partial_fit([*TEXTS[:50], *["zebra"] * 5])
    assert model.topics_.names.ids == (0, 1, 2, 3, 5) and model.words_[-1] == "zebra"
    assert model.topic_info().topic(2).label == "kept"
    with pytest.raises(UnknownTopicError, match="no topic 4: topics are 0 to 3 and 5"):
        model.representative_documents(4)


@pytest.mark.parametrize(
    "label", ["<script>alert(1)</script>", "Tiere & Größe", "‮sthgir", "a" * 200, "{0} %s \\n"]
)
def test_labels_are_kept_as_they_are(model: TopicModel, label: str) -> None:
    found = copy.deepcopy(model).set_labels({1: label})
    assert found.topic_info().topic(1).label == label
    assert found.set_labels({1: None}).topic_info().topic(1).labelled is False


@pytest.mark.parametrize("labels", [{9: "a"}, {0: ""}, {0: "a" * 201}, {0: 7}, {"0": "a"}, "ab"])
def test_labels_that_are_none(model: TopicModel, labels: Any) -> None:
    with pytest.raises(ValueError, match=r"topic|label"):
        model.set_labels(labels)
    assert not model.topics_.names.labels


@pytest.mark.parametrize("ids", [[0], [0, 0], [0, 7], "01", 3])
def test_topics_that_cannot_be_merged(model: TopicModel, ids: Any) -> None:
    with pytest.raises(ValueError, match="topic"):
        model.merge_topics(ids)
    assert model.n_topics_ == 3


# --- what makes words


def test_a_tokeniser_of_ones_own() -> None:
    tokeniser = Tokeniser(min_length=5, stop_words=["horse"])
    assert fitted(tokeniser=tokeniser).words_ == sorted(
        word for words in SUBJECTS for word in words if len(word) > 4 and word != "horse"
    )
    assert bits(fitted(tokeniser=lambda text: tokenise(text))) == bits(fitted())
    assert fitted(tokeniser=tokenise).words_ == fitted().words_


def test_a_vectoriser_counts_by_itself() -> None:
    vectoriser = CountVectorizer(ngram_range=(1, 2), min_df=20, stop_words="english")
    model = fitted(tokeniser=vectoriser)
    twin = CountVectorizer(ngram_range=(1, 2), min_df=20, stop_words="english")
    counts = twin.fit_transform(TEXTS)
    assert not hasattr(vectoriser, "vocabulary_")
    assert model.words_ == twin.get_feature_names_out().tolist()
    assert (model.count(TEXTS[:7]) != counts[:7]).nnz == 0
    lda = LatentDirichletAllocation(3, random_state=0).fit(counts)
    assert np.array_equal(model.estimator_.components_, lda.components_)
    model.partial_fit(["zebra cat"] * 50)
    assert model.words_ == twin.get_feature_names_out().tolist() and model.n_documents_ == 350
    grows = fitted(tokeniser=vectoriser.build_analyzer(), min_documents=20, max_fraction=1.0)
    assert grows.words_ == model.words_
    assert "zebra cat" in grows.partial_fit(["zebra cat"] * 50).words_


WRONG_TOKENISERS: list[tuple[Any, str]] = [
    (7, "tokeniser is of type int"),
    ("english", "tokeniser is of type str"),
    (CountVectorizer, r"the class CountVectorizer.*add \(\)"),
    (TfidfVectorizer(), "TfidfVectorizer, which makes weights"),
    (HashingVectorizer(), "HashingVectorizer, which has no words"),
    (CountVectorizer(input="filename"), "input='filename'"),
    (CountVectorizer(vocabulary=["zebra"]), "finds none of its 1 words"),
    (CountVectorizer(min_df=200, stop_words="english"), "no terms remain"),
    (str.lower, "makes of text 0 is of type str"),
    (lambda text: None, "makes of text 0 is of type NoneType"),
    (lambda text: {"cat": 1}, "makes of text 0 is of type dict"),
    (lambda text: [1], "finds 1 in text 0, of type int"),
    (lambda text: [["cat"]], "finds things in text 0 that are no words"),
    (Tokeniser(min_length=40), "no word was found in 300 texts; .* of 40 letters or more"),
    (lambda text: [text], "of the 300 words in 300 texts none is in 5 or more, and in at most 50%"),
]


@pytest.mark.parametrize(("tokeniser", "reason"), WRONG_TOKENISERS)
def test_what_makes_no_words(tokeniser: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        fitted(tokeniser=tokeniser)


# --- wrong input

WRONG_TEXTS: list[tuple[Any, str]] = [
    ("one text", "single string"),
    (b"bytes", "of type bytes"),
    (None, "of type NoneType"),
    (7, "of type int"),
    ([], "no texts"),
    (iter([]), "no texts"),
    ([1.5], "text 0 is of type float"),
    (["cat", None], "text 1 is missing"),
    (pd.Series(["cat", np.nan]), "text 1 is missing"),
    (pd.Series(["cat", None], dtype="string"), "text 1 is missing"),
    (pl.Series(["cat", None]), "text 1 is missing"),
    ([b"cat"], "text 0 is of type bytes"),
    ([["a", "cat"]], "text 0 is of type list, .* lists of words"),
    ({"a": "cat"}, r"of type dict: give its values"),
    ({"cat", "dog"}, "of type set: give a list"),
    (pd.DataFrame({"text": TEXTS}), r'of type DataFrame: give the column.*frame\["text"\]'),
    (pl.DataFrame({"text": TEXTS}), r'of type DataFrame: give the column.*frame\["text"\]'),
    (np.array([["cat", "dog"]]), "single column, not 2 dimensions"),
    (np.array("cat"), "single column, not 0 dimensions"),
    (np.zeros((2, 2)), "single column"),
]


@pytest.mark.parametrize(("texts", "reason"), WRONG_TEXTS)
def test_texts_that_are_none(model: TopicModel, texts: Any, reason: str) -> None:
    if isinstance(texts, Iterator):
        texts = [*texts]
    for call in (
        TopicModel(2).fit, TopicModel(2).partial_fit, model.partial_fit, model.transform,
        model.count, lambda texts: model.representative_documents(0, 5, texts),
    ):  # fmt: skip
        if texts is None and call is not model.transform:
            continue
        with pytest.raises(ValueError, match=reason):
            call(texts)


@pytest.mark.parametrize("texts", [["", "\n"], ["the and of"], ["12 34"]])
def test_texts_without_words(model: TopicModel, texts: list[str]) -> None:
    for call in (TopicModel(2).fit, model.partial_fit):
        with pytest.raises(ValueError, match=r"no word was found in [12] texts?; .*tokeniser"):
            call(texts)
    prior = model.topics_.alpha / model.topics_.alpha.sum()
    np.testing.assert_allclose(model.transform(texts)[0], prior, rtol=1e-5)


def test_strange_texts() -> None:
    texts = [*TEXTS, "\ud800\ud800\ud800 lone", "a" * 100_000, "\x00cat\x1b[2J" * 5]
    model = fitted([*texts, *["\ud83dzebra"] * 5])
    assert model.count(["\x00cat"]).sum() == 1
    best = model.representative_documents(topic_of(model, 0), 200)
    assert all(document.title.isprintable() and len(document.title) <= 200 for document in best)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"n_topics": 0}, "n_topics"),
        ({"n_topics": 2.5}, "n_topics"),
        ({"n_topics": True}, "n_topics"),
        ({"min_documents": 0}, "min_documents"),
        ({"max_fraction": 0}, "max_fraction"),
        ({"max_fraction": 30}, "max_fraction"),
        ({"max_words": 0}, "max_words"),
        ({"keep_documents": -1}, "keep_documents"),
        ({"tokeniser": CountVectorizer(), "min_documents": 3}, "min_df and max_df"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": True}, "random_state"),
        ({"random_state": "zero"}, "random_state"),
        ({"max_iter": 0}, "max_iter"),
        ({"dtype": "int8"}, "dtype"),
    ],
)
def test_wrong_parameters(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        fitted(**options)


def test_random_states() -> None:
    assert bits(fitted(random_state=np.int64(0))) == bits(fitted())
    for make in (np.random.RandomState, np.random.default_rng):
        first, again = (fitted(TEXTS[:60], random_state=make(3)) for _ in range(2))
        assert bits(first) == bits(again)
    first, other = (fitted(TEXTS[:60], random_state=None) for _ in range(2))
    assert bits(first) != bits(other)


def test_before_fit() -> None:
    model = TopicModel(2)
    assert repr(model) == "TopicModel(n_topics=2)"
    for call in (
        lambda: model.transform(TEXTS), lambda: model.count(TEXTS), model.topic_info,
        lambda: model.representative_documents(0), lambda: model.topics_over_time([0]),
        lambda: model.merge_topics([0, 1]), lambda: model.set_labels({0: "a"}),
        lambda: model.save("nowhere"), lambda: model.words_, lambda: model.topics_,
    ):  # fmt: skip
        with pytest.raises(NotFittedError, match=r"call fit\(texts\) first"):
            call()
    with pytest.raises(ValueError, match="TopicModel, expected a fitted"):
        topics.topic_map(model)
