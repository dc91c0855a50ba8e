"""What a trainer tells of a step."""

from __future__ import annotations

from dataclasses import dataclass

from trustream.inference.state import Info
from trustream.store.protocol import Totals
from trustream.streaming.stream_model import Score


@dataclass(frozen=True, slots=True)
class StreamInfo:
    """One step of a trainer.

    Attributes:
        step: the step's own diagnostics; `step.n_steps` counts from the model's beginning.
        totals: of the store when the batch was drawn; `totals.sequence` is what the step saw.
        n_words: columns of the model.
        score: of held-out documents, if they were scored after this step.
    """

    step: Info
    totals: Totals
    n_words: int
    score: Score | None = None
