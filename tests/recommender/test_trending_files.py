"""Trending recommenders that are saved and loaded, and files that do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import trustream
from tests.data.models import make
from tests.recommender.test_trending import DAY, topics, waves
from trustream import PoissonRecommender, TopicRecommender, TrendingRecommender, persist

FRAME = waves(40)


def factors() -> PoissonRecommender:
    return PoissonRecommender(2, threshold=4, random_state=0)


def newer(items: list[str], day: float = 71) -> dict[str, Any]:
    """Likes of some users, a new one among them."""
    users = ["new", *(f"u{i}" for i in range(1, len(items)))]
    n = len(items)
    return {"user": users, "item": items, "rating": [5] * n, "timestamp": [day * DAY] * n}


def lists(model: TrendingRecommender) -> list[list[tuple[Any, float]]]:
    return [list(items) for _, items in model.recommend_all(5)]


def again(model: TrendingRecommender, path: Path) -> TrendingRecommender:
    model.save(path)
    loaded = trustream.load(path)
    assert type(loaded) is TrendingRecommender
    return loaded


@pytest.mark.parametrize("inner", [None, topics(), factors()], ids=["default", "topics", "factors"])
@pytest.mark.parametrize(
    "options", [{}, {"half_life": np.float32(3), "share": 1}, {"half_life": np.inf}]
)
def test_save_and_load(tmp_path: Path, inner: Any, options: dict[str, Any]) -> None:
    model = TrendingRecommender(inner, **options).fit(FRAME)
    loaded = again(model, tmp_path / "model")
    assert loaded.trend_ == model.trend_
    assert loaded.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert (loaded.half_life, loaded.share) == (model.half_life, model.share)
    if inner is None:
        assert loaded.recommender is None
    else:
        assert loaded.recommender.get_params() == inner.get_params()
        assert not loaded.recommender.__sklearn_is_fitted__()
    assert loaded.user_ids_.tolist() == model.user_ids_.tolist()
    assert loaded.item_ids_.tolist() == model.item_ids_.tolist()
    assert lists(loaded) == lists(model)
    assert list(loaded.recommend_for(["a1"])) == list(model.recommend_for(["a1"]))
    assert list(loaded.similar_items("a1")) == list(model.similar_items("a1"))
    assert loaded.columns == model.columns


@pytest.mark.parametrize("inner", [topics(), factors()], ids=["topics", "factors"])
def test_a_loaded_model_goes_on_exactly(tmp_path: Path, inner: Any) -> None:
    model = TrendingRecommender(inner, half_life=7, share=0.5).fit(FRAME)
    loaded = again(model, tmp_path / "model")
    # Known items; new items too; and after a file that has more items than topics know.
    for items in (["a1", "b1"], ["fresh", "a1", "b2"], ["fresh", "b1"]):
        for one in (model, loaded):
            one.partial_fit(newer(items))
        found = [one.recommender_._estimator.components_ for one in (model, loaded)]
        np.testing.assert_array_equal(*found)
        np.testing.assert_array_equal(model._counts.counts, loaded._counts.counts)
        assert lists(loaded) == lists(model)
        loaded = again(loaded, tmp_path / "model")
    for one in (model, loaded):
        one.fit(FRAME)
    assert lists(loaded) == lists(model)


@pytest.mark.parametrize("inner", [topics(), factors()], ids=["topics", "factors"])
def test_ratings_are_kept_once_while_the_recommender_has_them_all(
    tmp_path: Path, inner: Any
) -> None:
    model = TrendingRecommender(inner, half_life=7, share=0.5).fit(FRAME)
    for items in (["a1"], ["fresh", "a1"]):
        model.partial_fit(newer(items))
        expected = items == ["a1"] or isinstance(inner, PoissonRecommender)
        for one in (model, again(model, tmp_path / "model")):
            assert (one._data is one.recommender_._data) is expected
            assert one._data.weights.nnz == model._data.weights.nnz
        assert ("weights.data" in persist.read(tmp_path / "model")[0]) is not expected
        np.testing.assert_array_equal(
            model._data.updated(model.recommender_._data, new_items=True).weights.toarray(),
            model._data.weights.toarray(),
        )


def test_only_what_can_be_read_again_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with pytest.raises(NotFittedError, match="not fitted yet"):
        TrendingRecommender().save(path)
    model = TrendingRecommender(topics(), half_life=7, share=0.5).fit(FRAME)
    model.set_params(share="much")
    with pytest.raises(ValueError, match=r"cannot save this TrendingRecommender: share .* 'much'"):
        model.save(path)

    class Mine(TopicRecommender):
        pass

    model = TrendingRecommender(Mine(2, random_state=0), half_life=7, share=0.5).fit(FRAME)
    with pytest.raises(ValueError, match="is 'Mine', expected one of 'TopicRecommender'"):
        model.save(path)
    assert not path.exists()


@pytest.fixture(scope="module")
def parts() -> dict[str, tuple[dict[str, np.ndarray], dict[str, Any]]]:
    """Arrays and headers: ratings kept once, and ratings of items that topics do not know."""
    made = make.later_estimators()
    return {name: made[name]._to_arrays() for name in ("trending", "trending-more")}


@pytest.mark.parametrize(
    ("name", "header", "words"),
    [
        ("trending", {"now": float("inf")}, "now in the header is inf, expected a finite number"),
        ("trending", {"more": 1}, "unknown in the header: more"),
        ("trending", {"now": None}, "missing from the header: now"),
        ("trending", {"trend": {"half_life": 0, "share": 0.5}}, "half_life in the trend is 0"),
        ("trending", {"trend": {"half_life": 1, "share": 2}}, "share in the trend is 2"),
        ("trending", {"trend": {"share": 0.5}}, "missing from the trend: half_life"),
        ("trending", {"params": {"half_life": "x", "share": 1}}, "half_life in the parameters"),
        ("trending", {"recommender": {"estimator": "os"}}, "estimator in the recommender is 'os'"),
        ("trending", {"recommender": {}}, "estimator in the recommender is None"),
        ("trending", {"strings": {"users": True, "items": True}}, "missing from the arrays"),
        ("trending-more", {"strings": {"users": True}}, "missing from the kinds of ids: items"),
    ],
)
def test_headers_that_do_not_fit(
    tmp_path: Path, parts: Any, name: str, header: dict[str, Any], words: str
) -> None:
    arrays, before = parts[name]
    changed = {**before, **header}
    changed = {
        key: value for key, value in changed.items() if value is not None or key not in header
    }
    persist.write(tmp_path / "model", arrays, changed)
    with pytest.raises(ValueError, match=f"damaged .*{words}.*; restore it from a copy, or fit"):
        trustream.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "array", "change", "words"),
    [
        ("trending", "counts", None, "missing from the arrays: counts"),
        ("trending", "counts", lambda a: a[:-1], "4 counts of 5 items"),
        ("trending", "counts", lambda a: a * 0, "with the sum 0"),
        ("trending", "counts", lambda a: a * 0 + 1e308, "with the sum inf"),
        ("trending", "counts", lambda a: a - 9, "expected finite numbers of at least 0"),
        ("trending", "counts", lambda a: a[:, None], r"shape \(5, 1\), expected"),
        ("trending", "users", lambda _: np.arange(3), "unknown in the arrays: users"),
        ("trending", "recommender.items", None, "missing from the arrays: items"),
        ("trending-more", "items", None, "missing from the arrays: items"),
        ("trending-more", "items", lambda a: a[::-1], "cannot read"),
        ("trending-more", "items", lambda _: persist.pack_strings("abcdef"), "first items are not"),
        ("trending-more", "users", lambda _: persist.pack_strings("abcde"), "without ratings"),
        ("trending-more", "weights.indices", lambda a: a + 9, "out of order or out of range"),
    ],
)
def test_arrays_that_do_not_fit(
    tmp_path: Path, parts: Any, name: str, array: str, change: Any, words: str
) -> None:
    before, header = parts[name]
    arrays = {**before}
    if change is None:
        del arrays[array]
    else:
        arrays[array] = change(before.get(array))
    persist.write(tmp_path / "model", arrays, header)
    with pytest.raises(ValueError, match=f"(?s){words}.*; restore it from a copy, or fit"):
        trustream.load(tmp_path / "model")


def test_ids_of_two_kinds_do_not_fit(tmp_path: Path, parts: Any) -> None:
    arrays, header = parts["trending-more"]
    numbers = {**arrays, "items": np.arange(6)}
    strings = {**header, "strings": {"users": True, "items": False}}
    persist.write(tmp_path / "model", numbers, strings)
    with pytest.raises(ValueError, match=r"damaged .*ids are strings for the recommender, or"):
        trustream.load(tmp_path / "model")
