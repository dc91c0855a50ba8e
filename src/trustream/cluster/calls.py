"""Calls that workers of a pool make, and what is known of those that are under way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from trustream.cluster.seats import Seat


@dataclass(frozen=True)
class Call:
    """function(worker, *arguments), to be made on some worker.

    Attributes:
        function: at the top level of a module; its result depends on arguments and data alone.
        arguments: what `Pool.put` returned arrives as the value that was put.
        place: number of the worker that should make it, if it can; it may have kept something.
        n_documents: that it is the first to look at, for the statistics.
        alone: whether it is not to be made on two workers at once, however long it takes.
        stays: whether the result stays in the cluster. What is returned for it can be given to
            other calls as an argument.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    place: int = 0
    n_documents: int = 0
    alone: bool = False
    stays: bool = False


@dataclass(eq=False)
class Stayed:
    """A result that stays in the cluster. If it is lost with its node, its call is made again.

    Attributes:
        call: that it is the result of.
        reference: to it; None if it is lost.
    """

    call: Call
    reference: Any


class Running(NamedTuple):
    """A call that some worker is at.

    Attributes:
        seat, handle: of the worker; the seat may have another one by now.
        result: where it stays; None of one that does not.
        since: when the worker was asked.
    """

    seat: Seat
    handle: Any
    result: Any
    since: float


@dataclass
class Open:
    """A call without a result yet.

    Attributes:
        running: by the reference that is waited for; more than one if workers dawdle.
        n_losses: times that it was lost with a worker.
    """

    number: int
    call: Call
    running: dict[Any, Running] = field(default_factory=dict)
    n_losses: int = 0


class Pending:
    """Calls that were started; `Pool.finish` waits for their results.

    Attributes:
        open: those without a result.
        results: in the order of calls.
        seconds: that each of the finished ones took on its worker.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        self.open = {number: Open(number, call) for number, call in enumerate(calls)}
        self.results: list[Any] = [None] * len(calls)
        self.seconds: list[float] = []

    def n_running(self, seat: Seat) -> int:
        """Calls that the worker in a seat is at."""
        return sum(
            running.seat is seat
            for open_ in self.open.values()
            for running in open_.running.values()
        )
