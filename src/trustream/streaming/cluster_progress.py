"""How a cluster that trains a model is doing, as its trainer says it."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict, dataclass, field

from trustream._schema import Rule, check_values, integer, number

# Workers whose rates are shown one by one.
_MOST_SHOWN = 4
_text = Rule(lambda value: isinstance(value, str), "a text")
_WORKER = {"host": _text, "documents_per_second": number(least=0.0), "n_deaths": integer(0)}
_RULES = {
    "n_workers": integer(0),
    "n_wanted": integer(0),
    "documents_per_second": number(least=0.0),
    "exchange_seconds": number(least=0.0),
    "step_seconds": number(least=0.0),
    "efficiency": number(least=0.0),
    "sent_bytes": integer(0),
    "received_bytes": integer(0),
    "workers": Rule(lambda value: isinstance(value, list), "a list"),
    "host": _text,
    "pid": integer(0),
}


@dataclass(frozen=True, slots=True)
class WorkerProgress:
    """One worker.

    Attributes:
        host: its machine; empty while it is starting.
        documents_per_second: that it is done with, in the time in which it reads and computes.
        n_deaths: how often it was replaced.
    """

    host: str
    documents_per_second: float
    n_deaths: int


@dataclass(frozen=True, slots=True)
class ClusterProgress:
    """A cluster over the last steps.

    Attributes:
        n_workers: that are ready.
        n_wanted: that there should be.
        documents_per_second: of all workers together, waits included.
        exchange_seconds: of a step in which no worker computes.
        step_seconds: of a step.
        efficiency: share of the workers' time in which they compute, 0 to 1.
        sent_bytes, received_bytes: of a step, before they are copied to several nodes.
        workers: each of them.
        host, pid: of the trainer.
    """

    n_workers: int
    n_wanted: int
    documents_per_second: float
    exchange_seconds: float
    step_seconds: float
    efficiency: float
    sent_bytes: int
    received_bytes: int
    workers: tuple[WorkerProgress, ...] = ()
    host: str = field(default_factory=socket.gethostname)
    pid: int = field(default_factory=os.getpid)

    def __str__(self) -> str:
        n_deaths = sum(worker.n_deaths for worker in self.workers)
        return (
            f"{self.n_workers} of {self.n_wanted} workers"
            f"{f' ({n_deaths} replaced)' if n_deaths else ''}, "
            f"{self.documents_per_second:,.0f} documents per second{self._by_worker()}, exchange "
            f"{1000 * self.exchange_seconds:.0f} of {1000 * self.step_seconds:.0f} ms a step, "
            f"efficiency {self.efficiency:.0%}"
        )

    def _by_worker(self) -> str:
        """Of each worker; the lowest and the highest of many."""
        rates = [worker.documents_per_second for worker in self.workers]
        rates = sorted(rate for rate in rates if rate > 0)
        if not rates:
            return ""
        shown = [f"{rate:,.0f}" for rate in rates]
        if len(rates) > _MOST_SHOWN:
            return f" (by worker, while at work: {shown[0]} to {shown[-1]})"
        return f" (by worker, while at work: {', '.join(shown)})"

    def to_bytes(self) -> bytes:
        """As JSON, for a store."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> ClusterProgress:
        """What `to_bytes` gave.

        Raises:
            ValueError: it is something else.
        """
        values = json.loads(content)
        check_values(values, _RULES, "the progress of a cluster")
        for worker in values["workers"]:
            check_values(worker, _WORKER, "the progress of a worker")
        workers = tuple(WorkerProgress(**worker) for worker in values["workers"])
        return cls(**{**values, "workers": workers})
