"""Articles for LDA: a training part, and a validation and a test part that it never sees.

From a MediaWiki dump if there is one, else from `wiki_en.npz`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from experiments import dump, provenance
from experiments.experiment import Source

FILE = "wiki_en.npz"
# Different words; what is shorter is a stub or a redirect, and is not scored.
_LEAST_WORDS = 10


class Articles(NamedTuple):
    """Counts, articles x words."""

    train: sparse.csr_matrix
    validation: sparse.csr_matrix
    test: sparse.csr_matrix


def load(
    data: Path,
    n_train: int | None,
    n_validation: int,
    n_test: int,
    *,
    least_words: int = _LEAST_WORDS,
) -> tuple[Articles, Source]:
    """The first articles are for tests, the next for validation, whatever is trained on.

    Args:
        data: directory with MediaWiki dumps (`*.xml`, or that with `.bz2`, `.gz` or `.xz`), or with
            `wiki_en.npz`: a CSR matrix in parts, articles in random order.
        n_train: articles to train on, None for all that are left.
        least_words: different words that these have. Others have ten.

    Raises:
        FileNotFoundError: the directory has neither.
        ValueError: there are not so many articles.
    """
    counts, files, digest, note = _counts(data)
    n_words = np.diff(counts.indptr)
    apart = np.flatnonzero(n_words >= _LEAST_WORDS)[: n_test + n_validation]
    left = np.setdiff1d(np.flatnonzero(n_words >= least_words), apart)
    n_train = left.size if n_train is None else n_train
    if not 0 < n_train <= left.size or apart.size < n_test + n_validation:
        raise ValueError(
            f"{', '.join(files)} in {data} has {left.size + apart.size} articles of {least_words} "
            f"words or more: too few for {n_train} to train on and {n_test + n_validation} to "
            "validate and test with"
        )
    found = Articles(counts[left[:n_train]], counts[apart[n_test:]], counts[apart[:n_test]])
    whose = "English Wikipedia" if files == [FILE] else files[0]
    name = f"{n_train:,} articles of {whose} instead of 3.8 million"
    which = "Articles" if least_words == _LEAST_WORDS else "Articles that are scored"
    note = f"{which} have at least {_LEAST_WORDS} different words. {note}".strip()
    return found, Source(name, files, digest, False, note)


def _counts(data: Path) -> tuple[sparse.csr_matrix, list[str], str, str]:
    """Counts in random order, names of the files, their SHA-256, and a note."""
    dumps, path = dump.find(data), data / FILE
    if dumps:
        counts, digest, note = dump.counts(dumps, data / dump.VOCABULARY)
        return counts, [each.name for each in dumps], digest, note
    if not path.is_file():
        raise FileNotFoundError(
            f"no articles in {data}: a MediaWiki dump (*.xml, *.xml.bz2) or {FILE} is read. "
            "Name the directory with --data or TRUSTREAM_DATA."
        )
    with np.load(path) as parts:
        arrays = (parts["data"], parts["indices"].astype(np.int32), parts["indptr"])
        counts = sparse.csr_matrix(arrays, shape=tuple(parts["shape"]))
    return counts, [path.name], provenance.sha256([path]), ""
