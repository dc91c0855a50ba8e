"""Near documents, topics of words, and words in texts: against definitions that are slower."""

from __future__ import annotations

import numpy as np
import pytest

from trustream.text import Tokeniser, tokenise
from trustream.topics.characteristic_words import RELEVANCE
from trustream.topics.coloured_text import coloured_text
from trustream.topics.documents import DocumentBatch, gather, read
from trustream.topics.nearest import NearestDocuments
from trustream.topics.topic_set import TopicSet
from trustream.topics.word_search import matching_words, topics_of_words


def topics(rng: np.random.Generator, n_topics: int = 5, n_words: int = 30) -> TopicSet:
    weights = rng.gamma(0.3, 5.0, (n_topics, n_words)) + 0.01
    return TopicSet.of(weights, 0.2, [f"w{i}" for i in range(n_words)])


def test_nearest_by_hellinger() -> None:
    rng = np.random.default_rng(0)
    model = topics(rng)
    counts = rng.poisson(0.5, (40, 30))
    counts[7] = 0
    near = NearestDocuments()
    keys = [f"d{i}" for i in range(40)]
    batches = [DocumentBatch(counts[:15], keys[:15]), DocumentBatch(counts[15:], keys[15:])]
    gather(model, batches, near)
    (part,) = read(model, counts)
    theta = part.proportions.astype(np.float64)
    distances = [
        np.sqrt(max(0.0, 1 - sum(np.sqrt(p * q) for p, q in zip(theta[3], row, strict=True))))
        for row in theta
    ]
    order = [i for i in np.argsort(distances) if i not in (3, 7)]
    found = near.nearest(theta[3], 12, without="d3")
    assert [one.key for one in found] == [f"d{i}" for i in order[:12]]
    expected = [1 - distances[i] for i in order[:12]]
    assert [one.similarity for one in found] == pytest.approx(expected, abs=1e-3)
    assert len(near) == 39 and near.proportions("d7") is None
    assert near.proportions("d3") == pytest.approx(theta[3], abs=1e-5)
    assert len(near.nearest(theta[3], 1000)) == 39
    assert NearestDocuments().nearest(theta[3]) == []
    with pytest.raises(ValueError, match="one number for each topic"):
        near.nearest([0.5, 0.5])


def test_topics_of_words() -> None:
    model = topics(np.random.default_rng(1))
    weights = np.asarray(model.weights, np.float64)
    beta = weights / weights.sum(axis=1, keepdims=True)
    frequencies = weights.sum(axis=0) / weights.sum()
    relevance = RELEVANCE * np.log(beta) + (1 - RELEVANCE) * np.log(beta / frequencies)
    found = topics_of_words(model, ["w4"], 10)
    given = weights[:, 4] / weights[:, 4].sum()
    assert [one.topic for one in found] == np.argsort(-given).tolist()
    for one in found:
        assert one.topic_given_word == pytest.approx(given[one.topic])
        assert one.probability == pytest.approx(beta[one.topic, 4])
        assert one.relevance == pytest.approx(relevance[one.topic, 4])
        assert one.rank == 1 + sum(relevance[one.topic] > relevance[one.topic, 4])
    assert len(topics_of_words(model, ["w4", "w5"], 3)) == 3
    # Equal words first, then by frequency.
    begin = matching_words(model, "W1")
    assert begin[0] == "w1" and set(begin) == {"w1", *(f"w{i}" for i in range(10, 20))} - {
        min((f"w{i}" for i in range(10, 20)), key=lambda w: frequencies[int(w[1:])])
    }
    assert matching_words(model, " ") == []


@pytest.mark.parametrize(
    ("text", "tokeniser", "expected"),
    [
        ("Cats, cats; DOGS!", Tokeniser(), [("Cats", "cats"), ("cats", "cats"), ("DOGS", "dogs")]),
        ("the of", Tokeniser(), []),
        ("", Tokeniser(), []),
        ("New York, new", Tokeniser(phrases=["new york"]), [("New York", "new_york")]),
        ("E\u0301clair \u00e9clair", Tokeniser(),
         [("E\u0301clair", "\u00e9clair"), ("\u00e9clair", "\u00e9clair")]),
        ("a-b_c7d", Tokeniser(r"[a-z]\d", min_length=2), [("c7", "c7")]),
    ],
)  # fmt: skip
def test_words_in_a_text(text: str, tokeniser: Tokeniser, expected: list[tuple[str, str]]) -> None:
    topic_of = {"cats": 1, "dogs": 2, "new_york": 3, "\u00e9clair": 4, "c7": 5}
    pieces = coloured_text(text, tokeniser, topic_of)
    assert "".join(piece.text for piece in pieces) == text
    assert [(piece.text, piece.word) for piece in pieces if piece.word] == expected
    for piece in pieces:
        assert piece.topic == (topic_of[piece.word] if piece.word else None)
        assert piece.text


def test_any_text_is_kept_whole() -> None:
    rng = np.random.default_rng(2)
    letters = list("aB \n\u00e9\u0301\u4e2d\u0e01'-_7\U0001f600\u200d")
    for _ in range(300):
        text = "".join(rng.choice(letters, rng.integers(0, 30)))
        words = dict.fromkeys(tokenise(text), 1)
        pieces = coloured_text(text, tokenise, words)
        assert "".join(piece.text for piece in pieces) == text
