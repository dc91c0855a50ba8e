"""Let threads share a store: their calls are made one after the other.

A store has one connection, and keeps in memory what it has seen of words and counts. A child
process has to open its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from trustream.store.errors import StoreError

P = ParamSpec("P")
T = TypeVar("T")


class CallGuard:
    """The lock of a store, and whether its last call went well.

    Args:
        name: the store's name, as it may be shown.
        lock: held by the thread whose call is being made.
    """

    def __init__(self, name: str, lock: Any) -> None:
        self._name, self._process = name, os.getpid()
        self.lock = lock
        # Whether a call is under way, and whether one was left in the middle.
        self.busy = self.disturbed = False

    @property
    def elsewhere(self) -> bool:
        """Whether the store was opened by the parent of this process, before a fork."""
        return os.getpid() != self._process

    def check_process(self) -> None:
        """Raise an error after a fork, before anything is touched that the parent uses."""
        if self.elsewhere:
            raise StoreError(
                f"{self._name} was opened by process {self._process} and is used by its child "
                f"{os.getpid()}; open the store again in the child"
            )

    def check_idle(self) -> None:
        """Raise an error in a signal handler that interrupted a call of the same thread."""
        if self.busy:
            raise StoreError(
                f"{self._name} is in the middle of a call of this thread; do not use it in a "
                "signal handler, or open another one there"
            )


class _Store(Protocol):
    _guard: CallGuard

    @property
    def _database(self) -> object: ...

    def _forget(self) -> None: ...


S = TypeVar("S", bound=_Store)


def guarded(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let a method of an open store begin only when no other call is being made.

    After an interrupt in the middle of a call, whatever the store has in memory may be half
    changed: it is forgotten before the next one.
    """

    @wraps(method)
    def call(self: S, *arguments: P.args, **named: P.kwargs) -> T:
        guard = self._guard
        guard.check_process()
        # The lock itself, not a function of ours around it: an interrupt cannot come between
        # taking it and knowing that it was taken.
        with guard.lock:
            guard.check_idle()
            # Raises an error if the store was closed.
            _ = self._database
            guard.busy = True
            try:
                if guard.disturbed:
                    self._forget()
                guard.disturbed = True
                result = method(self, *arguments, **named)
                guard.disturbed = False
                return result
            except (ValueError, KeyError, StoreError):
                # Refusals: what was said is all that happened.
                guard.disturbed = False
                raise
            finally:
                guard.busy = False

    return call
