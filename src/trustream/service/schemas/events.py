"""What happens, as the data of server-sent events of these names."""

from __future__ import annotations

from pydantic import Field

from trustream.service.schemas.common import Answer
from trustream.service.schemas.history import TopicChange
from trustream.service.schemas.state import (
    PublishedModel,
    Rate,
    ReportState,
    StoreTotals,
    Trainer,
    Training,
)
from trustream.service.schemas.topics import Report


class HelloEvent(Answer):
    """`hello`: first in every stream, also after a cut; the others follow as they are now."""

    now: float
    interval: float = Field(description="seconds after which something is sent at the latest")


class TotalsEvent(Answer):
    """`totals`: documents came or went."""

    time: float
    totals: StoreTotals
    rate: Rate


class StepEvent(Answer):
    """`step`: the trainer of this service has learned; twice a second at most."""

    time: float
    n_steps: int
    rho: float | None
    looks: float | None
    last_score: float | None


class ScoreEvent(Answer):
    """`score`: held-out documents were scored."""

    time: float
    n_steps: int
    score: float


class ModelEvent(Answer):
    """`model`: a new version of the model is read from now on."""

    time: float
    model: PublishedModel


class TopicsEvent(Answer):
    """`topics`: the report was computed anew; fetch it again. Says which topics changed."""

    time: float
    report: ReportState
    changed: list[TopicChange]


class TrainerEvent(Answer):
    """`trainer`: a trainer began, ended or fell silent."""

    time: float
    trainer: Trainer | None
    training: Training


EVENTS: dict[str, type[Answer]] = {
    "hello": HelloEvent,
    "totals": TotalsEvent,
    "step": StepEvent,
    "score": ScoreEvent,
    "model": ModelEvent,
    "topics": TopicsEvent,
    "trainer": TrainerEvent,
}
Report.model_rebuild()
