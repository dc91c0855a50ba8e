"""New ratings for a fitted recommender, and recommenders that are saved and loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import trustream
from tests.recommender import planted
from tests.recommender.planted import HELD_OUT, N_ITEMS, N_USERS, TRAIN, recommender
from trustream import TopicRecommender


def test_save_and_load(tmp_path: Path, named: TopicRecommender, fitted: TopicRecommender) -> None:
    for model in (named, fitted):
        model.save(tmp_path / "model")
        loaded = trustream.load(tmp_path / "model")
        assert type(loaded) is TopicRecommender
        assert loaded.get_params() == model.get_params()
        assert loaded.user_ids_.tolist() == model.user_ids_.tolist()
        assert {type(i) for i in loaded.item_ids_.tolist()} == {
            type(i) for i in model.item_ids_.tolist()
        }
        for (_, a), (_, b) in zip(loaded.recommend_all(), model.recommend_all(), strict=True):
            assert list(a) == list(b)


def test_a_loaded_model_goes_on_exactly(tmp_path: Path) -> None:
    prior = np.linspace(0.1, 0.4, 4)
    model = recommender(doc_topic_prior=prior, learn_priors="eta").fit(TRAIN[:100])
    model.save(tmp_path / "model")
    loaded = trustream.load(tmp_path / "model")
    ids = range(100, 140)
    for one in (model, loaded):
        one.partial_fit(TRAIN[100:140], user_ids=ids)
    assert np.array_equal(model.lda_.components_, loaded.lda_.components_)
    assert list(model.recommend(120)) == list(loaded.recommend(120))


def test_partial_fit_takes_in_new_users_and_ratings() -> None:
    model = recommender().fit(TRAIN[::2], user_ids=range(0, N_USERS, 2))
    theta = model.user_topics()
    new = HELD_OUT[[0, 1]] + TRAIN[[0, 1]]
    model.partial_fit(new, user_ids=[0, 1])
    assert len(model.user_ids_) == N_USERS // 2 + 1
    assert model.lda_.total_samples == N_USERS // 2 + 1
    assert not set(HELD_OUT[[0]].indices) & set(model.recommend(0, n=N_ITEMS).items)
    assert {planted.block_of_item(i) for i in model.recommend(1, n=5).items} == {0}
    assert not np.array_equal(model.user_topics()[:-1], theta)
    assert np.array_equal(model.user_topics([0])[0], model.fold_in(new[[0]].indices))


def test_partial_fit_of_what_nobody_likes_takes_no_step() -> None:
    model = recommender(threshold=4).fit(5 * TRAIN)
    before = model.lda_.components_
    model.partial_fit({"user": [-1], "item": [59], "rating": [1]})
    assert np.array_equal(model.lda_.components_, before)
    assert len(model.recommend(-1, n=N_ITEMS)) == N_ITEMS - 1
    assert 59 not in model.recommend(-1, n=N_ITEMS).items


def test_partial_fit_from_the_start() -> None:
    model = recommender(n_components=12)
    rng = np.random.default_rng(0)
    for _ in range(10):
        for users in np.split(rng.permutation(N_USERS), 8):
            model.partial_fit(TRAIN[users], user_ids=users)
    assert len(model.user_ids_) == N_USERS
    # Rows are in the order in which the users came.
    assert model.evaluate(HELD_OUT[model.user_ids_], m=8).recall.mean > 0.9
