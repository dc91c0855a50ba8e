"""Articles for LDA: a training part, and a validation and a test part that it never sees."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from experiments import facts
from experiments.frame import Source

FILE = "wiki_en.npz"
# Different words; what is shorter is a stub or a redirect.
_LEAST_WORDS = 10


class Articles(NamedTuple):
    """Counts, articles x words."""

    train: sparse.csr_matrix
    validation: sparse.csr_matrix
    test: sparse.csr_matrix


def load(
    data: Path, n_train: int | None, n_validation: int, n_test: int
) -> tuple[Articles, Source]:
    """The first articles are for tests, the next for validation, whatever is trained on.

    Args:
        data: directory with `wiki_en.npz`: a CSR matrix in parts, articles in random order.
        n_train: articles to train on, None for all that are left.

    Raises:
        FileNotFoundError: the directory does not have the file.
        ValueError: there are not so many articles.
    """
    path = data / FILE
    if not path.is_file():
        raise FileNotFoundError(
            f"no {FILE} in {data}. Name the directory with --data or TRUSTREAM_DATA."
        )
    with np.load(path) as parts:
        arrays = (parts["data"], parts["indices"].astype(np.int32), parts["indptr"])
        counts = sparse.csr_matrix(arrays, shape=tuple(parts["shape"]))
    counts = counts[np.diff(counts.indptr) >= _LEAST_WORDS]
    apart = n_test + n_validation
    left = counts.shape[0] - apart
    n_train = left if n_train is None else n_train
    if not 0 < n_train <= left:
        raise ValueError(
            f"{path} has {counts.shape[0]} articles of {_LEAST_WORDS} words or more: too few for "
            f"{n_train} to train on and {apart} to validate and test with"
        )
    found = Articles(counts[apart : apart + n_train], counts[n_test:apart], counts[:n_test])
    name = f"{n_train:,} articles of English Wikipedia instead of 3.8 million"
    note = f"Articles have {_LEAST_WORDS} different words or more."
    return found, Source(name, [path.name], facts.sha256([path]), False, note)
