"""Tables of documents and of ratings, CSV or Parquet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from trustream.feeds.csv_rows import Row, csv_rows, listed
from trustream.feeds.items import (
    BAD_RECORD,
    FeedError,
    Item,
    Items,
    Mark,
    Options,
    Problem,
    said,
)
from trustream.feeds.parquet_rows import is_parquet, open_parquet, parquet_rows
from trustream.feeds.records import (
    make_count,
    make_name,
    make_record,
    make_time,
    make_words,
    shown,
)
from trustream.feeds.sources import Source
from trustream.store.protocol import Record

# The names that columns have unless others are given; such a column of times may be missing.
_USUAL_TIMESTAMP = Options().timestamp_column


def read_documents(source: Source, mark: Mark, options: Options, *, parquet: bool = False) -> Items:
    """Records of a table with a row a document, CSV unless it is said to be Parquet.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> source = StreamSource(io.BytesIO(b'key,body\\n7,"Cats, dogs"\\n'))
    >>> options = Options(id_column="key", text_column="body")
    >>> [item.record.words for item in read_documents(source, Mark(), options)]
    [['cats', 'dogs']]
    """
    columns = [options.id_column, options.text_column, options.time_column]
    name = options.name or source.name

    def document(row: Row, values: dict[str, Any]) -> Record:
        key = values[options.id_column] if options.id_column else f"{name}:{row.line}"
        content = values[options.text_column]
        if isinstance(content, str):
            if len(content) > options.max_bytes:
                raise Problem(f"longer than {options.max_bytes} bytes; max_bytes allows more")
            content = make_words(options.tokenise, content)
        elif not isinstance(content, list):
            raise Problem(f"the text is {shown(content)}, expected a string or a list of tokens")
        time = _time(values, options.time_column)
        return make_record(key, content, time, max_words=options.max_words)

    wanted = [column for column in columns if column]
    yield from _items(_rows(source, mark, options, wanted, None, parquet), document)


def read_ratings(source: Source, mark: Mark, options: Options) -> Items:
    """Records of a table with a row a rating: users are documents, items are words.

    Every liked item is a part that is added to its user, one by one in the order of the file.
    The table is CSV, or Parquet if it begins and ends as such a file does.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> table = b"user,item,rating\\nann,Alien,5\\nann,Brazil,2\\nbob,Alien,4\\n"
    >>> items = read_ratings(StreamSource(io.BytesIO(table)), Mark(), Options(threshold=4))
    >>> [(item.record.key, item.record.words) for item in items if item.record]
    [('ann', {'Alien': 1}), ('bob', {'Alien': 1})]
    """
    columns = [options.user_column, options.item_column, options.rating_column]
    wanted = [column for column in columns if column]

    def rating(row: Row, values: dict[str, Any]) -> Record | None:
        user = make_name(options.user_column, values[options.user_column])
        item = make_name(options.item_column, values[options.item_column])
        count = _count(values, options)
        time = _time(values, options.timestamp_column)
        return make_record(user, {item: count}, time) if count else None

    rows = _rows(
        source, mark, options, wanted, options.timestamp_column, parquet=is_parquet(source)
    )
    yield from _items(rows, rating)


def _items(rows: Iterable[Row], make: Callable[[Row, dict[str, Any]], Record | None]) -> Items:
    for row in rows:
        if row.values is None:
            yield Item(row.mark, row.line, None, row.problem, pause=row.problem is None)
            continue
        try:
            yield Item(row.mark, row.line, make(row, row.values))
        except BAD_RECORD as error:
            yield Item(row.mark, row.line, problem=said(error))


def _rows(
    source: Source,
    mark: Mark,
    options: Options,
    wanted: list[str],
    timestamp: str | None,
    parquet: bool,
) -> Iterator[Row]:
    """The rows of a table that has the wanted columns."""
    if parquet:
        table = open_parquet(source, options)
        _check_columns(source, table.names, wanted, timestamp)
        there = [*wanted, timestamp] if timestamp in table.names else wanted
        yield from parquet_rows(source, table, mark, [name for name in there if name])
        return
    checked = False
    for row in csv_rows(source, mark, options):
        if row.values is not None and not checked:
            _check_columns(source, list(row.values), wanted, timestamp)
            checked = True
        yield row


def _check_columns(
    source: Source, names: list[str], wanted: list[str], timestamp: str | None
) -> None:
    if timestamp and timestamp != _USUAL_TIMESTAMP:
        wanted = [*wanted, timestamp]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise FeedError(
            f"{source.name} has no column {listed([*map(repr, missing)])}; its columns are "
            f"{listed([*map(repr, names)])}: say which is which by the options ending in _column"
        )


def _time(values: dict[str, Any], column: str | None) -> float | None:
    value = values.get(column) if column else None
    return None if value is None else make_time(value)


def _count(values: dict[str, Any], options: Options) -> int:
    """How often an item counts for a rating."""
    if options.rating_column is None:
        return 1
    value = values[options.rating_column]
    try:
        rating = float(value)
    except (TypeError, ValueError, OverflowError):
        rating = math.nan
    if not math.isfinite(rating):
        raise Problem(f"the rating is {shown(value)}, expected a number")
    if options.threshold is not None:
        return int(rating >= options.threshold)
    if rating == 0:
        return 0
    if rating < 0 or not rating.is_integer():
        raise Problem(
            f"the rating is {shown(value)}, which is no count: set a threshold from which on an "
            "item counts as liked"
        )
    return make_count("the rating", int(rating))
