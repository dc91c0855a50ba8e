"""Read tables of documents and of ratings, CSV or Parquet, as records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from trustream.feeds.csv_rows import Row, csv_rows, listed
from trustream.feeds.errors import FeedError, InvalidValue, too_long
from trustream.feeds.items import Items, Mark, make_items
from trustream.feeds.options import Options, RatingColumns
from trustream.feeds.parquet_rows import is_parquet, open_parquet, parquet_rows
from trustream.feeds.sources import Source
from trustream.feeds.validation import (
    made_key,
    make_count,
    make_name,
    make_record,
    make_time,
    make_words,
    unexpected,
    with_text,
)
from trustream.store.limits import short_repr
from trustream.store.records import Record


def read_document_table(
    source: Source, mark: Mark, options: Options, *, parquet: bool = False
) -> Items:
    """Records of a table with one row per document, CSV unless it is said to be Parquet.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> source = StreamSource(io.BytesIO(b'key,body\\n7,"Cats, dogs"\\n'))
    >>> options = Options(id_column="key", text_column="body")
    >>> [item.record.words for item in read_document_table(source, Mark(), options)]
    [['cats', 'dogs']]
    """
    name = options.name or source.name
    optional = [] if options.needs_id else [options.id_column]
    wanted = [options.id_column, options.text_column, options.time_column]
    if options.keep_text:
        wanted.append(options.title_column)
        if options.title_column == Options().title_column:
            optional.append(options.title_column)

    def document(row: Row) -> Record:
        values = row.checked()
        key = values.get(options.id_column) if options.id_column else None
        text = content = values[options.text_column]
        if key is None and not options.needs_id:
            key = made_key(name, row.line, content, options)
        if isinstance(content, str):
            if len(content) > options.max_bytes:
                raise too_long(options.max_bytes)
            content = make_words(options.tokenise, content)
        elif not isinstance(content, list):
            expected = "a string or a list of tokens"
            raise unexpected("the text", content, expected, options.text_column)
        time = _time(values, options.time_column)
        record = make_record(key, content, time, max_words=options.max_words)
        if not options.keep_text:
            return record
        return with_text(record, text, values.get(options.title_column), options)

    rows = _rows(source, mark, options, wanted, optional, parquet)
    return make_items(source.name, mark, rows, document)


def read_rating_table(source: Source, mark: Mark, options: Options) -> Items:
    """Records of a table with one row per rating: users are documents, items are words.

    Every liked item is a part that is added to its user, one by one in the order of the file.
    The table is CSV, or Parquet if it begins and ends as such a file does.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> table = b"user,item,rating\\nann,Alien,5\\nann,Brazil,2\\nbob,Alien,4\\n"
    >>> items = read_rating_table(StreamSource(io.BytesIO(table)), Mark(), Options(threshold=4))
    >>> [(item.record.key, item.record.words) for item in items if item.record]
    [('ann', {'Alien': 1}), ('bob', {'Alien': 1})]
    """
    columns = options.rating_columns

    def liked(row: Row) -> Record | None:
        values = row.checked()
        rating = make_rating(values, columns)
        count = _count(rating.value, values.get(columns.rating or ""), options.threshold)
        return Record(rating.user, {rating.item: count}, rating.time) if count else None

    rows = _rows(source, mark, options, columns, optional_columns(columns), is_parquet(source))
    return make_items(source.name, mark, rows, liked)


class Rating(NamedTuple):
    """What a user gave an item, and when; `value` is 1 where there is no column of ratings."""

    user: str
    item: str
    value: float
    time: float | None


def make_rating(values: Mapping[str, Any], columns: RatingColumns) -> Rating:
    """A rating of the checked values of a row; `InvalidValue` says what is wrong.

    >>> make_rating({"user": "ann", "item": 7, "rating": "4.5"}, RatingColumns())
    Rating(user='ann', item='7', value=4.5, time=None)
    """
    user = make_name(columns.user, values[columns.user])
    item = make_name(columns.item, values[columns.item])
    rating = 1.0
    if columns.rating is not None:
        try:
            rating = float(values[columns.rating])
        except (TypeError, ValueError, OverflowError):
            rating = math.nan
        if not math.isfinite(rating):
            raise unexpected("the rating", values[columns.rating], "a number", columns.rating)
    return Rating(user, item, rating, _time(values, columns.timestamp))


def optional_columns(columns: RatingColumns) -> list[str | None]:
    """Those that need not be there: that of times, unless somebody chose its name.

    >>> optional_columns(RatingColumns()), optional_columns(RatingColumns(timestamp="day"))
    (['timestamp'], [])
    """
    usual = columns.timestamp == RatingColumns().timestamp
    return [columns.timestamp] if usual else []


def check_columns(
    source: Source,
    names: list[str],
    wanted: Iterable[str | None],
    optional: Iterable[str | None] = (),
) -> None:
    """Refuse a table that lacks a column.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> check_columns(StreamSource(io.BytesIO()), ["id", "body"], ["id", "text", None])
    Traceback (most recent call last):
    ...
    trustream.feeds.errors.FeedError: stream has no column 'text'; its columns are 'id', 'body': ...
    """
    needed = [name for name in wanted if name is not None and name not in optional]
    missing = [name for name in needed if name not in names]
    if missing:
        ratings = isinstance(wanted, RatingColumns)
        by = (
            "user_column, item_column and rating_column" if ratings else "id_column and text_column"
        )
        raise FeedError(
            f"{source.name} has no column {listed([*map(repr, missing)])}; its columns are "
            f"{listed([*map(repr, names)])}: say which is which by {by}"
        )


def _rows(
    source: Source,
    mark: Mark,
    options: Options,
    wanted: Iterable[str | None],
    optional: list[str | None],
    parquet: bool,
) -> Iterator[Row | None]:
    """The rows of a table that has the wanted columns, except those that need not be there."""
    if parquet:
        table = open_parquet(source, options)
        check_columns(source, table.names, wanted, optional)
        there = [name for name in wanted if name is not None and name in table.names]
        yield from parquet_rows(source, table, mark, there)
    else:
        yield from csv_rows(
            source, mark, options, lambda names: check_columns(source, names, wanted, optional)
        )


def _time(values: Mapping[str, Any], column: str | None) -> float | None:
    value = values.get(column) if column else None
    return None if value is None else make_time(value)


def _count(rating: float, written: Any, threshold: float | None) -> int:
    """How often an item counts for a rating, which stands in the file as `written`."""
    if threshold is not None:
        return int(rating >= threshold)
    if rating == 0:
        return 0
    if rating < 0 or not rating.is_integer():
        raise InvalidValue(
            f"is {short_repr(written)}, which is no count",
            field="the rating",
            advice="set a threshold from which on an item counts as liked",
        )
    return make_count("the rating", int(rating))
