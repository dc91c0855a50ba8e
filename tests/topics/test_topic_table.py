"""The table of topics: counts by hand, coherence as elsewhere, words by their formulas."""

from __future__ import annotations

import builtins
import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.topics.planted import documents_of, in_batches, planted_topics
from trustream import LatentDirichletAllocation, evaluation
from trustream.topic_names import UnknownTopicError
from trustream.topics.characteristic_words import frex_words, relevant_words, top_words
from trustream.topics.documents import as_batches, gather, read
from trustream.topics.table import TableCounts, topic_info
from trustream.topics.topic_set import TopicSet, as_topics


@pytest.fixture(scope="module")
def planted() -> tuple[TopicSet, sparse.csr_array]:
    rng = np.random.default_rng(0)
    topics = planted_topics(rng, 4)
    theta = rng.dirichlet([0.4, 0.3, 0.2, 0.1], 2500)
    counts = documents_of(rng, topics, theta).tolil()
    counts[7] = 0
    return topics, sparse.csr_array(counts)


def test_counts_of_documents_and_tokens(planted: tuple[TopicSet, Any]) -> None:
    topics, counts = planted
    table = topic_info(topics, counts, threshold=0.25)
    gamma = np.concatenate([part.gamma for part in read(topics, counts)]).astype(np.float64)
    lengths = counts.sum(axis=1)
    filled = lengths > 0
    tokens = gamma - topics.alpha
    main = gamma[filled].argmax(axis=1)
    for info in table:
        share = tokens[:, info.topic].sum() / tokens.sum()
        assert info.share == pytest.approx(share, rel=1e-6)
        assert info.n_documents == (main == info.topic).sum()
        having = tokens[filled, info.topic] / lengths[filled] >= 0.25
        assert info.n_documents_with == having.sum()
    assert [info.share for info in table] == sorted((i.share for i in table), reverse=True)
    assert sum(info.share for info in table) == pytest.approx(1)
    assert sum(info.n_documents or 0 for info in table) == 2499
    assert (table.n_documents, table.n_tokens) == (2500, lengths.sum())
    # The documents were drawn with these shares.
    found = {info.topic: info.share for info in table}
    np.testing.assert_allclose([found[k] for k in range(4)], [0.4, 0.3, 0.2, 0.1], atol=0.03)


def test_batches_of_any_size_give_the_same(planted: tuple[TopicSet, Any]) -> None:
    topics, counts = planted
    whole = topic_info(topics, counts)
    for size in (1, 37, 4000):
        again = topic_info(topics, in_batches(counts[:300] if size == 1 else counts, size))
        if size > 1:
            for a, b in zip(whole, again, strict=True):
                assert a.share == pytest.approx(b.share, rel=1e-12)
                assert asdict(a) | {"share": 0} == asdict(b) | {"share": 0}
    halves = [TableCounts(topics), TableCounts(topics)]
    gather(topics, counts[:1000], halves[0])
    gather(topics, counts[1000:], halves[1])
    halves[0].merge(halves[1])
    for a, b in zip(whole, topic_info(topics, halves[0]), strict=True):
        assert (a.topic, a.n_documents, a.coherence) == (b.topic, b.n_documents, b.coherence)
        assert a.share == pytest.approx(b.share, rel=1e-12)


def test_coherence_is_that_of_evaluation(planted: tuple[TopicSet, Any]) -> None:
    topics, counts = planted
    expected = evaluation.coherence(topics.weights, counts).per_topic
    for info in topic_info(topics, in_batches(counts, 100)):
        assert info.coherence == pytest.approx(expected[info.row], rel=1e-12)
    assert topic_info(topics, counts, coherence=False).topics[0].coherence is None


def test_documents_are_read_as_by_transform() -> None:
    rng = np.random.default_rng(1)
    topics = planted_topics(rng, 5)
    counts = documents_of(rng, topics, rng.dirichlet(np.full(5, 0.2), 400))
    for options in ({}, {"local": "collapsed"}, {"dtype": "float64"}, {"max_doc_topics": None}):
        lda = LatentDirichletAllocation(5, random_state=0, **options).fit(counts)
        theta = np.concatenate([part.proportions for part in read(lda, counts)])
        np.testing.assert_array_equal(theta, lda.transform(counts))


