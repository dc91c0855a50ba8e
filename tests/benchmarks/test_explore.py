"""The store that exploring is measured on holds what was planted."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.explore import planted_store
from trustream import open_store
from trustream.topics import explore


def test_planted_topics_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "planted.db"
    planted_store.make(path, 6000)
    with open_store(path, create=False) as store:
        totals = store.totals()
        assert (totals.documents, totals.tokens) == (6000, 6000 * planted_store.N_TOKENS)
        found = explore(store, planted_store.topics(), bins=8, n_documents=2)
    assert found.n_documents == 6000 and found.n_arrival == 0
    shares = np.array([info.share for info in found.table])
    assert shares.min() > 0.3 / planted_store.N_TOPICS
    assert {len(some) for some in found.documents.values()} == {2}
    over_time = found.over_time
    assert over_time is not None
    # Topic k is most frequent k hundredths into the two years, and least a year later.
    peaks = over_time.shares.argmax(axis=0) / over_time.n_bins
    expected = np.arange(planted_store.N_TOPICS) / planted_store.N_TOPICS
    away = np.abs(peaks + 0.5 / over_time.n_bins - expected)
    assert np.median(np.minimum(away, 1 - away)) < 0.1
