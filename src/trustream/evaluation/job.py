"""One estimate of held-out likelihood: its input, and the loop over blocks of documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustream import kernels
from trustream.evaluation import inputs
from trustream.evaluation.blocks import Block, Progress, blocks
from trustream.evaluation.result import HeldOut
from trustream.kernels import threads

Array = NDArray[Any]


@dataclass(frozen=True)
class Job:
    """Checked input, and the loop over blocks of documents."""

    counts: Any
    topics: Array
    sums: Array
    alpha: Array
    seed: int
    n_threads: int
    progress: Progress | None
    kernels: ModuleType

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
    ) -> Job:
        """From what the user gave."""
        given, sums = inputs.as_topics(topics)
        documents = inputs.as_counts(counts)
        inputs.check_fit(documents, given)
        return cls(
            documents,
            given,
            sums,
            inputs.as_alpha(alpha, given.shape[0]),
            inputs.seed_of(random_state),
            threads.n_threads(n_jobs),
            progress,
            kernels.get("likelihood", backend),
        )

    def check_lengths(self, most: int) -> None:
        """Refuse documents with more than `most` tokens, where tokens are visited one by one."""
        most = inputs.positive(most, "max_document_tokens")
        # In float64, in which tokens of a document add up exactly.
        lengths = self.counts.astype(np.float64).sum(axis=1)
        longest = int(lengths.argmax())
        if lengths[longest] > most:
            raise ValueError(
                f"document {longest} of counts has {int(lengths[longest]):,} tokens, more than "
                f"max_document_tokens={most:,}: split it, leave it out, or raise the limit; "
                "completion takes documents of any length"
            )

    def run(
        self,
        method: str,
        estimate: Callable[[Block, Callable[..., None]], tuple[Array, Array | None]],
        width: int,
        power: float = 1.0,
    ) -> HeldOut:
        """The estimate of every document; a kernel writes `width` numbers for each."""
        n_documents = self.counts.shape[0]
        values, variance = np.empty(n_documents), np.empty(n_documents)
        n_tokens, known = np.empty(n_documents, np.int64), True
        for block in blocks(self.counts, self.topics, self.sums, width):
            keys = inputs.stream_keys(self.seed, block.first, block.last)

            def run(
                kernel: Callable[..., None],
                *settings: Any,
                block: Block = block,
                keys: Array = keys,
            ) -> None:
                arrays = (block.indptr, block.ids, block.counts, block.table, self.alpha, keys)

                def work(start: int, stop: int) -> None:
                    kernel(*arrays, *settings, start, stop)

                block.share(work, self.n_threads, power, self._report(block.first))

            here = slice(block.first, block.last)
            value, spread = estimate(block, run)
            value = np.where(block.n_tokens > 0, value + block.offset(block.counts), 0.0)
            values[here], n_tokens[here] = value, block.n_tokens
            known = known and spread is not None
            variance[here] = 0.0 if spread is None else spread
        if self.progress is not None:
            self.progress(n_documents, n_documents)
        return HeldOut(method, values, n_tokens, variance if known else None)

    def _report(self, first: int) -> Callable[[int], object] | None:
        progress, total = self.progress, self.counts.shape[0]
        return None if progress is None else lambda done: progress(first + done, total)
