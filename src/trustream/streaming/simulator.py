"""A stream of documents whose words come one at a time (section 4.3 of the paper).

At each tick R ~ Poisson(rate) documents become active, and each active document reveals its next
word, in random order, with probability p. So the store holds complete and incomplete documents at
any time. The paper lets a small delay pass after each observation; here a trainer takes a given
number of steps per tick instead, which says the same whatever the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from trustream.evaluation import validation
from trustream.store.protocol import Store
from trustream.store.records import Record


@dataclass(frozen=True, slots=True)
class Tick:
    """What happened in a tick.

    Attributes:
        number: from 1.
        n_begun: documents that have become active so far.
        n_active: documents with words still to come.
        n_revealed: words revealed in this tick.
        records: these words, as parts of documents.
    """

    number: int
    n_begun: int
    n_active: int
    n_revealed: int
    records: list[Record]


def ticks(
    counts: Any,
    words: Sequence[str],
    *,
    rate: float,
    p: float,
    rng: np.random.Generator,
    whole: bool = False,
    max_document_tokens: int = 10_000_000,
) -> Iterator[Tick]:
    """The stream of documents (rows of `counts`), until the last word of the last is out.

    Parameters
    ----------
    counts : matrix of shape (n_documents, n_words)
        Whole numbers; documents come in their order.
    words : sequence of str
        By column.
    rate : float
        Documents that become active in a tick, on average.
    p : float in (0, 1]
        Probability that an active document reveals its next word in a tick.
    rng : Generator
    whole : bool, default=False
        A document comes as a whole when its first word is due, and is done. That is the paper's
        concession to streaming variational Bayes, which cannot use single words.
    max_document_tokens : int, default=10_000_000
        Longer documents are refused: the words that are still to come are kept one by one.

    Examples
    --------
    >>> stream = ticks([[2, 1]], ["cat", "dog"], rate=9.0, p=1.0, rng=np.random.default_rng(0))
    >>> [[record.words for record in tick.records] for tick in stream]
    [[['cat']], [['dog']], [['cat']]]
    """
    if not rate > 0:
        raise ValueError(f"rate must be positive, got {rate}")
    if not 0 < p <= 1:
        raise ValueError(f"p lies in (0, 1], got {p}")
    matrix = validation.as_counts(counts, may_be_empty=True)
    if matrix.shape[1] != len(words):
        raise ValueError(f"counts have {matrix.shape[1]} columns, and there are {len(words)} words")
    lengths = matrix.sum(axis=1)
    if lengths.size and lengths.max() > max_document_tokens:
        raise ValueError(
            f"document {lengths.argmax()} of counts has {lengths.max():,} tokens, more than "
            f"max_document_tokens={max_document_tokens:,}: split it, leave it out, or raise the "
            "limit"
        )
    active: dict[int, list[int]] = {}  # the words still to come, the next one last
    begun = number = 0
    while begun < matrix.shape[0] or active:
        number += 1
        for _ in range(min(int(rng.poisson(rate)), matrix.shape[0] - begun)):
            row = slice(matrix.indptr[begun], matrix.indptr[begun + 1])
            tokens = np.repeat(matrix.indices[row], matrix.data[row].astype(np.int64))
            if tokens.size:
                active[begun] = rng.permutation(tokens).tolist()
            begun += 1
        records = []
        # One number per document in the order of their beginning, so that runs can be repeated.
        due = (rng.random(len(active)) < p).tolist()
        for document in list(compress(active, due)):
            rest = active[document]
            shown = [words[v] for v in reversed(rest)] if whole else [words[rest[-1]]]
            del rest[-len(shown) :]
            records.append(Record(f"document-{document}", shown, float(number)))
            if not rest:
                del active[document]
        n_revealed = sum(len(record.words) for record in records)
        yield Tick(number, begun, len(active), n_revealed, records)


def simulate(
    store: Store,
    trainer: Any,
    stream: Iterator[Tick],
    *,
    steps_per_tick: int = 1,
    n_ticks: int | None = None,
) -> Iterator[tuple[Tick, Any]]:
    """Feed a store from a stream and let a trainer take steps after each tick.

    Yields each tick and the trainer's last StreamInfo in it, None if it could not take a step.

    Parameters
    ----------
    store : Store
    trainer : StreamTrainer on the same store
    stream : what `ticks` gives
    steps_per_tick : int, default=1
    n_ticks : int, default=None
        Stop after so many ticks.
    """
    steps = trainer.steps(poll=0.0)
    for tick in stream:
        store.append(tick.records)
        last = None
        for _ in range(steps_per_tick):
            last = next(steps) or last
        yield tick, last
        if n_ticks is not None and tick.number >= n_ticks:
            return
