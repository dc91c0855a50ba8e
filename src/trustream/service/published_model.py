"""What a service knows of a published model without loading what computes with topics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from trustream.service.problem_error import ProblemError
from trustream.store.protocol import Store
from trustream.streaming.saved_names import LABELS


@dataclass(frozen=True, slots=True)
class Published:
    """What is known of a published model without its topics.

    Attributes:
        name: in the store.
        versions: of the checkpoint and of the labels, by which a change is noticed.
        n_topics, n_steps, last_score, best_score: how far it is.
    """

    name: str
    versions: tuple[int, int]
    n_topics: int
    n_steps: int
    last_score: float | None
    best_score: float | None

    @property
    def version(self) -> int:
        """Rises with every change of the model or of its labels."""
        return sum(self.versions)


class UnreadableModelError(ValueError):
    """A model that was published cannot be read.

    Args:
        problem: what is wrong with it.
        versions: see `Published`.
    """

    def __init__(self, problem: str, versions: tuple[int, int]) -> None:
        super().__init__(problem, versions)
        self.versions = versions

    def __str__(self) -> str:
        return str(self.args[0])


def no_model(name: str, title: str) -> ProblemError:
    """The refusal of what needs a model, where none was trained yet."""
    return ProblemError(
        404,
        "no-model",
        f"{title} has no model {name!r} yet: start a trainer (trustream train, or trustream serve "
        "--train) and append documents",
    )


def unreadable_model(name: str, title: str) -> ProblemError:
    """The refusal of what needs a model, where it is damaged."""
    return ProblemError(
        503,
        "model-unreadable",
        f"the model {name!r} of {title} cannot be read, and the log of the service says why: "
        "restore the store from a copy, or serve another --model",
    )


def versions(store: Store, name: str) -> tuple[int, int] | None:
    """Versions of what is saved of a model, cheaply; None if there is no model."""
    model = store.saved_version(name)
    return None if model is None else (model, store.saved_version(name + LABELS) or 0)


def number(value: Any, digits: int = 7) -> float | None:
    """A number for JSON, with so many digits; None for what JSON does not have.

    >>> number(1 / 3, 3), number(float("nan")), number(None)
    (0.333, None, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return float(f"{float(value):.{digits}g}")
