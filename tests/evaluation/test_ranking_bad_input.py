"""Bad input of the ranking measures: an error that names it."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from trustream.evaluation.item_lists import top_items
from trustream.evaluation.item_ranking import ranking, ranking_of_lists

SCORES, HELD_OUT = np.arange(6.0).reshape(2, 3), np.eye(2, 3)


@pytest.mark.parametrize("m", [0, -1, 2.0, 2.5, "20", None, True, (), (5, 0), [[1]]])
def test_bad_m(m: Any) -> None:
    with pytest.raises(ValueError, match=r"m must be an integer of at least 1, got|m is empty"):
        ranking(SCORES, HELD_OUT, m=m)
    with pytest.raises(ValueError, match=r"m must be an integer of at least 1, got|m is empty"):
        ranking_of_lists([[0], [1]], HELD_OUT, m=m)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (SCORES[:, :2], "scores are for 2 items, held_out for 3"),
        (SCORES[:1], "scores are for 1 users, held_out for 2"),
        (SCORES[0], r"scores has shape \(3,\)"),
        (SCORES.astype(complex), "type complex128, expected real"),
        (sparse.csr_array(SCORES), "sparse"),
        ((SCORES,), "tuple of 1"),
        ((np.ones((2, 4)), np.ones((3, 4))), r"\(2, 4\) and \(3, 4\) do not fit"),
        (lambda users: np.ones((users.size, 2)), "returned 2 columns, expected .* 3 items"),
        (lambda users: np.ones(3), r"shape \(3,\) for 2 users"),
        (np.where(SCORES == 5, np.nan, SCORES), "score of user 1 for item 2 is NaN"),
        ((np.array([[1.0], [np.inf]]), np.array([[0.0, 1, 1]])), "user 1 for item 0 is NaN"),
    ],
)
def test_bad_scores(scores: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ranking(scores, HELD_OUT, m=2)


@pytest.mark.parametrize("item", [0, 4321, 4999])
def test_a_lonely_nan_among_many_items(item: int) -> None:
    """In a group of items, and among the last, which are in none."""
    scores = np.zeros((3, 5000))
    scores[2, item] = np.nan
    with pytest.raises(ValueError, match=f"score of user 7 for item {item} is NaN"):
        top_items(lambda users: scores[users - 5], 3, users=[5, 6, 7])


@pytest.mark.parametrize(
    ("held_out", "seen", "message"),
    [
        (np.zeros((2, 3)), None, "none of 2 users has a held-out item that counts"),
        (HELD_OUT, HELD_OUT, "2 held-out items are also seen"),
        (-HELD_OUT, None, "negative entries, down to -1"),
        (np.nan * HELD_OUT, None, "held_out has entries that are NaN"),
        (HELD_OUT, np.ones((2, 4)), r"seen has shape \(2, 4\) and held_out \(2, 3\)"),
        (HELD_OUT[0], None, r"held_out"),
        ("likes", None, "held_out must be a sparse matrix or array"),
    ],
)
def test_bad_held_out_and_seen(held_out: Any, seen: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ranking(SCORES, held_out, seen=seen)
    with pytest.raises(ValueError, match=message):
        ranking_of_lists([[0], [1]], held_out, seen=seen)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[0, 3], [0, 1]], "items from 0 to 3, expected 0 to 2"),
        ([[0, -2], [0, 1]], "items from -2 to 1"),
        ([[0, 1], [2, 2]], r"user 1 has an item twice: \[2, 2\]"),
        ([[0, 1], [-1, 2]], r"user 1 has an item after -1: \[-1, 2\]"),
        ([[0, 1]], r"shape \(1, 2\) .* expected integers of shape \(2, L\)"),
        ([[0.0, 1.0], [0.0, 1.0]], "type float64, expected integers"),
        ([[0, 1], [0]], "padded with -1"),
    ],
)
def test_bad_lists(lists: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ranking_of_lists(lists, HELD_OUT)


def test_the_user_of_a_bad_list_in_a_later_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("trustream.evaluation.item_ranking"), "_CHUNK", 2)
    with pytest.raises(ValueError, match=r"user 3 has an item twice: \[1, 1\]"):
        ranking_of_lists([[0, 1], [0, 1], [0, 1], [1, 1]], np.ones((4, 2)))


def test_bad_arguments_of_top_items() -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("n must be an integer of at least 1, got 0", {"n": 0}),
        ("n_threads must be an integer of at least 1, got 0", {"n_threads": 0}),
        ("users has indices from 0 to 2, expected 0 to 1", {"users": [0, 2]}),
        ("users must be a list of indices", {"users": [[0]]}),
        ("users must be a list of indices", {"users": [0.5]}),
        ("scores are for 2 users, seen for 3", {"seen": np.ones((3, 3))}),
        ("give users or seen", {"scores": lambda users: SCORES[users]}),
    ]
    for message, change in cases:
        arguments: dict[str, Any] = {"scores": SCORES, "n": 2, **change}
        with pytest.raises(ValueError, match=message):
            top_items(**arguments)
