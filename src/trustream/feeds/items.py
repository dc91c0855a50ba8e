"""Items: what a reader yields of a feed, one record after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from trustream.feeds.errors import RECORD_ERRORS, BadRecord, bad_record
from trustream.store.records import Record


class Mark(NamedTuple):
    """A place between two records: bytes (or rows) and lines (or rows) before it."""

    offset: int = 0
    number: int = 0


@dataclass(frozen=True, slots=True)
class Item:
    """What a reader yields: a record, a bad record, or neither.

    Attributes:
        mark: where reading goes on after it; a pause's means nothing.
        line: line (or row) on which it begins, from 1.
        record: the document or the part of one; None if it is bad, or has nothing to add (a
            rating below the threshold, a redirect).
        bad: where it stands and what is wrong with it; None if nothing is.
        pause: nothing has come for a while, and more may; what was read should be stored.

    >>> bad = BadRecord("pets.jsonl", 1, found="has no id")
    >>> Item(Mark(12, 1), 1, bad=bad).problem
    'has no id'
    """

    mark: Mark
    line: int
    record: Record | None = None
    bad: BadRecord | None = None
    pause: bool = False

    @property
    def problem(self) -> str | None:
        """What is wrong with it, in words; None if nothing is."""
        return None if self.bad is None else self.bad.problem


Items = Generator[Item, None, None]


def make_item(
    file: str, mark: Mark, line: int, make: Callable[..., Record | None], *arguments: Any
) -> Item:
    """The item of the record that `make(*arguments)` returns, or of a bad one if it raises.

    >>> make_item("pets.txt", Mark(5, 1), 1, Record, "a", ["cat"]).record.words
    ['cat']
    """
    try:
        return Item(mark, line, make(*arguments))
    except RECORD_ERRORS as error:
        return Item(mark, line, bad=bad_record(error, file, line))


def make_items(
    file: str, mark: Mark, parts: Iterable[Any], make: Callable[[Any], Record | None]
) -> Items:
    """The items of the parts of a file after a mark, each with its mark and line; None is a pause.

    `make(part)` makes the record of a part.
    """
    for part in parts:
        if part is None:
            yield Item(mark, mark.number, pause=True)
        else:
            mark = part.mark
            yield make_item(file, mark, part.line, make, part)
