"""Numbers for Prometheus."""

from __future__ import annotations

import time
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trustream.store.records import Appended

TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counters of one service. Labels are routes, never what a request brings."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "trustream_requests",
            "Requests that were answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "trustream_request_seconds",
            "Seconds until a request was answered.",
            ("method", "route"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        names = {
            "records": "Records that were appended.",
            "documents": "Documents that were not there before.",
            "tokens": "Tokens that were appended.",
            "repeated": "Records that were left out because their append id was known.",
        }
        self._appended = {
            name: Counter(f"trustream_appended_{name}", text, registry=self.registry)
            for name, text in names.items()
        }
        gauges = {
            "documents": "Documents in the store.",
            "tokens": "Tokens in the store.",
            "words": "Active words in the store.",
            "model_version": "Version of the model that is shown.",
            "model_steps": "Steps of the model that is shown.",
            "held_out_score": "Held-out score of that model, nats per word.",
            "trainer_silent_seconds": "Seconds since the trainer's last sign of life.",
            "trainer_restarts": "How often the service has started its trainer again.",
            "event_listeners": "Clients that follow events.",
            "report_age_seconds": "Seconds since the report was computed.",
        }
        self._gauges = {
            name: Gauge(f"trustream_{name}", text, registry=self.registry)
            for name, text in gauges.items()
        }

    def appended(self, done: Appended) -> None:
        """Count what an append did."""
        for name, counter in self._appended.items():
            counter.inc(getattr(done, f"n_{name}"))

    def text(self, context: Any) -> bytes:
        """All numbers as Prometheus reads them."""
        watcher = context.watcher
        nan = float("nan")
        totals, model, report = watcher.totals, watcher.model, watcher.report
        values = {
            "documents": totals.documents if totals else nan,
            "tokens": totals.tokens if totals else nan,
            "words": totals.words if totals else nan,
            "model_version": model.version if model else nan,
            "model_steps": model.n_steps if model else nan,
            "held_out_score": model.last_score if model and model.last_score is not None else nan,
            "trainer_silent_seconds": watcher.trainer.silent if watcher.trainer else nan,
            "trainer_restarts": watcher.training["n_restarts"],
            "event_listeners": context.events.n_listeners,
            "report_age_seconds": time.time() - report.computed if report else nan,
        }
        for name, value in values.items():
            self._gauges[name].set(value)
        return generate_latest(self.registry)


class Measured:
    """ASGI middleware that counts and times requests by their routes."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.requests.labels(method, route, str(status)).inc()
            if not route.endswith("/events"):
                seconds = time.perf_counter() - began
                self._metrics.seconds.labels(method, route).observe(seconds)


_METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"})
