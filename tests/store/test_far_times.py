"""Times that nobody can mean: refused when they come, and passed over where a store has some."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.pets_and_money import MONEY, PETS, records
from trustream import StreamTrainer, open_store
from trustream.feeds import BadRecordError, ingest
from trustream.store import DocumentStore, Record, RecordError
from trustream.topics import explore
from trustream.topics.stored_documents import stored_batches, stored_document
from trustream.topics.stored_report import stored_report_data, write_stored_report
from trustream.topics.stored_trends import stored_trends
from trustream.topics.time_bins import GrowingBins
from trustream.topics.topic_set import TopicSet

FAR = {"ms": 1.7e12, "ns": 1.7e18, "before": -1e300, "next": float(np.nextafter(1e12, 2e12))}
TOPICS = TopicSet.of(
    np.array([[9.0] * len(PETS) + [0.1] * len(MONEY), [0.1] * len(PETS) + [9.0] * len(MONEY)]),
    0.1,
    [*PETS, *MONEY],
)


def old_store(address: str, monkeypatch: pytest.MonkeyPatch, n: int = 60) -> DocumentStore:
    """As an earlier version wrote it, which took any finite time."""
    store = open_store(address, min_documents=1, held_out=0.1)
    store.append(records(n))
    with monkeypatch.context() as patched:
        for module in ("limits", "record_batch"):
            path = f"trustream.store.{module}.FARTHEST_TIME"
            patched.setattr(path, np.inf, raising=False)
        store.append(Record(f"far {name}", PETS[:3], time) for name, time in FAR.items())
    return store


def train(store: DocumentStore) -> None:
    with StreamTrainer(store, n_components=2, batch_size=20, random_state=0) as trainer:
        trainer.run(steps=5)


def test_an_old_store_can_still_be_looked_at(
    address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with old_store(address, monkeypatch) as store:
        train(store)
        assert store.time_range() == (0.0, 59.0)
        # The time itself is still told.
        assert set(FAR.values()) <= set(next(store.scan(1000)).times.tolist())
        times = np.concatenate([batch.times for batch in stored_batches(store, TOPICS.words)])
        assert np.isnan(times).sum() == 4 and np.nanmax(times) == 59.0
        assert np.isnan(stored_document(store, TOPICS.words, "far ms").times).all()
        for bins in (5, [0.0, 30.0, 60.0], GrowingBins(10.0)):
            found = explore(store, TOPICS, bins=bins)
            assert found.n_documents == 64 and found.over_time is not None
            assert found.over_time.n_documents.sum() == 60
            assert found.over_time.n_without_time == 4
        trends = stored_trends(store, bins=4).over_time
        assert trends.n_documents.sum() == 60
        assert stored_trends(store, since=30, bins=3).over_time.n_documents.sum() == 30
        for sample in (None, 50):
            data = stored_report_data(store, TOPICS, sample=sample)
            assert data["n_documents"] == (sample or 64)
            assert sample or data["time"]["n_without_time"] == 4
        write_stored_report(store, tmp_path / "report.html")
        assert store.check().ok


def test_a_store_with_nothing_but_far_times(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with old_store(address, monkeypatch, n=0) as store:
        train(store)
        assert store.time_range() is None
        assert explore(store, TOPICS).over_time is None
        with pytest.raises(ValueError, match="has no documents with a time that is possible"):
            stored_trends(store)


@pytest.mark.parametrize("time", [*FAR.values()], ids=[*FAR])
def test_far_times_are_refused_when_they_come(address: str, time: float, tmp_path: Path) -> None:
    good = [{"id": f"d{i}", "tokens": ["cat"], "time": i} for i in range(3)]
    edge = {"id": "edge", "tokens": ["cat"], "time": -1e12}
    evil = {"id": "evil", "tokens": ["cat"], "time": time}
    feed = tmp_path / "feed.jsonl"
    feed.write_text("".join(json.dumps(value) + "\n" for value in [*good, evil, edge]))
    with open_store(address, min_documents=1) as store:
        with pytest.raises(RecordError, match="divide milliseconds by 1000") as refused:
            store.append([Record("a", ["cat"]), Record("evil", ["cat"], time)])
        assert (refused.value.index, refused.value.field) == (1, "time")
        assert store.totals().documents == 0
        with pytest.raises(BadRecordError, match=r"line 4: the time is .* divide millisec"):
            ingest(store, feed)
        skipped = ingest(store, feed, on_error="skip")
        assert skipped.n_bad == 1 and store.totals().documents == 4
        assert store.time_range() == (-1e12, 2.0)
