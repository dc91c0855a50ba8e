"""Routes for those who run the service: whether it lives, whether it can answer, and numbers."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response

from trustream.service.context import context_of, reading
from trustream.service.metrics import TYPE
from trustream.service.problem_error import ProblemError
from trustream.service.problems import documented

router = APIRouter(tags=["health"])


@router.get("/healthz", responses=documented())
async def is_alive() -> dict[str, str]:
    """Whether the process lives; asks nobody else."""
    return {"status": "alive"}


@router.get("/readyz", responses=documented())
async def is_ready(request: Request) -> dict[str, str]:
    """Whether the store can be read; 503 if not."""
    context = context_of(request)
    if context.watcher.problem is not None:
        raise ProblemError(503, "not-ready", "the store cannot be read at the moment")
    await context.readers.run(lambda store: store.totals())
    return {"status": "ready"}


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        **documented(),
        200: {"description": "Numbers", "content": {"text/plain": {"schema": {"type": "string"}}}},
    },
    dependencies=[Depends(reading)],
)
async def read_metrics(request: Request) -> Response:
    """Numbers for Prometheus."""
    content = request.app.state.metrics.text(context_of(request))
    return Response(content, 200, media_type=TYPE)
