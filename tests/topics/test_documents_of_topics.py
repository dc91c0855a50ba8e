"""The documents of a topic, and the topics of a document, from streams."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tests.topics.planted import documents_of, in_batches, planted_topics
from trustream.models.lda.batch import CountRows
from trustream.topic_names import UnknownTopicError
from trustream.topics.document_view import view_documents
from trustream.topics.documents import DocumentBatch, gather, read
from trustream.topics.representatives import RunningTop, representative_documents
from trustream.topics.topic_set import TopicSet

Corpus = tuple[TopicSet, sparse.csr_array]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    rng = np.random.default_rng(3)
    topics = planted_topics(rng, 6)
    return topics, documents_of(rng, topics, rng.dirichlet(np.full(6, 0.2), 1300), 20)


def test_the_largest_proportions_of_all_documents(
    corpus: Corpus,
) -> None:
    topics, counts = corpus
    theta = np.concatenate([part.proportions for part in read(topics, counts)])
    keys = [f"key {row}" for row in range(1300)]
    titles = [f"Title {row}" for row in range(1300)]
    for topic in range(6):
        expected = np.argsort(-theta[:, topic], kind="stable")[:7]
        for size in (64, 5000):
            stream = in_batches(counts, size, keys=keys, titles=titles)
            found = representative_documents(topics, topic, stream, n=7)
            assert [document.row for document in found] == expected.tolist()
            assert [document.key for document in found] == [keys[row] for row in expected]
            assert found[0].title == f"Title {expected[0]}"
            assert found[0].proportion == theta[expected[0], topic]
            assert found[0].n_tokens == counts[[expected[0]]].sum()


def test_halves_merge_and_ties_are_in_order(corpus: Corpus) -> None:
    topics, counts = corpus
    same = sparse.vstack([counts[:5]] * 8).tocsr()
    whole, first, second = (RunningTop(topics, 3) for _ in range(3))
    gather(topics, in_batches(same, 3), whole)
    for part in read(topics, in_batches(same, 7)):
        (first if part.first < 20 else second).add(part)
    first.merge(second)
    for topic in range(6):
        assert first.documents(topic) == whole.documents(topic)
        best = int(whole.documents(topic)[0].row)
        assert [d.row for d in whole.documents(topic)] == [best, best + 5, best + 10]
        assert len(whole.documents(topic, 2)) == 2


def test_memory_is_bounded_and_keys_may_be_anything() -> None:
    topics = TopicSet.of(np.eye(2) * 10 + 1, 0.1)
    taken = 0

    def endless() -> Iterator[DocumentBatch]:
        nonlocal taken
        while taken < 50:
            taken += 1
            yield DocumentBatch(np.array([[3, 0]] * 40), keys=[{"a": i} for i in range(40)])

    best = RunningTop(topics, 4)
    gather(topics, endless(), best)
    assert taken == 50 and sum(len(heap) for heap in best._heaps) == 8
    assert [d.row for d in best.documents(0)] == [0, 1, 2, 3]


def test_frames_and_generators_beside_documents() -> None:
    topics = TopicSet.of(np.eye(2) * 10 + 1, 0.1)
    frame = pd.DataFrame({"a": [0, 5, 3], "b": [1, 0, 0]}, index=[7, 8, 9])
    names = pd.Series(["x", "y", "z"], index=[7, 8, 9])
    found = representative_documents(
        topics, 0, frame, n=2, keys=names, titles=(f"The {name}" for name in names)
    )
    assert [(d.key, d.title) for d in found] == [("y", "The y"), ("z", "The z")]


def test_documents_without_words_are_nobodys() -> None:
    topics = TopicSet.of(np.eye(2) * 10 + 1, 0.1)
    counts = np.array([[0, 0], [0, 3], [0, 0]])
    assert [d.row for d in representative_documents(topics, 0, counts)] == [1]
    assert representative_documents(topics, 0, np.zeros((2, 2))) == []


def test_words_speak_for_topics(corpus: Corpus) -> None:
    topics, counts = corpus
    views = list(view_documents(topics, counts[:30], keys=list(range(30))))
    (part,) = read(topics, counts[:30])
    for d, view in enumerate(views):
        assert view.key == view.row == d and view.title is None
        assert [t.topic for t in view.topics] == np.argsort(-part.gamma[d], kind="stable").tolist()
        assert sum(word.count for word in view.words) == view.n_tokens == counts[[d]].sum()
        # gamma = alpha + sum_w n_w phi_w, up to the tolerance of the local step.
        summed = topics.alpha + sum(w.count * np.array(w.phi) for w in view.words)
        np.testing.assert_allclose(summed, part.gamma[d], atol=0.03)
        for word in view.words:
            assert sum(word.phi) == pytest.approx(1) and word.topic == int(np.argmax(word.phi))
        assert [w.count for w in view.words] == sorted((w.count for w in view.words), reverse=True)


def test_rows_of_a_store(corpus: Corpus) -> None:
    topics, counts = corpus
    rows = CountRows(
        counts.indptr.astype(np.int64),
        counts.indices.astype(np.int32),
        counts.data.astype(np.float32),
        counts.shape,
    )
    stored = [part.gamma for part in read(topics, DocumentBatch(rows))]
    plain = [part.gamma for part in read(topics, counts)]
    np.testing.assert_array_equal(np.concatenate(stored), np.concatenate(plain))


def test_bad_input(corpus: Corpus) -> None:
    topics, counts = corpus

    def never() -> Iterator[DocumentBatch]:
        raise AssertionError("documents were read")
        yield

    with pytest.raises(UnknownTopicError, match="no topic 6: topics are 0 to 5"):
        representative_documents(topics, 6, never())
    with pytest.raises(ValueError, match="n must be an integer of at least 1, got 0"):
        representative_documents(topics, 0, never(), n=0)
    (empty,) = view_documents(topics, np.zeros((1, 200)))
    assert empty.words == [] and sum(t.proportion for t in empty.topics) == pytest.approx(1)
    with pytest.raises(ValueError, match="keys, titles and times go with a single matrix"):
        representative_documents(topics, 0, in_batches(counts, 10), keys=["a"])
