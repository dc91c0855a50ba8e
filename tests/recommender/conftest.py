"""Recommenders fitted to planted groups, for several files of tests."""

from __future__ import annotations

import pytest

from tests.recommender import planted
from trustream import TopicRecommender


@pytest.fixture(scope="session")
def fitted() -> TopicRecommender:
    return planted.recommender().fit(planted.TRAIN)


@pytest.fixture(scope="session")
def named() -> TopicRecommender:
    return planted.recommender(threshold=4).fit(planted.columns_of(planted.TRAIN))
