"""Requests for lists: those of the recommender, with ids as somebody types them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trustream
from tests.recommender import planted
from trustream.recommender import list_requests
from trustream.recommender.list_requests import ScoredItem, item_lists, load_recommender


@pytest.fixture(scope="module")
def model() -> Any:
    train, _ = planted.blocks()
    options = {"threshold": 4, "max_iter": 5, "random_state": 0}
    return trustream.TopicRecommender(4, **options).fit(planted.columns_of(train))


def pairs(items: Any) -> list[ScoredItem]:
    return [ScoredItem(item, score) for item, score in items]


def test_lists_are_those_of_the_recommender(model: Any) -> None:
    likes, users, items = ["żółw 1", "żółw 2"], ["user 3", "user 41"], ["żółw 20"]
    found = list(item_lists(model, users=users, likes=likes, similar_to=items, n=5))
    assert [(one.kind, one.subject, one.title) for one in found] == [
        ("user", "user 3", "user 3"),
        ("user", "user 41", "user 41"),
        ("likes", likes, "likes żółw 1, żółw 2"),
        ("similar_to", "żółw 20", "similar to żółw 20"),
    ]
    assert found[0].items == pairs(model.recommend("user 3", 5))
    assert found[2].items == pairs(model.recommend_for(likes, 5))
    assert found[3].items == pairs(model.similar_items("żółw 20", 5))
    assert json.loads(json.dumps(asdict(found[0])))["items"][0]["item"] == found[0].items[0].item
    seen = next(item_lists(model, users=["user 3"], n=5, exclude_seen=False))
    assert seen.items == pairs(model.recommend("user 3", 5, exclude_seen=False))


def test_all_users_in_parts_with_progress(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(item_lists(model, users=None, n=3))
    assert [one.subject for one in whole] == model.user_ids_.tolist()
    monkeypatch.setattr(list_requests, "USERS_AT_A_TIME", 50)
    done: list[int] = []

    @contextmanager
    def progress(n_users: int) -> Any:
        done.append(n_users)
        yield done.append

    assert list(item_lists(model, users=None, n=3, progress=progress)) == whole
    assert done == [160, 50, 100, 150, 160]


def test_nothing_is_asked_for(model: Any) -> None:
    assert list(item_lists(model)) == []


def test_ids_that_are_integers() -> None:
    likes = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    model = trustream.TopicRecommender(2, random_state=0).fit(likes)
    found = list(item_lists(model, users=["01"], likes=["2"], similar_to=["00"], n=1))
    assert [one.subject for one in found] == [1, [2], 0]
    assert [one.title for one in found] == ["1", "likes 2", "similar to 00"]
    for request in ({"users": ["ann"]}, {"likes": ["x"]}, {"similar_to": ["x"]}):
        with pytest.raises(ValueError, match="the ids are integers"):
            list(item_lists(model, **request))
    with pytest.raises(ValueError, match="unknown user"):
        list(item_lists(model, users=["9"]))


def test_load_a_recommender(model: Any, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    loaded = load_recommender(tmp_path / "model", n_jobs=1)
    assert loaded.n_jobs == 1
    assert next(item_lists(loaded, users=["user 3"])) == next(item_lists(model, users=["user 3"]))
    trustream.LatentDirichletAllocation(2, random_state=0).fit(np.eye(4)).save(tmp_path / "lda")
    with pytest.raises(
        ValueError, match="holds a LatentDirichletAllocation, expected a recommender"
    ):
        load_recommender(tmp_path / "lda")
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        load_recommender(tmp_path / "none")
