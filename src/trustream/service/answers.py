"""Answers with an entity tag, compressed where that pays."""

from __future__ import annotations

import gzip
import hashlib
import json
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response

# Bytes from which on an answer is compressed.
_LEAST = 1000


def answer(request: Request, content: Any) -> Response:
    """JSON with an entity tag; nothing but the tag if the sender has it already.

    Args:
        request: what is answered.
        content: JSON values, or their bytes.
    """
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    # Weak: the same values, however they are compressed.
    etag = f'W/"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    headers = {
        "ETag": etag,
        "Cache-Control": "private, no-cache",
        "Vary": "Accept-Encoding, Cookie",
    }
    known = request.headers.get("if-none-match", "")
    if known.strip() == "*" or etag in [one.strip() for one in known.split(",")]:
        return Response(None, 304, headers)
    if len(body) >= _LEAST and accepts_gzip(request.headers.get("accept-encoding", "")):
        body = gzip.compress(body, 5, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return Response(body, 200, headers, "application/json")


def accepts_gzip(header: str) -> bool:
    """Whether a header of accepted encodings allows gzip.

    >>> accepts_gzip("br, gzip;q=0.5"), accepts_gzip("gzip;q=0"), accepts_gzip("")
    (True, False, False)
    """
    for part in header.lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() in ("gzip", "*"):
            try:
                return float(weight.strip().removeprefix("q=") or 1) > 0
            except ValueError:
                return False
    return False


def page(
    request: Request, items: list[Any], limit: int, offset: int
) -> tuple[list[Any], str | None]:
    """One page of a list, and the address of the next."""
    end = offset + limit
    return items[offset:end], next_address(request, offset=end) if end < len(items) else None


def next_address(request: Request, **changes: Any) -> str:
    """The address of a request with other parameters, without the host."""
    given = [
        (name, value) for name, value in request.query_params.multi_items() if name not in changes
    ]
    return f"{request.url.path}?{urlencode([*given, *changes.items()])}"
