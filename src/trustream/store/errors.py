"""What goes wrong with a store, said so that one knows what to do."""

from __future__ import annotations


class StoreError(RuntimeError):
    """The database cannot do what was asked: full, locked, foreign, newer, away.

    Nothing of the change that failed was stored, unless the message says that it is not known.
    What had been acknowledged before is there.
    """


class RecordError(ValueError):
    """A record that no store takes. Nothing of the append that it was in was stored.

    Attributes:
        index: the record's place in the append, from 0; without it the rest can be sent again.

    >>> raise RecordError(2, "key '' has 0 characters; give it 1 to 500")
    Traceback (most recent call last):
        ...
    trustream.store.errors.RecordError: record 2: key '' has 0 characters; give it 1 to 500
    """

    def __init__(self, index: int, message: str) -> None:
        super().__init__(f"record {index}: {message}")
        self.index = index
