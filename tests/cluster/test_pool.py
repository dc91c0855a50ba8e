"""Calls on workers: each gets one result, whatever becomes of a worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cluster import remote_calls
from trustream.cluster import pool as pool_module
from trustream.cluster.errors import ClusterError
from trustream.cluster.parquet_counts import write_counts
from trustream.cluster.parquet_source import ParquetSource
from trustream.cluster.pool import Call, Pool
from trustream.cluster.sources import StoreSource


@pytest.fixture(scope="module")
def pool(ray_cluster: Any) -> Iterator[Pool]:
    with Pool(None, 3) as pool:
        yield pool


def test_results_are_in_the_order_of_calls(pool: Pool) -> None:
    shared = pool.put(np.arange(3))
    calls = [Call(remote_calls.double, (i,)) for i in range(7)]
    assert pool.run([*calls, Call(remote_calls.double, (shared,))])[:7] == [*range(0, 14, 2)]
    assert pool.run([]) == []


def test_calls_go_where_they_are_wanted(pool: Pool) -> None:
    first = pool.run([Call(remote_calls.pid, place=i) for i in range(3)])
    again = pool.run([Call(remote_calls.pid, place=i) for i in range(3)])
    assert first == again and len(set(first)) == 3
    nodes = {worker.place.node for worker in pool.statistics if worker.place}
    assert len(nodes) == 3


def test_a_call_is_made_again_when_its_worker_dies(pool: Pool, tmp_path: Path) -> None:
    deaths = sum(worker.n_deaths for worker in pool.statistics)
    flag = str(tmp_path / "flag")
    calls = [Call(remote_calls.double, (1,)), Call(remote_calls.die_once, (flag,), place=1)]
    assert pool.run(calls) == [2, "alive"]
    assert sum(worker.n_deaths for worker in pool.statistics) == deaths + 1


def test_a_straggler_is_overtaken(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker that dawdles gets no other work, and is replaced when it has hung for long."""
    monkeypatch.setattr(pool_module, "_LONG", 0.2)
    monkeypatch.setattr(pool_module, "_HANGS", 0.5)
    flag = str(tmp_path / "flag")
    deaths = pool.statistics[2].n_deaths
    calls = [Call(remote_calls.double, (1,)), Call(remote_calls.sleep_once, (flag,), place=2)]
    assert pool.run(calls) == [2, "awake"]
    while pool.statistics[2].n_deaths == deaths:
        assert pool.run([Call(remote_calls.double, (1,), place=0)]) == [2]
        pool._tend()


def test_errors_of_a_call_arrive_as_they_are(pool: Pool) -> None:
    with pytest.raises(ValueError, match="wrong input"):
        pool.run([Call(remote_calls.fail)])
    assert pool.run([Call(remote_calls.double, (2,))]) == [4]


def test_work_that_always_kills_its_worker_ends_in_an_error(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "_MOST_LOSSES", 1)
    with pytest.raises(ClusterError, match="lost 2 times with its worker"):
        pool.run([Call(remote_calls.die)])
    assert pool.run([Call(remote_calls.double, (2,))]) == [4]


def test_no_room_for_objects(pool: Pool) -> None:
    with pytest.raises(ClusterError, match="Ray has no room for the arrays of a step"):
        pool.run([Call(remote_calls.no_room)])
    assert pool.run([Call(remote_calls.double, (2,))]) == [4]


def test_results_can_stay(pool: Pool) -> None:
    """What stays in the cluster goes from worker to worker."""
    (kept,) = pool.run([Call(remote_calls.large, (1000,), place=0, stays=True)])
    (found,) = pool.run([Call(remote_calls.double, (kept,), place=1)])
    assert found.sum() == 2000


def test_sigkill(pool: Pool) -> None:
    (victim,) = pool.run([Call(remote_calls.pid, place=0)])
    os.kill(victim, signal.SIGKILL)
    assert pool.run([Call(remote_calls.double, (i,), place=i) for i in range(6)]) == [
        2 * i for i in range(6)
    ]


def test_no_room_for_workers(ray_cluster: Any) -> None:
    with pytest.raises(ClusterError, match="no worker was ready for 1 seconds: each needs 64"):
        Pool(None, 1, n_threads=64, patience=1.0)


def test_workers_read_rows(ray_cluster: Any, tmp_path: Path) -> None:
    write_counts(tmp_path / "a.parquet", np.eye(5) * np.arange(1, 6))
    source = ParquetSource.of(str(tmp_path / "*.parquet"))
    with Pool(source, 1) as pool:
        keys, total = pool.run([Call(remote_calls.read, ([4, 0],))])[0]
    assert keys == ["4", "0"] and total == 6.0


def test_sqlite_is_refused_for_workers_on_other_nodes(ray_cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="only workers on this machine can read"):
        Pool(StoreSource(str(tmp_path / "topics.db")), 4)
