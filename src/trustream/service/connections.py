"""Connections that cannot be held open for nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds in which the headers of a request have to come, and in which an answer has to be taken.
HEADER_SECONDS, ANSWER_SECONDS = 15.0, 60.0
_SWEEP = 1.0


class GuardedProtocol(H11Protocol):
    """Uvicorn's protocol, with a time limit for headers and for taking answers.

    If there are too many connections, the one that has waited longest without a request makes room
    for a new one; if all are busy, the new one is closed.

    Attributes:
        most: connections at one time.
        waiting_since: since when no request has come; None while one is being answered.
        stalled_since: since when the other side has not read what was sent; None if it does.
    """

    most = 1000

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.waiting_since: float | None = None
        self.stalled_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Called by asyncio."""
        super().connection_made(transport)
        self.waiting_since = self.loop.time()
        if len(self.connections) > self.most:
            self._make_room()

    def _make_room(self) -> None:
        idle = [
            (other.waiting_since, id(other), other)
            for other in self.connections
            if isinstance(other, GuardedProtocol)
            and other is not self
            and other.waiting_since is not None
        ]
        (min(idle)[2] if idle else self)._drop()

    def _drop(self) -> None:
        self.connections.discard(self)
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Called by asyncio."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self.waiting_since = None

    def on_response_complete(self) -> None:
        """Called by uvicorn."""
        self.waiting_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Called by asyncio."""
        self.stalled_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Called by asyncio."""
        self.stalled_since = None
        super().resume_writing()

    def is_late(self, now: float, header_seconds: float) -> bool:
        """Whether it has had its time."""
        waits, stalls = self.waiting_since, self.stalled_since
        return (waits is not None and now - waits > header_seconds) or (
            stalls is not None and now - stalls > ANSWER_SECONDS
        )


async def sweep(connections: set[Any], header_seconds: float = HEADER_SECONDS) -> None:
    """Close connections that are late, again and again."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(_SWEEP)
        now = loop.time()
        for one in list(connections):
            if isinstance(one, GuardedProtocol) and one.is_late(now, header_seconds):
                one._drop()
