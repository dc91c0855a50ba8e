"""Steps that happen wholly or not at all.

A step reuses the memory of lambda (`LazyRows`), so an exception in the middle of one would leave
neither the old model nor the new one behind; an interrupt may come at any moment. So whoever keeps
a state between steps keeps it as a `Restorable`, and has the step say, before it overwrites
anything, how to put that back:

    with kept.lock:
        new, info = step(kept.restored(), protect=kept.protect)
        kept = Restorable(new)  # the step is done with this assignment, and not before

An exception before the last line leaves `kept` with what puts the old value back, and whoever asks
for the value next gets the one from before the step. Nothing has to be done when the exception
comes, so further interrupts do no harm either. Who may have shared the old `kept` with others, as
with other threads, calls `kept.replaced()` after the last line.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

T = TypeVar("T")
# Puts something back as it was. It may be called again after it was itself interrupted.
Undo = Callable[[], None]


class ReplacedStateError(RuntimeError):
    """Something was asked of a state that a later step has replaced."""


class Restorable(Generic[T]):
    """A value whose memory may be overwritten, with what puts it back as it was.

    >>> numbers = [1, 2, 3]
    >>> kept = Restorable(numbers)
    >>> kept.protect(lambda: numbers.__setitem__(0, 1))
    >>> numbers[0] = 100
    >>> kept.restored()
    [1, 2, 3]
    """

    __slots__ = ("_now", "lock")

    def __init__(self, value: T) -> None:
        # Held while a step is taken: a thread that asks for the value meanwhile waits, and does not
        # take what the step has overwritten so far for something to be put back.
        self.lock = threading.RLock()
        # One attribute, so that an interrupt comes before a change of both or after it.
        self._now: tuple[T, tuple[Undo, ...]] | None = (value, ())

    def restored(self) -> T:
        """The value, put back first if a step has begun to overwrite it."""
        with self.lock:
            value, undos = self._current
            if undos:
                for undo in reversed(undos):
                    undo()
                self._now = (value, ())
            return value

    def protect(self, undo: Undo) -> None:
        """Note how to put the value back, before something overwrites it."""
        value, undos = self._current
        self._now = (value, (*undos, undo))

    def replaced(self) -> None:
        """Let go of the value: a step that was taken has overwritten its memory for good.

        Whoever still asks for it gets an error. To put it back would spoil what has replaced it.

        >>> kept = Restorable([1, 2, 3])
        >>> kept.replaced()
        >>> kept.restored()
        Traceback (most recent call last):
        ...
        trustream.inference.restoring.ReplacedStateError: the model has learned since this ...
        """
        self._now = None

    @property
    def _current(self) -> tuple[T, tuple[Undo, ...]]:
        if self._now is None:
            raise ReplacedStateError(
                "the model has learned since this was taken from it: ask the model again"
            )
        return self._now

    def __reduce__(self) -> Any:
        return Restorable, (self.restored(),)


def together(*undos: Undo) -> Undo:
    """All of them as one.

    >>> done = []
    >>> together(lambda: done.append(1), lambda: done.append(2))()
    >>> done
    [1, 2]
    """

    def restore() -> None:
        for undo in undos:
            undo()

    return restore


def generator_savepoint(rng: np.random.Generator) -> Undo:
    """What makes a generator draw again what it draws from now on.

    >>> rng = np.random.default_rng(0)
    >>> restore = generator_savepoint(rng)
    >>> first = rng.random()
    >>> restore()
    >>> rng.random() == first
    True
    """
    before = rng.bit_generator.state

    def restore() -> None:
        rng.bit_generator.state = before

    return restore
