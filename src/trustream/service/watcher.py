"""Watch a store: load what trainers publish, report on it, and say what happens."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import asdict
from typing import Any

from trustream.service.arrival_rate import ArrivalRate
from trustream.service.changes import topic_changes, topic_rows
from trustream.service.events import Events
from trustream.service.history import HistoryKeeper
from trustream.service.live_model import (
    LiveModel,
    LiveReport,
    compute_report,
    load_live,
    versions,
)
from trustream.service.settings import ServiceSettings
from trustream.store import open_store
from trustream.store.errors import StoreError
from trustream.store.protocol import Store
from trustream.store.records import Totals
from trustream.streaming.trainer_status import TrainerStatus, trainer_status

_LOG = logging.getLogger("trustream.service")
# A report takes at most this share of the time of its thread.
_SHARE = 0.2
# But never waits longer, in seconds: the first one may take minutes, since kernels are compiled.
_LONGEST_PAUSE = 60.0


class Watcher:
    """Two threads: one looks at the store again and again, the other computes reports.

    Neither changes what the trainer does. What they find is replaced as a whole, so that a request
    sees one model from its beginning to its end.

    Attributes:
        model: the model that was published last; None if there is none.
        report: the last report; None before the first.
        totals: of the store.
        trainer: who holds the lease of the model.
        problem: why the store cannot be read; None if it can.
        is_refused: whether a model was published that cannot be read; the log says why.
    """

    def __init__(self, settings: ServiceSettings, events: Events, title: str) -> None:
        self._settings, self._events, self._title = settings, events, title
        self.model: LiveModel | None = None
        self.report: LiveReport | None = None
        self.totals: Totals | None = None
        self.trainer: TrainerStatus | None = None
        self.training: dict[str, Any] = {"state": "off", "pid": None, "n_restarts": 0}
        self.problem: str | None = None
        self._rate = ArrivalRate()
        self._history = HistoryKeeper(settings.model)
        self._score: float | None = None
        self._refused: tuple[int, int] | None = None
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(work,), name=f"trustream-{name}", daemon=True)
            for name, work in (("watcher", self._look), ("reporter", self._report))
        ]

    def start(self, store: Store) -> None:
        """Look at the store once, so that the first request finds something, and begin."""
        self._look(store)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End both threads, and wait for them."""
        self._stop.set()
        self._wake.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    @property
    def rate(self) -> dict[str, float]:
        """How fast documents arrive, see `schemas.Rate`."""
        return self._rate.value(time.monotonic())

    def _run(self, work: Any) -> None:
        """Do some work with a store again and again, also after the database went away."""
        store: Store | None = None
        while not self._stop.is_set():
            try:
                if store is None:
                    store = open_store(self._settings.store, create=False)
                work(store)
                self.problem = None
            except StoreError as error:
                if self.problem is None:
                    _LOG.warning("the store cannot be read: %s", error)
                self.problem = str(error)
            except Exception:
                _LOG.exception("watching the store failed; trying again")
                self._stop.wait(1.0)
            self._stop.wait(self._settings.poll)
        if store is not None:
            store.close()

    # --- looking

    def _look(self, store: Store) -> None:
        self._look_at_totals(store.totals())
        found = versions(store, self._settings.model)
        if found is not None and found != self._refused:
            if self.model is None or found != self.model.versions:
                self._load(store, found)
        self._look_at_trainer(trainer_status(store, self._settings.model))
        if self.totals is not None:
            self._history.note(store, self.totals, self.model, self.report)

    def _look_at_totals(self, totals: Totals) -> None:
        before, self.totals = self.totals, totals
        now = time.monotonic()
        was_moving = self._rate.value(now)["documents"] > 0
        self._rate.note(now, totals)
        if before is None or before.sequence != totals.sequence or was_moving:
            event = {"time": time.time(), "totals": totals_of(totals), "rate": self.rate}
            self._events.send("totals", event)
            self._wake.set()

    @property
    def is_refused(self) -> bool:
        """See the class."""
        return self._refused is not None

    def _load(self, store: Store, found: tuple[int, int]) -> None:
        try:
            model = load_live(store, self._settings.model)
        except ValueError as error:
            # Said once; the last good one stays.
            self._refused = found
            _LOG.error("the model cannot be read: %s", error)
            return
        if model is None:
            return
        self.model, self._refused = model, None
        now = time.time()
        self._events.send("model", {"time": now, "model": self.published()})
        if model.last_score is not None:
            self.send_score(model.n_steps, model.last_score)
        self._wake.set()

    def send_score(self, n_steps: int, score: float) -> None:
        """Tell a held-out score, unless it was told."""
        if score != self._score:
            self._score = score
            event = {"time": time.time(), "n_steps": n_steps, "score": score}
            self._events.send("score", event)

    def published(self) -> dict[str, Any] | None:
        """The model, see `schemas.PublishedModel`."""
        model = self.model
        if model is None:
            return None
        return {
            "name": model.name,
            "version": model.version,
            "n_topics": model.topics.n_topics,
            "n_steps": model.n_steps,
            "rho": None,
            "last_score": model.last_score,
            "best_score": model.best_score,
        }

    def _look_at_trainer(self, found: TrainerStatus | None) -> None:
        before, self.trainer = self.trainer, found
        if _who(before) != _who(found):
            self.send_trainer()

    def send_trainer(self) -> None:
        """Tell who trains."""
        trainer = None if self.trainer is None else asdict(self.trainer)
        event = {"time": time.time(), "trainer": trainer, "training": self.training}
        self._events.send("trainer", event)

    # --- reporting

    def _report(self, store: Store) -> None:
        self._wake.wait()
        self._wake.clear()
        model, report = self.model, self.report
        if model is None or self._stop.is_set():
            return
        totals = store.totals()
        current = (model.versions, totals.sequence)
        if report is not None and current == (report.model.versions, report.sequence):
            return
        began = time.monotonic()
        found = compute_report(store, model, self._settings.sample, self._title)
        self.report = found
        before = [] if report is None else topic_rows(report)
        changed = topic_changes(before, topic_rows(found), least=0.001) if before else []
        event = {"time": time.time(), "report": found.state, "changed": changed}
        self._events.send("topics", event)
        took = time.monotonic() - began
        pause = max(self._settings.report_every, min(took * (1 / _SHARE - 1), _LONGEST_PAUSE))
        if not self._stop.wait(pause):
            # What came meanwhile is worth another look.
            self._wake.set()


def totals_of(totals: Totals) -> dict[str, int]:
    """What a store holds, see `schemas.StoreTotals`."""
    names = "documents", "training", "held_out", "tokens", "words", "arrived", "sequence"
    return {name: getattr(totals, name) for name in names}


def _who(trainer: TrainerStatus | None) -> Any:
    if trainer is None:
        return None
    return trainer.host, trainer.pid, trainer.since, trainer.is_silent
