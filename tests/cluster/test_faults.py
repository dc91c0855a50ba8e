"""Workers, nodes and drivers that die while a model is trained: the same numbers as without."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from tests.cluster import corpora
from tests.cluster.conftest import OBJECT_STORE
from tests.forking import Forked
from tests.helpers import snapshot
from trustream import StreamTrainer, open_store
from trustream.cluster import pool as pool_module
from trustream.cluster import seats
from trustream.cluster.engine import ClusterEngine
from trustream.cluster.pool import Pool
from trustream.cluster.sources import StoreSource
from trustream.streaming.engine import Here
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.published import load_checkpoint
from trustream.streaming.setup import prepare
from trustream.streaming.trainer_status import trainer_status


@pytest.fixture(scope="module")
def address(server: Any) -> str:
    return corpora.fill(f"{server.url}&schema=cluster_faults", 600)


@pytest.fixture(scope="module")
def pool(ray_cluster: Any, address: str) -> Iterator[Pool]:
    with Pool(StoreSource(address), 3) as pool:
        yield pool


def kill_a_worker(pool: Pool, rng: np.random.Generator) -> bool:
    """SIGKILL one that is ready; whether there was one."""
    places = [worker.place for worker in pool.statistics if worker.place is not None]
    if not places:
        return False
    victim = places[rng.integers(len(places))]
    try:
        os.kill(victim.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False  # it is dead, and nobody has noticed yet
    return True


def until_done(
    n: int, act: Callable[[], bool], rng: np.random.Generator, between: Callable[[], object] = int
) -> Callable[[Any], bool]:
    """A callback of a run that ends it once something was done n times, at random moments.

    It is done in another thread, within a third of a second after a step, so that there are steps
    between; `between` is called after each step, in this thread.
    """
    stepped = threading.Semaphore(0)

    def work() -> None:
        done = 0
        while done < n:
            stepped.acquire()
            time.sleep(0.3 * rng.random())
            done += act()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def callback(info: Any) -> bool:
        between()
        stepped.acquire(blocking=False)  # one step is as good as several
        stepped.release()
        return not thread.is_alive()

    return callback


def disturbed(address: str, pool: Pool, name: str, callback: Callable[[Any], bool]) -> Any:
    """The checkpoint of a model whose training goes on until the callback ends it."""
    options = {"batch_size": 100, "score_every": 5, "random_state": 3}
    with open_store(address, create=False) as store:
        engine = ClusterEngine(pool, 8, 10)
        with StreamTrainer(store, 20, name=name, engine=engine, **options) as trainer:
            trainer.run(callback=callback)
            return trainer.checkpoint()


def undisturbed(address: str, name: str, steps: int) -> Any:
    options = {"batch_size": 100, "score_every": 5, "random_state": 3}
    with open_store(address, create=False) as store:
        with StreamTrainer(store, 20, name=name, engine=Here(8, 10), **options) as trainer:
            trainer.run(steps=steps)
            return trainer.checkpoint()


def check_killed(address: str, pool: Pool, n: int) -> None:
    rng = np.random.default_rng(n)
    deaths = sum(worker.n_deaths for worker in pool.statistics)
    end = until_done(n, lambda: kill_a_worker(pool, rng), rng)
    found = disturbed(address, pool, f"killed {n}", end)
    plain = undisturbed(address, f"not killed {n}", found.state.n_steps)
    assert snapshot(found.state) == snapshot(plain.state)
    assert (found.clock, found.draws, found.others) == (plain.clock, plain.draws, plain.others)
    assert sum(worker.n_deaths for worker in pool.statistics) > deaths


def test_workers_are_killed(address: str, pool: Pool) -> None:
    check_killed(address, pool, 2)


@pytest.mark.slow
def test_many_workers_are_killed(address: str, pool: Pool) -> None:
    check_killed(address, pool, 20)


def check_removed(cluster: Any, address: str, n: int) -> None:
    """Nodes with workers are lost, and others added, while a model is trained."""
    options = {"num_cpus": 6, "object_store_memory": OBJECT_STORE}
    nodes = [cluster.add_node(**options)]
    # More than there is room for elsewhere, so that the node has some of them.
    with Pool(StoreSource(address), 9) as pool:
        while nodes[0].node_id not in {one.place.node for one in pool.statistics if one.place}:
            pool._seats.tend(0.2)

        def remove() -> bool:
            if not nodes:
                return False
            cluster.remove_node(nodes.pop(), allow_graceful=False)
            return True

        def add() -> None:
            # Ray wants to be asked by the main thread.
            if not nodes:
                nodes.append(cluster.add_node(**options))

        rng = np.random.default_rng(n)
        found = disturbed(address, pool, f"removed {n}", until_done(n, remove, rng, add))
        deaths = sum(worker.n_deaths for worker in pool.statistics)
    for node in nodes:
        cluster.remove_node(node)
    plain = undisturbed(address, f"not removed {n}", found.state.n_steps)
    assert snapshot(found.state) == snapshot(plain.state)
    assert deaths > 0


@pytest.mark.slow
def test_nodes_are_removed(ray_cluster: Any, address: str) -> None:
    check_removed(ray_cluster, address, 5)


def test_a_worker_stands_still(address: str, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGSTOP: its part is computed by another worker, and it is replaced in time."""
    monkeypatch.setattr(pool_module, "_LONG", 0.5)
    monkeypatch.setattr(pool_module, "_ALONE", 1.0)
    monkeypatch.setattr(seats, "_HANGS", 3.0)
    stopped: list[int] = []

    def callback(info: Any) -> bool:
        if info.step.n_steps == 3:
            place = next(one.place for one in pool.statistics if one.place is not None)
            os.kill(place.pid, signal.SIGSTOP)
            stopped.append(place.pid)
        return info.step.n_steps >= 8

    try:
        found = disturbed(address, pool, "stopped", callback)
    finally:
        with suppress(ProcessLookupError):  # it was replaced meanwhile
            os.kill(stopped[0], signal.SIGCONT)
    assert stopped
    plain = undisturbed(address, "not stopped", 8)
    assert snapshot(found.state) == snapshot(plain.state)


