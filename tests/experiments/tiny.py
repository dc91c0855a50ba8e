"""Data and settings that take a moment."""

from __future__ import annotations

import gzip
import io
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from scipy import sparse

from experiments import mnist, patches, robustness, search_ratings, search_text
from experiments.experiment import Experiment, Result
from experiments.runner import Setup, complete


def write_idx(path: Path, values: np.ndarray) -> None:
    """uint8 in the format of the MNIST site; compressed if the path ends in .gz."""
    content = bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    content += values.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def digits(folder: Path, n: int = 300) -> Path:
    """`mnist.npz` of two kinds of image, 6x6: ink above or ink on the left."""
    rng = np.random.default_rng(0)
    images = np.full((n, 6, 6), 20, dtype=np.uint8)
    above = rng.random(n) < 0.5
    images[above, :3] = 230
    images[~above, :, :3] = 230
    np.savez(folder / "mnist.npz", x_train=images)
    return folder


def photographs(folder: Path) -> Path:
    """`photographs.npz`: three pictures of noise that varies from place to place."""
    rng = np.random.default_rng(0)
    shade = rng.integers(20, 200, size=(3, 10, 1, 10, 1))
    noise = rng.integers(0, 40, size=(3, 10, 8, 10, 8))
    np.savez(folder / "photographs.npz", images=(shade + noise).reshape(3, 80, 80).astype(np.uint8))
    return folder


def articles(folder: Path, n: int = 80) -> Path:
    """`wiki_en.npz`: articles about one of two halves of the vocabulary, and three stubs."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(2.0, size=(n, 40))
    counts[: n // 2, 20:] = 0
    counts[n // 2 :, :20] = 0
    counts = sparse.csr_matrix(np.concatenate([rng.permutation(counts), np.eye(3, 40, dtype=int)]))
    np.savez(
        folder / "wiki_en.npz",
        data=counts.data,
        indices=counts.indices.astype(np.uint16),
        indptr=counts.indptr,
        shape=np.array(counts.shape),
    )
    return folder


def likes(folder: Path, n_users: int = 40) -> Path:
    """`movietweetings.npz`: users like six of ten movies of one of two kinds, rated 9."""
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(n_users), 6)
    item = np.concatenate([rng.choice(10, 6, replace=False) + 10 * (u % 2) for u in range(n_users)])
    np.savez(
        folder / "movietweetings.npz",
        user=user,
        item=item,
        rating=np.full(user.size, 9),
        timestamp=np.arange(user.size),
    )
    return folder


def small(experiment: Experiment, n_seeds: int = 2, **settings: object) -> Experiment:
    """The same experiment with other settings at quick scale."""
    quick = {**experiment.settings["quick"], **settings}
    return replace(
        experiment,
        settings={**experiment.settings, "quick": quick},
        n_seeds={"quick": n_seeds, "paper": n_seeds},
    )


def result_of(experiment: Experiment, folder: Path) -> Result:
    """What comes out with the data of a folder; files go to `out` in it."""
    console = Console(file=io.StringIO(), force_terminal=False)
    return complete(experiment, Setup(folder, folder / "out"), console)


MNIST = small(
    mnist.EXPERIMENT, n_components=4, batch_size=20, epochs={"TR": 2, "NG": 4}, n_points=4
)
PATCHES = small(
    patches.EXPERIMENT,
    n_patches=400,
    side=2,
    n_components=3,
    batch_size={"TR": 20, "NG": 20, "MO_B500": 20, "MO_B10k": 200},
    epochs={"TR": 1, "NG": 2, "MO_B500": 2, "MO_B10k": 2},
    n_points=4,
    n_scored=400,
)
SEARCH = small(
    search_text.EXPERIMENT,
    n_components=[2, 3],
    n_articles=50,
    n_validation=10,
    n_test=10,
)
ROBUSTNESS = small(robustness.EXPERIMENT, n_components=2, n_articles=50, n_validation=10, n_test=10)
RATINGS = small(search_ratings.EXPERIMENT, n_components=[2], n_validation=20, n_test=20)
