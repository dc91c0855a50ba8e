"""Time of the best items of many users, next to the products alone and to implicit.

All use the same factors and leave out nothing but what each user has seen; what is compared takes
turns, users a part at a time, and the best run of each part counts.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.harness.rows import Row, Setup, at_most, information
from benchmarks.harness.timing import Task, interleaved, sum_of_best
from trustream.evaluation import top_items
from trustream.kernels import threads

FILES = ()
N_ITEMS, K, N, N_SEEN = 17_000, 100, 20, 50
_PART, _BLOCK = 20_000, 112


def measure(setup: Setup) -> Iterator[Row]:
    """Ours over the products and a partial sort, and over implicit."""
    n_users = setup.choose(100_000, 20_000)
    rng = np.random.default_rng(0)
    theta = rng.dirichlet(np.full(K, 0.1), n_users).astype(np.float32)
    beta = rng.dirichlet(np.full(N_ITEMS, 0.1), K).astype(np.float32)
    seen = _seen(rng, n_users)
    timings: dict[str, list[list[float]]] = {}
    missing = ""
    for start in range(0, n_users, _PART):
        rows = slice(start, start + _PART)
        tasks: dict[str, Task] = {
            "ours": partial(
                top_items, (theta[rows], beta), N, seen=seen[rows], n_threads=setup.n_threads
            ),
            "products": partial(_blocks, theta[rows], beta, setup.n_threads, False),
            "products and sort": partial(_blocks, theta[rows], beta, setup.n_threads, True),
        }
        try:
            tasks["implicit"] = _implicit(theta[rows], beta, seen[rows], setup.n_threads)
        except ImportError as error:
            missing = f"not installed: {error}"
        for name, runs in interleaved(tasks, setup.choose(3, 2), warm=start == 0).items():
            timings.setdefault(name, []).append(runs)
    best = {name: sum_of_best(parts) for name, parts in timings.items()}
    what = f"top {N}, {n_users} users x {N_ITEMS} items, {K} topics"
    yield information(f"{what}: ours", best["ours"], "s", best=best, timings=timings)
    yield at_most(
        f"{what}: over products and partial sort",
        best["ours"] / best["products and sort"],
        1.5,
        "x",
    )
    yield information(f"{what}: over products alone", best["ours"] / best["products"], "x")
    if missing:
        yield Row(f"{what}: over implicit's; {missing}", None, "<= 2", "x", None)
    else:
        yield at_most(f"{what}: over implicit's", best["ours"] / best["implicit"], 2.0, "x")


def _seen(rng: np.random.Generator, n_users: int) -> sparse.csr_array:
    indices = np.sort(rng.integers(N_ITEMS, size=(n_users, N_SEEN)), axis=1).ravel()
    indptr = np.arange(n_users + 1) * N_SEEN
    matrix = sparse.csr_array(
        (np.ones(indices.size, np.float32), indices, indptr), shape=(n_users, N_ITEMS)
    )
    matrix.sum_duplicates()
    return matrix


def _blocks(theta: np.ndarray, beta: np.ndarray, n_threads: int, sort: bool) -> None:
    """The least that has to be done: scores of a block of users, and the best of each."""
    buffers = threading.local()

    def work(start: int, stop: int) -> None:
        if not hasattr(buffers, "scores"):
            buffers.scores = np.empty((_BLOCK, beta.shape[1]), np.float32)
        scores = np.matmul(theta[start:stop], beta, out=buffers.scores[: stop - start])
        if sort:
            np.argpartition(scores, -N, axis=1)[:, -N:]

    with threads.one_blas_thread():
        threads.run(work, threads.split(theta.shape[0], _BLOCK), n_threads)


def _implicit(theta: np.ndarray, beta: np.ndarray, seen: sparse.csr_array, n_threads: int) -> Task:
    als: Any = importlib.import_module("implicit.als")
    with threadpool_limits(1, "blas"):
        model = als.AlternatingLeastSquares(K, num_threads=n_threads)
    model.user_factors, model.item_factors = theta, np.ascontiguousarray(beta.T)
    users, liked = np.arange(theta.shape[0]), sparse.csr_matrix(seen)

    def task() -> None:
        with threadpool_limits(1, "blas"):  # as implicit asks for
            model.recommend(users, liked, N=N, filter_already_liked_items=True)

    return task
