"""A small corpus as Parquet files of texts, and a model of it."""

from __future__ import annotations

from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet

from trustream import LatentDirichletAllocation
from trustream.feeds import read_documents
from trustream.streaming.fitted_models import FittedModel
from trustream.text import Tokeniser, count_matrix

N_FILES, N_ROWS = 9, 60
WORDS = [kind + letter for kind in ("pet", "bank", "tree") for letter in ascii_lowercase[:20]]


def texts(n: int, seed: int) -> list[str]:
    """Texts about one of three things, some of them empty or of unknown words."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        kind = rng.integers(3)
        words = [WORDS[20 * kind + j] for j in rng.integers(20, size=rng.integers(1, 30))]
        words += [WORDS[j] for j in rng.integers(60, size=3)]
        found.append({7: "", 11: "nobody knows these"}.get(i, " ".join(words)))
    return found


def write_files(folder: Path) -> str:
    """Nine files of sixty documents in row groups of seventeen; the pattern of all."""
    folder.mkdir()
    for number in range(N_FILES):
        table = pyarrow.table(
            {
                "id": [f"{number}-{i}" for i in range(N_ROWS)],
                "text": texts(N_ROWS, number),
                "day": [float(86400 * (number * N_ROWS + i)) for i in range(N_ROWS)],
            }
        )
        parquet.write_table(table, folder / f"docs-{number}.parquet", row_group_size=17)
    return str(folder / "*.parquet")


def documents(folder: Path) -> list[Any]:
    """All documents in order, as one machine reads them."""
    return [document for path in sorted(folder.iterdir()) for document in read_documents(path)]


def fitted(folder: Path) -> FittedModel:
    """A model of three topics with words and a tokeniser."""
    counts = count_matrix([document.words for document in documents(folder)], WORDS)
    lda = LatentDirichletAllocation(3, random_state=0, max_iter=2, n_jobs=1).fit(counts)
    return FittedModel("small.safetensors", lda, WORDS, Tokeniser())
