"""What is foretold comes after what is learned from, and is something that can be foretold."""

from __future__ import annotations

import numpy as np

from benchmarks.recommend import by_time

RATINGS = {
    "user": np.array([0, 0, 1, 1, 2, 0, 1, 2, 1, 0]),
    "item": np.array([0, 1, 0, 2, 3, 2, 1, 0, 4, 0]),
    "rating": np.array([9, 9, 8, 3, 5, 9, 10, 9, 9, 9]),
    "timestamp": np.arange(10) * 86_400,
}


def test_the_past_and_what_comes_later() -> None:
    period = by_time.at(RATINGS, 0.5, 1.0)
    assert period.frame["timestamp"].max() < RATINGS["timestamp"][5]
    np.testing.assert_array_equal(period.seen.sum(axis=1), [2, 2, 1])
    liked = period.train.toarray()
    np.testing.assert_array_equal(liked[:, :4], [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    # User 0: item 2 has no like in the past, item 0 was seen. User 1: item 1, not the new item 4.
    # User 2 liked nothing in the past.
    np.testing.assert_array_equal(period.later.toarray()[:, :4], [[0] * 4, [0, 1, 0, 0], [0] * 4])
    assert period.later.nnz == 1


def test_popularity_of_the_moment_prefers_what_is_liked_last() -> None:
    period = by_time.at(RATINGS, 0.5, 1.0)
    for half_life, best in ((np.inf, 0), (0.1, 0)):
        _, shares = by_time._fading(period, half_life)
        assert shares.argmax() == best
    early = by_time.at(
        {**RATINGS, "timestamp": RATINGS["timestamp"][[2, 4, 0, 1, 3, *range(5, 10)]]}, 0.5, 1.0
    )
    _, shares = by_time._fading(early, 0.1)
    assert shares.argmax() == 1
    assert by_time.scored(by_time._fading(period, np.inf), period)["recall"] == 1.0
