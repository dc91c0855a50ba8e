"""The next batch, read from the store while the last one is learned from."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trustream import persist
from trustream.store.protocol import Documents, Store, Totals


@dataclass(frozen=True, slots=True)
class Drawn:
    """A batch from the store.

    Attributes:
        documents: the batch; None if there was nothing to draw.
        totals: of the store just before.
        generator: state of the random generator after this draw, as JSON values.
        arrival: number of the last document taken, where they are taken as they arrive.
    """

    documents: Documents | None
    totals: Totals
    generator: dict[str, Any]
    arrival: int = -1


def draw(store: Store, batch_size: int, rng: np.random.Generator) -> Drawn:
    """A batch as the store is now."""
    totals = store.totals()
    documents = store.draw(batch_size, rng) if totals.training else None
    return Drawn(documents, totals, persist.generator_to_json(rng))


class Direct:
    """Draws each batch when it is asked for: slower, and a run that feeds its own store repeats."""

    def __init__(self, store: Store, batch_size: int, rng: np.random.Generator) -> None:
        self._arguments = (store, batch_size, rng)

    def next(self) -> Drawn:
        """A batch as the store is now."""
        return draw(*self._arguments)

    def close(self) -> None:
        """The store is the caller's."""


class Arrivals:
    """Takes documents once, in the order of their arrival."""

    def __init__(
        self, store: Store, batch_size: int, after: int, generator: dict[str, Any]
    ) -> None:
        self._store, self._batch_size = store, batch_size
        self._after, self._generator = after, generator

    def next(self) -> Drawn:
        """What has arrived since, at most a batch."""
        totals = self._store.totals()
        documents, self._after = self._store.arrivals(self._after, self._batch_size)
        return Drawn(documents if documents.keys else None, totals, self._generator, self._after)

    def close(self) -> None:
        """The store is the caller's."""


class Prefetcher:
    """Draws batches one ahead, in a thread with a connection of its own.

    `next` returns what was drawn while the caller was busy and starts the next draw. The generator
    is thus ahead of the model: `Drawn.generator` of the batch learned from last is what belongs in
    a checkpoint, and a batch that was drawn ahead and never used is drawn again.
    """

    def __init__(
        self, open_store: Callable[[], Store], batch_size: int, rng: np.random.Generator
    ) -> None:
        self._open, self._batch_size, self._rng = open_store, batch_size, rng
        self._wanted, self._ready = threading.Semaphore(0), threading.Semaphore(0)
        self._drawn: Drawn | None = None
        self._error: BaseException | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def next(self) -> Drawn:
        """The batch drawn ahead; the draw of the following one begins."""
        if self._closed:
            raise ValueError("the prefetcher is closed")
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="trustream-draw", daemon=True)
            self._thread.start()
            self._wanted.release()
        self._ready.acquire()
        if self._error is not None:
            self._closed = True
            raise self._error
        drawn = self._drawn
        if drawn is None:
            raise RuntimeError("the drawing thread ended without a batch")
        self._wanted.release()
        return drawn

    def close(self) -> None:
        """End the thread and its connection."""
        if self._thread is not None and self._thread.is_alive():
            self._closed = True
            self._wanted.release()
            self._thread.join()
        self._closed = True

    def _work(self) -> None:
        try:
            store = self._open()
            try:
                while True:
                    self._wanted.acquire()
                    if self._closed:
                        return
                    self._drawn = draw(store, self._batch_size, self._rng)
                    self._ready.release()
            finally:
                store.close()
        except BaseException as error:
            self._error = error
            self._ready.release()
