"""The steps of a trainer, one after the other (section 3.1 of the paper).

Each step draws a batch of B documents from the N_t that are there now, in passes in which each
comes up once (`trustream.store.draw_order`), and takes a trust-region (or natural-gradient) step on
the bound over all of them,

    E_q[log p(beta) / q(beta)] + (N_t / B) sum_n max_phi E_q[log p(x_n, z_n | beta) / q(z_n)],

at a rate that begins anew when the store has doubled (`clock`), then one of empirical Bayes. With a
population (`inference.population`) N_pop stands in the place of N_t, and what is shown is for N_t.
The store may grow, shrink and be written to by others meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from trustream.inference.state import Info
from trustream.kernels import threads
from trustream.store.protocol import Store
from trustream.store.records import Documents, Totals
from trustream.streaming.batches import Drawn, DrawnDocuments
from trustream.streaming.engine import BatchSource, Engine, StaleBatchError
from trustream.streaming.held_model import HeldModel
from trustream.streaming.stream_model import Score, StreamModel
from trustream.streaming.training import Training, batch_size


@dataclass(frozen=True, slots=True)
class StreamInfo:
    """One step of a trainer.

    Attributes:
        step: the step's own diagnostics; `step.n_steps` counts from the model's beginning.
        totals: of the store when the batch was drawn; `totals.sequence` is what the step saw.
        n_words: columns of the model.
        score: of held-out documents, if they were scored after this step.
    """

    step: Info
    totals: Totals
    n_words: int
    score: Score | None = None


class Steps:
    """The part of `StreamTrainer` that learns; nothing is saved here.

    Attributes:
        store: where documents are drawn from.
        prefetch: whether batches are drawn ahead.
        held: the right to train the model.
        engine: draws and computes.
    """

    store: Store
    prefetch: bool
    held: HeldModel
    engine: Engine
    _training: Training
    _source: BatchSource | None = None

    @property
    def model(self) -> StreamModel:
        """What is learned, with its settings and its recipe."""
        return self._training.model

    @property
    def n_steps(self) -> int:
        """Steps taken since the model's beginning."""
        return self._training.learned.state.n_steps

    @property
    def last_score(self) -> float | None:
        """Of held-out documents, when they were scored last; None before."""
        return self._training.last_score

    @property
    def best_score(self) -> float | None:
        """The highest score of held-out documents so far; None before the first."""
        return self._training.best_score

    def looks(self, totals: Totals) -> float:
        """How often each document of a store with these totals was looked at, on average."""
        clock = self._training.learned.clock
        return 0.0 if clock is None else clock.looks(totals)

    def steps(
        self, poll: float = 0.2, stop: Callable[[], object] | None = None
    ) -> Iterator[StreamInfo | None]:
        """Take steps for ever; None each time that the store had nothing to learn from.

        Nothing is saved: call `save`, or use `run`. A step is taken wholly or not at all: after an
        exception, an interrupt too, the trainer is as it was before the step.

        Parameters
        ----------
        poll : float, default=0.2
            Seconds between two looks at a store that has nothing.
        stop : callable, default=None
            Asked while a batch is waited for; a true value ends the steps.
        """
        self.model.warm_up()
        while True:
            self.held.check()
            info = None
            try:
                drawn = self._next(poll)
                while drawn is None:
                    if stop is not None and stop():
                        return
                    drawn = self._next(poll)
                documents = drawn.documents
                if documents is not None and documents.n_pairs > 0:
                    if not self._training.follow(documents):
                        # Its columns mean other words by now: draw it again.
                        self._end_draws()
                        continue
                    info = self._step(drawn, documents)
            except StaleBatchError:
                self._end_draws()
                continue
            except BaseException:
                # What was drawn is drawn again.
                self._source = None
                raise
            yield info
            if info is None:
                time.sleep(poll)

    def _next(self, timeout: float) -> Drawn | None:
        if self._source is None:
            learned, size = self._training.learned, partial(batch_size, self.model)
            self._source = self.engine.source(
                self.model, self.store, size, learned.draws, learned.arrival, self.prefetch
            )
        return self._source.next(timeout)

    def _step(self, drawn: Drawn, documents: DrawnDocuments) -> StreamInfo:
        training = self._training
        with threads.one_blas_thread():
            info = training.step(drawn, documents)
            scored = training.score() if self.model.is_scored(info.n_steps) else None
        return StreamInfo(info, drawn.totals, training.n_words, scored)

    def _is_idle(self, info: StreamInfo) -> bool:
        clock = self._training.learned.clock
        return clock is not None and clock.is_idle(info.totals, self.model.recipe.passes_if_idle)

    def scores(self, documents: Documents) -> list[Score | None] | None:
        """How well each document is predicted; None if their columns mean other words by now."""
        return self._training.scores(documents)

    def _end_draws(self) -> None:
        if self._source is not None:
            self._source.close()
            self._source = None
