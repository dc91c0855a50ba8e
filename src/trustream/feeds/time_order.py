"""Put records in order of time, whatever their number: sorted in parts, and the parts merged."""

from __future__ import annotations

import heapq
import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from trustream.feeds.errors import FeedError
from trustream.feeds.items import Item, Items, Mark
from trustream.store.records import Record

# Records sorted at once: about 100 MB. A part is a file that stays open during the merge.
_PART = 250_000


def in_order(items: Iterable[Item], start: Mark, part: int = _PART) -> Items:
    """Items by the time of their records, from the `start.offset`-th on; equal times as they came.

    Marks count records. Bad items come first, for where they belong is not known.

    Raises:
        FeedError: a record has no time.

    >>> times = [3.0, 1.0, 2.0, 1.0]
    >>> items = [Item(Mark(), i, Record(str(i), ["x"], time)) for i, time in enumerate(times)]
    >>> [item.record.key for item in in_order(items, Mark(), part=2)]
    ['1', '3', '2', '0']
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trustream-")))
        parts: list[Path] = []
        rows: list[tuple[Any, ...]] = []
        for item in items:
            if item.bad is not None:
                yield replace(item, mark=start)
            if item.record is None:
                continue
            if item.record.time is None:
                raise FeedError(f"line {item.line} has no time, which in_order needs")
            rows.append((item.record.time, item.line, item.record.key, item.record.words))
            if len(rows) == part:
                parts.append(_write(folder / str(len(parts)), rows))
                rows = []
        rows.sort(key=itemgetter(0))
        runs = [_read(stack, path) for path in parts]
        merged = heapq.merge(*runs, iter(rows), key=itemgetter(0))
        for place, (time, line, key, words) in enumerate(merged, start=1):
            if place > start.offset:
                yield Item(Mark(place, place), line, Record(key, words, time))


def _write(path: Path, rows: list[tuple[Any, ...]]) -> Path:
    rows.sort(key=itemgetter(0))
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def _read(stack: ExitStack, path: Path) -> Iterator[tuple[Any, ...]]:
    file = stack.enter_context(path.open(encoding="utf-8"))
    return (tuple(json.loads(line)) for line in file)
