"""PoissonRecommender: the interface of TopicRecommender on other factors, and new items."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import trustream
from tests.recommender import planted
from trustream import PoissonRecommender, TopicRecommender
from trustream.evaluation import ranking


def recommender(**options: Any) -> PoissonRecommender:
    return PoissonRecommender(**{"n_components": 4, "random_state": 0, "max_iter": 20, **options})


@pytest.fixture(scope="module")
def fitted() -> PoissonRecommender:
    return recommender().fit(planted.TRAIN)


@pytest.fixture(scope="module")
def named() -> PoissonRecommender:
    return recommender(threshold=4).fit(planted.columns_of(planted.TRAIN))


def test_same_methods_as_the_topic_recommender() -> None:
    """All public methods and fitted attributes, but those that are named for what was learned."""

    def public(cls: type) -> set[str]:
        return {name for name in dir(cls) if not name.startswith("_")}

    assert public(TopicRecommender) - public(PoissonRecommender) == {"item_topics_", "user_topics"}
    assert public(PoissonRecommender) - public(TopicRecommender) == {
        "item_factors_", "user_factors",
    }  # fmt: skip


def test_lists_are_of_the_users_block(fitted: PoissonRecommender) -> None:
    lists = fitted.recommend_all(3)
    blocks = lists.columns // planted.ITEMS
    assert (blocks == (np.arange(planted.N_USERS) // planted.USERS)[:, None]).all()
    assert (np.diff(lists.scores, axis=1) <= 0).all()
    # A score is an expected count.
    expected = fitted.user_factors() @ fitted.item_factors_
    rows = np.arange(planted.N_USERS)[:, None]
    np.testing.assert_allclose(lists.scores, expected[rows, lists.columns], rtol=1e-5)


def test_better_than_popularity() -> None:
    train, held_out = planted.popular_blocks()
    found = recommender().fit(train).evaluate(held_out, m=20)
    popular = (np.ones((train.shape[0], 1)), train.sum(axis=0)[None])
    other = ranking(popular, held_out, seen=train, m=20)
    assert found.recall.mean > other.recall.mean + 0.05
    assert found.ndcg.mean > other.ndcg.mean + 0.05


def test_folding_in_is_what_a_known_user_gets(named: PoissonRecommender) -> None:
    user = planted.user_name(5)
    items = planted.TRAIN[[5]].indices
    liked = [planted.item_name(i) for i in items]
    assert list(named.recommend_for(liked)) == list(named.recommend(user))
    np.testing.assert_array_equal(named.fold_in(liked), named.user_factors([user])[0])
    similar = named.similar_items(planted.item_name(2), n=5).items
    assert {planted.block_of_item(int(name.split()[1])) for name in similar} == {0}
    # Somebody who likes nothing gets what the average user likes.
    assert len(named.recommend_for([], n=3).items) == 3


def test_new_items_and_users_come_in(named: PoissonRecommender) -> None:
    model = pickle.loads(pickle.dumps(named))
    n_items = len(model.item_ids_)
    users = [planted.user_name(u) for u in range(planted.USERS)]
    new = {"user": [*users, "zoe"], "item": ["new"] * 41, "rating": [5] * 41}
    for _ in range(3):
        model.partial_fit(new)
    assert model.item_ids_.tolist()[n_items:] == ["new"] and "zoe" in model.user_ids_
    assert model.item_factors_.shape == (4, n_items + 1)
    # The users of the block have all seen it; one who likes two items of the block has not.
    liked = [planted.item_name(0), planted.item_name(1)]
    assert "new" in model.recommend_for(liked, n=14).items
    other = [planted.item_name(planted.N_ITEMS - 1), planted.item_name(planted.N_ITEMS - 2)]
    assert "new" not in model.recommend_for(other, n=14).items
    # Topics do not take in items.
    topics = planted.recommender(threshold=4, max_iter=1).fit(planted.columns_of(planted.TRAIN))
    with pytest.raises(ValueError, match="unknown item: 'new'"):
        topics.partial_fit(new)


def test_a_loaded_recommender_goes_on_exactly(tmp_path: Any, named: PoissonRecommender) -> None:
    model = pickle.loads(pickle.dumps(named))
    model.partial_fit({"user": ["zoe"], "item": ["newer"], "rating": [5]})
    model.save(tmp_path / "model")
    loaded = trustream.load(tmp_path / "model")
    assert type(loaded) is PoissonRecommender
    assert loaded.get_params() == model.get_params()
    for one in (model, loaded):
        one.partial_fit({"user": ["zoe", "amy"], "item": ["newest"] * 2, "rating": [5, 4]})
    assert loaded.item_ids_.tolist() == model.item_ids_.tolist()
    assert np.array_equal(loaded.item_factors_, model.item_factors_)
    assert list(loaded.recommend("amy")) == list(model.recommend("amy"))


def test_threads_change_no_bit() -> None:
    found = [recommender(max_iter=2, n_jobs=n).fit(planted.TRAIN) for n in (1, 2)]
    lists = [one.recommend_all(5) for one in found]
    assert np.array_equal(lists[0].columns, lists[1].columns)
    assert np.array_equal(lists[0].scores, lists[1].scores)


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        ({"user": ["a"], "item": ["b"], "rating": [np.nan]}, "missing or infinite"),
        ({"user": ["a"], "item": ["b"], "rating": [-5]}, "negative"),
        ({"user": [1], "item": ["b"], "rating": [5]}, "integers, those known are strings"),
        ({"user": ["a"], "item": [7], "rating": [5]}, "integers, those known are strings"),
        ({"user": ["a"], "rating": [5]}, "no column 'item'"),
    ],
)
def test_bad_ratings_change_nothing(ratings: Any, message: str) -> None:
    model = recommender(max_iter=1).fit(planted.columns_of(planted.TRAIN))
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(ratings)
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="nobody likes anything"):
        recommender().fit(np.zeros((2, 3)))
