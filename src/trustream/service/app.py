"""The application: routes, guards and what lives as long as it does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

import trustream
from trustream.service import pages, problems
from trustream.service.context import Context
from trustream.service.guards import Guards
from trustream.service.metrics import Measured, Metrics
from trustream.service.routes import appends, documents, health, session, stream, topics
from trustream.service.schemas import EVENTS, Problem
from trustream.service.settings import ServiceSettings

API = "/api/v1"


def create_app(settings: ServiceSettings) -> FastAPI:
    """Return the service as an ASGI application; it opens the store when it is started.

    >>> import tempfile, trustream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trustream.open_store(f"{folder}/topics.db").close()
    ...     app = create_app(ServiceSettings(f"{folder}/topics.db"))
    ...     sorted(app.openapi()["paths"])[:2]
    ['/api/v1/changes', '/api/v1/document']
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        context = app.state.context = Context(settings)
        await context.start()
        try:
            yield
        finally:
            await context.stop()

    app = FastAPI(
        title="trustream",
        version=trustream.__version__,
        description="Topics of documents that arrive: append, look, infer.",
        lifespan=lifespan,
        openapi_url=f"{API}/openapi.json",
        # Their pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
    )
    problems.install(app)
    app.add_middleware(Guards, settings=settings)
    app.state.metrics = Metrics()
    app.add_middleware(Measured, metrics=app.state.metrics)
    for module in (appends, documents, topics, stream, session):
        app.include_router(module.router, prefix=API)
    app.include_router(health.router)
    app.include_router(pages.router)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def _described(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI description, with problems and events."""
    found = FastAPI.openapi(app)
    schemas = found["components"]["schemas"]
    models: list[type[BaseModel]] = [Problem, *EVENTS.values()]
    for model in models:
        described = model.model_json_schema(ref_template="#/components/schemas/{model}")
        for name, inner in described.pop("$defs", {}).items():
            schemas.setdefault(name, inner)
        schemas[model.__name__] = described
    # What FastAPI says of refusals is not how they look here.
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    return found
