"""What the driver holds and says, without a cluster."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trustream import LatentDirichletAllocation, open_store
from trustream.cluster import cluster_engine, driver_memory, fit, write_counts
from trustream.cluster.driver_memory import available_bytes, check_driver
from trustream.cluster.errors import ClusterError
from trustream.cluster.progress import Meter
from trustream.cluster.seats import WorkerStatistics
from trustream.cluster.worker import WorkerPlace
from trustream.streaming.cluster_progress import ClusterProgress, WorkerProgress


def test_more_than_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_memory, "available_bytes", lambda: 15_000_000_000)
    assert check_driver(1_000, 900_000) == (
        "1,000 topics x 900,000 words x 4 bytes x 2 (with the published mean) = 7.2 GB in the "
        "driver, 14.4 GB while a checkpoint is saved"
    )
    with pytest.raises(ClusterError, match=r"16.0 GB while .* this machine has 15.0 GB left: run"):
        check_driver(1_000, 1_000_000)
    write_counts(tmp_path / "a.parquet", np.eye(3), n_words=10**6)
    lda = LatentDirichletAllocation(4_000)
    with pytest.raises(ClusterError, match=r"= 16\.0 GB in the driver, and this machine"):
        fit(lda, tmp_path, workers=0)
    assert not hasattr(lda, "_state")


@pytest.mark.parametrize("version", [1, 2])
def test_pages_of_files_are_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    """A container whose memory is full of files that were read has room still."""
    monkeypatch.setattr(driver_memory, "_GROUPS", tmp_path)
    monkeypatch.setattr(driver_memory, "_MEMORY", tmp_path / "none")
    assert available_bytes() is None
    limit, used, statistics, files = driver_memory._LIMITS[2 - version]
    (tmp_path / "memory").mkdir()
    (tmp_path / used).write_text("990\n")
    (tmp_path / statistics).write_text(f"anon 100\n{files} 700\nfile 800\n")
    (tmp_path / limit).write_text("max\n")
    assert available_bytes() is None
    (tmp_path / limit).write_text("1000\n")
    assert available_bytes() == 710
    (tmp_path / "none").write_text("MemTotal: 1 kB\nMemAvailable: 0 kB\n")
    assert available_bytes() == 0


class FakePool:
    n_workers, size = 2, 3
    statistics = [
        WorkerStatistics(WorkerPlace("n", "left", 1), 4, 100, 2.0),
        WorkerStatistics(WorkerPlace("n", "right", 2), 4, 90, 1.0, n_deaths=1),
        WorkerStatistics(),
    ]


def test_how_workers_do() -> None:
    meter, pool = Meter(), FakePool()
    assert meter.progress(pool) is None  # type: ignore[arg-type]
    meter.begin()
    meter.asked(0.1, [9.0])
    for _ in range(3):
        # What a step that ended in an error has left does not count.
        meter.begin()
        meter.sent, meter.received = 10, 20
        # A clock that goes fast: never less than nothing.
        meter.asked(0.5, [0.6])
        meter.asked(1.0, [0.8, 0.6])
        meter.stepped(2.0, 50)
    found: Any = meter.progress(pool)  # type: ignore[arg-type]
    assert found.exchange_seconds == pytest.approx(0.2)
    assert found.efficiency == pytest.approx(2.0 / (2.0 * 2))
    assert (found.sent_bytes, found.received_bytes) == (10, 20)
    assert [(one.host, one.documents_per_second) for one in found.workers] == [
        ("left", 50.0), ("right", 90.0), ("", 0.0),
    ]  # fmt: skip
    assert "2 of 3 workers (1 replaced), " in str(found)
    assert (
        "(by worker, while at work: 50, 90), exchange 200 of 2000 ms a step, efficiency 50%"
        in str(found)
    )
    assert ClusterProgress.from_bytes(found.to_bytes()) == found


def test_many_workers() -> None:
    workers = tuple(WorkerProgress("", 100.0 + i, 0) for i in range(64))
    found = ClusterProgress(64, 64, 6000.0, 0.1, 1.0, 0.9, 1, 1, workers)
    assert str(found).startswith(
        "64 of 64 workers, 6,000 documents per second (by worker, while at work: 100 to 163), "
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_parts": 1}, "n_parts is 1; on a cluster give 2 or more"),
        ({"workers": 0}, "workers is 0, expected 1 or more"),
        ({"worker_threads": 0}, "worker_threads is 0, expected 1 or more"),
        ({"cluster": "there"}, "'there' is no address of a cluster"),
    ],
)
def test_wrong_settings_are_refused_before_ray_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with open_store(tmp_path / "topics.db") as store:
        with pytest.raises(ValueError, match=message), cluster_engine(store, **options):
            pass
