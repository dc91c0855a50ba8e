"""Interrupt calls as Ctrl-C does: at a chosen moment, or by a signal after a random time.

`interrupted` traces a call and raises KeyboardInterrupt at any chosen moment of those at which a
real one can come; `interrupter` sends signals, which also reach calls that are not Python.
"""

from __future__ import annotations

import dis
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType, FrameType
from typing import Any

import numpy as np

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
    tracer, before = _Tracer(after), sys.gettrace()
    sys.settrace(tracer)
    try:
        work()
    finally:
        sys.settrace(before)
    return tracer


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
