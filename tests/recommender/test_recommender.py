"""The recommender finds planted groups and treats users, ids and files as it says."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tests.recommender import planted
from tests.recommender.planted import HELD_OUT, N_ITEMS, N_USERS, TRAIN, recommender
from trustream import LatentDirichletAllocation, TopicRecommender
from trustream.evaluation import ranking, top_items
from trustream.learning import algorithms


def test_held_out_items_of_each_block_are_ranked_first(fitted: TopicRecommender) -> None:
    left_in_block = planted.ITEMS - 7
    lists = fitted.recommend_all(left_in_block)
    for user, found in lists:
        assert {planted.block_of_item(i) for i in found.items} == {planted.block_of_user(user)}
        assert set(HELD_OUT[[user]].indices) <= set(found.items)
    result = fitted.evaluate(HELD_OUT, m=left_in_block)
    assert result.recall.mean == 1.0
    assert result.n_users == N_USERS


def test_a_model_without_topics_does_not_find_the_blocks() -> None:
    """What the test above must be able to fail on."""
    result = recommender(n_components=1).fit(TRAIN).evaluate(HELD_OUT, m=8)
    assert result.recall.mean < 0.3


def test_it_beats_popularity() -> None:
    train, held_out = planted.popular_blocks()
    ours = recommender(max_iter=10).fit(train).evaluate(held_out, m=10)
    popular = np.tile(train.sum(axis=0), (train.shape[0], 1))
    other = ranking(popular, held_out, seen=train, m=10)
    for name in ("normalised_precision", "precision", "recall", "ndcg"):
        mine, theirs = getattr(ours, name), getattr(other, name)
        assert mine.mean > theirs.mean + 3 * theirs.standard_error, name


def test_scores_are_the_predictive_distribution(fitted: TopicRecommender) -> None:
    lambda_ = fitted.lda_.components_.astype(np.float64)
    theta = fitted.lda_.transform(TRAIN[[7]]).astype(np.float64)[0]
    expected = theta @ (lambda_ / lambda_.sum(axis=1, keepdims=True))
    found = fitted.recommend(7, n=N_ITEMS, exclude_seen=False)
    assert len(found) == N_ITEMS
    assert np.allclose(found.scores, expected[found.items], rtol=1e-5)
    assert (np.diff(found.scores) <= 0).all()
    assert found.scores.sum() == pytest.approx(1, rel=1e-5)


def test_seen_items_are_left_out(fitted: TopicRecommender) -> None:
    seen = set(TRAIN[[3]].indices)
    assert not seen & set(fitted.recommend(3, n=N_ITEMS).items)
    assert seen & set(fitted.recommend(3, exclude_seen=False).items)
    assert not seen & set(fitted.recommend_for(seen, n=N_ITEMS).items)
    assert seen & set(fitted.recommend_for(seen, exclude_seen=False).items)


def test_rated_items_are_left_out_though_they_are_not_liked() -> None:
    frame = planted.columns_of(TRAIN)
    disliked = planted.item_name(int(HELD_OUT[[0]].indices[0]))
    for name, value in zip(frame, (planted.user_name(0), disliked, 1), strict=True):
        frame[name].append(value)
    model = recommender(threshold=4).fit(frame)
    assert disliked not in model.recommend(planted.user_name(0), n=N_ITEMS).items
    assert disliked in model.recommend(planted.user_name(1), n=N_ITEMS, exclude_seen=False).items
    assert model.lda_.transform(model._data.likes()[[0]]).tolist() == [
        model.fold_in(
            [item for user, item, rating in zip(*frame.values(), strict=True)
             if user == planted.user_name(0) and rating == 5]
        ).tolist()
    ]  # fmt: skip


def test_fold_in_equals_transform(fitted: TopicRecommender) -> None:
    theta = fitted.lda_.transform(TRAIN)
    assert np.array_equal(fitted.user_topics(), theta)
    for user in (0, 55, N_USERS - 1):
        items = TRAIN[[user]].indices
        assert np.array_equal(fitted.fold_in(items), theta[user])
        assert list(fitted.recommend_for(items)) == list(fitted.recommend(user))


def test_fold_in_learns_nothing(fitted: TopicRecommender) -> None:
    before = fitted.lda_.components_
    fitted.recommend_for([1, 2, 3])
    assert np.array_equal(fitted.lda_.components_, before)
    assert fitted.lda_.n_batch_iter_ == recommender().fit(TRAIN).lda_.n_batch_iter_


def test_all_users_get_what_each_one_gets(fitted: TopicRecommender) -> None:
    lists = fitted.recommend_all(7)
    assert len(lists) == N_USERS
    one_by_one = recommender().fit(TRAIN)  # nothing kept from other calls
    for user in (0, 1, 99):
        assert list(lists[user]) == list(one_by_one.recommend(user, 7))
    some = one_by_one.recommend_all(7, users=[99, 1])
    assert [(user, list(found)) for user, found in some] == [
        (99, list(lists[99])),
        (1, list(lists[1])),
    ]
    pair = (fitted.user_topics(), fitted.item_topics_)
    assert np.array_equal(lists.columns, top_items(pair, 7, seen=TRAIN))


def test_similar_items_are_of_the_same_block(fitted: TopicRecommender) -> None:
    for item in (0, 20, N_ITEMS - 1):
        found = fitted.similar_items(item, n=planted.ITEMS - 1)
        assert item not in found.items
        blocks = {planted.block_of_item(i) for i in found.items}
        assert blocks == {planted.block_of_item(item)}
        shares = fitted.lda_.components_ / fitted.lda_.components_.sum(axis=0)
        unit = shares / np.linalg.norm(shares, axis=0)
        assert np.allclose(found.scores, unit[:, item] @ unit[:, found.items], atol=1e-5)
    assert len(fitted.similar_items(0, n=1000)) == N_ITEMS - 1


def test_names_come_back_as_they_were_given(named: TopicRecommender) -> None:
    found = named.recommend(planted.user_name(1), n=8)
    assert all(type(item) is str for item in found.items)
    numbers = [int(item.removeprefix("żółw ")) for item in found.items]
    assert {planted.block_of_item(i) for i in numbers} == {0}
    assert [user for user, _ in named.recommend_all(2)] == named.user_ids_.tolist()
    assert sorted(named.user_ids_) == sorted(map(planted.user_name, range(N_USERS)))


def test_integers_stay_integers() -> None:
    frame = planted.columns_of(TRAIN)
    frame["user"] = np.array([int(u.removeprefix("user ")) + 10**12 for u in frame["user"]])
    frame["item"] = np.array([int(i.removeprefix("żółw ")) * 7 for i in frame["item"]], np.int32)
    model = recommender().fit(frame)
    assert all(type(item) is int and item % 7 == 0 for item in model.recommend(10**12).items)
    assert {type(user) for user, _ in model.recommend_all(1)} == {int}


def test_the_order_of_rows_is_no_matter(named: TopicRecommender) -> None:
    frame = planted.columns_of(TRAIN)
    order = np.random.default_rng(1).permutation(len(frame["user"]))
    shuffled = {name: [column[i] for i in order] for name, column in frame.items()}
    other = recommender(threshold=4).fit(shuffled)
    assert np.array_equal(other.lda_.components_, named.lda_.components_)


def test_more_than_there_is(fitted: TopicRecommender) -> None:
    assert len(fitted.recommend(0, n=10_000)) == N_ITEMS - 7
    assert fitted.recommend_all(10_000).columns.shape == (N_USERS, N_ITEMS)
    assert len(fitted.recommend_for(range(N_ITEMS))) == 0


def test_nobody_in_particular_gets_what_is_popular() -> None:
    counts = np.tile([9, 5, 2, 1], (50, 1))
    model = recommender(n_components=2).fit(counts)
    assert model.recommend_for([]).items == [0, 1, 2, 3]


def test_ratings_as_weights() -> None:
    model = recommender(n_components=2).fit(TRAIN)
    heavy = model.fold_in({0: 5.0, 20: 1.0})
    even = model.fold_in([0, 20])
    assert np.array_equal(even, model.fold_in({0: 1.0, 20: 1.0}))
    assert not np.allclose(heavy, even)
    liked = recommender(n_components=2, threshold=3).fit(5 * TRAIN)
    assert np.array_equal(liked.fold_in({0: 5.0, 20: 1.0}), liked.fold_in([0]))
    assert 20 not in liked.recommend_for({0: 5.0, 20: 1.0}, n=N_ITEMS).items


def test_held_out_ratings_as_a_frame(named: TopicRecommender, fitted: TopicRecommender) -> None:
    frame = planted.columns_of(HELD_OUT)
    assert named.evaluate(frame, m=5).recall.mean == pytest.approx(
        fitted.evaluate(HELD_OUT, m=5).recall.mean, abs=0.1
    )
    below = planted.columns_of(HELD_OUT[:1], rating=3)
    both = {name: frame[name][3:] + below[name] for name in frame}
    assert named.evaluate(both).n_users == N_USERS - 1
    frame["user"][0] = "nobody"
    with pytest.raises(ValueError, match="1 of 480 held-out ratings"):
        named.evaluate(frame)
    assert named.evaluate(frame, unknown="ignore").n_users == N_USERS


def test_reading_leaves_the_model_alone(fitted: TopicRecommender) -> None:
    state = copy.deepcopy(fitted)
    fitted.recommend_all()
    fitted.similar_items(1)
    fitted.evaluate(HELD_OUT)
    assert np.array_equal(state.lda_.components_, fitted.lda_.components_)
    assert (state._data.weights != fitted._data.weights).nnz == 0


def test_parameters_are_those_of_scikit_learn() -> None:
    model = recommender(threshold=3, learning_method="online", max_iter=2)
    assert clone(model).get_params() == model.get_params()
    lda = model.fit(5 * TRAIN).lda_
    assert (lda.learning_method, lda.max_iter, lda.n_components) == ("online", 2, 4)
    assert not hasattr(clone(model), "user_ids_")
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        clone(model).recommend(0)
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        clone(model).recommend_for([0])


def test_defaults_are_those_of_the_topic_model() -> None:
    """But for three, each for a reason, and for parameters that have no place here."""
    ours, theirs = TopicRecommender().get_params(), LatentDirichletAllocation().get_params()
    assert set(theirs) - set(ours) == {
        # What stops early here is a callback; `evaluate` measures what counts.
        "evaluate_every",
        "perp_tol",
        "validation_fraction",
        "local",
        "max_doc_topics",
        # Etas that are learned for each word do without.
        "population",
        # Items have ids, not words.
        "seed_words",
        "seed_strength",
        "words",
        "total_samples",
        "warm_start",
    }
    shared = set(ours) & set(theirs)
    assert {name for name in shared if ours[name] != theirs[name]} == {
        "n_components",
        "learn_priors",
        # Shorter local steps were measured on articles alone.
        "max_doc_update_iter",
    }


@pytest.mark.parametrize("method", sorted(algorithms.names()))
def test_all_algorithms_can_be_used(method: str) -> None:
    model = recommender(learning_method=method, n_components=12).fit(TRAIN)
    assert model.evaluate(HELD_OUT, m=8).recall.mean > 0.5  # below 0.3 without topics


def test_threads_change_nothing() -> None:
    one, two = (recommender(n_jobs=n).fit(TRAIN).recommend_all(9) for n in (1, 2))
    assert np.array_equal(one.columns, two.columns)
    assert np.array_equal(one.scores, two.scores)


def test_repr_is_a_short_table(fitted: TopicRecommender) -> None:
    lines = repr(fitted.recommend(0, n=30)).splitlines()
    assert lines[0] == "Recommendations (30 items)"
    assert len(lines) == 22 and lines[-1].strip() == "..."
    assert repr(fitted.recommend_all(3)) == "RecommendationLists(160 users, up to 3 items each)"
