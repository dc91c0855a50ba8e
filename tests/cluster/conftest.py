"""A cluster of three nodes on this machine, real Ray, for all tests that need one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import corpus_files
from trustream.cluster import pool as pool_module
from trustream.cluster.connection import ray_module
from trustream.cluster.pool import Pool

# Enough for the arrays of a small step; a node takes so much of /dev/shm.
OBJECT_STORE = 90_000_000


def start_cluster(n_nodes: int = 3, cpus: int = 3, **head: Any) -> Any:
    ray_module()
    from ray.cluster_utils import Cluster

    node = {"num_cpus": cpus, "object_store_memory": OBJECT_STORE}
    cluster = Cluster(
        initialize_head=True, head_node_args={**node, "include_dashboard": False, **head}
    )
    for _ in range(n_nodes - 1):
        cluster.add_node(**node, wait=False)
    cluster.wait_for_nodes()
    return cluster


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[Any]:
    """A head and two more nodes, three processors each."""
    ray = ray_module()
    cluster = start_cluster()
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of nine Parquet files with texts."""
    path = tmp_path_factory.mktemp("corpus") / "docs"
    corpus_files.write_files(path)
    return path


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[Pool]:
    """The pools that functions over the parts of a corpus have made."""
    made: list[Pool] = []

    def make(*arguments: Any, **options: Any) -> Pool:
        made.append(Pool(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(pool_module, "Pool", make)
    return made
