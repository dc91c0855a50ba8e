"""Tell all who listen what happens, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

# Events that wait for a slow listener, at most; then it is cut off, and begins anew.
_WAITING = 256
# Seconds after which something is sent, so that both ends notice a cut.
INTERVAL = 10.0


class Events:
    """Listeners, and the last event of each name, with which a new listener begins.

    Events may be sent from any thread. A listener that does not keep up is cut off: it connects
    again and is told how things are now, so that nobody has to remember what it has missed.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: set[asyncio.Queue[bytes | None]] = set()
        self._last: dict[str, bytes] = {}
        self._number = 0

    def start(self) -> None:
        """Begin, in the event loop of the service."""
        self._loop = asyncio.get_running_loop()

    @property
    def n_listeners(self) -> int:
        """How many follow."""
        return len(self._listeners)

    def send(self, name: str, data: dict[str, Any]) -> None:
        """Send an event to all; from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._send, name, data)

    def _send(self, name: str, data: dict[str, Any]) -> None:
        self._number += 1
        event = encoded(name, data, self._number)
        self._last[name] = event
        for queue in list(self._listeners):
            try:
                queue.put_nowait(event)
            except asyncio.QueueFull:
                self._cut(queue)

    def _cut(self, queue: asyncio.Queue[bytes | None]) -> None:
        self._listeners.discard(queue)
        while not queue.empty():
            queue.get_nowait()
        queue.put_nowait(None)

    def stop(self) -> None:
        """End all streams."""
        for queue in list(self._listeners):
            self._cut(queue)

    async def listen(self, hello: dict[str, Any]) -> AsyncIterator[bytes]:
        """What a listener is sent: how things are now, and then what happens."""
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(_WAITING)
        self._listeners.add(queue)
        try:
            yield b"retry: 1000\n" + encoded("hello", hello, self._number)
            for event in list(self._last.values()):
                yield event
            while True:
                try:
                    event_or_end = await asyncio.wait_for(queue.get(), INTERVAL)
                except TimeoutError:
                    yield b": still there\n\n"
                    continue
                if event_or_end is None:
                    return
                yield event_or_end
        finally:
            self._listeners.discard(queue)


def encoded(name: str, data: dict[str, Any], number: int) -> bytes:
    r"""An event as it is sent; JSON has no line breaks, so that it is one line.

    >>> encoded("score", {"score": -7.5}, 3)
    b'id: 3\nevent: score\ndata: {"score": -7.5}\n\n'
    """
    return f"id: {number}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode()
