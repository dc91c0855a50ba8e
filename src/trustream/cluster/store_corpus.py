"""All documents of a store as a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from trustream.cluster.corpus_parts import (
    BLOCK,
    PART,
    CorpusBlock,
    CorpusPart,
    OpenCorpus,
    row_sums,
)
from trustream.store import open_store
from trustream.streaming.fitted_models import FittedModel
from trustream.topics.documents import DocumentBatch
from trustream.topics.stored_documents import known_times, over_words


class StoreCorpus:
    """All documents of a store in the order of their arrival, held-out ones too.

    Documents that come after the corpus was looked at are not in it.
    """

    def __init__(self, address: str, n_documents: int | None = None) -> None:
        with open_store(address, create=False) as store:
            # Another machine has not this one's environment and files with passwords.
            self.url, self.name = store.url, store.name
            ends = store.block_ends(BLOCK)
            n = store.totals().documents
        self.only_here = "://" not in self.url
        if n_documents is not None:
            n, ends = min(n, n_documents), ends[: -(-n_documents // BLOCK)]
        step = PART // BLOCK
        starts = [-1, *ends[step - 1 : -1 : step]]
        self.parts = [
            CorpusPart(i, i * PART, min(PART, n - i * PART), 0, after, until)
            for i, (after, until) in enumerate(pairwise([*starts, *ends[-1:]]))
        ]

    def identity(self) -> list[Any]:
        """Its name, and where its parts end."""
        return [self.name, *([part.n_documents, part.end] for part in self.parts)]

    def check(self, model: FittedModel) -> None:
        """A model without words cannot read the documents of a store."""
        if model.words is None:
            raise ValueError(
                f"{model.title} does not say which word each of its columns is: give a model with "
                "words (set_words)"
            )

    def open(self) -> OpenCorpus:
        """A connection of its own."""
        return _OpenStore(self.url)


class _OpenStore:
    def __init__(self, url: str) -> None:
        self._store: Any = open_store(url, create=False)

    def read(self, part: CorpusPart, model: FittedModel) -> Iterator[CorpusBlock]:
        blocks = self._store.scan(BLOCK, after=part.begin, until=part.end)
        left = part.n_documents
        for documents, counts in over_words(self._store, blocks, model.words or ()):
            n_tokens, arrival = row_sums(documents), documents.arrival
            batch = DocumentBatch(counts, keys=documents.keys, times=known_times(documents))
            if batch.size > left:
                batch, n_tokens = batch.part(0, left), n_tokens[:left]
                arrival = None if arrival is None else arrival[:left]
            n_arrival = 0 if arrival is None else int(np.count_nonzero(arrival))
            yield CorpusBlock(batch, n_tokens, n_arrival)
            left -= batch.size
            if not left:
                return

    def close(self) -> None:
        self._store.close()
