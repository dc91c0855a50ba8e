"""Play documents into a store word by word while a model learns (section 4.3 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trustream.learning import algorithms
from trustream.store.protocol import Store
from trustream.streaming import simulator
from trustream.streaming.published import save_settings
from trustream.streaming.trainer import StreamTrainer


@dataclass(frozen=True, slots=True)
class SimulationProgress:
    """How far a simulation is after a tick.

    Attributes:
        tick: number of the tick, from 1.
        n_begun: documents that have begun.
        n_active: documents that have begun and still have words to come.
        n_steps: steps taken so far.
        rho: learning rate of the last step in this tick; None if there was none.
        last_score: score of held-out documents when they were scored last, in nats per word; None
            before the first score.
        is_scored: whether they were scored after the last step in this tick.
    """

    tick: int
    n_begun: int
    n_active: int
    n_steps: int
    rho: float | None
    last_score: float | None
    is_scored: bool


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """What a simulation has done.

    Attributes:
        n_documents: documents in the store.
        n_tokens: their tokens.
        n_steps: steps taken.
        last_score: score of held-out documents when they were scored last, in nats per word; None
            if they never were.
    """

    n_documents: int
    n_tokens: int
    n_steps: int
    last_score: float | None


def run_simulation(
    store: Store,
    counts: Any,
    words: Sequence[str],
    *,
    n_topics: int = 20,
    method: str = "trust-region",
    batch_size: int = 50,
    rate: float = 10.0,
    p: float = 0.2,
    steps_per_tick: int = 1,
    n_ticks: int | None = None,
    random_state: int = 0,
    callback: Callable[[SimulationProgress], object] | None = None,
) -> SimulationResult:
    """Play the documents of a matrix into an empty store word by word, and learn meanwhile.

    At each tick some documents begin, and each document that has begun reveals its next word with
    some probability. The model is saved in the store at the end.

    Parameters
    ----------
    store : Store
        Without documents.
    counts : matrix of shape (n_documents, n_words)
        Whole numbers.
    words : sequence of str, of length n_words
        Words by column.
    n_topics : int, default=20
    method : str, default="trust-region"
        Name of the algorithm. Documents for "streaming-vb", which cannot use single words, come as
        a whole.
    batch_size : int, default=50
    rate : float, default=10.0
        Documents that begin in a tick, on average.
    p : float, default=0.2
        Probability that a document reveals its next word in a tick.
    steps_per_tick : int, default=1
    n_ticks : int, default=None
        Stop after so many ticks; None stops after the last word.
    random_state : int, default=0
    callback : callable, default=None
        Called with the progress after each tick.

    Raises
    ------
    ValueError
        If the store has documents already, or an argument is invalid.

    Examples
    --------
    >>> import tempfile, trustream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/stream.db", min_documents=1) as store:
    ...         result = run_simulation(store, [[2, 1], [0, 3]], ["cat", "dog"], n_topics=2)
    >>> result.n_documents, result.n_tokens
    (2, 6)
    """
    if store.totals().documents:
        raise ValueError(f"{store.name} has documents already: a simulation starts with none")
    options: dict[str, Any] = {
        "method": method, "batch_size": batch_size, "random_state": random_state,
    }  # fmt: skip
    with StreamTrainer(store, n_topics, prefetch=False, **options) as trainer:
        save_settings(store, trainer.model)
        stream = simulator.ticks(
            counts,
            words,
            rate=rate,
            p=p,
            rng=np.random.default_rng(random_state),
            # The paper does the same for this algorithm.
            whole=algorithms.get(method).takes_each_once,
        )
        for tick, info in simulator.simulate(
            store, trainer, stream, steps_per_tick=steps_per_tick, n_ticks=n_ticks
        ):
            if callback is not None:
                progress = SimulationProgress(
                    tick=tick.number,
                    n_begun=tick.n_begun,
                    n_active=tick.n_active,
                    n_steps=trainer.n_steps,
                    rho=None if info is None else info.step.rho,
                    last_score=trainer.last_score,
                    is_scored=info is not None and info.score is not None,
                )
                callback(progress)
        trainer.save()
        totals = store.totals()
        return SimulationResult(
            totals.documents, totals.tokens, trainer.n_steps, trainer.last_score
        )
