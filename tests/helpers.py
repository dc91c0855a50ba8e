"""Small corpora, planted data and snapshots that the tests share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

Array = NDArray[Any]

DTYPES = ("float32", "float64")
BACKENDS = ("reference", "compiled")


def counts_of(documents: list[list[int]], n_words: int) -> sparse.csr_matrix:
    """A CSR matrix of documents given as lists of words."""
    rows = [np.bincount(np.array(d, dtype=int), minlength=n_words) for d in documents]
    return sparse.csr_matrix(np.array(rows, dtype=np.float64).reshape(len(documents), n_words))


def random_counts(
    rng: np.random.Generator,
    n_documents: int,
    n_words: int,
    n_entries: float,
    weights: str = "integer",
) -> sparse.csr_matrix:
    """Documents of about `n_entries` different words, the first one empty, the second of one word.

    `weights` is "integer", "real", or "zeros" for integers of which some are stored zeros.
    """
    lengths = np.minimum(rng.poisson(n_entries, n_documents), n_words)
    lengths[:2] = np.arange(2)[:n_documents]
    words = [np.sort(rng.choice(n_words, n, replace=False)) for n in lengths]
    total = int(lengths.sum())
    data = 1.0 + rng.poisson(1.0, total)
    if weights == "real":
        data = rng.gamma(1.0, 2.0, total)
    elif weights == "zeros":
        data[rng.random(total) < 0.3] = 0.0
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    indices = np.concatenate([*words, np.empty(0, int)]).astype(np.int32)
    return sparse.csr_matrix((data, indices, indptr), shape=(n_documents, n_words))


def planted_lda(
    rng: np.random.Generator,
    n_topics: int,
    n_words: int,
    n_documents: int,
    length: float,
    alpha: float,
    eta: float,
) -> tuple[sparse.csr_matrix, Array]:
    """(counts, topics) drawn from LDA with those priors; topics are (K, V)."""
    topics = rng.dirichlet(np.full(n_words, eta), n_topics)
    theta = rng.dirichlet(np.full(n_topics, alpha), n_documents)
    lengths = rng.poisson(length, n_documents)
    rows = [rng.multinomial(n, p / p.sum()) for n, p in zip(lengths, theta @ topics, strict=True)]
    return sparse.csr_matrix(np.array(rows, dtype=np.float64)), topics


def matched_cosines(found: Array, planted: Array) -> Array:
    """Cosine of each planted row with the found row that the best one-to-one matching gives it."""
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (planted, found)]
    cosines = unit[0] @ unit[1].T
    return cosines[optimize.linear_sum_assignment(-cosines)]


def parts(value: Any) -> Iterator[Any]:
    """Every array and number inside tuples, lists, dictionaries and dataclasses."""
    if is_dataclass(value):
        value = [getattr(value, field.name) for field in fields(value) if field.compare]
    elif isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from parts(item)
    elif sparse.issparse(value):
        yield from (value.data, value.indices, value.indptr)
    else:
        yield value


def snapshot(value: Any) -> list[Any]:
    """The bits of a value, to be compared with those of another or of the same one later."""
    bits = []
    for part in parts(value):
        array = np.asarray(part)
        bits.append(
            (array.dtype.str, array.shape, array.tobytes()) if array.dtype != object else part
        )
    return bits


def wait_for(condition: Callable[[], object]) -> None:
    """Until it holds; an AssertionError after two minutes."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "waited for two minutes"
        time.sleep(0.02)
