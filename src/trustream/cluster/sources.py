"""Where workers read documents: a source travels to a worker and is opened there.

Rows have numbers, by which the driver draws them. What is read comes as `Documents`, rows over
columns as in a sparse matrix.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trustream.store import open_store, shown_address
from trustream.store.records import Documents

Numbers = NDArray[np.int64]


class OpenSource(Protocol):
    """A source that a worker reads from. Several threads may read at once."""

    def read(self, numbers: Numbers, held_out: bool = False) -> tuple[Documents, int]:
        """The documents with these numbers, in this order, and the state of the numbering.

        While the state is the same, a number means the same document.
        """

    def close(self) -> None:
        """Let go of it."""


class Source(Protocol):
    """Where documents are; small, and can be pickled."""

    @property
    def name(self) -> str:
        """To be shown, without a password."""

    @property
    def only_here(self) -> bool:
        """Whether only workers on the driver's own machine can read it."""

    def open(self) -> OpenSource:
        """Open it, on a worker."""


class StoreSource:
    """Documents of a store. Numbers are slots of its training, or its held-out, documents.

    Args:
        url: of the store, with the password if there is one.
        name: to be shown; None is the url's own.

    >>> StoreSource("topics.db").only_here, StoreSource("postgresql://db/news").only_here
    (True, False)
    >>> StoreSource("postgresql://me:secret@db/news").name
    'postgresql://me@db/news'
    """

    def __init__(self, url: str, name: str | None = None) -> None:
        self.url, self._name = url, name

    @property
    def name(self) -> str:
        """The address without a password."""
        return shown_address(self.url) if self._name is None else self._name

    @property
    def only_here(self) -> bool:
        """SQLite is a file on one machine."""
        return "://" not in self.url

    def open(self) -> OpenSource:
        """A connection of its own."""
        return _OpenStore(self.url)


class _OpenStore:
    def __init__(self, url: str) -> None:
        self._store: Any = open_store(url, create=False)

    def read(self, numbers: Numbers, held_out: bool = False) -> tuple[Documents, int]:
        found: tuple[Documents, int] = self._store.read_slots(numbers, held_out=held_out)
        return found

    def close(self) -> None:
        self._store.close()
