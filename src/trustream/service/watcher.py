"""Watch a store: load what trainers publish, report on it, and say what happens."""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import Future
from dataclasses import asdict
from typing import Any

from trustream.service.arrival_rate import ArrivalRate
from trustream.service.changes import topic_changes
from trustream.service.computing import Compute
from trustream.service.events import Events
from trustream.service.history import HistoryKeeper
from trustream.service.problem_error import ProblemError
from trustream.service.published_model import Published, UnreadableModelError, versions
from trustream.service.settings import ServiceSettings
from trustream.service.shown_report import ShownReport
from trustream.service.store_handle import StoreHandle
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
        is_loading: whether a model is being loaded.
        is_refused: whether a model was published that cannot be read; the log says why.
    """

    def __init__(self, settings: ServiceSettings, events: Events, compute: Compute) -> None:
        self._settings, self._events, self._compute = settings, events, compute
        self.model: Published | None = None
        self.report: ShownReport | None = None
        self.totals: Totals | None = None
        self.trainer: TrainerStatus | None = None
        self.training: dict[str, Any] = {"state": "off", "pid": None, "n_restarts": 0}
        self.problem: str | None = None
        self._rate = ArrivalRate()
        self._history = HistoryKeeper(settings.model)
        self._score: float | None = None
        self._refused: tuple[int, int] | None = None
        self.is_loading = False
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

    def end(self) -> None:
        """Tell both threads to end."""
        self._stop.set()
        self._wake.set()

    def join(self) -> None:
        """Wait for their end."""
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    @property
    def rate(self) -> dict[str, float]:
        """How fast documents arrive, see `schemas.Rate`."""
        return self._rate.value(time.monotonic())

    def _run(self, work: Any) -> None:
        """Do some work with a store again and again, also after the database went away."""
        store = StoreHandle(self._settings.store)
        while not self._stop.is_set():
            try:
                store.call(work)
                self.problem = None
            except StoreError as error:
                if self.problem is None and not self._stop.is_set():
                    _LOG.warning("the store cannot be read: %s", error)
                self.problem = str(error)
            except Exception:
                if self._stop.is_set():
                    break
                _LOG.exception("watching the store failed; trying again")
                self._stop.wait(1.0)
            self._stop.wait(self._settings.poll)
        store.close()

    # --- looking

    def _look(self, store: Store) -> None:
        self._compute.look_after()
        self._look_at_totals(store.totals())
        found = versions(store, self._settings.model)
        if found is not None and found != self._refused:
            if self.model is None or found != self.model.versions:
                self._load()
        self._look_at_trainer(trainer_status(store, self._settings.model))
        if self.totals is not None:
            self._history.note(store, self.totals, self.model, self.report)
        # The last good model would be lost with the process, and who looks at a page goes on.
        if not self.is_refused and not self._events.n_listeners:
            self._compute.rest()

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

    def warm_up(self) -> None:
        """Somebody has come: what computes will be needed."""
        if self.model is not None:
            self._load()

    def _load(self) -> None:
        """Let the model be loaded; meanwhile all else goes on."""
        if not self.is_loading:
            self.is_loading = True
            self._compute.submit("load").add_done_callback(self._loaded)

    def _loaded(self, done: Future[Published | None]) -> None:
        try:
            self._take_model(done)
        finally:
            self.is_loading = False

    def _take_model(self, done: Future[Published | None]) -> None:
        try:
            model = done.result()
        except UnreadableModelError as error:
            # Said once; the last good one stays.
            if error.versions != self._refused:
                self._refused = error.versions
                _LOG.error("the model cannot be read: %s", error)
            return
        except Exception as error:
            if self._stop.is_set():
                return
            _LOG.warning("the model could not be loaded, and is tried again: %s", error)
            return
        self._refused = None
        if model is None or model == self.model:
            return
        self.model = model
        self._events.send("model", {"time": time.time(), "model": self.published()})
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
        names = "name", "version", "n_topics", "n_steps", "last_score", "best_score"
        return {name: getattr(model, name) for name in names} | {"rho": None}

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
        try:
            found: ShownReport = self._compute.submit("report").result()
        except ProblemError:
            # The model was taken away, or damaged, which is said elsewhere.
            return
        self.report = found
        before = [] if report is None else report.rows
        changed = topic_changes(before, found.rows, least=0.001) if before else []
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
