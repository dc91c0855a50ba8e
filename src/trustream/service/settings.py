"""How a service runs: every decision and default, once."""

from __future__ import annotations

from dataclasses import dataclass, field

from trustream.streaming.saved_names import DEFAULT_NAME


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How a service runs.

    Attributes:
        store: address of the store, as `trustream.open_store` takes it.
        model: name of the model in the store.
        requires_token: whether requests need a bearer token or a session; a service on loopback
            needs none.
        hosts: names by which it may be called, besides those of loopback, as browsers send them in
            `Host`; without a port any port is meant.
        secure: whether it is reached by https, through a proxy: cookies then go no other way.
        train: whether a trainer runs in a child process.
        checkpoint_every: seconds between two checkpoints of that trainer.
        n_jobs: its threads; None is all cores.
        compute_apart: whether a process of its own computes with topics, started when it is
            needed: a service that nobody asks anything is small then. A tokeniser that was
            registered in this process alone is not known there.
        idle_seconds: after which that process is ended, if nobody has needed it.
        silent_seconds: without a sign of life, after which that process is killed and started
            again, if it is needed.
        answer_seconds: that a request waits for what is computed.
        n_readers: threads, each with a store of its own, that answer requests.
        sample: documents that the report is computed from, at most; more are sampled.
        report_every: seconds between two reports, at least.
        poll: seconds between two looks at what others do to the store.
        max_body: bytes of a request, at most.
        max_pending: bytes of appends that wait at one time, at most.
        body_seconds: how long a body may take to arrive.
        header_seconds: how long the headers of a request may take, and how long a connection may
            wait for its next one.
        requests_per_second: of one client address, on average; None is no limit.
        burst: requests that a client may send at once.
        max_connections: open at one time, at most; others are turned away.
        max_events: clients that follow events at one time, at most.
        session_seconds: how long a login lasts.
    """

    store: str
    model: str = DEFAULT_NAME
    requires_token: bool = False
    hosts: tuple[str, ...] = field(default=())
    secure: bool = False
    train: bool = False
    checkpoint_every: float = 10.0
    n_jobs: int | None = None
    compute_apart: bool = False
    idle_seconds: float = 60.0
    silent_seconds: float = 60.0
    answer_seconds: float = 60.0
    n_readers: int = 4
    sample: int = 5000
    report_every: float = 10.0
    poll: float = 0.25
    max_body: int = 64 * 2**20
    max_pending: int = 256 * 2**20
    body_seconds: float = 30.0
    requests_per_second: float | None = None
    burst: int = 2000
    header_seconds: float = 15.0
    max_connections: int = 4000
    max_events: int = 200
    session_seconds: float = 12 * 3600.0
