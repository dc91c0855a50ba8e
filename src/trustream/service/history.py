"""The history of a model in its store: how totals, score and topics were over time."""

from __future__ import annotations

import json
import time
from typing import Any

from trustream.service.changes import topic_changes
from trustream.service.published_model import Published
from trustream.service.shown_report import ShownReport
from trustream.store.protocol import Store
from trustream.store.records import Totals

# A point for each five minutes of the last week, and for each hour of the last 400 days.
FINE, COARSE = 300.0, 3600.0
FINE_DAYS, COARSE_DAYS = 7.0, 400.0
RETENTION = {
    "fine_seconds": FINE,
    "fine_days": FINE_DAYS,
    "coarse_seconds": COARSE,
    "coarse_days": COARSE_DAYS,
}
_DAY = 86400.0
_POINT = "time", "documents", "tokens", "words", "n_steps", "n_topics", "score"


class HistoryKeeper:
    """Notes how things are, once in each slot of time; called again and again."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._noted: int | None = None

    def note(
        self, store: Store, totals: Totals, model: Published | None, report: ShownReport | None
    ) -> bool:
        """Note how things are, unless that was done in this slot; returns whether it was noted.

        A model is noted with its topics, so that it waits for the first report.
        """
        now = time.time()
        slot = int(now // FINE)
        if slot == self._noted or (model is not None and report is None):
            return False
        point = current_point(now, totals, model, report)
        content = json.dumps(point).encode()
        noted = store.note_history(self._name, content, now, every=(FINE, COARSE))
        store.expire_history(self._name, FINE, now - FINE_DAYS * _DAY)
        store.expire_history(self._name, COARSE, now - COARSE_DAYS * _DAY)
        self._noted = slot
        return noted > 0


def current_point(
    now: float, totals: Totals, model: Published | None, report: ShownReport | None
) -> dict[str, Any]:
    """How things are now, see `schemas.HistoryPoint`; with topics."""
    return {
        "time": now,
        "documents": totals.documents,
        "tokens": totals.tokens,
        "words": totals.words,
        "n_steps": None if model is None else model.n_steps,
        "n_topics": None if model is None else model.n_topics,
        "score": None if model is None else model.last_score,
        "topics": [] if report is None else report.rows,
    }


def points(
    store: Store, name: str, since: float | None = None, until: float | None = None
) -> list[dict[str, Any]]:
    """What was noted between two times, the oldest first: coarse points, then fine ones."""
    fine = store.history(name, FINE, since, until)
    first = fine[0][0] if fine else float("inf")
    coarse = [entry for entry in store.history(name, COARSE, since, until) if entry[0] < first]
    return [json.loads(content) for _, content in (*coarse, *fine)]


def history(
    store: Store, name: str, since: float | None, until: float | None, limit: int
) -> dict[str, Any]:
    """Points without topics, at most so many, spread evenly; see `schemas.History`."""
    found = points(store, name, since, until)
    if len(found) > limit:
        step = (len(found) - 1) / max(limit - 1, 1)
        # The last one is always among them.
        found = [found[len(found) - 1 - round(i * step)] for i in reversed(range(limit))]
    return {"items": [_bare(point) for point in found], "retention": RETENTION}


def changes(store: Store, name: str, since: float, after: dict[str, Any]) -> dict[str, Any]:
    """What changed since a time, see `schemas.Changes`.

    Compared is with the last point before that time, or else the first one after it. Topics are
    compared with the first point from there on that has some.
    """
    # The last slot before may lie far back, if nobody was there to note anything.
    before = points(store, name, None, since)[-1:] or points(store, name, since)[:1]
    found = before[0] if before and before[0]["time"] < after["time"] else None
    topics, then = [], None
    if found is not None and after["topics"]:
        then = found if found["topics"] else _first_with_topics(store, name, found["time"])
    if then is not None:
        topics = topic_changes(then["topics"], after["topics"], least=0.001)
    return {
        "since": None if found is None else found["time"],
        "until": after["time"],
        "before": None if found is None else _bare(found),
        "after": _bare(after),
        "topics": topics,
        "topics_since": None if then is None else then["time"],
        "retention": RETENTION,
    }


def _first_with_topics(store: Store, name: str, since: float) -> dict[str, Any] | None:
    return next((point for point in points(store, name, since) if point["topics"]), None)


def _bare(point: dict[str, Any]) -> dict[str, Any]:
    return {name: point[name] for name in _POINT}
