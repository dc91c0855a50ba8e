"""Call a function when a kernel is about to be compiled, for a notice that this takes a while.

That happens where no earlier process has left the kernel in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listeners: list[Callable[[], object]] = []


@contextmanager
def heard_by(listener: Callable[[], object]) -> Iterator[None]:
    """Have a function called whenever the compilation of a kernel begins inside.

    Nothing heavy is loaded by importing this module.

    >>> heard = []
    >>> with heard_by(lambda: heard.append("compiling")):
    ...     begin()
    >>> heard
    ['compiling']
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def begin() -> None:
    """Tell all listeners that a kernel is about to be compiled."""
    for listener in list(_listeners):
        listener()
