"""Train the model of a store on a cluster: the function behind ``trustream train --cluster``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import EllipsisType
from typing import Any

from trustream.cluster import part_calls
from trustream.cluster.addresses import parse_address
from trustream.cluster.calls import Call
from trustream.cluster.driver_memory import check_driver
from trustream.cluster.engine import ClusterEngine, check_parts, check_trainable
from trustream.cluster.pool import check_numbers, pool_on
from trustream.cluster.sources import StoreSource
from trustream.store.protocol import Store
from trustream.streaming.published import DEFAULT_NAME, load_settings


@contextmanager
def cluster_engine(
    store: Store,
    cluster: str = "local",
    *,
    workers: int | None = None,
    worker_threads: int = 1,
    n_parts: int | None = None,
    exact_steps: int | EllipsisType | None = ...,
    name: str = DEFAULT_NAME,
    object_store_bytes: int | None = None,
) -> Iterator[ClusterEngine]:
    """An engine for trainers of a store, whose workers are on a cluster.

    Parameters
    ----------
    store : Store
        On PostgreSQL, which all nodes reach under the same address; a SQLite store can only be
        read by workers on this machine.
    cluster : str, default="local"
        "local" starts Ray on this machine, "auto" is the cluster that this machine belongs to,
        "host:port" the head node of another one.
    workers : int, default=None
        How many; None is one for every `worker_threads` processors of the cluster, also of nodes
        that are added later.
    worker_threads : int, default=1
        Processors of each worker.
    n_parts : int, default=None
        Parts of a batch. None is what the model has, or 8. More workers than parts are idle.
    exact_steps : int or None, default=...
        Steps of the model after which the parts of a batch solve their own subproblems; None
        never. Left out, it is what the model has.
    name : str, default="model"
        Of the model, whose size is compared with the memory of this machine.
    object_store_bytes : int, default=None
        Shared memory of a Ray that is started here; None is Ray's choice.

    Raises
    ------
    ClusterError
        If Ray is not installed or nobody answers, if the model cannot be trained on a cluster, if
        it does not fit into this machine's memory, or no worker gets ready.

    Examples
    --------
    >>> import trustream
    >>> from trustream.cluster.training import cluster_engine
    >>> def train(url):
    ...     with trustream.open_store(url) as store:
    ...         with cluster_engine(store, "auto", workers=8) as engine:
    ...             with trustream.StreamTrainer(store, 100, engine=engine) as trainer:
    ...                 trainer.run(until_idle=True)
    """
    parse_address(cluster)
    check_numbers(workers, worker_threads)
    if n_parts is not None:
        check_parts(n_parts)
    model: Any = load_settings(store, name)
    memory = ""
    if model is not None:
        check_trainable(model)
        memory = check_driver(model.n_components, store.totals().words, model.dtype)
    source = StoreSource(store.url, store.name)
    with pool_on(cluster, source, workers, worker_threads, object_store_bytes) as pool:
        warm_up = part_calls.warm_up, ("float32" if model is None else model.dtype,)
        pool.run([Call(*warm_up, place=place) for place in range(pool.size)])
        yield ClusterEngine(pool, n_parts, exact_steps, memory)
