"""Work on the parts of a corpus on workers, with results in the order of parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from trustream.cluster.calls import Call, Pending
from trustream.cluster.connection import ray_module
from trustream.cluster.corpus_parts import Corpus, CorpusBlock, CorpusPart, OpenCorpus
from trustream.cluster.errors import ClusterError
from trustream.cluster.pool import Pool
from trustream.cluster.worker import Worker

# Called as progress(documents done, documents).
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Shared:
    """A value that all calls need, such as a model: in the memory of each node once.

    As an argument it stays what it is; `get` has the value, unpacked once by each worker.
    """

    reference: Any

    def get(self, worker: Worker) -> Any:
        """The value."""
        key = "shared", self.reference.hex()
        return worker.kept.get(key, lambda: ray_module().get(self.reference))


def over_parts(
    pool: Pool,
    corpus: Corpus,
    function: Callable[..., Any],
    *arguments: Any,
    parts: Iterable[CorpusPart] | None = None,
    progress: Progress | None = None,
) -> Iterator[Any]:
    """Yield function(worker, part, *arguments) of each part of a corpus, in their order.

    A few results for each worker are computed ahead, and no more, so that memory stays bounded
    however many parts there are.

    Args:
        pool: of workers whose source is the corpus.
        corpus: its documents.
        function: as for `Call`.
        arguments: of all calls; large ones `Shared`.
        parts: those that are to be done; None is all.
        progress: told after each part.
    """
    wanted = list(corpus.parts if parts is None else parts)
    total = sum(part.n_documents for part in corpus.parts)
    done = total - sum(part.n_documents for part in wanted)
    calls = (
        Call(function, (part, *arguments), place=i, n_documents=part.n_documents)
        for i, part in enumerate(wanted)
    )
    for part, result in zip(wanted, in_order(pool, calls), strict=True):
        done += part.n_documents
        if progress is not None:
            progress(done, total)
        yield result


def blocks_of(worker: Worker, part: CorpusPart, model: Shared) -> Iterator[tuple[int, CorpusBlock]]:
    """Yield the blocks of a part on a worker, with the number of the first document of each."""
    corpus = cast(OpenCorpus, worker.source)
    first = part.first
    for block in corpus.read(part, model.get(worker)):
        yield first, block
        first += block.documents.size
    if corpus_is_fixed(worker) and first - part.first != part.n_documents:
        raise ClusterError(
            f"part {part.number} has {first - part.first} documents and had {part.n_documents}: "
            "leave files as they are until the work is done"
        )


def corpus_is_fixed(worker: Worker) -> bool:
    """Whether documents cannot go while they are read, as those of a store can."""
    return bool(getattr(worker.source, "is_fixed", False))


def in_order(pool: Pool, calls: Iterable[Call]) -> Iterator[Any]:
    """Yield results of calls; while those of some are waited for, the next are under way."""
    remaining, started = iter(calls), deque[Pending]()
    try:
        while True:
            some = list(islice(remaining, 2 * max(1, pool.size)))
            if some:
                started.append(pool.start(some))
            if len(started) > 1 or (started and not some):
                yield from pool.finish(started.popleft())
            elif not some:
                return
    finally:
        # Whoever asked may have had enough, or an error may have come.
        for pending in started:
            pool.abandon(pending)
