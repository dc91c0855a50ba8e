"""What is refused, in words that say what to do; and what repeated ratings mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from tests.recommender import planted
from trustream import TopicRecommender
from trustream.feeds import RatingColumns
from trustream.recommender.ids import Ids
from trustream.recommender.ratings import from_frame, from_matrix

GOOD = {"user": ["a", "a", "b"], "item": ["x", "y", "y"], "rating": [5.0, 4.0, 3.0]}


def fit(ratings: Any, *, user_ids: Any = None, item_ids: Any = None, **options: Any) -> Any:
    model = TopicRecommender(2, random_state=0, max_iter=1, **options)
    return model.fit(ratings, user_ids=user_ids, item_ids=item_ids)


def weights(frame: Any, threshold: float | None = None, **columns: Any) -> list[list[float]]:
    return from_frame(frame, RatingColumns(**columns), threshold).weights.toarray().tolist()


BAD_FRAMES = {
    "no rows": ({"user": [], "item": [], "rating": []}, "with a row or more"),
    "empty frame": (pd.DataFrame(), "no column 'user', 'item', 'rating'"),
    "no ratings": ({"user": [1], "item": [2], "stars": [3]}, "no column 'rating'; the columns are"),
    "uneven": ({"user": [1, 2], "item": [2], "rating": [3]}, "the same length.*user 2, item 1"),
    "NaN": ({**GOOD, "rating": [5, np.nan, 3]}, "1 of 3 ratings is missing"),
    "None": ({**GOOD, "rating": [5, None, 3]}, "1 of 3 ratings is missing"),
    "pandas NA": (pd.DataFrame({**GOOD, "rating": pd.array([5, pd.NA, pd.NA])}), "2 of 3 ratings"),
    "polars null": (pl.DataFrame({**GOOD, "rating": [5, None, 3]}), "1 of 3 ratings is missing"),
    "infinite": ({**GOOD, "rating": [5, np.inf, 3]}, "1 of 3 ratings is missing or infinite"),
    "text": ({**GOOD, "rating": ["5", "4", "3"]}, "ratings must be numbers"),
    "huge": ({**GOOD, "rating": [5, 1e39, 3]}, r"ratings up to 1e\+39, too large to be weights"),
    "huge sum": ({**GOOD, "rating": [9e15, 9e15, 3]}, "user 0 of the ratings has 1.8e.16 tokens"),
    "beyond floats": ({**GOOD, "rating": [5, 10**400, 3]}, "ratings must be numbers"),
    "negative": ({**GOOD, "rating": [5, -1, 3]}, "negative ratings, down to -1.*set a threshold"),
    "zeros": ({**GOOD, "rating": [0, 0, 0]}, "all ratings are 0"),
    "mixed ids": ({**GOOD, "user": ["a", 1, "b"]}, "user ids must be all strings.*int, str"),
    "missing id": ({**GOOD, "item": ["x", None, "y"]}, "item ids must be.*NoneType, str"),
    "pandas gap": (pd.DataFrame({**GOOD, "user": ["a", None, "b"]}), "user ids.*without gaps"),
    "float ids": ({**GOOD, "user": [1.0, 2.0, 3.0]}, "user ids must be all strings.*float"),
    "booleans": ({**GOOD, "user": [True, False, True]}, "user ids must be all strings.*bool"),
    "gap in time": ({**GOOD, "timestamp": [1, np.nan, 2]}, "1 of 3 timestamps are missing"),
    "time as text": ({**GOOD, "timestamp": ["x", "y", "z"]}, "timestamps must be numbers or dates"),
    "long ids": ({**GOOD, "user": [1, 2, 2**70]}, "user ids do not fit 64 bits"),
    "unsigned": ({**GOOD, "user": np.array([1, 2, 2**64 - 1], np.uint64)}, "do not fit 64 bits"),
    "lazy": (pl.DataFrame(GOOD).lazy(), "collect"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_FRAMES)
def test_bad_frames(name: str) -> None:
    frame, message = BAD_FRAMES[name]
    with pytest.raises(ValueError, match=message):
        fit(frame)


def damaged() -> Any:
    matrix = sparse.csr_array(np.ones((2, 3)))
    matrix.indices[4] = 10**8
    return matrix


BAD_MATRICES = {
    "damaged": (damaged(), {}, "ratings is a damaged csr matrix: row 1 has column 100000000"),
    "huge": (np.array([[1.0, 1e39]]), {}, "too large to be weights"),
    "no users": (np.empty((0, 3)), {}, "shape"),
    "one axis": (np.ones(3), {}, "shape"),
    "words": (["ham"], {}, "ratings must be a matrix"),
    "NaN": (np.array([[1.0, np.nan]]), {}, "1 of 2 ratings is missing"),
    "too few users": (np.ones((2, 3)), {"user_ids": ["a"]}, "user_ids has 1 ids, the matrix 2"),
    "too many items": (np.ones((2, 1)), {"item_ids": [1, 2]}, "item_ids has 2 ids, the matrix 1"),
    "same id": (np.ones((2, 1)), {"user_ids": ["a", "a"]}, "user_ids has ids twice"),
    "negative": (-np.ones((2, 2)), {}, "negative ratings"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_MATRICES)
def test_bad_matrices(name: str) -> None:
    matrix, ids, message = BAD_MATRICES[name]
    with pytest.raises(ValueError, match=message):
        fit(matrix, **ids)


@pytest.mark.parametrize("ratings", [GOOD, np.array([[5, 4]]), sparse.csr_array([[5.0, 4.0]])])
def test_nothing_reaches_the_threshold(ratings: Any) -> None:
    with pytest.raises(ValueError, match=r"the threshold 6 \(the highest is 5\).*lower"):
        fit(ratings, threshold=6)


def test_a_failed_fit_leaves_the_model_as_it_was() -> None:
    model = fit(GOOD, threshold=3)
    before = list(model.recommend_for(["x"]))
    for name in ("NaN", "no rows", "missing id", "gap in time"):
        for call in (model.fit, model.partial_fit):
            with pytest.raises(ValueError):
                call(BAD_FRAMES[name][0])
    assert list(model.recommend_for(["x"])) == before


@pytest.mark.parametrize("threshold", ["4", np.nan, True])
def test_bad_threshold(threshold: Any) -> None:
    with pytest.raises(ValueError, match="threshold must be a number or None"):
        fit(GOOD, threshold=threshold)


def test_bad_parameters_of_the_model() -> None:
    with pytest.raises(ValueError, match="n_components"):
        TopicRecommender(0).fit(GOOD)


def test_a_user_column_is_needed() -> None:
    with pytest.raises(ValueError, match="no column None"):
        fit(GOOD, user_column=None)


def test_ids_with_a_frame() -> None:
    with pytest.raises(ValueError, match="a frame has its own ids"):
        fit(GOOD, user_ids=["a", "b"])


def test_unknown_ids() -> None:
    model = fit(GOOD)
    with pytest.raises(ValueError, match="unknown user: 'nobody'"):
        model.recommend("nobody")
    with pytest.raises(ValueError, match="unknown items: 'p', 'q'"):
        model.recommend_for(["x", "p", "q"])
    with pytest.raises(ValueError, match="unknown item: 'p'"):
        model.similar_items("p")
    with pytest.raises(ValueError, match="unknown user: 7; the ids are strings, like 'a'"):
        model.recommend(7)
    with pytest.raises(ValueError, match="unknown users: 'c', 'd'"):
        model.recommend_all(users=["a", "c", "d"])
    with pytest.raises(ValueError, match="unknown item: 'new'"):
        model.partial_fit({"user": ["a"], "item": ["new"], "rating": [5]})
    with pytest.raises(ValueError, match="user ids are integers, those known are strings"):
        model.partial_fit({"user": [1], "item": ["x"], "rating": [5]})
    with pytest.raises(ValueError, match="got the single 'x'"):
        model.recommend_for("x")
    with pytest.raises(ValueError, match=r"'p0', .*'p4' and 3 more"):
        model.recommend_for([f"p{i}" for i in range(8)])


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_bad_n(n: Any) -> None:
    model = fit(GOOD)
    for call in (model.recommend_for, model.recommend, model.similar_items):
        argument = {"recommend_for": ["x"], "recommend": "a"}.get(call.__name__, "x")
        with pytest.raises(ValueError, match="n must be an integer of at least 1"):
            call(argument, n=n)


def test_bad_held_out() -> None:
    model = fit(GOOD)
    with pytest.raises(ValueError, match="user_ids has 2 ids, the matrix 3"):
        model.evaluate(np.ones((3, 2)))
    with pytest.raises(ValueError, match='unknown must be "error" or "ignore"'):
        model.evaluate(GOOD, unknown="maybe")
    with pytest.raises(ValueError, match="hold out some items"):
        model.evaluate(GOOD)  # all of them were seen


# --- repeated ratings


def test_the_last_of_repeated_ratings_counts() -> None:
    frame = {"user": ["a", "a", "a"], "item": ["x", "y", "x"], "rating": [5, 5, 1]}
    assert weights(frame) == [[1, 5]]
    assert weights(frame, threshold=4) == [[0, 1]]
    assert weights(frame, threshold=5) == [[0, 1]]  # at least, not above


def test_the_latest_by_time_counts_whatever_the_order() -> None:
    frame = {"user": [1, 1, 1], "item": [2, 2, 2], "rating": [3, 4, 5], "timestamp": [9, 7, 8]}
    assert weights(frame) == [[3]]
    frame["timestamp"] = [9, 9, 8]
    assert weights(frame) == [[4]]
    assert weights(frame, timestamp=None) == [[5]]
    with pytest.raises(ValueError, match="no column 'when'"):
        weights(frame, timestamp="when")


def test_dates_are_times() -> None:
    frame = pd.DataFrame({"user": [1, 1], "item": [2, 2], "rating": [3, 4]})
    frame["timestamp"] = pd.to_datetime(["2015-07-06", "2014-01-01"])
    assert weights(frame) == [[3]]
    assert weights(pl.DataFrame(frame.to_dict("list"))) == [[3]]
    frame["timestamp"] = ["2015-07-06 12:30", "2015-07-06 12:29"]
    assert weights(frame) == [[3]]


def test_ratings_however_large_count_as_liked_with_a_threshold() -> None:
    assert from_matrix([[1e300, 2.0]], None, None, 3.0).weights.toarray().tolist() == [[1, 0]]


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_matrices_of_all_formats_are_the_same(format: str, kind: str) -> None:
    """A dictionary of keys is no frame, and zeros that fill blocks are no ratings."""
    dense = np.array([[5.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, 0.0]])
    matrix = getattr(sparse, f"{format}_{kind}")(dense)
    found = from_matrix(matrix, None, None, None).weights
    assert found.nnz == 3 and np.array_equal(found.toarray(), dense)
    assert np.array_equal(fit(matrix).item_topics_, fit(dense).item_topics_)


def test_a_damaged_matrix_leaves_the_model_as_it_was() -> None:
    model = fit(np.ones((2, 3)))
    before = list(model.recommend_for([0]))
    for call in (model.fit, model.partial_fit, model.evaluate):
        with pytest.raises(ValueError, match="damaged csr matrix"):
            call(damaged())
    assert list(model.recommend_for([0])) == before


def test_a_matrix_of_other_width_after_fit() -> None:
    """Columns are items by their number: fewer will do, and others are unknown."""
    model = fit(np.ones((2, 3)))
    with pytest.raises(ValueError, match="unknown item: 3"):
        model.partial_fit(np.ones((2, 4)))
    assert model.partial_fit(np.ones((4, 2))).user_ids_.tolist() == [0, 1, 2, 3]
    for wrong in (4, -1):
        with pytest.raises(ValueError, match=f"unknown user: {wrong}"):
            model.recommend(wrong)
    with pytest.raises(ValueError, match="unknown item: 3"):
        model.recommend_for([0, 3])


def test_entries_of_a_matrix_at_the_same_place_are_added() -> None:
    repeated = sparse.coo_array(([2.0, 3.0], ([0, 0], [1, 1])), shape=(1, 2))
    assert from_matrix(repeated, None, None, None).weights.toarray().tolist() == [[0, 5]]


def test_matrices_are_left_alone() -> None:
    matrix = sparse.csr_array(([2.0, 3.0, 0.0], [1, 1, 0], [0, 3]), shape=(1, 2))
    from_matrix(matrix, None, None, 4.0).likes()
    assert matrix.data.tolist() == [2.0, 3.0, 0.0]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_frames_of_all_kinds_are_the_same(make: Any) -> None:
    frame = make({"who": ["b", "a"], "what": [9, 7], "stars": [1, 2]})
    ratings = from_frame(frame, RatingColumns("who", "what", "stars"), None)
    assert ratings.weights.toarray().tolist() == [[2, 0], [0, 1]]
    assert ratings.users.values.tolist() == ["a", "b"]
    assert ratings.items.values.tolist() == [7, 9]
    assert weights(frame, user="who", item="what", rating=None) == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", "a"], dtype="category"),
        pd.Series(["b", "a"], dtype="string"),
        pl.Series(["b", "a"], dtype=pl.Categorical),
        np.array(["b", "a"]),
        [np.str_("b"), np.str_("a")],
    ],
)
def test_strings_of_all_kinds(column: Any) -> None:
    ids = Ids("user", column)
    assert ids.values.tolist() == ["b", "a"]
    assert {type(value) for value in ids.values.tolist()} == {str}


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([8, 7], dtype="Int64"),
        pl.Series([8, 7]),
        np.array([8, 7], np.uint8),
        [np.int8(8), 7],
    ],
)
def test_integers_of_all_kinds(column: Any) -> None:
    assert [type(value) for value in Ids("user", column).values.tolist()] == [int, int]
    assert Ids("user", column).positions([7]).tolist() == [1]


def test_users_without_likes_are_known_and_change_nothing() -> None:
    train, _ = planted.blocks()
    frame = planted.columns_of(train)
    more = {name: [*column] for name, column in frame.items()}
    for name, value in zip(more, ("user 9999", frame["item"][0], 1), strict=True):
        more[name].append(value)
    one, other = fit(frame, threshold=4), fit(more, threshold=4)
    assert np.array_equal(one.lda_.components_, other.lda_.components_)
    assert list(other.recommend("user 9999", exclude_seen=False)) == list(one.recommend_for([]))
