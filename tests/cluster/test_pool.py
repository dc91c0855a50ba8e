"""Calls on workers: each gets one result, whatever becomes of a worker."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cluster import remote_calls
from tests.cluster.conftest import OBJECT_STORE
from trustream.cluster import pool as pool_module
from trustream.cluster import seats
from trustream.cluster.calls import Call
from trustream.cluster.connection import ray_module
from trustream.cluster.errors import ClusterError
from trustream.cluster.over_parts import in_order
from trustream.cluster.parquet_counts import write_counts
from trustream.cluster.parquet_source import ParquetSource
from trustream.cluster.pool import Pool
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
    monkeypatch.setattr(seats, "_HANGS", 0.5)
    flag = str(tmp_path / "flag")
    deaths = pool.statistics[2].n_deaths
    calls = [Call(remote_calls.double, (1,)), Call(remote_calls.sleep_once, (flag,), place=2)]
    assert pool.run(calls) == [2, "awake"]
    while pool.statistics[2].n_deaths == deaths:
        assert pool.run([Call(remote_calls.double, (1,), place=0)]) == [2]


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


# --- what is left behind


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that takes a moment; the limit of the test's time ends it."""
    while not condition():
        time.sleep(0.05)


def free(what: str) -> float:
    return float(ray_module().available_resources().get(what, 0.0))


def is_idle(pool: Pool) -> bool:
    """Whether no worker is at anything, as the pool sees it."""
    pool._seats.tend()
    return all(pool._load(seat) == 0 for seat in pool._seats.all)


def test_an_error_leaves_no_results_behind(pool: Pool) -> None:
    """What the other calls return is in nobody's way."""
    until(lambda: is_idle(pool))
    before = free("object_store_memory")
    for _ in range(3):
        calls = [
            Call(remote_calls.fail, place=0),
            *(Call(remote_calls.slowly, (2_000_000, 0.3), place=place) for place in range(3)),
        ]
        with pytest.raises(ValueError, match="wrong input"):
            pool.run(calls)
    until(lambda: is_idle(pool))
    gc.collect()  # frames of the errors hold on to what they waited for
    until(lambda: free("object_store_memory") >= before)


def test_an_interrupt_leaves_no_calls_behind(pool: Pool) -> None:
    until(lambda: is_idle(pool))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        pool.run([Call(remote_calls.nap, (2.0,), place=place) for place in range(3)])
    timer.join()
    # They are at it still, and there is no other: it waits its turn.
    assert pool.run([Call(remote_calls.double, (2,))]) == [4]
    until(lambda: is_idle(pool))
    assert pool.n_workers == 3


def test_calls_that_nobody_waits_for(pool: Pool) -> None:
    """Whoever reads only the beginning of the results leaves nothing behind."""
    results = in_order(pool, (Call(remote_calls.double, (i,)) for i in range(100)))
    assert [next(results) for _ in range(3)] == [0, 2, 4]
    results.close()
    until(lambda: is_idle(pool))
    pending = pool.start([Call(remote_calls.double, (1,))])
    del pending  # forgotten, without a word
    until(lambda: is_idle(pool))


def test_short_calls_see_who_comes(pool: Pool) -> None:
    """A worker that was replaced is noticed, and gets work, however short calls are."""
    (victim,) = pool.run([Call(remote_calls.pid, place=1)])
    os.kill(victim, signal.SIGKILL)
    seen: set[int] = set()
    while len(seen) < 3:
        found = pool.run([Call(remote_calls.pid, place=place) for place in pool.ready_places])
        seen = {*found} - {victim}
    assert pool.n_workers == 3


def test_a_result_that_stayed_and_is_lost(pool: Pool, tmp_path: Path) -> None:
    """It is made again; whoever needs it does not notice."""
    (tmp_path / "made").mkdir()
    calls = [Call(remote_calls.noted, (str(tmp_path / "made"),), stays=True)]
    kept = pool.run(calls)
    arguments = (str(tmp_path / "flag"), *kept)
    assert pool.run([Call(remote_calls.lacks_it_once, arguments, place=1)]) == [1000]
    assert len(list((tmp_path / "made").iterdir())) == 2


def test_errors_of_ray_are_said_as_ours(pool: Pool, tmp_path: Path) -> None:
    arguments = (str(tmp_path / "flag"), np.ones(2))
    with pytest.raises(ClusterError, match="a worker could not do its work"):
        pool.run([Call(remote_calls.lacks_it_once, arguments)])


