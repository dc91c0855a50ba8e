"""Bodies of requests: whole, in time, and not too much of them at once."""

from __future__ import annotations

import asyncio
import time

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from trustream.service.problem_error import ProblemError

# A body has more time if more than this many bytes per second arrive.
_SLOWEST = 50_000.0


class PendingBytes:
    """Bytes that the bodies of all requests take at one time.

    Args:
        most: bytes, at most.

    >>> pending = PendingBytes(10)
    >>> pending.reserve(8)
    >>> pending.reserve(8)
    Traceback (most recent call last):
    ...
    trustream.service.problem_error.ProblemError: too many bodies wait to be stored: try again
    >>> pending.release(8)
    >>> pending.reserve(8)
    """

    def __init__(self, most: int) -> None:
        self._most, self._taken = most, 0

    def reserve(self, n: int) -> None:
        """Let a body take so many bytes more."""
        if self._taken + n > self._most:
            raise ProblemError(
                503,
                "busy",
                "too many bodies wait to be stored: try again",
                headers={"Retry-After": "1"},
            )
        self._taken += n

    def release(self, n: int) -> None:
        """Take so many bytes back."""
        self._taken -= n


class RequestBody:
    """The body of a request, read as a whole before the application sees anything of it.

    Args:
        receive: gives it piece by piece.
        pending: what the bodies of all requests take.
        seconds: that it may take to arrive; more, if it is large and comes quickly.
        limit: bytes, at most.
    """

    def __init__(self, receive: Receive, pending: PendingBytes, seconds: float, limit: int) -> None:
        self._receive, self._pending = receive, pending
        self._seconds, self._limit = seconds, limit
        self._parts: list[bytes] = []
        self.size = 0
        self._given = self._ended = False
        # Bytes that came, and seconds that were spent waiting for them.
        self._received, self._waited = 0, 0.0

    async def read(self, headers: Headers) -> None:
        """Read it; a problem if it is too large or too slow."""
        length = headers.get("content-length", "0")
        if not length.isdigit():
            raise ProblemError(400, "malformed-body", f"Content-Length is {length!r:.60}")
        if int(length) > self._limit:
            raise self._too_large()
        more = True
        while more:
            message = await self._next()
            part = message.get("body", b"")
            if self.size + len(part) > self._limit:
                raise self._too_large()
            self.reserve(len(part))
            self._parts.append(part)
            more = message.get("more_body", False)

    def reserve(self, n: int) -> None:
        """Take so many bytes of memory more, until the request is answered."""
        self._pending.reserve(n)
        self.size += n

    def release(self) -> None:
        """Give its memory back."""
        self._pending.release(self.size)

    async def pass_on(self) -> Message:
        """Give the body to the application as it comes, which keeps little of it."""
        return await self._receive() if self._ended else await self._next()

    async def _next(self) -> Message:
        """The next of the body, if it comes in time."""
        began = time.monotonic()
        left = self._seconds + self._received / _SLOWEST - self._waited
        try:
            message = await asyncio.wait_for(self._receive(), max(left, 0.001))
        except TimeoutError:
            raise ProblemError(408, "too-slow", "the body did not arrive in time") from None
        if message["type"] == "http.disconnect":
            raise ProblemError(400, "disconnected", "the connection was closed")
        self._waited += time.monotonic() - began
        self._received += len(message.get("body", b""))
        self._ended = not message.get("more_body", False)
        return message

    def _too_large(self) -> ProblemError:
        return ProblemError(
            413,
            "too-large",
            f"the body is longer than {self._limit:,} bytes: send several requests, or documents "
            "as lines to /api/v1/documents?in_parts=true",
        )

    async def replay(self) -> Message:
        """Give the body to the application, at once; then wait as before."""
        if self._given:
            return await self._receive()
        self._given = True
        body, self._parts = b"".join(self._parts), []
        return {"type": "http.request", "body": body, "more_body": False}


async def drain(receive: Receive) -> None:
    """Read a body to its end, for some seconds."""

    async def all_of_it() -> None:
        message: Message = {"more_body": True}
        while message.get("more_body", False):
            message = await receive()

    try:
        await asyncio.wait_for(all_of_it(), 5.0)
    except TimeoutError:
        pass
