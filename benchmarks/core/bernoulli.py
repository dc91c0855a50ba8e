"""The paper's run of a Bernoulli mixture on MNIST next to its matrix products alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.harness.rows import Row, Setup, at_most
from benchmarks.harness.timing import seconds, sum_of_best
from trustream.inference import driver, schedules, trust_region
from trustream.inference.state import State
from trustream.kernels import threads
from trustream.models.mixture import BernoulliModel, BernoulliPrior
from trustream.models.mixture.feature_blocks import block_rows

FILES = ("mnist.npz",)
N_COMPONENTS, BATCH_SIZE, N_INNER, N_EPOCHS = 40, 200, 2, 10
# Steps between two turns of the run and its products.
_CHUNK = 30


def measure(setup: Setup) -> Iterator[Row]:
    """10 epochs, or one of ten and ten times its time; the products take turns with the run."""
    data = _digits(setup)
    rng = np.random.default_rng(0)
    model = BernoulliModel(
        n_components=N_COMPONENTS, n_features=data.shape[1], n_threads=setup.n_threads
    )
    prior = BernoulliPrior(np.ones(N_COMPONENTS))
    n_epochs = setup.choose(N_EPOCHS, 1)
    steps = driver.run(
        model,
        State(model.initial(prior, rng), prior),
        data,
        # One chunk more, to warm up.
        (rows for _ in range(n_epochs + 1) for rows in driver.shuffled(len(data), BATCH_SIZE, rng)),
        step=partial(trust_region.step, n_inner=N_INNER, n_local=1),
        schedule=schedules.decaying(100.0, 0.5),
        n_documents=len(data),
    )
    products = _products(model, data, setup.n_threads)
    times: dict[str, list[list[float]]] = {"run": [], "products": []}
    with threads.one_blas_thread():
        _chunk(steps)
        products()
        for _ in range(n_epochs):
            chunks = len(data) // (BATCH_SIZE * _CHUNK)
            pairs = [(seconds(partial(_chunk, steps)), seconds(products)) for _ in range(chunks)]
            times["run"].append([run for run, _ in pairs])
            times["products"].append([alone for _, alone in pairs])
    ratio = sum_of_best(times["run"]) / sum_of_best(times["products"])
    total = sum(map(sum, times["run"])) * N_EPOCHS / n_epochs
    name = "Bernoulli mixture, MNIST, K=40, 10 epochs"
    yield at_most(f"{name}, against its products", ratio, 3, "x", timings=times)
    yield at_most(f"{name}, all of it", total, 20, "s", epochs_run=n_epochs)


def _digits(setup: Setup) -> np.ndarray:
    """Training digits (60000, 784), each pixel 1 with the probability of its grey value."""
    with np.load(setup.data / FILES[0]) as parts:
        grey = parts["x_train"].reshape(len(parts["x_train"]), -1)
    noise = np.random.default_rng(0).random(grey.shape, dtype=np.float32)
    return (noise < grey / np.float32(255)).astype(np.uint8)


def _chunk(steps: Iterator[object]) -> None:
    for _ in range(_CHUNK):
        next(steps)


def _products(model: BernoulliModel, data: np.ndarray, n_threads: int) -> Callable[[], None]:
    """Scores and moments of _CHUNK steps: the same shapes, blocks and types.

    Threads do not wait for each other between steps. The sums for the uniform start, vectors
    rather than matrices, are left out.
    """
    n_rows = block_rows(model.n_features)
    blocks = data[: 4 * BATCH_SIZE].astype(model.dtype).reshape(-1, n_rows, model.n_features)
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((model.n_components, model.n_features)).astype(model.dtype)

    def work(start: int, stop: int) -> None:
        scores = np.empty((n_rows, model.n_components), model.dtype)
        moments = np.empty_like(weights)
        for i in range(start, stop):
            block = blocks[i % len(blocks)]
            for _ in range(N_INNER):
                np.matmul(block, weights.T, out=scores)
                np.matmul(scores.T, block, out=moments)

    parts = threads.split(_CHUNK * BATCH_SIZE // n_rows, 2)
    return lambda: threads.run(work, parts, n_threads)
