"""Errors of stores; each message says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trustream.store.records import Position


class StoreError(RuntimeError):
    """The database cannot do what was asked: it is full, locked, of a newer version, not there.

    Nothing of the change that failed was stored, unless the message says that it is not known.
    What had been acknowledged before is there.
    """


class MissingStoreError(StoreError):
    """There is no store at an address, and none was to be made.

    Attributes:
        problem: what was found instead.
        advice: what else can be done than to make a store.

    >>> raise MissingStoreError("topics.db is not there", "or see to the path")
    Traceback (most recent call last):
        ...
    trustream.store.errors.MissingStoreError: topics.db is not there; make the store first, or ...
    """

    def __init__(self, problem: str, advice: str) -> None:
        super().__init__(f"{problem}; make the store first, {advice}")
        self.problem, self.advice = problem, advice

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.problem, self.advice)


class PositionError(StoreError):
    """Another process has read the same feed further. Nothing of the append was stored.

    Attributes:
        feed: the feed's name.
        after: the position that the append started from; None is before the first.
        found: the position that the store has.

    >>> from trustream.store import Position
    >>> raise PositionError("news.jsonl", None, Position("news.jsonl", 500))
    Traceback (most recent call last):
        ...
    trustream.store.errors.PositionError: 'news.jsonl' stands at 500 and not before its start: ...
    """

    def __init__(self, feed: str, after: Position | None, found: Position | None) -> None:
        super().__init__(
            f"{feed!r:.200} stands {_at(found)} and not {_at(after)}: another process has read it "
            "on meanwhile, and nothing of this append was stored; let one process read a feed at "
            "a time, and go on from store.position(feed)"
        )
        self.feed, self.after, self.found = feed, after, found

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.feed, self.after, self.found)


def _at(position: Position | None) -> str:
    return "before its start" if position is None else f"at {position.offset}"


class RecordError(ValueError):
    """A record cannot be stored. Nothing of the append that it was in was stored.

    Attributes:
        index: the index of the record in the append, from 0; the others can be sent again
            without it.
        problem: what is wrong with the record, without its place.
        field: the attribute of the record that is wrong, such as "key"; None is the record itself.

    >>> raise RecordError(2, "key '' has 0 characters; give it 1 to 500", "key")
    Traceback (most recent call last):
        ...
    trustream.store.errors.RecordError: record 2: key '' has 0 characters; give it 1 to 500
    """

    def __init__(self, index: int, problem: str, field: str | None = None) -> None:
        super().__init__(f"record {index}: {problem}")
        self.index = index
        self.problem = problem
        self.field = field

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.index, self.problem, self.field)
