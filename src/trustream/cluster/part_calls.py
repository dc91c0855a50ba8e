"""What workers do with parts of batches: the functions behind calls of training.

Each is a function of its arguments and the data. A worker keeps the documents and the beliefs of
its parts from call to call; one that lacks them, because it took over from another, reads the
documents again and repeats the work from the beginning of the step.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from trustream.cluster.errors import StaleRowsError
from trustream.cluster.shared_arrays import for_kernels
from trustream.cluster.sources import Numbers
from trustream.cluster.worker import Kept, Worker
from trustream.inference.divided import LocalStep, Subproblem, Work, compute_part, part_bounds
from trustream.models.lda import LdaModel, LdaPrior
from trustream.models.lda import smoothing as lda_smoothing
from trustream.models.lda.batch import CountRows, WordBatch
from trustream.models.lda.parts import Excerpt, WordOutline, excerpt_of_lambda

# Batches of which a worker keeps parts: this one, the next, and those that are scored.
_BATCHES = 4


@dataclass(frozen=True)
class PartRequest:
    """Which documents a part of a batch has.

    Attributes:
        batch: a name that no other batch has.
        number: of the part.
        numbers: of its documents, as the source has them.
        held_out: whether they are held out.
        digest: what the documents were when they were first read; None before that.
    """

    batch: str
    number: int
    numbers: Numbers
    held_out: bool = False
    digest: bytes | None = None


class Fetched(NamedTuple):
    """What a worker says of a part that it has read.

    Attributes:
        outline: its words and their tokens.
        digest: of its documents.
        vocabulary: the version that its words belong to.
        state: of the numbering (`OpenSource.read`).
    """

    outline: WordOutline
    digest: bytes
    vocabulary: int
    state: int


class _Part(NamedTuple):
    """What a worker keeps of a part."""

    batch: WordBatch
    counts: CountRows
    fetched: Fetched


def warm_up(worker: Worker, dtype: str) -> None:
    """Compile what parts need, so that the first ones are as quick as any."""
    model = LdaModel(2, 3, dtype=dtype)
    ends, columns = np.array([0, 2, 4]), np.array([0, 1, 1, 2], np.int32)
    batch = model.batch(CountRows(ends, columns, np.ones(4, np.float32), (2, 3)), slice(None))
    prior = LdaPrior.of(0.1, 0.1, 2, 3)
    excerpt = excerpt_of_lambda(model.initial(prior, np.random.default_rng(0)), prior, batch.words)
    for work in (LocalStep(2, 0.0), Subproblem(0.5, 2, 2, 2, 0.0)):
        compute_part(model, excerpt, work, batch, None)


def fetch(worker: Worker, model: LdaModel, requests: Sequence[PartRequest]) -> list[Fetched]:
    """Read parts, and say what is in them."""
    return [_part(worker, model, request).fetched for request in requests]


def compute(
    worker: Worker,
    model: LdaModel,
    requests: Sequence[PartRequest],
    names: tuple[str, ...],
    works: tuple[Work, ...],
    *excerpts: Excerpt,
) -> list[Any]:
    """The contributions of parts after some works, of which the last may be the only new one.

    Args:
        names: of the excerpts, each of which no other excerpt has.
        works: one in each excerpt; the first starts from uniform beliefs.
        excerpts: what the parts are computed with.
    """
    own = _model(worker, model)
    usable = [for_kernels(excerpt) for excerpt in excerpts]
    return [_worked(worker, own, model, request, names, works, usable)[1] for request in requests]


def bounds(
    worker: Worker,
    model: LdaModel,
    requests: Sequence[PartRequest],
    names: tuple[str, ...],
    works: tuple[Work, ...],
    *excerpts: Excerpt,
) -> list[np.ndarray]:
    """Bounds of the documents of parts in the last excerpt, with the beliefs after the works."""
    own = _model(worker, model)
    usable = [for_kernels(excerpt) for excerpt in excerpts]
    found = []
    for request in requests:
        local = None
        if works:
            local, _ = _worked(worker, own, model, request, names[:-1], works, usable[:-1])
        batch = _part(worker, model, request).batch
        found.append(part_bounds(own, usable[-1], batch, local))
    return found


def rows(worker: Worker, model: LdaModel, request: PartRequest, which: Numbers) -> CountRows:
    """Some documents of a part, for another worker."""
    counts = _part(worker, model, request).counts
    pieces = [slice(counts.indptr[row], counts.indptr[row + 1]) for row in which.tolist()]
    lengths = [piece.stop - piece.start for piece in pieces]
    none = [np.empty(0, np.int32)], [np.empty(0, np.float32)]
    return CountRows(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate(none[0] + [counts.indices[piece] for piece in pieces]),
        np.concatenate(none[1] + [counts.data[piece] for piece in pieces]),
        (len(pieces), counts.shape[1]),
    )


def smooth(
    worker: Worker,
    model: LdaModel,
    excerpt: Excerpt,
    weight: np.ndarray,
    share: float,
    start: float,
    rng: np.random.Generator,
    request: PartRequest | None,
    *pieces: CountRows,
) -> tuple[float, Any]:
    """The eta that documents which are left out ask for, and the state of the generator.

    The documents are those of a part, or pieces that other workers gave.
    """
    own = _model(worker, model)
    if request is not None:
        batch = _part(worker, model, request).batch
    else:
        batch = _batch(worker, model, _stacked(pieces))
    usable = for_kernels(excerpt)
    part = usable.part(batch)
    eta = lda_smoothing.found(
        own, usable.lambda_, usable.prior, part, np.array(weight), share, start, rng
    )
    return eta, rng.bit_generator.state


def score(
    worker: Worker, model: LdaModel, request: PartRequest, excerpt: Excerpt, seed: int
) -> Any:
    """The score of held-out documents (`streaming.lda.score`)."""
    # What it imports takes seconds, and few workers score.
    from trustream.streaming.lda.score import score_batch

    usable, batch = for_kernels(excerpt), _part(worker, model, request).batch
    own = _model(worker, model)
    return score_batch(own, usable.lambda_, usable.prior, usable.part(batch), seed)


def _worked(
    worker: Worker,
    own: LdaModel,
    model: LdaModel,
    request: PartRequest,
    names: tuple[str, ...],
    works: tuple[Work, ...],
    excerpts: Sequence[Excerpt],
) -> tuple[Any, Any]:
    """(Local, contribution) of a part after works, going on from the last that it remembers."""
    batch = _part(worker, model, request).batch
    kept, key = _kept(worker, request.batch), ("beliefs", request.number)
    known, found = kept.get(key, ((), (None, None)))
    if known != names[: len(known)]:
        known, found = (), (None, None)
    for n_done in range(len(known), len(names)):
        found = compute_part(own, excerpts[n_done], works[n_done], batch, found[0])
    kept[key] = names, found
    result: tuple[Any, Any] = found
    return result


def _part(worker: Worker, model: LdaModel, request: PartRequest) -> _Part:
    """A part, read anew if the worker does not have it."""
    kept, key = _kept(worker, request.batch), ("part", request.number)
    if key not in kept:
        kept[key] = _read(worker, model, request)
    part: _Part = kept[key]
    if request.digest is not None and request.digest != part.fetched.digest:
        raise StaleRowsError("documents of this batch were changed or removed")
    return part


def _kept(worker: Worker, batch: str) -> dict[Any, Any]:
    """What the worker keeps of a batch; of the last few there is something."""
    batches = worker.kept.get("batches", lambda: Kept(_BATCHES))
    found: dict[Any, Any] = batches.get(batch, dict)
    return found


def _read(worker: Worker, model: LdaModel, request: PartRequest) -> _Part:
    documents, state = worker.source.read(request.numbers, request.held_out)
    n_columns = int(documents.indices.max(initial=-1)) + 1
    counts = CountRows(
        documents.indptr, documents.indices, documents.counts, (len(documents.keys), n_columns)
    )
    digest = hashlib.blake2b(digest_size=16)
    for array in counts[:3]:
        digest.update(np.ascontiguousarray(array).data)
    batch = _batch(worker, model, counts)
    outline = WordOutline.of(batch)
    fetched = Fetched(outline, digest.digest(), documents.vocabulary, state)
    return _Part(batch, counts, fetched)


def _batch(worker: Worker, model: LdaModel, counts: CountRows) -> WordBatch:
    # A table of the vocabulary's size is kept with the model, which need not be exact.
    n_words = 1 << max(10, int(counts.shape[1]).bit_length())
    return _model(worker, model, n_words).batch(counts, slice(None))


def _stacked(pieces: Sequence[CountRows]) -> CountRows:
    lengths = np.concatenate([np.diff(piece.indptr) for piece in pieces])
    shape = int(lengths.size), max(piece.shape[1] for piece in pieces)
    return CountRows(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([piece.indices for piece in pieces]),
        np.concatenate([piece.data for piece in pieces]),
        shape,
    )


def _model(worker: Worker, model: LdaModel, n_words: int = 0) -> LdaModel:
    """The worker's own, which keeps what it has computed with."""
    wanted = replace(model, n_words=n_words, n_threads=worker.n_threads)
    found: LdaModel = worker.kept.get(("model", wanted), lambda: wanted)
    return found
