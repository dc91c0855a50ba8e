"""Ranking measures against hand-worked cases and a slow oracle."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from tests.helpers import Array
from trustream.evaluation.item_lists import top_items
from trustream.evaluation.item_ranking import ranking, ranking_of_lists
from trustream.evaluation.ranking_result import MEASURES, Ranking

item_scores = importlib.import_module("trustream.evaluation.item_scores")
item_lists = importlib.import_module("trustream.evaluation.item_lists")
ranking_module = importlib.import_module("trustream.evaluation.item_ranking")


def slow_list(scores: Array, seen: Array, n: int) -> list[int]:
    """The best n items of one user."""
    rankable = [i for i in range(scores.size) if not seen[i] and scores[i] > -math.inf]
    return sorted(rankable, key=lambda i: (-scores[i], i))[:n]


def slow_measures(items: list[int], gains: dict[int, float], m: int) -> list[float]:
    """The MEASURES of one list for the held-out items of one user."""
    items = items[:m]
    hits = len(set(items) & set(gains))
    normalised = hits / min(len(gains), len(items)) if items else 0.0
    dcg = sum(gains.get(item, 0.0) / math.log2(r + 2) for r, item in enumerate(items))
    ideal = sorted(gains.values(), reverse=True)[:m]
    best = sum(gain / math.log2(r + 2) for r, gain in enumerate(ideal))
    return [normalised, hits / m, hits / len(gains), dcg / best]


def slow_ranking(
    scores: Array, held_out: Array, seen: Array, m: int, graded: bool
) -> tuple[list[int], Array]:
    """(users, measures (n_users, 4))."""
    users, values = [], []
    for u in range(scores.shape[0]):
        kept = [i for i in np.flatnonzero(held_out[u]) if not seen[u, i]]
        if kept:
            users.append(u)
            gains = {int(i): float(held_out[u, i]) if graded else 1.0 for i in kept}
            values.append(slow_measures(slow_list(scores[u], seen[u], m), gains, m))
    return users, np.array(values)


def measures(result: Ranking) -> Array:
    """(n_users, 4), or (n_users, len(m), 4)."""
    return np.stack([getattr(result, name).per_user for name in MEASURES], axis=-1)


def random_case(rng: np.random.Generator, n_users: int, n_items: int) -> tuple[Any, ...]:
    """(user factors, item factors, held_out, seen)."""
    # Small integers: exact products, many ties.
    left = rng.integers(-2, 3, (n_users, 3)).astype(float)
    right = rng.integers(-2, 3, (3, n_items)).astype(float)
    pick = rng.random((n_users, n_items))
    held_out = sparse.csr_array(np.where(pick < 0.05, rng.integers(1, 6, pick.shape), 0))
    seen = sparse.csr_array((pick > 0.8).astype(float))
    return left, right, held_out, seen


# --- by hand


def test_hand_worked_case_with_ties() -> None:
    """Scores 5 5 3 5 1 0; item 1 seen: the list is 0 3 2 4 5; liked are 3, 4."""
    scores = [[5, 5, 3, 5, 1, 0]]
    held_out, seen = [[0, 0, 0, 1, 1, 0]], [[0, 9, 0, 0, 0, 0]]
    np.testing.assert_array_equal(top_items(scores, 5, seen=seen), [[0, 3, 2, 4, 5]])
    result = ranking(scores, held_out, seen=seen, m=(1, 2, 3, 4))
    np.testing.assert_allclose(result.normalised_precision.per_user, [[0, 1 / 2, 1 / 2, 1]])
    np.testing.assert_allclose(result.precision.per_user, [[0, 1 / 2, 1 / 3, 1 / 2]])
    np.testing.assert_allclose(result.recall.per_user, [[0, 1 / 2, 1 / 2, 1]])
    second, fourth = 1 / math.log2(3), 1 / math.log2(5)
    ndcg = [0, second / (1 + second), second / (1 + second), (second + fourth) / (1 + second)]
    np.testing.assert_allclose(result.ndcg.per_user, [ndcg])


def test_more_liked_items_than_places() -> None:
    """Normalised precision divides by |P|, recall by |L|: they differ only here."""
    result = ranking([[4, 3, 2, 1]], [[1, 1, 1, 0]], m=2)
    assert result.normalised_precision.mean == 1
    assert result.precision.mean == 1
    assert result.recall.mean == pytest.approx(2 / 3)
    assert result.ndcg.mean == 1


def test_graded_ndcg() -> None:
    held_out = [[0, 2, 0, 5]]
    dcg = 2 / math.log2(2) + 5 / math.log2(4)
    best = 5 / math.log2(2) + 2 / math.log2(3)
    result = ranking([[0, 3, 2, 1]], held_out, m=3, graded=True)
    assert result.ndcg.mean == pytest.approx(dcg / best)
    binary = (1 + 1 / 2) / (1 + 1 / math.log2(3))
    assert ranking([[0, 3, 2, 1]], held_out, m=3).ndcg.mean == pytest.approx(binary)


def test_short_lists() -> None:
    """Fewer rankable items than M: all of them are on the list."""
    scores, seen = [[0.3, 0.2, 0.1, -np.inf]], [[0, 1, 0, 0]]
    np.testing.assert_array_equal(top_items(scores, 4, seen=seen), [[0, 2, -1, -1]])
    result = ranking(scores, [[0, 0, 1, 0]], seen=seen, m=10)
    assert result.normalised_precision.mean == 1
    assert result.recall.mean == 1
    assert result.precision.mean == pytest.approx(1 / 10)
    assert result.ndcg.mean == pytest.approx(1 / math.log2(3))
    # An item that is left out by its score is missed.
    assert ranking(scores, [[0, 0, 1, 1]], seen=seen, m=10).recall.mean == 0.5


def test_short_lists_that_are_given() -> None:
    """|P| is what is on the list; an empty list has nothing right; no columns, no items."""
    held_out = [[1, 1, 1], [1, 0, 0]]
    result = ranking_of_lists([[2, -1], [-1, -1]], held_out, m=20)
    np.testing.assert_array_equal(result.normalised_precision.per_user, [1, 0])
    np.testing.assert_allclose(result.precision.per_user, [1 / 20, 0])
    np.testing.assert_allclose(result.recall.per_user, [1 / 3, 0])
    assert (measures(ranking_of_lists(np.empty((2, 0), int), held_out)) == 0).all()


def test_users_and_items_that_do_not_count() -> None:
    """Nothing held out: left out. Seen and held out: not counted. Stored zeros are no entries."""
    held_out = sparse.csr_array(
        (np.array([1.0, 0.0, 1.0, 1.0, 1.0]), [0, 1, 0, 1, 2], [0, 1, 2, 4, 5]), shape=(4, 3)
    )
    seen = sparse.csr_array((np.array([0.0, -1.0, 1.0]), [0, 0, 2], [0, 1, 1, 2, 3]), shape=(4, 3))
    before = [part.copy() for m in (held_out, seen) for part in (m.data, m.indices, m.indptr)]
    result = ranking([[3, 2, 1]] * 4, held_out, seen=seen, m=1)
    np.testing.assert_array_equal(result.users, [0, 2])
    assert (result.n_users, result.n_left_out, result.n_seen_held_out) == (2, 2, 2)
    np.testing.assert_array_equal(result.recall.per_user, [1, 1])
    after = [part for m in (held_out, seen) for part in (m.data, m.indices, m.indptr)]
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)


def test_seen_items_are_taken_off_given_lists() -> None:
    result = ranking_of_lists([[3, 0, 1, 2]], [[0, 1, 0, 0]], seen=[[1, 0, 0, 1]], m=(1, 2))
    np.testing.assert_array_equal(result.recall.per_user, [[1, 1]])


def test_means_and_standard_errors() -> None:
    result = ranking([[2, 1], [2, 1], [1, 2]], [[1, 0]] * 3, m=(1, 2))
    np.testing.assert_allclose(result.recall.mean, [2 / 3, 1])
    np.testing.assert_allclose(result.recall.standard_error, [1 / 3, 0], atol=1e-15)
    single = ranking([[2, 1], [2, 1], [1, 2]], [[1, 0]] * 3, m=1)
    assert isinstance(single.recall.mean, float)
    assert single.recall.per_user.shape == (3,)
    assert "n_users=3, n_left_out=0" in repr(single)
    assert "0.6667 ± 0.3333" in repr(single)
    assert ranking([[1, 2]], [[1, 0]], m=1).recall.standard_error == np.inf


# --- the oracle


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    data=st.data(),
    shape=st.tuples(st.integers(1, 4), st.integers(1, 7)),
    m=st.integers(1, 9),
    graded=st.booleans(),
    groups=st.integers(1, 4),
)
def test_all_measures_agree_with_the_oracle(
    data: st.DataObject, shape: tuple[int, int], m: int, graded: bool, groups: int
) -> None:
    values = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0, np.inf])
    scores = data.draw(hnp.arrays(float, shape, elements=values))
    held_out = data.draw(hnp.arrays(int, shape, elements=st.sampled_from([0, 0, 1, 3])))
    seen = data.draw(hnp.arrays(int, shape, elements=st.sampled_from([0, 0, 1])))
    users, expected = slow_ranking(scores, held_out, seen, m, graded)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_lists, "_LEAST_GROUPS", groups)
        lists = top_items(scores, m, seen=seen)
        if not users:
            with pytest.raises(ValueError, match="has a held-out item that counts"):
                ranking(scores, held_out, seen=seen, m=m, graded=graded)
            return
        result = ranking(scores, held_out, seen=seen, m=m, graded=graded)
    for u, row in enumerate(lists):
        best = slow_list(scores[u], seen[u], m)
        assert row.tolist() == best + [-1] * (m - len(best))
    np.testing.assert_array_equal(result.users, users)
    np.testing.assert_allclose(measures(result), expected, rtol=1e-12)
    assert ((measures(result) >= 0) & (measures(result) <= 1)).all()
    of_lists = ranking_of_lists(lists, held_out, m=m, graded=graded, seen=seen)
    np.testing.assert_array_equal(measures(of_lists), measures(result))


def test_groups_of_items_change_nothing() -> None:
    """Enough items for groups, with scores that are all ties, mostly ties, and all different."""
    rng = np.random.default_rng(0)
    n_items = 3000
    for scores in (
        np.zeros((5, n_items)),
        rng.poisson(0.01, (5, n_items)),
        rng.normal(size=(5, n_items)).astype(np.float32),
        np.where(rng.random((5, n_items)) < 0.004, 1.0, -np.inf),
    ):
        seen = rng.random(scores.shape) < 0.1
        for n in (1, 10, 2999, 4000):
            lists = top_items(scores, n, seen=seen)
            for u, row in enumerate(lists):
                best = slow_list(scores[u], seen[u], n)
                assert row.tolist() == best + [-1] * (n - len(best))


def test_the_width_of_lists_does_not_change_the_last_digit() -> None:
    """A list in the best order has an NDCG of exactly 1, however wide its array is."""
    for n_items in range(1, 40):
        for width in (n_items, n_items + 1, n_items + 9):
            lists = np.full((1, width), -1)
            lists[0, :n_items] = np.arange(n_items)
            result = ranking_of_lists(lists, np.ones((1, n_items)), m=(n_items, 50))
            assert (result.ndcg.per_user == 1).all()


# --- forms, blocks, threads


def test_all_forms_agree() -> None:
    left, right, held_out, seen = random_case(np.random.default_rng(1), 700, 40)
    options: dict[str, Any] = {"seen": seen, "m": (1, 5, 20)}
    scores = left @ right
    expected = measures(ranking(scores, held_out, **options))
    assert expected.std() > 0.1

    def function(users: Array) -> Array:
        return left[users] @ right

    single = left.astype(np.float32), right.astype(np.float32)
    for form in ((left, right), single, function, scores.astype(int), scores.tolist()):
        result = ranking(form, held_out, **options)
        np.testing.assert_array_equal(measures(result), expected)
    lists = top_items((left, right), 40)
    result = ranking_of_lists(lists, held_out.toarray(), **options)
    np.testing.assert_array_equal(measures(result), expected)
    for m, column in zip((1, 5, 20), np.moveaxis(expected, 1, 0), strict=True):
        np.testing.assert_array_equal(measures(ranking(scores, held_out, seen=seen, m=m)), column)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("block_bytes", [1, 2**14, 2**30])
def test_blocks_and_threads_change_nothing(
    n_threads: int, block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, right, held_out, seen = random_case(np.random.default_rng(2), 500, 60)
    expected = ranking((left, right), held_out, seen=seen, m=7)
    lists = top_items((left, right), 7, seen=seen)
    monkeypatch.setattr(item_scores, "_BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(item_scores, "FUNCTION_ROWS", 1 + block_bytes % 100)
    monkeypatch.setattr(ranking_module, "_CHUNK", 33)
    for scores in ((left, right), left @ right, lambda users: left[users] @ right):
        result = ranking(scores, held_out, seen=seen, m=7, n_threads=n_threads)
        np.testing.assert_array_equal(measures(result), measures(expected))
        again = top_items(scores, 7, seen=seen, n_threads=n_threads)
        np.testing.assert_array_equal(again, lists)


def test_threads_do_not_share_their_scores() -> None:
    """Blocks large enough for two threads to be at work on one each."""
    rng = np.random.default_rng(4)
    left, right = rng.normal(size=(4000, 4)), rng.normal(size=(4, 3000))
    lists = top_items((left, right), 3, n_threads=1)
    for _ in range(3):
        np.testing.assert_array_equal(top_items((left, right), 3, n_threads=4), lists)


def test_lists_of_some_users() -> None:
    """A user's list is the same whoever else is asked for, to the last bit of the scores."""
    rng = np.random.default_rng(3)
    left, right = rng.normal(size=(300, 37)), rng.normal(size=(37, 501))
    lists = top_items((left, right), 501)
    users = rng.permutation(300)[:77]
    np.testing.assert_array_equal(top_items((left, right), 501, users=users), lists[users])
    assert top_items((left, right), 5, users=[]).shape == (0, 5)
    by_function = top_items(lambda rows: left[rows] @ right, 5, users=users)
    np.testing.assert_array_equal(by_function, lists[users, :5])


def test_the_function_is_asked_for_few_users_with_something_held_out() -> None:
    asked: list[Array] = []

    def function(users: Array) -> Array:
        asked.append(users)
        return np.zeros((users.size, 3))

    held_out = np.zeros((1000, 3))
    held_out[::3, 1] = 1
    ranking(function, held_out)
    np.testing.assert_array_equal(np.concatenate(asked), np.arange(0, 1000, 3))
    assert max(map(len, asked)) <= item_scores.FUNCTION_ROWS