def test_topics_stay_while_the_model_learns_on() -> None:
    rng = np.random.default_rng(1)
    counts = documents_of(rng, planted_topics(rng, 3), rng.dirichlet(np.full(3, 0.2), 200))
    lda = LatentDirichletAllocation(3, random_state=0).partial_fit(counts)
    topics = as_topics(lda)
    (before,) = read(topics, counts)
    for _ in range(3):
        lda.partial_fit(counts[rng.integers(0, 200, 100)])
    (after,) = read(topics, counts)
    np.testing.assert_array_equal(before.gamma, after.gamma)


def test_expected_tokens_are_sums_of_phi(planted: tuple[TopicSet, Any]) -> None:
    topics, counts = planted
    part = next(iter(read(topics, counts)))
    pairs = np.arange(part.words.ids.size)
    phi = part.phi(pairs, np.arange(4)[None, :])
    documents = np.repeat(np.arange(part.words.size), np.diff(part.words.indptr))
    summed = np.zeros((part.words.size, 4))
    np.add.at(summed, documents, phi)
    np.testing.assert_allclose(summed, part.tokens, atol=0.02)
    np.testing.assert_allclose(phi.sum(axis=1), part.words.counts, rtol=1e-5)


def test_eta_is_a_part_of_weights_up_to_rounding() -> None:
    weights = np.array([[0.7, 5.0], [3.0, 0.7]], np.float32)
    topics = TopicSet.of(weights, 0.1, eta=0.7)
    np.testing.assert_allclose(topics.weights, weights, rtol=1e-6)
    with pytest.raises(ValueError, match="expected 0 up to the smallest weight"):
        TopicSet.of(weights, 0.1, eta=0.8)


def test_words_by_their_formulas() -> None:
    rng = np.random.default_rng(2)
    topics = planted_topics(rng, 3, 40)
    beta = topics.weights / topics.weights.sum(axis=1, keepdims=True)
    frequency = topics.weights.sum(axis=0) / topics.weights.sum()
    for k in range(3):
        for weight in (0.0, 0.3, 1.0):
            r = weight * np.log(beta[k]) + (1 - weight) * np.log(beta[k] / frequency)
            found = relevant_words(topics, k, 5, weight)
            assert [w.word for w in found] == [f"w{v}" for v in np.argsort(-r)[:5]]
            np.testing.assert_allclose([w.weight for w in found], np.sort(-r)[:5] * -1, rtol=1e-9)
        exclusive = beta[k] / beta.sum(axis=0)
        score = [
            1 / (0.5 / (exclusive <= exclusive[v]).mean() + 0.5 / (beta[k] <= beta[k, v]).mean())
            for v in range(40)
        ]
        found = frex_words(topics, k, 5)
        np.testing.assert_allclose([w.weight for w in found], np.sort(score)[::-1][:5])
        assert top_words(topics, k, 3)[0].weight == pytest.approx(beta[k].max())


def test_words_that_set_topics_apart() -> None:
    weights = np.array([[50.0, 30, 15, 1, 1, 3], [50.0, 1, 1, 30, 15, 3]])
    topics = TopicSet.of(weights, 0.1, ["the", "cat", "dog", "bank", "rate", ""])
    info = topic_info(topics, n_words=2, relevance=0.3).topic(0)
    assert [w.word for w in info.words] == ["the", "cat"]
    assert [w.word for w in info.relevant] == ["cat", "dog"]
    assert [w.word for w in info.frex] == ["cat", "the"]
    # A column without a word is never shown.
    assert all(w.word for w in topic_info(topics, n_words=6).topic(1).frex)


