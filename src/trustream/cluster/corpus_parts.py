"""Parts of a corpus, which workers read one by one.

The driver looks at how long files are, or how many documents a store has, and divides a corpus into
parts, always in the same way. A worker reads a part by itself, some documents at a time. What is
computed for a part does not depend on who computes it, and results are put together in the order of
parts: they are the same for any number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from trustream.array_types import Array
from trustream.store.records import Documents
from trustream.streaming.fitted_models import FittedModel
from trustream.topics.documents import DocumentBatch

# Documents of a block, which are read and worked on together: those of `Store.scan`.
BLOCK = 1000
# Documents of a part, at least, where there are as many. Row groups of a file are not divided.
PART = 4 * BLOCK


@dataclass(frozen=True, slots=True)
class CorpusPart:
    """Documents that follow each other in a corpus: what one call on a worker reads.

    Attributes:
        number: of the part, from 0 on.
        first: number of its first document in the corpus.
        n_documents: how many there were when the corpus was looked at.
        file: number of the file; 0 in a store.
        begin, end: rows of the file; of a store numbers in the order of arrival, after `begin` and
            up to `end`.
    """

    number: int
    first: int
    n_documents: int
    file: int
    begin: int
    end: int


@dataclass(frozen=True, eq=False)
class CorpusBlock:
    """Documents over the words of a model.

    Attributes:
        documents: counts in the model's columns, with keys and times.
        n_tokens: (B,) words of each document, with those that the model does not know.
        n_arrival: how many of them came without a time, and have that of their arrival.
    """

    documents: DocumentBatch
    n_tokens: Array
    n_arrival: int = 0


class OpenCorpus(Protocol):
    """A corpus that a worker reads from."""

    def read(self, part: CorpusPart, model: FittedModel) -> Iterator[CorpusBlock]:
        """The documents of a part, at most `BLOCK` at a time."""

    def close(self) -> None:
        """Let go of it."""


class Corpus(Protocol):
    """Where documents are; small, and can be pickled. A `Source` of workers."""

    name: str
    only_here: bool
    parts: list[CorpusPart]

    # An `OpenCorpus`, of which a pool that takes any `Source` knows nothing.
    def open(self) -> Any:
        """Open it, on a worker."""

    def identity(self) -> list[Any]:
        """JSON values by which it is known again: what is in them changes when the corpus does."""

    def check(self, model: FittedModel) -> None:
        """Raise an error, or a warning, that all workers would raise."""


def row_sums(documents: Documents) -> Array:
    """Words of each document, (B,)."""
    sums = np.add.reduceat(np.append(documents.counts, 0.0), documents.indptr[:-1])
    sums[np.diff(documents.indptr) == 0] = 0.0
    return sums.astype(np.float64)
