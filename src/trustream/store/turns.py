"""Calls of a store, one after the other.

A store has one connection, and remembers what it has seen of words and counts. Threads that share
it take turns; another process has to open its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from trustream.store.errors import StoreError

P = ParamSpec("P")
T = TypeVar("T")


class Turns:
    """Whose turn it is with a store, and whether the last one went well.

    Args:
        name: the store's, as it may be shown.
        lock: held by the thread whose turn it is.
    """

    def __init__(self, name: str, lock: Any) -> None:
        self._name, self._process = name, os.getpid()
        self.lock = lock
        # Whether a call is under way, and whether one was left in the middle.
        self.busy = self.disturbed = False

    @property
    def elsewhere(self) -> bool:
        """Whether the store was opened by another process, which was forked since."""
        return os.getpid() != self._process

    def check_process(self) -> None:
        """Refuse to be used after a fork, before anything is touched that the parent uses."""
        if self.elsewhere:
            raise StoreError(
                f"{self._name} was opened by process {self._process} and is used by its child "
                f"{os.getpid()}; open the store again in the child"
            )

    def check_idle(self) -> None:
        """Refuse to be used by whoever interrupted a call: the same thread is in the middle."""
        if self.busy:
            raise StoreError(
                f"{self._name} is in the middle of a call of this thread; do not use it in a "
                "signal handler, or open another one there"
            )


class _Store(Protocol):
    _turns: Turns

    def _forget(self) -> None: ...


S = TypeVar("S", bound=_Store)


def in_turn(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Make a method wait for its turn.

    After an interrupt in the middle of a call, whatever the store has in memory may be half
    changed: it is forgotten before the next one.
    """

    @wraps(method)
    def call(self: S, *arguments: P.args, **named: P.kwargs) -> T:
        turns = self._turns
        turns.check_process()
        # The lock itself, not a function of ours around it: an interrupt cannot come between
        # taking it and knowing that it was taken.
        with turns.lock:
            turns.check_idle()
            turns.busy = True
            try:
                if turns.disturbed:
                    self._forget()
                turns.disturbed = True
                result = method(self, *arguments, **named)
                turns.disturbed = False
                return result
            except (ValueError, KeyError, StoreError):
                # Refusals: what was said is all that happened.
                turns.disturbed = False
                raise
            finally:
                turns.busy = False

    return call