def test_labels_and_ids() -> None:
    topics = TopicSet.of(np.eye(3) * 10 + 1, 0.1, ["cat", "bank", "tree"])
    names = topics.names.with_labels({1: " money "}).without([0])
    topics = TopicSet.of(topics.weights[1:], 0.1, topics.words, names=names)
    table = topic_info(topics)
    assert {info.topic: (info.label, info.labelled, info.row) for info in table} == {
        1: ("money", True, 0),
        2: ("tree, cat, bank", False, 1),
    }
    with pytest.raises(UnknownTopicError, match="no topic 0: topics are 1 and 2"):
        topics.row(0)
    for bad in (1.0, "1", True, None, -1):
        with pytest.raises(UnknownTopicError):
            topics.row(bad)


def test_topics_that_are_all_equal() -> None:
    weights = np.tile([5.0, 3.0, 2.0], (3, 1))
    topics = TopicSet.of(weights, 0.1, ["a", "b", "c"])
    table = topic_info(topics, np.array([[3, 2, 1], [0, 1, 5]]))
    for info in table:
        for words in (info.words, info.relevant, info.frex):
            assert [w.word for w in words] == ["a", "b", "c"]
        assert info.share == pytest.approx(1 / 3)
    assert [info.n_documents for info in table] == [2, 0, 0]


def test_without_documents_and_as_json(planted: tuple[TopicSet, Any]) -> None:
    topics, _ = planted
    table = topic_info(topics)
    assert table.n_documents is None and table.topics[0].n_documents is None
    totals = topics.weights.sum(axis=1)
    assert table.topics[0].share == pytest.approx(totals.max() / totals.sum(), rel=1e-6)
    assert json.loads(json.dumps(asdict(table)))["topics"][0]["words"][0]["word"].startswith("w")


def test_a_frame(planted: tuple[TopicSet, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    topics, counts = planted
    table = topic_info(topics, counts, n_words=3)
    frame = table.frame()
    assert frame["topic"].tolist() == [info.topic for info in table]
    assert frame["words"][0] == " ".join(w.word for w in table.topics[0].words)
    real = builtins.__import__

    def without_pandas(name: str, *args: Any, **options: Any) -> Any:
        if name == "pandas":
            raise ImportError("no pandas")
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match=r"trustream\[frames\].*pip install pandas"):
        table.frame()


def test_bad_input(planted: tuple[TopicSet, Any]) -> None:
    topics, counts = planted
    with pytest.raises(ValueError, match="not a single word that the model knows"):
        topic_info(topics, np.zeros((3, 200)))
    with pytest.raises(ValueError, match="not a single word"):
        topic_info(topics, [])
    with pytest.raises(ValueError, match="documents have 3 columns, the topics 200"):
        topic_info(topics, np.ones((2, 3)))
    with pytest.raises(ValueError, match="threshold is 0"):
        topic_info(topics, counts, threshold=0)
    with pytest.raises(ValueError, match="relevance is 2"):
        topic_info(topics, relevance=2)
    with pytest.raises(ValueError, match="exclusivity is -1"):
        topic_info(topics, exclusivity=-1)
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="expected finite counts"):
            topic_info(topics, np.full((1, 200), bad))
    with pytest.raises(ValueError, match="batch 0 is of type str"):
        topic_info(topics, ["cat dog"])
    with pytest.raises(ValueError, match="expected a matrix of counts or batches"):
        topic_info(topics, "cat dog")
    with pytest.raises(ValueError, match="expected a fitted Latent"):
        topic_info(object())
    with pytest.raises(ValueError, match="not fitted"):
        topic_info(LatentDirichletAllocation(2))
    with pytest.raises(ValueError, match="2 words, but the topics have 200"):
        as_topics(topics, ["a", "b"])
    with pytest.raises(ValueError, match="keys are 1, but there are 2 documents"):
        list(as_batches(np.ones((2, 2)), keys=["a"]))
    for weights in ([[0.0, 1.0]], [[np.nan, 1.0]], [1.0, 2.0], [["a"]]):
        with pytest.raises(ValueError, match="weights"):
            TopicSet.of(weights, 0.1)
