"""Count how often the top words of topics occur together, in a stream of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from trustream.array_types import Array
from trustream.evaluation.cooccurrence import WindowCounts, in_documents
from trustream.evaluation.topic_coherence import Coherence, coherence_of_counts

# Documents that are counted together: counting has a price for each topic, however few they are.
_AT_ONCE = 2**15


class RunningCoherence:
    """The coherence of lists of words, in all documents that were added.

    The same numbers as `trustream.evaluation.coherence` gives for all documents in one matrix.

    Parameters
    ----------
    lists : sequence of arrays
        Columns of each topic's top words, best first; at least two of each.

    Examples
    --------
    >>> running = RunningCoherence([np.array([0, 1])])
    >>> for row in [[1, 1, 0], [2, 1, 0], [0, 0, 3], [1, 0, 1]]:
    ...     running.add(sparse.csr_array([row]))
    >>> running.result().per_topic.round(4).tolist()
    [0.415]
    """

    def __init__(self, lists: Sequence[Array]) -> None:
        self._columns, inverse = np.unique(np.concatenate(list(lists)), return_inverse=True)
        ends = np.cumsum([len(words) for words in lists])[:-1]
        self._lists = np.split(inverse.ravel(), ends)
        self._joint = [np.zeros((words.size, words.size), np.int64) for words in self._lists]
        self._n_documents = 0
        self._waiting: list[Any] = []
        self._n_waiting = 0

    def add(self, counts: Any) -> None:
        """Take in documents, a CSR matrix over the columns of the words."""
        self._waiting.append(counts[:, self._columns])
        self._n_waiting += counts.shape[0]
        if self._n_waiting >= _AT_ONCE:
            self._count()

    def merge(self, other: RunningCoherence) -> None:
        """Take in what another one has counted, of the same lists."""
        other._count()
        for mine, more in zip(self._joint, other._joint, strict=True):
            mine += more
        self._n_documents += other._n_documents

    def result(self, measure: str = "npmi") -> Coherence | None:
        """Return the coherence of each topic; None before any documents."""
        self._count()
        if self._n_documents == 0:
            return None
        return coherence_of_counts(WindowCounts(self._n_documents, self._joint), measure)

    def _count(self) -> None:
        if not self._waiting:
            return
        found = in_documents(sparse.csr_array(sparse.vstack(self._waiting)), self._lists)
        self._waiting, self._n_waiting = [], 0
        self._n_documents += found.n_windows
        for mine, more in zip(self._joint, found.joint, strict=True):
            mine += more