@pytest.mark.slow
def test_a_result_that_stayed_on_a_lost_node(ray_cluster: Any) -> None:
    options = {"num_cpus": 20, "object_store_memory": OBJECT_STORE}
    node = ray_cluster.add_node(**options)
    with Pool(None, 1, n_threads=20) as pool:
        (kept,) = pool.run([Call(remote_calls.large, (1_000_000,), stays=True)])
        ray_cluster.remove_node(node, allow_graceful=False)
        node = ray_cluster.add_node(**options)
        (found,) = pool.run([Call(remote_calls.double, (kept,))])
    ray_cluster.remove_node(node)
    assert found.sum() == 2_000_000


def test_two_workers_stand_still(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A third one does what the first and the second do not."""
    monkeypatch.setattr(pool_module, "_LONG", 0.2)
    monkeypatch.setattr(seats, "_HANGS", 0.5)
    calls = [
        Call(remote_calls.double, (1,)),
        Call(remote_calls.sleep_first, (str(tmp_path), 2), place=2),
    ]
    assert pool.run(calls) == [2, "awake"]
    assert len(list(tmp_path.iterdir())) == 3
    until(lambda: is_idle(pool) and pool.n_workers == 3)


def test_the_only_worker_stands_still(ray_cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGSTOP: nobody else can do its work, not even with `alone`; it is replaced."""
    with Pool(None, 1) as pool:
        (victim,) = pool.run([Call(remote_calls.pid)])
        monkeypatch.setattr(seats, "_ASK", 0.2)
        monkeypatch.setattr(seats, "_HANGS", 1.0)
        os.kill(victim, signal.SIGSTOP)
        (other,) = pool.run([Call(remote_calls.pid, alone=True)])
        # One that computes for long answers meanwhile, and stays.
        assert pool.run([Call(remote_calls.nap, (2.0,), alone=True)]) == [other] != [victim]
        assert pool.statistics[0].n_deaths == 1


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_resizing_with_calls_under_way(ray_cluster: Any) -> None:
    """Workers that are too many end, and none takes their place."""
    with Pool(None, 3) as pool:
        pids = pool.run([Call(remote_calls.pid, place=place) for place in range(3)])
        pending = pool.start([Call(remote_calls.nap, (0.5,), place=place) for place in range(3)])
        taken_away = pool._seats.all[1:]
        pool.resize(1)
        assert set(pool.finish(pending)) == {pids[0]}
        assert all(seat.handle is seat.starting is None for seat in taken_away)
        assert pool.size == pool.n_workers == 1
    until(lambda: not any(map(is_running, pids)))


def test_a_pool_that_does_not_come_about_leaves_no_workers(
    ray_cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait, pids = seats.Seats._wait, []

    def interrupted(self: Any) -> None:
        wait(self)
        pids.extend(seat.statistics.place.pid for seat in self.ready)
        raise KeyboardInterrupt

    monkeypatch.setattr(seats.Seats, "_wait", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        Pool(None, 1)
    assert len(pids) == 1
    until(lambda: not is_running(pids[0]))
    del caught  # it holds on to the frames, and they to the worker


def test_workers_that_end_at_once(ray_cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "_MOST_FAILURES", 2)
    with pytest.raises(ClusterError, match="workers end as soon as they start"):
        Pool(remote_calls.Poison(), 1)


def test_more_workers_than_there_is_room_for(ray_cluster: Any) -> None:
    """Those that fit begin at once; the others wait for room."""
    with Pool(None, 1, n_threads=2) as held, Pool(None, 9, n_threads=2, patience=24) as pool:
        n_first = pool.n_workers
        assert 0 < n_first < pool.size == 9
        assert pool.run([Call(remote_calls.double, (i,)) for i in range(8)]) == [*range(0, 16, 2)]
        held.close()
        until(lambda: bool(pool.ready_places) and pool.n_workers > n_first)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0, 1), "workers is 0, expected 1"), ((1, 0), "worker_threads is 0, expected 1")],
)
def test_wrong_numbers(arguments: tuple[int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pool(None, arguments[0], n_threads=arguments[1])


def test_sqlite_where_the_driver_has_no_processors(
    ray_cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seats.Seats, "_room", 0)
    with pytest.raises(ClusterError, match="has room for 0 of 1 workers: move the documents"):
        Pool(StoreSource(str(tmp_path / "topics.db")))
