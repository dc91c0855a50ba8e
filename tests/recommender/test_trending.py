"""What suits a user and what is liked at the moment, together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from trustream import PoissonRecommender, TopicRecommender, TrendingRecommender
from trustream.recommender.fading_counts import FadingCounts, in_days
from trustream.recommender.trending_recommender import HALF_LIVES, SHARES

DAY = 86_400


def waves(n_users: int = 120, seed: int = 0, n_weeks: int = 10) -> dict[str, Any]:
    """Users of two kinds; each week two items are new, one for each kind, and most rate these.

    A rating is 5 for an item of one's kind and 1 for one of the other kind.
    """
    rng = np.random.default_rng(seed)
    user, item, rating, time = [], [], [], []
    for week in range(n_weeks):
        for who in rng.permutation(n_users)[: n_users // 2]:
            # The new item of the own kind, and an old one.
            for movie in (week, rng.integers(0, week + 1)):
                user.append(f"u{who}")
                item.append(f"{'ab'[who % 2]}{movie}")
                rating.append(5)
                time.append((7 * week + 7 * rng.random()) * DAY)
    return {"user": user, "item": item, "rating": rating, "timestamp": time}


def chosen(frame: dict[str, Any], mask: Any) -> dict[str, Any]:
    return {name: np.asarray(column)[mask] for name, column in frame.items()}


def topics(**changed: Any) -> TopicRecommender:
    return TopicRecommender(**{"n_components": 2, "threshold": 4, "random_state": 0, **changed})


def test_counts_fade_and_do_not_depend_on_how_they_come() -> None:
    rng = np.random.default_rng(0)
    columns, weights = rng.integers(5, size=40), rng.random(40)
    days = np.sort(rng.random(40)) * 20
    at_once = FadingCounts(3.0).updated(columns, weights, days, 5)
    faded = weights * 0.5 ** ((days[-1] - days) / 3)
    expected = [faded[columns == i].sum() for i in range(5)]
    np.testing.assert_allclose(at_once.counts, expected)
    parts = FadingCounts(3.0)
    for start in range(0, 40, 8):
        some = slice(start, start + 8)
        parts = parts.updated(columns[some], weights[some], days[some], 5)
    np.testing.assert_allclose(parts.counts, at_once.counts)
    assert at_once.shares.sum() == pytest.approx(1)
    # Older likes that come late fade as well, and a half-life without end keeps all.
    late = parts.updated(np.array([0]), np.ones(1), days[:1], 5)
    assert late.now == parts.now
    assert late.counts[0] - parts.counts[0] == pytest.approx(0.5 ** ((days[-1] - days[0]) / 3))
    for_ever = FadingCounts(np.inf).updated(columns, weights, days, 5)
    np.testing.assert_allclose(for_ever.counts, np.bincount(columns, weights, 5))


def test_ratings_that_are_no_likes_do_not_make_likes_fade() -> None:
    """After years without a like the last ones are still what is liked at the moment."""
    before = FadingCounts(1.0).updated(np.array([0, 1]), np.ones(2), np.array([0.0, 1.0]), 2)
    after = before.updated(np.array([0]), np.zeros(1), np.array([5000.0]), 2)
    np.testing.assert_array_equal(after.counts, before.counts)
    assert after.now == before.now
    frame = waves(20)
    late = {"user": ["u1"], "item": ["a1"], "rating": [1], "timestamp": [5000 * DAY]}
    frame = {name: [*frame[name], *late[name]] for name in frame}
    model = TrendingRecommender(topics(), half_life=1, share=0.5).fit(frame)
    assert np.isfinite(model.recommend_all(n=5).scores).all()


def test_times_are_days_whatever_they_are() -> None:
    dates = np.array(["1970-01-02T12:00"], "datetime64[m]")
    assert in_days(dates) == in_days(np.array([1.5 * DAY])) == 1.5


def test_scores_are_the_mixture() -> None:
    frame = waves()
    model = TrendingRecommender(topics(), half_life=7, share=0.25).fit(frame)
    lists = model.recommend_all(n=5, exclude_seen=False)
    alone = topics().fit(frame)
    np.testing.assert_array_equal(model.item_ids_, alone.item_ids_)
    own = alone.user_topics() @ alone.item_topics_
    own /= own.sum(axis=1, keepdims=True)
    days, liked = np.array(frame["timestamp"]) / DAY, np.array(frame["item"])
    faded = np.array(
        [np.exp2(-(days.max() - days[liked == item]) / 7).sum() for item in alone.item_ids_]
    )
    scores = 0.75 * own + 0.25 * faded / faded.sum()
    best = -np.sort(-scores, axis=1)[:, :5]
    np.testing.assert_allclose(lists.scores, best, rtol=1e-5)


@pytest.mark.parametrize("inner", [topics(), PoissonRecommender(2, threshold=4, random_state=0)])
def test_the_ends_are_the_recommender_alone_and_the_trend_alone(inner: Any) -> None:
    frame = waves()
    alone = TrendingRecommender(inner, half_life=7, share=0.0).fit(frame)
    assert alone.recommend("u0", n=5).items == alone.recommender_.recommend("u0", n=5).items
    trend = TrendingRecommender(inner, half_life=1, share=1.0).fit(frame)
    top = {tuple(trend.recommend(f"u{i}", n=2, exclude_seen=False).items) for i in range(20)}
    assert len(top) == 1
    assert set(*top) == {"a9", "b9"}  # the last week's


def test_auto_learns_that_the_moment_counts_and_predicts_the_future_better() -> None:
    frame = waves(n_weeks=12)
    # From the middle of the last week on.
    future = np.asarray(frame["timestamp"]) >= 11.5 * 7 * DAY
    past, later = chosen(frame, ~future), chosen(frame, future)
    auto = TrendingRecommender(topics()).fit(past)
    assert auto.trend_.half_life in HALF_LIVES
    assert auto.trend_.half_life <= 14
    assert auto.trend_.share in SHARES
    assert auto.trend_.share > 0
    alone = topics().fit(past)
    found = [model.evaluate(later, m=2, unknown="ignore").recall.mean for model in (auto, alone)]
    assert found[0] > found[1] + 0.1


def test_new_items_enter_by_partial_fit_and_can_be_recommended_at_once() -> None:
    frame = waves()
    model = TrendingRecommender(topics(), half_life=7, share=0.5).fit(frame)
    some = ["new", *(f"u{i}" for i in range(0, 120, 2) if i != 4)]
    new = {
        "user": some,
        "item": ["fresh"] * len(some),
        "rating": [5] * len(some),
        "timestamp": [71 * DAY] * len(some),
    }
    before = model.recommender_.lda_.components_.copy()
    model.partial_fit(new)
    assert model.item_ids_[-1] == "fresh"
    assert "fresh" in model.recommend("u4", n=5).items
    assert "fresh" not in model.recommend("u0", n=30).items  # seen
    assert "new" in model.user_ids_
    np.testing.assert_array_equal(model.recommender_.lda_.components_, before)
    half = len(some) // 2
    model.partial_fit({**new, "item": ["a9"] * half + ["fresh"] * (len(some) - half)})
    assert not np.array_equal(model.recommender_.lda_.components_, before)
    assert model.recommend_for(["a1", "fresh"], n=3).items


def test_an_interrupt_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    model = TrendingRecommender(topics(), half_life=7, share=0.5).fit(waves(20))
    before, items = model.recommend("u0", n=5), model.recommender_.lda_.components_.copy()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TrendingRecommender, "_take", interrupted)
    new = {"user": ["u0"], "item": ["a1"], "rating": [5], "timestamp": [99 * DAY]}
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(new)
    np.testing.assert_array_equal(model.recommender_.lda_.components_, items)
    assert list(model.recommend("u0", n=5)) == list(before)


def test_wrong_calls_say_what_to_do() -> None:
    frame = waves(20)
    for options in ({"half_life": 0.0, "share": 0.5}, {"half_life": 1.0, "share": 2.0}):
        with pytest.raises(ValueError, match="half_life must be positive and share in"):
            TrendingRecommender(topics(), **options).fit(frame)
    with pytest.raises(ValueError, match=r'share must be a number or "auto"'):
        TrendingRecommender(topics(), share="much").fit(frame)
    with pytest.raises(ValueError, match="no column 'timestamp' of times"):
        TrendingRecommender(topics()).fit({k: v for k, v in frame.items() if k != "timestamp"})
    with pytest.raises(ValueError, match=r"no column of times, .* by timestamp_column"):
        TrendingRecommender(topics(timestamp_column=None)).fit(frame)
    with pytest.raises(ValueError, match="a matrix has no times"):
        TrendingRecommender(topics()).fit(np.ones((3, 3)))
    with pytest.raises(ValueError, match="infinite timestamps"):
        model = TrendingRecommender(topics(), half_life=1, share=0.5)
        model.fit({**frame, "timestamp": [np.inf, *frame["timestamp"][1:]]})
    everything_at_once = {**frame, "timestamp": [0] * len(frame["user"])}
    with pytest.raises(ValueError, match="give half_life= and share="):
        TrendingRecommender(topics()).fit(everything_at_once)
    model = TrendingRecommender(topics(), half_life=1, share=0.5)
    assert not hasattr(model, "user_ids_")
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        model.item_ids_  # noqa: B018
    with pytest.raises(ValueError, match="unknown user"):
        model.fit(frame).recommend("nobody")


def test_the_recommender_that_is_given_stays_as_it_is() -> None:
    inner = topics()
    model = TrendingRecommender(inner, half_life=1, share=0.5).fit(waves(20))
    assert not hasattr(inner, "lda_")
    assert model.similar_items("a1", n=2).items == model.recommender_.similar_items("a1", n=2).items


def test_similar_items_of_an_item_that_topics_do_not_know() -> None:
    model = TrendingRecommender(topics(), half_life=1, share=0.5).fit(waves(20))
    new = {"user": ["u1"], "item": ["fresh"], "rating": [5], "timestamp": [99 * DAY]}
    with pytest.raises(ValueError, match=r"'fresh' came after the fit.*: fit again"):
        model.partial_fit(new).similar_items("fresh")
    with pytest.raises(ValueError, match="unknown item: 'nothing'"):
        model.similar_items("nothing")