def train(address: str, cluster: Any, n_workers: int, *options: str) -> Forked:
    command = [
        "train", address, "--cluster", cluster.address, "--workers", n_workers, "--parts", "8",
        "--model", "driven", *options,
    ]  # fmt: skip
    return Forked(None, *command, env={**os.environ, "RAY_ADDRESS": ""})


def test_the_driver_is_killed(ray_cluster: Any, address: str) -> None:
    """It goes on from its checkpoint to the numbers of a driver that was left alone."""
    model = TopicStream(n_components=20, batch_size=100, score_every=5, random_state=3)
    with open_store(address, create=False) as store:
        prepare(store, model, "driven")
        process = train(address, ray_cluster, 2, "--checkpoint-every", "0")
        while (store.saved_version("driven") or 0) < 4:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        during = trainer_status(store, "driven")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        before = load_checkpoint(store, "driven")
        assert before is not None and before.model.recipe.n_parts == 8
        # Of a driver that is there, others see how its workers do.
        assert during is not None and during.cluster is not None and "2 of 2" in during.text
        again = train(address, ray_cluster, 1, "--steps", "5", "--json")
        output = "".join(again.communicate(timeout=300))
        assert again.returncode == 0, output
        found = load_checkpoint(store, "driven")
        assert found is not None and found.state.n_steps == before.state.n_steps + 5
        options = {"batch_size": 100, "score_every": 5, "random_state": 3}
        with StreamTrainer(store, 20, name="left alone", engine=Here(8), **options) as trainer:
            trainer.run(steps=found.state.n_steps)
        plain = load_checkpoint(store, "left alone")
    assert plain is not None and snapshot(found.state) == snapshot(plain.state)
    assert "workers are ready" in output and "in the driver" in output
