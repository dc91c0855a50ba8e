"""Interrupts at random moments, as by Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import numpy as np


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
