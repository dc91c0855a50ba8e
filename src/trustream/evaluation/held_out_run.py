"""Estimate the held-out likelihood of documents, block by block, from validated arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from trustream import kernels
from trustream.array_types import Array
from trustream.evaluation import validation
from trustream.evaluation.document_blocks import DocumentBlock, Progress, document_blocks
from trustream.evaluation.held_out_result import HeldOut
from trustream.kernels import threads


@dataclass(frozen=True)
class HeldOutRun:
    """The validated arguments of an estimator, and the loop over blocks of documents.

    Attributes:
        counts: (D, V), whole numbers.
        topics, sums: (K, V) as given, and their row sums (K,).
        alpha: (K,).
        seed: 64 bits, from which each document has a stream of random numbers.
        n_threads: number of threads.
        progress: called as progress(documents done, documents), or None.
        kernels: the module of kernels for the likelihood.
        first_document: number of the first document among all those that are scored in parts.
    """

    counts: sparse.csr_array
    topics: Array
    sums: Array
    alpha: Array
    seed: int
    n_threads: int
    progress: Progress | None
    kernels: ModuleType
    first_document: int = 0

    @classmethod
    def of(
        cls,
        counts: Any,
        topics: ArrayLike,
        alpha: ArrayLike,
        random_state: Any,
        n_jobs: int | None,
        progress: Progress | None,
        backend: str,
        first_document: int = 0,
    ) -> HeldOutRun:
        """Validate the arguments that all estimators of held-out likelihood share."""
        given, sums = validation.as_topics(topics)
        documents = validation.as_counts(counts)
        validation.check_fit(documents, given)
        return cls(
            documents,
            given,
            sums,
            validation.as_alpha(alpha, given.shape[0]),
            validation.seed_of(random_state),
            threads.n_threads(n_jobs),
            progress,
            kernels.get("likelihood", backend),
            validation.whole_number("first_document", first_document, 0),
        )

    @property
    def n_documents(self) -> int:
        """The number of documents, D."""
        return int(self.counts.shape[0])

    def check_lengths(self, most: int) -> None:
        """Refuse documents of more than `most` tokens, for kernels that visit every token."""
        most = validation.whole_number("max_document_tokens", most)
        # In float64, in which tokens of a document add up exactly.
        lengths = self.counts.astype(np.float64).sum(axis=1)
        longest = int(lengths.argmax())
        if lengths[longest] > most:
            raise ValueError(
                f"document {longest} of counts has {int(lengths[longest]):,} tokens, more than "
                f"max_document_tokens={most:,}: split it, leave it out, or raise the limit; "
                "completion takes documents of any length"
            )

    def blocks(self, width: int) -> Iterator[tuple[DocumentBlock, Array]]:
        """Yield blocks for a kernel that writes `width` numbers per document, and their keys."""
        for block in document_blocks(self.counts, self.topics, self.sums, width):
            first, last = block.first + self.first_document, block.last + self.first_document
            yield block, validation.stream_keys(self.seed, first, last)

    def run(
        self,
        method: str,
        estimate: Callable[[DocumentBlock, Callable[..., None]], tuple[Array, Array | None]],
        width: int,
        power: float = 1.0,
    ) -> HeldOut:
        """Return the estimates of all documents.

        Args:
            method: the name of the estimator.
            estimate: called as estimate(block, run), where run(kernel, *settings) runs a kernel
                in parallel; returns the log-likelihoods (B,) under the block's table and their
                variances, or None where these are unknown.
            width: the numbers that a kernel writes for each document.
            power: the cost of a document grows with this power of its length.
        """
        values, variance = np.empty(self.n_documents), np.empty(self.n_documents)
        n_tokens, known = np.empty(self.n_documents, np.int64), True
        for block, keys in self.blocks(width):

            def run(
                kernel: Callable[..., None],
                *settings: Any,
                block: DocumentBlock = block,
                keys: Array = keys,
            ) -> None:
                arrays = (block.indptr, block.ids, block.counts, block.table, self.alpha, keys)

                def work(start: int, stop: int) -> None:
                    kernel(*arrays, *settings, start, stop)

                block.run(work, self.n_threads, power, self._report(block.first))

            here = slice(block.first, block.last)
            value, spread = estimate(block, run)
            value = np.where(block.n_tokens > 0, value + block.offset(block.counts), 0.0)
            values[here], n_tokens[here] = value, block.n_tokens
            known = known and spread is not None
            variance[here] = 0.0 if spread is None else spread
        if self.progress is not None:
            self.progress(self.n_documents, self.n_documents)
        return HeldOut(method, values, n_tokens, variance if known else None)

    def _report(self, first: int) -> Callable[[int], object] | None:
        progress, total = self.progress, self.n_documents
        return None if progress is None else lambda done: progress(first + done, total)
