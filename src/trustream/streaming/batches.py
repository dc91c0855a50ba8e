"""Where the batches of a trainer come from: draws from a store, perhaps ahead, or arrivals."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from trustream import persist
from trustream.store import open_store
from trustream.store.draw_order import DrawOrder
from trustream.store.protocol import Store
from trustream.store.records import Totals


class DrawnDocuments(Protocol):
    """Documents of a batch as a trainer sees them; `Documents` are such."""

    @property
    def n_pairs(self) -> int:
        """Pairs of document and word."""

    @property
    def vocabulary(self) -> int:
        """The oldest version of the vocabulary that columns belong to."""

    @property
    def newest_vocabulary(self) -> int:
        """The newest version."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A batch from the store.

    Attributes:
        documents: the batch; None if there was nothing to draw.
        totals: of the store at that moment.
        generator: what decides the draws after this one, as JSON values.
        arrival: number of the last document taken, where they are taken as they arrive.
        n_new: of the documents so many, the first ones, have arrived since the pass began and were
            never drawn before.
        new_share: what part these are of all such documents.
    """

    documents: DrawnDocuments | None
    totals: Totals
    generator: dict[str, Any]
    arrival: int = -1
    n_new: int = 0
    new_share: float = 0.0


# Documents of a batch, by what is in the store.
BatchSize = Callable[[Totals], int]


# Draws in passes, or, as in the paper, each batch independently of the others.
Order = DrawOrder | np.random.Generator


def order_to_json(order: Order) -> dict[str, Any]:
    """What decides the draws to come."""
    if isinstance(order, DrawOrder):
        return {**persist.generator_to_json(order.rng), "pass": order.place}
    return persist.generator_to_json(order)


def order_from_json(values: Mapping[str, Any]) -> Order:
    """What `order_to_json` gave.

    Raises:
        ValueError: it is something else.
    """
    rng = persist.generator_from_json({k: v for k, v in values.items() if k != "pass"})
    return DrawOrder(rng, values["pass"]) if "pass" in values else rng


def newcomers(order: Order) -> tuple[int, float]:
    """(n_new, new_share) of the last draw, as in `Drawn`."""
    return (order.n_new, order.new_share) if isinstance(order, DrawOrder) else (0, 0.0)


def draw(store: Store, batch_size: BatchSize, order: Order) -> Drawn:
    """A batch as the store is now."""

    def size(totals: Totals) -> int:
        return batch_size(totals) if totals.training else 0

    documents, totals = store.draw_batch(size, order)
    found = documents if totals.training else None
    return Drawn(found, totals, order_to_json(order), -1, *newcomers(order))


class Direct:
    """Draws each batch on request, so that a run that feeds its own store can be repeated."""

    def __init__(self, store: Store, batch_size: BatchSize, order: Order) -> None:
        self._arguments = (store, batch_size, order)

    def next(self, timeout: float | None = None) -> Drawn:
        """A batch as the store is now."""
        return draw(*self._arguments)

    def close(self) -> None:
        """The store is the caller's."""


class Arrivals:
    """Takes documents once, in the order of their arrival."""

    def __init__(
        self, store: Store, batch_size: BatchSize, after: int, generator: dict[str, Any]
    ) -> None:
        self._store, self._batch_size = store, batch_size
        self._after, self._generator = after, generator

    def next(self, timeout: float | None = None) -> Drawn:
        """What has arrived since, at most a batch."""
        totals = self._store.totals()
        documents, self._after = self._store.arrivals(self._after, self._batch_size(totals))
        return Drawn(documents if documents.keys else None, totals, self._generator, self._after)

    def close(self) -> None:
        """The store is the caller's."""


class Prefetcher:
    """Draws batches one ahead, in a thread with a connection of its own.

    `next` returns what was drawn while the caller was busy and starts the next draw. The order
    is thus ahead of the model: `Drawn.generator` of the batch learned from last is what belongs in
    a checkpoint, and a batch that was drawn ahead and never used is drawn again.

    Thread and connection end with `close`, or when nobody holds the prefetcher any more. After an
    exception in `next` it is of no use; make another.
    """

    def __init__(
        self, open_store: Callable[[], Store], batch_size: BatchSize, order: Order
    ) -> None:
        self._exchange = _Exchange()
        # It must not refer to the prefetcher, which would then never be collected.
        self._thread = threading.Thread(
            target=_draw_ahead,
            args=(self._exchange, open_store, batch_size, order),
            name="trustream-draw",
            daemon=True,
        )
        self._end = weakref.finalize(self, self._exchange.end)

    def next(self, timeout: float | None = None) -> Drawn | None:
        """The batch drawn ahead; the draw of the following one begins.

        None if it is not there after `timeout` seconds.
        """
        exchange = self._exchange
        if exchange.ended:
            raise ValueError("the prefetcher is closed")
        if self._thread.ident is None:
            self._thread.start()
            exchange.wanted.release()
        if not exchange.ready.acquire(timeout=timeout):
            return None
        drawn = exchange.drawn
        if isinstance(drawn, BaseException):
            exchange.end()
            raise drawn
        exchange.wanted.release()
        return drawn

    def close(self) -> None:
        """End the thread and its connection."""
        self._end()
        if self._thread.ident is not None:
            self._thread.join()


def drawing(
    store: Store, batch_size: BatchSize, order: Order, *, ahead: bool
) -> Direct | Prefetcher:
    """Where a trainer's draws come from: one ahead, or each on request."""
    if not ahead:
        return Direct(store, batch_size, order)
    return Prefetcher(partial(open_store, store.url, create=False), batch_size, order)


class _Exchange:
    """What a prefetcher and its thread share."""

    def __init__(self) -> None:
        self.wanted, self.ready = threading.Semaphore(0), threading.Semaphore(0)
        self.drawn: Drawn | BaseException | None = None
        self.ended = False

    def end(self) -> None:
        """Have the thread end when it has drawn what it is at."""
        self.ended = True
        self.wanted.release()


def _draw_ahead(
    exchange: _Exchange,
    open_store: Callable[[], Store],
    batch_size: BatchSize,
    order: Order,
) -> None:
    """What the thread does."""
    try:
        store = open_store()
        try:
            while True:
                exchange.wanted.acquire()
                if exchange.ended:
                    return
                exchange.drawn = draw(store, batch_size, order)
                exchange.ready.release()
        finally:
            store.close()
    except BaseException as error:
        exchange.drawn = error
        exchange.ready.release()
