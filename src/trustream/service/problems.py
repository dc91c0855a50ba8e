"""Answer requests that are refused with problem details."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from trustream.service.problem_error import TYPE, ProblemError
from trustream.store.errors import StoreError

_LOG = logging.getLogger("trustream.service")


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI description says of refusals with these statuses.

    >>> sorted(documented(404))
    [401, 403, 404, 429, 503]
    """
    content = {TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    titles = {
        400: "Malformed", 401: "No token", 403: "Not allowed", 404: "Not there",
        409: "Conflict", 411: "No length", 413: "Too large", 415: "Not that type", 408: "Too slow",
        422: "Wrong values", 429: "Too many requests", 503: "Not now",
    }  # fmt: skip
    wanted = sorted({401, 403, 429, 503, *statuses})
    return {status: {"description": titles[status], "content": content} for status in wanted}


def install(app: FastAPI) -> None:
    """Let an application answer all errors as problems."""

    @app.exception_handler(ProblemError)
    async def refused(request: Request, error: ProblemError) -> Response:
        return error.response()

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        faults = [
            {"field": _path(found["loc"]), "message": str(found["msg"])[:500]}
            for found in error.errors()[:20]
        ]
        detail = "; ".join(f"{fault['field']}: {fault['message']}" for fault in faults[:3])
        return ProblemError(422, "invalid-request", detail, faults).response()

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        kinds = {404: "not-found", 405: "method-not-allowed"}
        headers = dict(error.headers or {})
        kind = kinds.get(error.status_code, "refused")
        return ProblemError(error.status_code, kind, str(error.detail), headers=headers).response()

    @app.exception_handler(StoreError)
    async def store(request: Request, error: StoreError) -> Response:
        return unavailable(request, error).response()


def unavailable(request: Request, error: StoreError) -> ProblemError:
    """The refusal of a request because of the store; where that is, is for those who run it."""
    # Not what was asked for: a path may have anything in it, also line breaks.
    route = getattr(request.scope.get("route"), "path", "")
    _LOG.warning("%s %s: %s", request.method, route, error)
    detail = "the store cannot be used at the moment: try again"
    return ProblemError(503, "store-unavailable", detail, headers={"Retry-After": "1"})


def _path(location: Sequence[Any]) -> str:
    """A place in a request, as `texts[3]`."""
    text = ""
    for part in location[1:] or location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
