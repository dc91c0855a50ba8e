"""What a trainer is made with."""

from __future__ import annotations

from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np

from trustream._schema import Rule, check_values

METHODS = ("trust-region", "natural-gradient", "streaming-vb", "streaming-batch")
# Most pairs of local and global steps where they go on until they converge.
_MANY = 100
_NUMBERS = (
    "learning_offset", "learning_decay", "mean_change_tol", "tol", "doc_topic_prior",
    "topic_word_prior",
)  # fmt: skip


@dataclass(frozen=True)
class TrainerSettings:
    """All that decides a model's path; a checkpoint goes on only with the same.

    Attributes:
        n_components: number of topics.
        method: "trust-region", "natural-gradient", or, for comparison, "streaming-vb", which
            takes each document once as it arrives, or "streaming-batch", which runs batch VB on
            each draw and replaces the model.
        batch_size: B, documents of a step.
        learning_offset, learning_decay: tau and kappa of the rate.
        inner_iter, max_doc_update_iter, mean_change_tol: of a step, as in
            `LatentDirichletAllocation`; inner_iter None is 2, or up to 100 for streaming VB and
            streaming batch.
        tol: these two stop when a pair raises the bound by less, in nats a document.
        doc_topic_prior, topic_word_prior: alpha and eta at the start.
        learn_priors: whether empirical Bayes changes them.
        score_every: steps between two scores of held-out documents, less at the beginning (after
            steps 1, 2, 4, 8, ...); 0 is never.
        score_documents: most held-out documents that are scored.
        dtype: "float32" or "float64".
        random_state: an integer.

    >>> TrainerSettings(n_components=0)
    Traceback (most recent call last):
    ...
    ValueError: n_components must be an integer of at least 1, got 0
    """

    n_components: int = 100
    method: str = "trust-region"
    batch_size: int = 100
    learning_offset: float = 10.0
    learning_decay: float = 0.6
    inner_iter: int | None = None
    max_doc_update_iter: int = 50
    mean_change_tol: float = 1e-4
    tol: float = 0.01
    doc_topic_prior: float = 0.1
    topic_word_prior: float = 0.1
    learn_priors: bool = True
    score_every: int = 50
    score_documents: int = 200
    dtype: str = "float32"
    random_state: int = 0

    @classmethod
    def of(cls, values: Any) -> TrainerSettings:
        """From a dictionary of all fields, a file's; others are refused.

        >>> TrainerSettings.of({"n_components": 3})
        Traceback (most recent call last):
        ...
        ValueError: missing from the settings: method, batch_size, learning_offset, ...
        """
        rule = Rule(lambda value: True, "")  # values are looked at below
        check_values(values, {field.name: rule for field in fields(cls)}, "the settings")
        return cls(**values)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {METHODS}, got {self.method!r}")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be float32 or float64, got {self.dtype!r}")
        least = {
            "n_components": 1,
            "batch_size": 1,
            "inner_iter": 1,
            "max_doc_update_iter": 1,
            "score_every": 0,
            "score_documents": 1,
            "random_state": 0,
        }
        for name, lowest in least.items():
            value = getattr(self, name)
            if name == "inner_iter" and value is None:
                continue
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not (whole and lowest <= value < 2**63):
                raise ValueError(f"{name} must be an integer of at least {lowest}, got {value!r}")
        if not isinstance(self.learn_priors, bool):
            raise ValueError(f"learn_priors must be True or False, got {self.learn_priors!r}")
        for name in _NUMBERS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real):
                raise ValueError(f"{name} must be a number, got {value!r}")
        for name in ("learning_offset", "doc_topic_prior", "topic_word_prior"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be positive and finite, got {getattr(self, name)!r}")
        if not 0 <= self.learning_decay <= 1:
            raise ValueError(f"learning_decay lies between 0 and 1, got {self.learning_decay}")
        for name in ("mean_change_tol", "tol"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")

    def is_scored(self, n_steps: int) -> bool:
        """Whether held-out documents are scored after that step.

        >>> [n for n in range(1, 25) if TrainerSettings(score_every=10).is_scored(n)]
        [1, 2, 4, 8, 10, 20]
        """
        if not self.score_every:
            return False
        early = n_steps < self.score_every and n_steps & (n_steps - 1) == 0
        return early or n_steps % self.score_every == 0

    @property
    def n_inner(self) -> int:
        """inner_iter, or what the method takes for None."""
        if self.inner_iter is not None:
            return self.inner_iter
        return _MANY if self.method.startswith("streaming") else 2
