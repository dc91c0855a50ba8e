"""Check positions of feeds: whether they can be stored, and whether a feed has moved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import EllipsisType
from typing import Any

from trustream.store.errors import PositionError
from trustream.store.limits import MAX_OFFSET, is_number_from, name_fault, short_repr
from trustream.store.records import Position

# The position that an append starts from: None is before the first, `...` is not compared.
After = Position | EllipsisType | None


def check_position(position: Position | None, after: After) -> None:
    """Raise an error for positions that cannot be stored or compared.

    Raises:
        ValueError: a name or a detail is wrong, or the two are not of one feed.

    >>> check_position(Position("news", 7), Position("sports", 0))
    Traceback (most recent call last):
    ...
    ValueError: after is a position of 'sports' and position one of 'news'; give both of one feed
    """
    if position is None:
        if after is not ...:
            raise ValueError("after is given without a position; give the position to commit too")
        return
    fault = name_fault(position.feed)
    if fault is not None:
        raise ValueError(f"feed {position.feed!r:.60} {fault}")
    if not isinstance(after, Position | EllipsisType | None):
        raise ValueError(f"after is {short_repr(after)}; give a position, or None for the first")
    for given in (position, after):
        if isinstance(given, Position):
            _check_offset(given)
            _check_detail(given)
    if isinstance(after, Position) and after.feed != position.feed:
        raise ValueError(
            f"after is a position of {after.feed!r:.60} and position one of "
            f"{position.feed!r:.60}; give both of one feed"
        )


def _check_offset(position: Position) -> None:
    if not (is_number_from(0, position.offset) and position.offset <= MAX_OFFSET):
        raise ValueError(
            f"the position of {position.feed!r:.60} has the offset {short_repr(position.offset)}; "
            "give a whole number from 0 up to 2^63 - 1"
        )


def _check_detail(position: Position) -> None:
    if not isinstance(position.detail, Mapping):
        raise ValueError(
            f"the position of {position.feed!r:.60} has the detail {short_repr(position.detail)}; "
            "give a mapping"
        )
    try:
        # Databases give infinity and NaN back, other programs do not.
        json.dumps(position.detail, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"the position of {position.feed!r:.60} has a detail that is not JSON: {error}"
        ) from error


def check_unmoved(feed: str, after: Position | None, found: Position | None) -> None:
    """Raise an error if a feed is not at the position that an append starts from.

    Whether the end was reached is not compared: that does not move a feed.

    Raises:
        PositionError: it is elsewhere.

    >>> check_unmoved("news", None, None)
    >>> check_unmoved("news", Position("news", 7), Position("news", 7, finished=True))
    >>> check_unmoved("news", Position("news", 7), Position("news", 9))
    Traceback (most recent call last):
    ...
    trustream.store.errors.PositionError: 'news' stands at 9 and not at 7: another process ...
    """
    if _comparable(after) != _comparable(found):
        raise PositionError(feed, after, found)


def is_file_detail(detail: Mapping[str, Any]) -> bool:
    """Whether a detail has all that is kept of a file (`feeds.positions`), of the right types.

    >>> is_file_detail({"format": "text", "head": [0, ""], "tail": "", "line": 0})
    True
    """
    head = detail.get("head")
    return (
        all(isinstance(detail.get(name), str) for name in ("format", "tail"))
        and isinstance(head, list)
        and len(head) == 2
        and is_number_from(0, head[0])
        and isinstance(head[1], str)
        and is_number_from(0, detail.get("line"))
        and is_number_from(0, detail.get("arrived", 0))
    )


def _comparable(position: Position | None) -> tuple[int, str] | None:
    if position is None:
        return None
    # As the database gives it back: lists for tuples, strings for numbers as keys.
    detail = json.loads(json.dumps(position.detail))
    return position.offset, json.dumps(detail, sort_keys=True)
