"""Routes of the stream: status, history, changes, events."""

from __future__ import annotations

import functools
import time
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

import trustream
from trustream.service import schemas
from trustream.service.access import SCOPES, Token
from trustream.service.answers import answer
from trustream.service.context import context_of, reading
from trustream.service.events import INTERVAL
from trustream.service.history import changes, current_point, history
from trustream.service.problem_error import ProblemError
from trustream.service.problems import documented
from trustream.service.watcher import totals_of
from trustream.store.protocol import Store

router = APIRouter(tags=["stream"])
Sender = Annotated[Token, Depends(reading)]
Time = Annotated[float | None, Query(description="seconds since 1970", allow_inf_nan=False)]


@router.get("/status", response_model=schemas.Status, responses=documented())
async def read_status(request: Request, sender: Sender) -> Response:
    """What the store holds, how far the model is, who trains it, and what you may do."""
    context = context_of(request)
    watcher = context.watcher
    totals = await context.readers.run(lambda store: store.totals())
    values = {
        "service": {
            "version": trustream.__version__,
            "started": context.started,
            "now": time.time(),
        },
        "store": {
            "name": context.title,
            "keep_text": context.store_settings.keep_text,
            "held_out": context.store_settings.held_out,
        },
        "totals": totals_of(totals),
        "rate": watcher.rate,
        "model": watcher.published(),
        "trainer": None if watcher.trainer is None else asdict(watcher.trainer),
        "training": watcher.training,
        "report": None if watcher.report is None else watcher.report.state,
        "access": {
            "name": sender.name or None,
            "scopes": [scope for scope in SCOPES if sender.allows(scope)],
        },
    }
    return answer(request, values)


@router.get("/history", response_model=schemas.History, responses=documented(422))
async def read_history(
    request: Request,
    sender: Sender,
    since: Time = None,
    until: Time = None,
    limit: Annotated[int, Query(ge=1, le=5000)] = 1000,
) -> Response:
    """Totals and held-out scores over time, the oldest first; `limit` points spread evenly."""
    context = context_of(request)
    name = context.settings.model
    found = await context.readers.run(lambda store: history(store, name, since, until, limit))
    return answer(request, found)


@router.get("/changes", response_model=schemas.Changes, responses=documented(404, 422))
async def read_changes(request: Request, sender: Sender, since: Time = None) -> Response:
    """What changed since a time, yesterday at this time if none is given."""
    context = context_of(request)
    watcher, name = context.watcher, context.settings.model

    def compare(store: Store) -> dict[str, Any]:
        now = time.time()
        point = current_point(now, store.totals(), watcher.model, watcher.report)
        return changes(store, name, now - 86400.0 if since is None else since, point)

    return answer(request, await context.readers.run(compare))


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={
        **documented(),
        200: {
            "description": "Events: " + ", ".join(schemas.EVENTS),
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
    },
)
async def follow_events(request: Request, sender: Sender) -> Response:
    """What happens, as server-sent events whose data is JSON."""
    context = context_of(request)
    owner = sender.id or (request.client.host if request.client else "")
    if not context.events.makes_room(owner):
        raise ProblemError(
            503,
            "too-many-listeners",
            "too many follow events already",
            headers={"Retry-After": "10"},
        )
    context.watcher.warm_up()
    hello: dict[str, Any] = {"now": time.time(), "interval": INTERVAL}
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    # A token may be revoked, or expire, while its holder listens.
    asked = context.settings.requires_token
    may_listen = functools.partial(context.still_allows, request, "read") if asked else None
    stream = context.events.listen(hello, owner, may_listen)
    return StreamingResponse(stream, 200, headers, "text/event-stream")
