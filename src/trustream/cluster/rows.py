"""Documents that workers have read and the driver knows by their words alone."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from trustream.cluster import part_calls
from trustream.cluster.calls import Call, Pending
from trustream.cluster.errors import StaleRowsError
from trustream.cluster.part_calls import Fetched, PartRequest
from trustream.cluster.pool import Pool
from trustream.cluster.sources import Numbers
from trustream.learning.executor import split
from trustream.models.lda import LdaModel
from trustream.models.lda import smoothing as lda_smoothing
from trustream.models.lda.parts import Excerpt, JoinedBatch, excerpt_of_lambda

_NUMBERS = itertools.count()
_RUN = uuid.uuid4().hex


def new_name() -> str:
    """A name that nothing else on the cluster has."""
    return f"{_RUN}-{next(_NUMBERS)}"


def by_worker(
    pool: Pool, requests: Sequence[PartRequest], make: Callable[[list[PartRequest]], Call]
) -> list[Call]:
    """One call for each worker that has parts: neighbours go to the same one."""
    places = pool.ready_places[: max(1, len(requests))]
    groups = [list(group) for group in np.array_split(np.arange(len(requests)), len(places))]
    calls = []
    for place, group in zip(places, groups, strict=True):
        some = [requests[number] for number in group]
        calls.append(replace(make(some), place=place))
    return calls


class FetchedRows:
    """A batch of documents, in parts, that workers have read.

    Attributes:
        shape: (documents, columns); the columns are those of the model.
        n_pairs: of document and word.
        vocabulary, newest_vocabulary: the oldest and the newest version that a part was read with.
        states: of the numbering, as parts found it.
    """

    def __init__(
        self, pool: Pool, requests: Sequence[PartRequest], fetched: Sequence[Fetched]
    ) -> None:
        self.pool = pool
        self.requests = [
            replace(request, digest=found.digest)
            for request, found in zip(requests, fetched, strict=True)
        ]
        self._outlines = [found.outline for found in fetched]
        self._joined: JoinedBatch | None = None
        versions = [found.vocabulary for found in fetched]
        self.vocabulary, self.newest_vocabulary = min(versions), max(versions)
        self.states = {found.state for found in fetched}
        self.n_pairs = sum(outline.n_pairs for outline in self._outlines)
        self.size = sum(outline.size for outline in self._outlines)

    @property
    def shape(self) -> tuple[int, int]:
        """(documents, words of the batch)."""
        return self.size, self.joined.n_words

    @property
    def joined(self) -> JoinedBatch:
        """The batch without its documents."""
        if self._joined is None:
            self._joined = JoinedBatch.of(self._outlines)
        return self._joined

    def fetched(self, model: LdaModel, rows: Any, n_parts: int) -> FetchedRows:
        """All of them: they are a batch."""
        return self

    def smoothing(
        self,
        model: LdaModel,
        lambda_: Any,
        prior: Any,
        weight: Any,
        start: float,
        rng: np.random.Generator,
    ) -> float:
        """The eta that a sample of these documents asks for; workers pass the sample on."""
        which, share = lda_smoothing.drawn(model.n_components, self.size, self.n_pairs, rng)
        weights = np.broadcast_to(weight, self.size)[which]
        first = np.cumsum([0, *(outline.size for outline in self._outlines)])
        pieces = [
            Call(part_calls.rows, (model, request, some - begin), place=number, stays=True)
            for number, (request, begin, end) in enumerate(
                zip(self.requests, first[:-1], first[1:], strict=True)
            )
            if (some := which[(which >= begin) & (which < end)]).size
        ]
        excerpt = excerpt_of_lambda(lambda_, prior, self.joined.words)
        arguments = (model, self.pool.put(excerpt), weights, share, start, rng, None)
        return smoothed(self.pool, (*arguments, *self.pool.run(pieces)), rng)


def smoothed(pool: Pool, arguments: tuple[Any, ...], rng: np.random.Generator) -> float:
    """Have a worker find the eta; the generator goes on where the worker's ended."""
    ((eta, state),) = pool.run([Call(part_calls.smooth, arguments)])
    rng.bit_generator.state = state
    return float(eta)


class Fetching:
    """Documents that workers are reading.

    Args:
        pool: of workers.
        model: of which batches are prepared.
        numbers: of the documents.
        n_parts: of the batch.
        held_out: whether they are held out.
    """

    def __init__(
        self,
        pool: Pool,
        model: LdaModel,
        numbers: Numbers,
        n_parts: int,
        held_out: bool = False,
    ) -> None:
        self._pool, name = pool, new_name()
        parts = split(numbers.size, np.arange(numbers.size), n_parts)
        self._requests = [
            PartRequest(name, number, numbers[part], held_out) for number, part in enumerate(parts)
        ]

        def make(some: list[PartRequest]) -> Call:
            n_documents = sum(request.numbers.size for request in some)
            return Call(part_calls.fetch, (model, some), n_documents=n_documents)

        self._pending: Pending = pool.start(by_worker(pool, self._requests, make))

    def abandon(self) -> None:
        """Wait for them no longer."""
        self._pool.abandon(self._pending)

    def finish(self) -> FetchedRows:
        """Wait until all parts are read.

        Raises:
            StaleRowsError: documents were removed while they were read, so that numbers may have
                come to mean others.
        """
        fetched = [found for some in self._pool.finish(self._pending) for found in some]
        rows = FetchedRows(self._pool, self._requests, fetched)
        if len(rows.states) > 1:
            raise StaleRowsError("documents were removed while a batch was read")
        return rows


def excerpt_bytes(excerpt: Excerpt) -> int:
    """What goes out for an excerpt."""
    return int(excerpt.lambda_.stored.nbytes + excerpt.words.nbytes)
