"""How a service, its store and its trainer do, and who asks."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from trustream.service.schemas.common import Answer


class StoreTotals(Answer):
    documents: int
    training: int
    held_out: int
    tokens: int
    words: int
    arrived: int = Field(description="documents ever added")
    sequence: int = Field(description="rises with every change")


class Rate(Answer):
    """How fast documents arrive, over the last `seconds`."""

    documents: float = Field(description="per second")
    tokens: float = Field(description="per second")
    seconds: float


class PublishedModel(Answer):
    name: str
    version: int = Field(description="rises with every checkpoint")
    n_topics: int
    n_steps: int
    rho: float | None
    last_score: float | None = Field(description="held-out score, nats per word")
    best_score: float | None


class Trainer(Answer):
    """Who holds the lease of the model, wherever it runs."""

    host: str
    pid: int
    since: float
    silent: float
    is_silent: bool
    text: str


class Training(Answer):
    """The trainer that the service itself runs (`--train`)."""

    state: Literal["off", "starting", "running", "waiting", "restarting"]
    pid: int | None = None
    n_restarts: int = 0
    problem: str | None = None


class ReportState(Answer):
    """What the report was computed from."""

    version: int = Field(description="of the model")
    computed: float
    n_documents: int = Field(description="documents that were read")
    n_stored: int = Field(description="documents that the store had")
    is_sample: bool


class ServiceState(Answer):
    version: str
    started: float
    now: float


class StoreState(Answer):
    name: str
    keep_text: int = Field(description="characters of each text that are kept; 0 keeps none")
    held_out: float


class Access(Answer):
    """What the sender of the request may do."""

    name: str | None = Field(description="of the token; None without one")
    scopes: list[Literal["read", "append", "admin"]]


class Status(Answer):
    service: ServiceState
    store: StoreState
    totals: StoreTotals
    rate: Rate
    model: PublishedModel | None
    trainer: Trainer | None
    training: Training
    report: ReportState | None
    access: Access


class Login(BaseModel):
    model_config = ConfigDict(extra="forbid")
    token: str = Field(min_length=1, max_length=500)


class Session(Answer):
    required: bool = Field(description="whether the service asks for a token")
    authenticated: bool
    name: str | None
    scopes: list[Literal["read", "append", "admin"]]
    expires: float | None
