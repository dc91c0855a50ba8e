"""Texts in the place of numbers: a short error that says what to pass."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from trustream import (
    BernoulliMixture,
    GaussianMixture,
    LatentDirichletAllocation,
    TopicRecommender,
    evaluation,
)

TEXTS = ["the cat and the dog " * 100, "money in the bank", "a dog barks at the bank"]
WORDS = [text.split()[:4] for text in TEXTS]
COUNTS = CountVectorizer().fit_transform(TEXTS)

# What was given, and what the error calls it.
GIVEN = {
    "list": (TEXTS, "list of strings"),
    "tuple": (tuple(TEXTS), "tuple of strings"),
    "string": (TEXTS[0], "a single string"),
    "bytes": ([text.encode() for text in TEXTS], "list of strings"),
    "array": (np.array(TEXTS), "ndarray of strings"),
    "objects": (np.array(TEXTS, dtype=object), "ndarray of strings"),
    "array of a column": (np.array(TEXTS).reshape(-1, 1), "strings in column '0'"),
    "column": (pd.Series(TEXTS), "Series of strings"),
    "column of objects": (pd.Series(TEXTS, dtype=object), "Series of strings"),
    "column with a gap": (pd.Series([None, *TEXTS], dtype=object), "Series of strings"),
    "categories": (pd.Series(TEXTS).astype("category"), "Series of strings"),
    "frame": (
        pd.DataFrame({"id": [1, 2, 3], "body": TEXTS}),
        "a DataFrame with strings in column 'body'",
    ),
    "frame of categories": (
        pd.DataFrame({"body": pd.Categorical(TEXTS)}),
        "a DataFrame with strings in column 'body'",
    ),
    "words": (WORDS, "list of lists of words"),
    "words of texts of any length": ([text.split() for text in TEXTS], "list of lists of words"),
    "sets of words": ([set(words) for words in WORDS], "list of lists of words"),
    "a text among numbers": ([3.0, *TEXTS], "list of strings"),
    "bags": ([{"dog": 2}, {"bank": 1}], "list of dicts"),
    "bags of pairs": ([[(0, 2), (1, 1)], [(0, 1)]], "list of lists of pairs"),
    "bags of as many pairs": ([[(0, 2)], [(1, 1)]], "list of lists of pairs"),
    "generator": ((text for text in TEXTS), "a generator"),
    "set": (set(TEXTS), "a set"),
}


def message_of(call, given):
    with pytest.raises(ValueError, match="expected a matrix of numbers: pass ") as caught:
        call(given)
    message = str(caught.value)
    assert len(message) < 160
    assert caught.value.__suppress_context__  # which may hold the whole text
    return message


@pytest.mark.parametrize("case", GIVEN)
@pytest.mark.parametrize(
    "estimator",
    [LatentDirichletAllocation(2), BernoulliMixture(2), GaussianMixture(2)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_fit_says_what_to_pass(estimator, case):
    given, name = GIVEN[case]
    message = message_of(estimator.fit, given)
    assert name in message
    makers = ("CountVectorizer", "DictVectorizer", "corpus2csc", "embedding")
    assert any(maker in message for maker in makers)


@pytest.mark.parametrize("method", ["partial_fit", "transform", "score", "perplexity", "elbo"])
def test_a_fitted_model_says_it_too_and_stays(method):
    lda = LatentDirichletAllocation(2, max_iter=1, random_state=0).fit(COUNTS)
    before = lda.components_
    message = message_of(getattr(lda, method), TEXTS)
    assert "pass counts, for example from CountVectorizer" in message
    assert np.array_equal(lda.components_, before)


@pytest.mark.parametrize("method", ["partial_fit", "predict", "score_samples", "elbo"])
def test_mixtures_too(method):
    mixture = GaussianMixture(1, max_iter=1, random_state=0).fit(np.eye(3))
    assert "an embedding of each text" in message_of(getattr(mixture, method), TEXTS)


def test_the_advice_for_words_works():
    counts = CountVectorizer(analyzer=lambda words: words).fit_transform(WORDS)
    assert counts.sum() == sum(map(len, WORDS))
    LatentDirichletAllocation(2, max_iter=1).fit(counts)


@pytest.mark.parametrize("given", [TEXTS, WORDS, [text.split() for text in TEXTS]])
def test_evaluation_and_the_recommender_say_it(given):
    topics = np.full((2, COUNTS.shape[1]), 1 / COUNTS.shape[1])
    message = message_of(lambda X: evaluation.completion(X, topics, 0.1), given)
    assert message.startswith("counts is a list of ")
    with pytest.raises(ValueError, match="ratings must be a matrix") as caught:
        TopicRecommender(2).fit(given)
    assert len(str(caught.value)) < 300


def test_numbers_in_quotes_and_columns_of_numbers_get_their_own_words():
    with pytest.raises(ValueError, match="numeric"):
        LatentDirichletAllocation(2).fit([["1", "2"], ["3", "4"]])
    with pytest.raises(ValueError, match="2D array"):
        LatentDirichletAllocation(2).fit([1, 2, 3])
    with pytest.raises(ValueError, match="2-dimensional"):
        LatentDirichletAllocation(2).fit(pd.Series([1, 2, 3]))
