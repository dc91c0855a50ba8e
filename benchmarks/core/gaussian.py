"""A step of a Gaussian mixture on patches of photographs next to its linear algebra alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.linalg import lapack

from benchmarks.harness.rows import Row, Setup, at_most
from benchmarks.harness.timing import seconds, sum_of_best
from trustream.inference import driver, schedules, trust_region
from trustream.inference.state import State
from trustream.kernels import threads
from trustream.models.mixture import GaussianModel, GaussianPrior
from trustream.models.mixture.feature_blocks import block_rows
from trustream.models.mixture.gaussian_features import n_columns

FILES = ("photographs.npz",)
N_COMPONENTS, SIDE, BATCH_SIZE, N_INNER = 50, 8, 500, 5
_N_PATCHES = 50_000
# Any positive definite matrix, in LAPACK's order of memory.
_MATRIX = np.asfortranarray(np.eye(SIDE**2) + 0.5)


def measure(setup: Setup) -> Iterator[Row]:
    """Time of a trust-region step over that of its products and factorisations."""
    data = _patches(setup)
    d = data.shape[1]
    rng = np.random.default_rng(0)
    model = GaussianModel(n_components=N_COMPONENTS, n_features=d, n_threads=setup.n_threads)
    prior = GaussianPrior(
        np.ones(N_COMPONENTS), data.mean(axis=0), 1.0, np.cov(data, rowvar=False), d + 2.0
    )
    batches = list(driver.shuffled(len(data), BATCH_SIZE, rng))[: setup.choose(40, 15)]
    n_rounds = setup.choose(6, 3)
    steps = driver.run(
        model,
        State(model.initial(prior, rng), prior),
        data,
        batches * (n_rounds + 1),
        step=partial(trust_region.step, n_inner=N_INNER, n_local=1),
        schedule=schedules.decaying(10.0, 0.5),
        n_documents=len(data),
    )
    tasks = {
        "step": steps.__next__,
        "products": _products(setup.n_threads),
        "factorisations, one thread": _factorisations,
    }
    times: dict[str, list[list[float]]] = {name: [[] for _ in batches] for name in tasks}
    with threads.one_blas_thread():
        for i_round in range(n_rounds + 1):
            for i in range(len(batches)):
                for name, task in tasks.items():
                    taken = seconds(task)
                    # The first round warms up.
                    if i_round > 0:
                        times[name][i].append(taken)
    best = {name: sum_of_best(runs) for name, runs in times.items()}
    # SciPy's LAPACK holds the interpreter lock: threads would have to share this work out.
    alone = best["products"] + best["factorisations, one thread"] / setup.n_threads
    yield at_most(
        "Gaussian mixture step, K=50 D=64 B=500 m=5, against its linear algebra",
        best["step"] / alone,
        3,
        "x",
        best_ms={name: 1e3 * total / len(batches) for name, total in best.items()},
        timings=times,
    )


def _patches(setup: Setup) -> np.ndarray:
    """Log intensities of random patches (N, 64); noise makes grey values continuous."""
    with np.load(setup.data / FILES[0]) as parts:
        images = parts["images"]
    rng = np.random.default_rng(0)
    windows = np.lib.stride_tricks.sliding_window_view(images, (SIDE, SIDE), axis=(1, 2))
    chosen = tuple(rng.integers(n, size=_N_PATCHES) for n in windows.shape[:3])
    grey = windows[chosen].reshape(_N_PATCHES, -1)
    # From 1 upwards: the logarithm of black would be anything.
    return np.log(1 + grey + rng.random(grey.shape)).astype(np.float32)


def _products(n_threads: int) -> Callable[[], None]:
    """Matrix products of one step, in the shapes, blocks and types of the model.

    Whitening the data; then, for each inner iteration, scores and moments of quadratic features.
    """
    d = SIDE**2
    n_features = n_columns("full", d)
    rng = np.random.default_rng(0)
    x, factor = rng.standard_normal((BATCH_SIZE, d)), rng.standard_normal((d, d))
    features = rng.standard_normal((BATCH_SIZE, n_features))
    weights = rng.standard_normal((N_COMPONENTS, n_features))
    blocks = threads.split(BATCH_SIZE, block_rows(n_features))

    def whiten(start: int, stop: int) -> None:
        np.matmul(x[start:stop], factor)

    def multiply(start: int, stop: int) -> None:
        phi = np.matmul(features[start:stop], weights.T)
        np.matmul(phi.T, features[start:stop])

    def run() -> None:
        threads.run(whiten, blocks, n_threads)
        for _ in range(N_INNER):
            threads.run(multiply, blocks, n_threads)

    return run


def _factorisations() -> None:
    """A Cholesky factor and an inverse for each component, as often as a step needs them."""
    for _ in range(N_INNER * N_COMPONENTS):
        factor, _ = lapack.dpotrf(_MATRIX, lower=1)
        lapack.dpotri(factor, lower=1, overwrite_c=1)
