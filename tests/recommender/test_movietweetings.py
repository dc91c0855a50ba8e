"""On real likes of movies, if they are there."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from trustream import TopicRecommender
from trustream.evaluation import ranking

DATA = Path(os.environ.get("TRUSTREAM_DATA") or Path("..") / "shared" / "data")


@pytest.mark.slow
def test_it_beats_popularity_on_movies() -> None:
    data = pytest.importorskip("benchmarks.recommend.data", reason="needs the repository's root")
    if not (DATA / data.FILE).is_file():
        pytest.skip(f"no {data.FILE} in {DATA}; name its directory with TRUSTREAM_DATA")
    matrix = data.likes(DATA)
    ratios = []
    for seed in range(3):
        train, held_out = data.split(matrix, seed)
        ours = TopicRecommender(random_state=seed).fit(train).evaluate(held_out)
        popular = (np.ones((train.shape[0], 1)), train.sum(axis=0)[None])
        other = ranking(popular, held_out, seen=train)
        names = ("precision", "recall", "ndcg")
        ratios.append([getattr(ours, name).mean / getattr(other, name).mean for name in names])
    assert (np.mean(ratios, axis=0) > 1).all(), ratios
