"""Take what deleted documents have left out of a store, beside all else that a service does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from trustream.service.readers import Readers
from trustream.streaming.lost_words import lost_words

_LOG = logging.getLogger("trustream.service")
# Seconds until another pass, if there may be something left.
_PAUSE = 10.0


class _Pass(NamedTuple):
    """What a pass over the store came to: whether the log is empty, and whether that was all."""

    overwritten: bool
    is_last: bool


class Forgetter:
    """Does after a deletion what `streaming.forgetting.forget` does; in one event loop.

    Requests that wait at the same time share one pass over the store. Another one follows, whether
    somebody waits for it or not, if something could not be done, if others kept on reading the
    log, and if a model was changed, which a trainer may have been about to save as it was.

    Args:
        url: address of the store.
        compute: asks what computes for an operation of `Computing`.
    """

    def __init__(self, url: str, compute: Callable[[str], Awaitable[Any]]) -> None:
        # Its own thread: it may wait for others who read, and nobody should wait for it.
        self._threads = Readers(url, 1)
        self._compute = compute
        # A log that can be emptied is that of a file.
        self._has_log = "://" not in url
        self._running: asyncio.Task[_Pass] | None = None
        self._next: asyncio.Task[_Pass] | None = None
        self._again: asyncio.Task[None] | None = None
        self._stopped = False

    async def forget(self) -> bool:
        """Forget what was deleted before this call; whether nothing of it is in the log."""
        return (await self._forget()).overwritten

    async def _forget(self) -> _Pass:
        if self._next is None:
            self._next = asyncio.create_task(self._after(self._running))
        return await asyncio.shield(self._next)

    def stop(self) -> None:
        """Begin nothing from now on; requests have been answered."""
        self._stopped = True
        for task in (self._again, self._next, self._running):
            if task is not None:
                task.cancel()

    def close(self) -> None:
        """Wait for what is being done, in another thread than that of the event loop."""
        self._threads.close()

    async def _after(self, before: asyncio.Task[_Pass] | None) -> _Pass:
        if before is not None:
            await asyncio.wait([before])
        self._running, self._next = self._next, None
        is_last = False
        try:
            # What computes is only started for it if there is something to do.
            n_words = 0
            if await self._threads.run(lambda store: any(lost_words(store).values())):
                n_words = await self._compute("forget")
            overwritten = await self._threads.run(lambda store: store.erase())
            is_last = not n_words and (overwritten or not self._has_log)
        finally:
            waits = self._again is not None and not self._again.done()
            if not (is_last or waits or self._stopped):
                self._again = asyncio.create_task(self._go_on())
        return _Pass(overwritten, is_last)

    async def _go_on(self) -> None:
        """Passes that nobody has asked for, until nothing is left."""
        while True:
            await asyncio.sleep(_PAUSE)
            try:
                if (await self._forget()).is_last:
                    return
            except Exception as error:
                _LOG.warning("what was deleted is not forgotten yet, tried again: %s", error)
