"""Tell all who listen what happens, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

# Events that wait for a slow listener, at most; then it is cut off, and begins anew.
_WAITING = 256
# Seconds after which something is sent, so that both ends notice a cut.
INTERVAL = 10.0
# Seconds after which it is asked again whether somebody may listen.
_ASKED = 2.0


@dataclass(eq=False)
class _Listener:
    """Somebody who listens, what waits for them, and who answers for them."""

    owner: str
    queue: asyncio.Queue[bytes | None] = field(default_factory=lambda: asyncio.Queue(_WAITING))


class Events:
    """Listeners, and the last event of each name, with which a new listener begins.

    Events may be sent from any thread. A listener that does not keep up is cut off: it connects
    again and is told how things are now, so that nobody has to remember what it has missed.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._loop: asyncio.AbstractEventLoop | None = None
        # The oldest first.
        self._listeners: dict[_Listener, None] = {}
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
        for listener in list(self._listeners):
            try:
                listener.queue.put_nowait(event)
            except asyncio.QueueFull:
                self._cut(listener)

    def _cut(self, listener: _Listener) -> None:
        self._listeners.pop(listener, None)
        while not listener.queue.empty():
            listener.queue.get_nowait()
        listener.queue.put_nowait(None)

    def stop(self) -> None:
        """End all streams."""
        for listener in list(self._listeners):
            self._cut(listener)

    def makes_room(self, owner: str) -> bool:
        """Whether another listener can be taken on.

        If there are too many, the oldest of who has most makes room for somebody who has fewer, so
        that nobody can shut others out.
        """
        if self.n_listeners < self.most:
            return True
        counts = Counter(listener.owner for listener in self._listeners)
        ((greediest, n),) = counts.most_common(1)
        if counts[owner] + 1 >= n:
            return False
        self._cut(next(one for one in self._listeners if one.owner == greediest))
        return True

    async def listen(
        self,
        hello: dict[str, Any],
        owner: str = "",
        may_listen: Callable[[], Awaitable[bool]] | None = None,
    ) -> AsyncIterator[bytes]:
        """What a listener is sent: how things are now, and then what happens.

        Args:
            hello: the first event.
            owner: who answers for the listener.
            may_listen: asked again and again; the stream ends when it says no.
        """
        listener, clock = _Listener(owner), asyncio.get_running_loop().time
        self._listeners[listener] = None
        sent = asked = clock()
        try:
            yield b"retry: 1000\n" + encoded("hello", hello, self._number)
            for event in list(self._last.values()):
                yield event
            while True:
                wait = INTERVAL - (clock() - sent) if may_listen is None else _ASKED
                try:
                    found = await asyncio.wait_for(listener.queue.get(), max(wait, 0.0))
                except TimeoutError:
                    found = b""
                if may_listen is not None and clock() - asked >= _ASKED:
                    if not await may_listen():
                        return
                    asked = clock()
                if found is None:
                    return
                if found or clock() - sent >= INTERVAL:
                    sent = clock()
                    yield found or b": still there\n\n"
        finally:
            self._listeners.pop(listener, None)


def encoded(name: str, data: dict[str, Any], number: int) -> bytes:
    r"""An event as it is sent; JSON has no line breaks, so that it is one line.

    >>> encoded("score", {"score": -7.5}, 3)
    b'id: 3\nevent: score\ndata: {"score": -7.5}\n\n'
    """
    return f"id: {number}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode()
