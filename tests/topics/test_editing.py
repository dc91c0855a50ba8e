"""Merge, split, delete and label topics, of a set of topics and of models that go on learning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import trustream
from tests.helpers import matched_cosines, snapshot
from tests.pets_and_money import records
from tests.topics.planted import documents_of, in_batches, planted_topics
from trustream import LatentDirichletAllocation, StreamTrainer, open_store
from trustream.learning import state_arrays
from trustream.streaming.published import load_checkpoint, load_model
from trustream.topic_names import TopicNames, UnknownTopicError
from trustream.topics.documents import read
from trustream.topics.editing import (
    change_after,
    delete_topics,
    deleting,
    merge_topics,
    merging,
    set_labels,
)
from trustream.topics.splitting import split_topic
from trustream.topics.topic_set import TopicSet, as_topics


@pytest.fixture(scope="module")
def corpus() -> tuple[TopicSet, sparse.csr_array]:
    rng = np.random.default_rng(0)
    topics = planted_topics(rng, 5)
    return topics, documents_of(rng, topics, rng.dirichlet(np.full(5, 0.15), 1200), 50)


def fitted(counts: Any, **options: Any) -> LatentDirichletAllocation:
    return LatentDirichletAllocation(6, random_state=0, **options).fit(counts)


def check_totals(lda: LatentDirichletAllocation) -> None:
    """The sums over words that are kept beside lambda are its sums."""
    state = lda._state
    for table in [state.lambda_] + ([] if state.mean is None else [state.mean.lambda_]):
        sums = table.dense(state.prior.pattern).sum(axis=0, dtype=float)
        np.testing.assert_allclose(table.totals, sums, rtol=1e-4)
    pattern = np.broadcast_to(state.prior.pattern, table.stored.shape)
    np.testing.assert_allclose(state.prior.pattern_sums, pattern.sum(axis=0))


# --- merging


def test_merged_topics_add_up(corpus: Any) -> None:
    topics, counts = corpus
    merged = merge_topics(topics, [3, 1])
    assert merged.names.ids == (0, 2, 3, 4)
    rows = topics.weights
    expected = [rows[0], rows[2], rows[3] + rows[1] - 0.1, rows[4]]
    np.testing.assert_allclose(merged.weights, expected, rtol=1e-9)
    np.testing.assert_allclose(merged.alpha, [0.1, 0.1, 0.2, 0.1])
    np.testing.assert_allclose(merged.totals.sum() - topics.totals.sum(), -0.1 * 200, rtol=1e-6)
    # Given gammas add exactly.
    gamma = np.concatenate([part.gamma for part in read(topics, counts)])
    edit = merging(topics.names, [3, 1])
    found = edit.of_gamma(gamma)
    np.testing.assert_array_equal(found[:, 2], gamma[:, 3] + gamma[:, 1])
    np.testing.assert_array_equal(found[:, [0, 1, 3]], gamma[:, [0, 2, 4]])
    # The topics before are as they were.
    assert topics.n_topics == 5 and topics.names.ids == (0, 1, 2, 3, 4)


def test_the_change_after_inferring_again_is_told(corpus: Any) -> None:
    topics, counts = corpus
    edit = merging(topics.names, [3, 1])
    change = change_after(edit, topics, in_batches(counts, 100))
    gamma = np.concatenate([part.gamma for part in read(topics, counts)]).astype(float)
    given = edit.of_gamma(gamma)
    given /= given.sum(axis=1, keepdims=True)
    again = [part.proportions for part in read(edit.of_topics(topics), counts)]
    by_hand = np.abs(given - np.concatenate(again)).sum(axis=1) / 2
    assert change.mean == pytest.approx(by_hand.mean(), rel=1e-5)
    assert change.largest == pytest.approx(by_hand.max(), rel=1e-5)
    assert change.n_documents == 1200 and 0 < change.mean < 0.05
    # Topics that are the same can be merged without a change, up to the rounding of the steps.
    twice = np.vstack([topics.weights, topics.weights[:1]])
    doubled = TopicSet.of(twice, [0.05, 0.1, 0.1, 0.1, 0.1, 0.05], eta=0.0)
    same = change_after(merging(doubled.names, [0, 5]), doubled, counts)
    assert same.mean < 0.02
    deleted = change_after(deleting(topics.names, [0]), topics, counts)
    assert deleted.mean > change.mean
    with pytest.raises(ValueError, match="no document has a word"):
        change_after(edit, topics, np.zeros((2, 200)))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"population": None},
        {"learn_priors": False, "doc_topic_prior": [0.1, 0.2, 0.3, 0.1, 0.2, 0.3]},
        {"learning_rate": "adaptive", "learning_method": "natural-gradient"},
        {"local": "collapsed", "dtype": "float64"},
        {"learn_priors": "per-word"},
        {"learning_method": "streaming-vb"},
    ],
)
def test_estimators_go_on(corpus: Any, options: dict[str, Any], tmp_path: Path) -> None:
    _, counts = corpus
    lda = fitted(counts, **options)
    before = snapshot(state_arrays.to_arrays(lda._state))
    shown = as_topics(lda)
    edit = merging(shown.names, [1, 4])
    merged = edit.of_estimator(lda)
    # What is shown is the same as for topics alone, and the model is as it was.
    assert merged.n_components == 5 and merged.components_.shape == (5, 200)
    np.testing.assert_allclose(merged.components_, edit.of_topics(shown).weights, rtol=2e-5)
    np.testing.assert_allclose(merged.doc_topic_prior_, edit.of_topics(shown).alpha)
    assert snapshot(state_arrays.to_arrays(lda._state)) == before
    check_totals(merged)
    # It learns on, as good as it was but for a topic.
    score = merged.completion(counts, random_state=0).per_word
    merged.partial_fit(counts[:600]).partial_fit(counts[600:])
    assert np.isfinite(merged.components_).all() and merged.transform(counts).shape == (1200, 5)
    assert merged.completion(counts, random_state=0).per_word > score - 0.1
    merged.save(tmp_path / "merged.safetensors")
    again = trustream.load(tmp_path / "merged.safetensors")
    np.testing.assert_array_equal(again.components_, merged.components_)
    deleted = deleting(shown.names, [0, 5]).of_estimator(lda).partial_fit(counts)
    assert deleted.components_.shape == (4, 200)
    last = deleting(shown.names, range(1, 6)).of_estimator(lda).partial_fit(counts)
    np.testing.assert_allclose(last.transform(counts), 1)


def test_the_mean_beside_lambda_is_edited_too(corpus: Any) -> None:
    _, counts = corpus
    lda = LatentDirichletAllocation(4, random_state=0)
    for first in range(0, 1200, 200):
        lda.partial_fit(counts[first : first + 200])
    assert lda._state.mean is not None
    rows = lda.components_
    merged = merging(TopicNames.of(4), [0, 2]).of_estimator(lda)
    check_totals(merged)
    eta = lda.topic_word_prior_
    np.testing.assert_allclose(merged.components_[0], rows[0] + rows[2] - eta, rtol=1e-4)
    np.testing.assert_allclose(merged.components_[1:], rows[[1, 3]], rtol=1e-6)


def test_a_trainer_goes_on_from_an_edited_checkpoint(tmp_path: Path) -> None:
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        store.append(records(200))
        with StreamTrainer(store, n_components=4, batch_size=20) as trainer:
            trainer.run(steps=30)
        checkpoint = load_checkpoint(store)
        assert checkpoint is not None
        before = as_topics(load_model(store))
        edit = merging(before.names, [0, 2])
        store.save("model", edit.of_checkpoint(checkpoint).to_bytes())
        shown = as_topics(load_model(store))
        np.testing.assert_allclose(shown.weights, edit.of_topics(before).weights, rtol=1e-4)
        with pytest.raises(ValueError, match="n_components"):
            StreamTrainer(store, n_components=4, batch_size=20)
        with StreamTrainer(store, n_components=3, batch_size=20) as trainer:
            trainer.run(steps=10)
        learned = load_model(store)
        assert learned.components_.shape == (3, 10) and learned.n_batch_iter_ == 40


def test_seeds_stay(corpus: Any) -> None:
    _, counts = corpus
    seeds = np.full((6, 200), 0.1)
    seeds[1, 7], seeds[4, 9] = 5.0, 6.0
    lda = fitted(counts, topic_word_prior=seeds)
    merged = merging(TopicNames.of(6), [1, 4]).of_estimator(lda)
    assert merged.topic_word_prior.shape == (5, 200)
    assert (merged.topic_word_prior[1, 7], merged.topic_word_prior[1, 9]) == (5.0, 6.0)
    check_totals(merged)
    merged.partial_fit(counts)
    assert merged.components_.shape == (5, 200)


# --- splitting


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_planted_mixture_of_two_topics_is_split(seed: int) -> None:
    rng = np.random.default_rng(seed)
    planted = planted_topics(rng, 5)
    counts = documents_of(rng, planted, rng.dirichlet(np.full(5, 0.15), 1200), 50)
    mixed = set_labels(merge_topics(planted, [1, 3]), {1: "both", 0: "kept"})
    split = split_topic(mixed, 1, in_batches(counts, 150), random_state=0)
    assert split.topics.names.ids == (0, 5, 2, 4, 6) and split.ids == (5, 6)
    assert dict(split.topics.names.labels) == {0: "kept"}
    found = split.topics.weights[[1, 4]]
    assert matched_cosines(found, planted.weights[[1, 3]]).min() > 0.97
    assert sum(split.shares) == pytest.approx(1) and split.shares[0] >= split.shares[1] > 0.3
    # Nothing is lost: merging the two gives the topic back.
    back = merge_topics(split.topics, split.ids)
    np.testing.assert_allclose(back.weights, mixed.weights, rtol=1e-6)
    np.testing.assert_allclose(back.alpha, mixed.alpha)
    with pytest.raises(ValueError, match="a topic was split"):
        split.edit.of_gamma(np.ones((2, 4)))


def test_a_split_model_learns_on(corpus: Any) -> None:
    planted, counts = corpus
    lda = fitted(counts)
    rows = cdist(planted.weights[:2], lda.components_, "cosine").argmin(axis=1).tolist()
    merged = merging(TopicNames.of(6), rows).of_estimator(lda)
    both = min(rows[0], merged.n_components - 1) if rows[0] < rows[1] else rows[0] - 1
    split = split_topic(merged, both, counts, random_state=0)
    model = split.edit.of_estimator(merged)
    check_totals(model)
    np.testing.assert_allclose(model.components_, split.topics.weights, rtol=1e-4)
    for _ in range(3):
        model.partial_fit(counts)
    score = model.completion(counts, random_state=0).per_word
    assert score > merged.completion(counts, random_state=0).per_word
    assert matched_cosines(model.components_, planted.weights).min() > 0.9


def test_a_sample_decides_where_there_are_many(corpus: Any) -> None:
    topics, counts = corpus
    split = split_topic(topics, 2, counts, max_documents=50, random_state=0)
    assert split.n_documents == 50
    same = split_topic(topics, 2, in_batches(counts, 10), max_documents=50, random_state=0)
    np.testing.assert_allclose(same.topics.weights, split.topics.weights, rtol=1e-6)
    with pytest.raises(ValueError, match="0 documents have 2 tokens or more of topic 2"):
        split_topic(topics, 2, np.zeros((30, 200)))
    with pytest.raises(UnknownTopicError, match="no topic 9"):
        split_topic(topics, 9, counts)


# --- names


def test_ids_are_never_given_again() -> None:
    names = TopicNames.of(3).without([2]).split(0)
    assert names.ids == (3, 1, 4)
    assert names.merged([4, 3]).ids == (1, 4) and names.merged([4, 3]).next_id == 5
    assert names.merged([4, 3]).split(1).ids == (5, 4, 6)
    assert TopicNames.from_json(names.without([4]).to_json()).next_id == 5


def test_labels_follow_topics_and_not_rows() -> None:
    names = TopicNames.of(4).with_labels({1: "one", 2: "two", 3: "three"})
    assert dict(names.without([0]).labels) == {1: "one", 2: "two", 3: "three"}
    assert dict(names.merged([2, 3]).labels) == {1: "one", 2: "two"}
    assert dict(names.merged([0, 3]).labels) == {1: "one", 2: "two"}
    # A topic that begins afresh is another one.
    again = names.restarted([2])
    assert again.ids == (0, 1, 4, 3) and dict(again.labels) == {1: "one", 3: "three"}
    assert dict(names.with_labels({1: None, 2: "zwei"}).labels) == {2: "zwei", 3: "three"}
    assert dict(names.with_labels({np.int64(1): "uno"}).labels)[1] == "uno"


def test_bad_edits(corpus: Any) -> None:
    topics, _ = corpus
    with pytest.raises(ValueError, match="expected at least 2"):
        merge_topics(topics, [1])
    with pytest.raises(ValueError, match="no topic may be there twice"):
        merge_topics(topics, [1, 1])
    with pytest.raises(UnknownTopicError, match="no topic 7: topics are 0 to 4"):
        merge_topics(topics, [1, 7])
    with pytest.raises(ValueError, match="expected a list of ids"):
        merge_topics(topics, "12")
    with pytest.raises(ValueError, match="expected a list of ids"):
        delete_topics(topics, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="all topics would be deleted"):
        delete_topics(topics, range(5))
    with pytest.raises(ValueError, match="expected at least 1"):
        delete_topics(topics, [])
    for label in ("", "  ", 3, b"x", ["x"]):
        with pytest.raises(ValueError, match="the label of topic 1 is"):
            set_labels(topics, {1: label})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="201 characters"):
        set_labels(topics, {1: "x" * 201})
    with pytest.raises(UnknownTopicError):
        set_labels(topics, {9: "x"})
    with pytest.raises(ValueError, match="expected a mapping"):
        set_labels(topics, ["x"])  # type: ignore[arg-type]
    for values in (None, {}, {"ids": [0, 0], "labels": {}, "next_id": 1}, {"ids": 3}):
        with pytest.raises(ValueError):
            TopicNames.from_json(values)
    with pytest.raises(ValueError, match="not fitted"):
        merging(TopicNames.of(2), [0, 1]).of_estimator(LatentDirichletAllocation(2))
