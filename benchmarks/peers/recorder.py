"""Record time and score in the same way for all methods.

A method hands over its topics and alpha along its training; the clock stands still meanwhile.
Whatever a library knows about its documents stays with it: a held-out document's topics are
inferred here, the same way for everyone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import processor
from trustream.evaluation import chib, completion, split_tokens


class Enough(Exception):
    """Training may stop: the time is up or the last point was taken."""


@dataclass
class Point:
    """A model on the way.

    Attributes:
        seconds: of training, by the clock; `cpu` in all threads and processes.
        others: processor seconds that other programs took meanwhile.
        completion: nats a held-out word, more is better; so is `chib`.
    """

    label: str
    seconds: float
    cpu: float
    others: float
    completion: float
    chib: float | None = None


class Scorer:
    """Held-out articles."""

    def __init__(self, held_out: sp.csr_matrix, n_chib: int, n_jobs: int) -> None:
        self.observed, self.hidden = split_tokens(held_out, random_state=0)
        self.whole, self.n_jobs = held_out[:n_chib], n_jobs

    def completion(self, topics: np.ndarray, alpha: np.ndarray) -> float:
        """Nats per word of the hidden half of the tokens given the other half."""
        result = completion(self.observed, topics, alpha, hidden=self.hidden, n_jobs=self.n_jobs)
        return float(result.per_word)

    def chib(self, topics: np.ndarray, alpha: np.ndarray) -> float:
        """Nats per word of whole documents, by Chib's estimator."""
        result = chib(self.whole, topics, alpha, random_state=0, n_jobs=self.n_jobs)
        return float(result.per_word)


class Stopwatch:
    """Seconds, own processor seconds (children too) and those of other programs while it runs."""

    def __init__(self) -> None:
        self.seconds = self.cpu = self.others = 0.0
        self._since: tuple[float, float, float] | None = None

    @property
    def now(self) -> float:
        """Seconds so far."""
        return self.seconds + (time.perf_counter() - self._since[0] if self._since else 0.0)

    def start(self) -> None:
        """Run, or go on."""
        cpu, everyone = processor.own(), processor.everyone() or 0.0
        self._since = (time.perf_counter(), cpu, everyone)

    def stop(self) -> None:
        """Stand still."""
        if self._since is not None:
            self.seconds = self.now
            cpu = processor.own() - self._since[1]
            everyone = (processor.everyone() or 0.0) - self._since[2]
            self.cpu, self.others = self.cpu + cpu, self.others + max(0.0, everyone - cpu)
        self._since = None

    def __enter__(self) -> Stopwatch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Recorder:
    """Points of one method on one workload.

    Args:
        limit: seconds of training after which to stop.
        with_chib: labels of points that Chib's estimator scores too, beside the last.
        name: for the lines on standard error.
        only_last: skip points on the way, and Chib.
    """

    def __init__(
        self,
        scorer: Scorer,
        limit: float = np.inf,
        with_chib: Iterable[str] = (),
        name: str = "",
        only_last: bool = False,
    ) -> None:
        self.scorer, self.limit, self.with_chib, self.name = scorer, limit, set(with_chib), name
        self.only_last = only_last
        self.clock = Stopwatch()
        self.points: list[Point] = []
        self.notes: dict[str, Any] = {}

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.clock.now >= self.limit

    def take(self, label: str, topics: np.ndarray, alpha: Any, last: bool = False) -> None:
        """Score the model that training has come to; the clock stands still."""
        self.clock.stop()
        self.add(label, self.clock, topics, alpha, last)
        self.clock.start()

    def add(
        self,
        label: str,
        watch: Stopwatch,
        topics: np.ndarray,
        alpha: Any,
        last: bool = False,
    ) -> None:
        """Score a model whose training took so long."""
        seconds, cpu = watch.seconds, watch.cpu
        topics = np.asarray(topics, np.float64)
        topics = topics / topics.sum(axis=1, keepdims=True)
        alpha = np.broadcast_to(np.asarray(alpha, np.float64), (topics.shape[0],))
        point = Point(label, seconds, cpu, watch.others, self.scorer.completion(topics, alpha))
        if not self.only_last and (last or label in self.with_chib):
            point.chib = self.scorer.chib(topics, alpha)
        self.points.append(point)
        line = f"  {self.name}: {label}, {seconds:.1f} s (cpu {cpu:.1f}), {point.completion:.4f}"
        line += f", chib {point.chib:.4f}" if point.chib is not None else ""
        print(line, file=sys.stderr, flush=True)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"points": [asdict(point) for point in self.points], **self.notes}


_FRACTIONS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)


def milestones(passes: float, only_last: bool = False) -> list[float]:
    """Passes after which online methods are looked at, the last is `passes`.

    >>> milestones(2.0)
    [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0]
    >>> milestones(0.5)
    [0.0625, 0.125, 0.25, 0.5]
    """
    if only_last:
        return [float(passes)]
    marks = [mark for mark in _FRACTIONS if mark < passes]
    marks += [float(n) for n in range(1, int(np.ceil(passes)))]
    return [*marks, float(passes)]


# Halves, quarters and so on down to this, and one part of any number, are said as fractions.
_LARGEST_PART = 64


def passes_label(passes: float) -> str:
    """For people.

    >>> passes_label(0.25), passes_label(0.375), passes_label(1.0), passes_label(2.0)
    ('1/4 pass', '3/8 pass', '1 pass', '2 passes')
    >>> passes_label(0.3)
    '0.3 passes'
    """
    if passes == 1:
        return "1 pass"
    part = Fraction(passes).limit_denominator(_LARGEST_PART)
    is_common = part.numerator == 1 or _LARGEST_PART % part.denominator == 0
    if passes < 1 and float(part) == passes and is_common:
        return f"{part} pass"
    return f"{passes:g} passes"


class Progress:
    """Takes a point when an online method has seen enough documents; ends it after the last."""

    def __init__(self, recorder: Recorder, n_documents: int, passes: float) -> None:
        self.recorder, self.n_documents = recorder, n_documents
        self.marks, self.seen = milestones(passes, recorder.only_last), 0

    def step(self, n_documents: int, model: Any) -> None:
        """After a batch. `model()` returns topics and alpha.

        Raises:
            Enough: the last point was taken.
        """
        self.seen += n_documents
        share = self.seen / self.n_documents
        over = self.recorder.over
        passed = [mark for mark in self.marks if share >= mark - 1e-9]
        if not passed and not over:
            return
        self.marks = self.marks[len(passed) :]
        last = over or not self.marks
        self.recorder.take(passes_label(round(share, 4)), *model(), last=last)
        if last:
            raise Enough
