"""Interrupt calls as Ctrl-C does: at a chosen moment, or by a signal after a random time.

`interrupted` traces a call and raises KeyboardInterrupt at any chosen moment of those at which a
real one can come. `places` lists all moments in the library's own code, and `interrupted_at`
interrupts at one of them, and once more after it: with these, all are tried one after the other.
`interrupter` sends signals, which also reach calls that are not Python.
"""

from __future__ import annotations

import dis
import inspect
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

import trustream

# Where CPython looks whether a signal has come: when a function or another turn of a loop begins,
# and when a call has returned. Elsewhere, such as between a lock's acquisition and the block that
# it guards, nothing can interrupt.
_MOMENTS = ("RESUME", "CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD")


@cache
def _is_moment(code: CodeType) -> dict[int, bool]:
    """By the offset of an instruction: whether a signal may be noticed after it."""
    return {i.offset: i.opname.startswith(_MOMENTS) for i in dis.get_instructions(code)}


class _Tracer:
    """Counts the moments at which this thread can be interrupted, and interrupts it at one."""

    def __init__(self, after: int | None) -> None:
        self.count, self._after = 0, after
        self._last: dict[FrameType, int] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            last = self._last.get(frame)
            self._last[frame] = frame.f_lasti
            if last is not None and _is_moment(frame.f_code)[last]:
                self.count += 1
                if self.count == self._after:
                    raise KeyboardInterrupt
        elif event == "return":
            self._last.pop(frame, None)
        return self


def count_moments(work: Callable[[], object]) -> int:
    """At how many moments the work can be interrupted."""
    return _traced(work, None).count


def interrupted(work: Callable[[], object], moment: int) -> bool:
    """Do the work and interrupt it at that moment, counted from 1; whether it came to that."""
    try:
        _traced(work, moment)
    except KeyboardInterrupt:
        return True
    return False


def _traced(work: Callable[[], object], after: int | None) -> _Tracer:
    tracer = _Tracer(after)
    with _tracing(tracer):
        work()
    return tracer


@contextmanager
def _tracing(tracer: Callable[..., Any]) -> Iterator[None]:
    before, reported = sys.gettrace(), sys.unraisablehook

    def unraisable(problem: Any) -> None:
        # One that comes while something is collected is noticed by nobody, and the work goes on.
        if not issubclass(problem.exc_type, KeyboardInterrupt):
            reported(problem)

    sys.unraisablehook = unraisable
    sys.settrace(tracer)
    try:
        yield
    finally:
        sys.settrace(before)
        sys.unraisablehook = reported


# --- at every moment in turn

_SOURCE = str(Path(trustream.__file__).parent)


class Place(NamedTuple):
    """A moment in the code of the library.

    Attributes:
        code: which function.
        offset: the instruction that comes next.
        turn: the how many-eth time that it comes there, from 1.
    """

    code: CodeType
    offset: int
    turn: int

    def __str__(self) -> str:
        file = Path(self.code.co_filename).relative_to(_SOURCE)
        lines = [line for start, stop, line in self.code.co_lines() if start <= self.offset < stop]
        return f"{file}:{lines[0] if lines else '?'} in {self.code.co_qualname}, turn {self.turn}"


class _Places:
    """Lists the places that this thread passes, and interrupts it at one."""

    def __init__(self, stop: Place | None = None, then: int | None = None) -> None:
        self.passed: list[Place] = []
        self._stop, self._then = stop, then
        self._turns: Counter[tuple[CodeType, int]] = Counter()
        self._last: dict[FrameType, int] = {}
        self.n_after = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_SOURCE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            last, self._last[frame] = self._last.get(frame), frame.f_lasti
            if last is not None and _is_moment(frame.f_code)[last]:
                where = frame.f_code, frame.f_lasti
                self._turns[where] += 1
                place = Place(*where, self._turns[where])
                self.passed.append(place)
                if place == self._stop:
                    if self._then is not None:
                        sys.setprofile(self._again)
                    raise KeyboardInterrupt
        elif event == "return":
            self._last.pop(frame, None)
        return self

    def _again(self, frame: FrameType, event: str, argument: Any) -> None:
        # Raising has ended the tracing. What tells of calls goes on, and what handles the first
        # interrupt consists of calls. Python looks for signals after a call of what is not Python,
        # as of the end of a lock, and not before. An exception that is thrown into a generator is
        # told of as a call, too, but it looks only after that is handled there.
        thrown = event == "call" and frame.f_code.co_flags & inspect.CO_GENERATOR
        if event == "c_call" or thrown:
            return
        if frame.f_code.co_filename.startswith(_SOURCE):
            self.n_after += 1
            if self.n_after == self._then:
                raise KeyboardInterrupt


def places(work: Callable[[], object]) -> list[Place]:
    """All places that the work passes, in order."""
    tracer = _Places()
    with _tracing(tracer):
        work()
    return tracer.passed


def last_turns(passed: list[Place]) -> list[Place]:
    """Of places that are passed several times only the last turn."""
    last = {(place.code, place.offset): place.turn for place in passed}
    return [place for place in passed if place.turn == last[place.code, place.offset]]


def interrupted_at(work: Callable[[], object], place: Place, then: int | None = None) -> int | None:
    """Do the work, interrupted there, and again at the then-th call or return that follows.

    Returns how many calls and returns followed, the second interrupt included; None if the work was
    done in spite of all.
    """
    tracer = _Places(place, then)
    try:
        with _tracing(tracer):
            work()
    except KeyboardInterrupt:
        return tracer.n_after
    finally:
        sys.setprofile(None)
    return None


# --- by signals


class Interrupt(KeyboardInterrupt):
    """One of ours, not of whoever runs the tests."""


class Interrupter:
    """Interrupts calls, somewhere between their beginning and their end.

    Attributes:
        interrupts: how many calls were interrupted.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng, self._armed = rng, False
        # Seconds after which a call is interrupted at the latest: about as long as it takes, which
        # is found out as it goes, since it depends on what else the machine does.
        self._latest = 1e-3
        self.interrupts = 0

    def __call__(self, call: Callable[[], object]) -> bool:
        """Do it; False if it was interrupted."""
        try:
            self._armed = True
            signal.setitimer(signal.ITIMER_REAL, self._rng.uniform(1e-6, self._latest))
            call()
            self._armed = False
            self._latest *= 0.9
            return True
        except Interrupt:
            self._latest *= 1.05
            return False
        finally:
            self._armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)

    def heard(self, number: int, frame: FrameType | None) -> None:
        """Handles the alarm."""
        if self._armed:
            self._armed = False
            self.interrupts += 1
            raise Interrupt


@contextmanager
def interrupter(seed: int) -> Iterator[Interrupter]:
    """Something to interrupt with, for a while."""
    made = Interrupter(np.random.default_rng(seed))
    before = signal.signal(signal.SIGALRM, made.heard)
    try:
        yield made
    finally:
        signal.signal(signal.SIGALRM, before)
