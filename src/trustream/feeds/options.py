"""Options: how the records of a feed are read, and what one record may cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trustream.store.limits import is_finite_number, is_number_from, short_repr
from trustream.text import tokenise

MAX_BYTES = 2**25
MAX_WORDS = 2**22
MAX_COLUMNS = 10_000
MAX_DEPTH = 200


class RatingColumns(NamedTuple):
    """Names of the columns of a table of ratings; `rating` and `timestamp` may be None for none.

    >>> RatingColumns(user="listener", item="song").rating
    'rating'
    """

    user: str = "user"
    item: str = "item"
    rating: str | None = "rating"
    timestamp: str | None = "timestamp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How records are read; each format takes what it needs.

    Attributes:
        tokenise: makes words of text; `trustream.text.Tokeniser` makes others.
        name: what documents without an id of their own are named by, before the line: `name:7`.
            The file's name if None.
        max_bytes: a line, row or page that is longer is a bad record.
        max_words: a record of more words, or different words if they are counted, is a bad one.
        max_columns: a table with more columns is not read.
        max_depth: a line of JSON with more lists and objects inside one another is a bad record.
        vocabulary: words by number, for "uci" and "ldac".
        delimiter: between columns; by the file's suffix if None.
        require_id: whether a record must have an id, in "jsonl", "csv" and "parquet". If False, one
            without is named by its line or row, `name:7`. None, the default, asks for ids where
            `id_column` was chosen; elsewhere a record without one is named by its line and a hash
            of what its words come from, `name:7:2437699e5972`.
        id_column: column, or field, of document keys; None names documents by their line or row.
        text_column: column of texts, or of lists of tokens in Parquet; field of a text, of a list
            of tokens or of an object of counts in JSON, where "article.body" is a field in a field.
        time_column: column, or field, of times; None if there is none, or in JSON `time` if there.
        user_column, item_column, rating_column, timestamp_column: of "ratings";
            `rating_column=None` counts every row as 1, `timestamp_column=None` has no times.
        threshold: ratings count as 1 from here on and not at all below; None takes a rating as a
            count, which must be whole.
        in_order: "ratings" are sorted by time first, in temporary files.
        page_key: "title" or "id" of a page of a MediaWiki dump.
        title_column: column, or field, of titles, which records take along with their texts.
        keep_text: characters of its text that a record takes along, for a store that keeps texts;
            0 is none, and no title either. `ingest` asks the store.

    >>> Options(threshold=4).rating_column
    'rating'
    """

    tokenise: Callable[[str], Sequence[str]] = tokenise
    name: str | None = None
    max_bytes: int = MAX_BYTES
    max_words: int = MAX_WORDS
    max_columns: int = MAX_COLUMNS
    max_depth: int = MAX_DEPTH
    vocabulary: Sequence[str] | None = None
    delimiter: str | None = None
    require_id: bool | None = None
    id_column: str | None = "id"
    text_column: str = "text"
    time_column: str | None = None
    user_column: str = "user"
    item_column: str = "item"
    rating_column: str | None = "rating"
    timestamp_column: str | None = "timestamp"
    threshold: float | None = None
    in_order: bool = False
    page_key: str = "title"
    title_column: str = "title"
    keep_text: int = 0

    def __post_init__(self) -> None:
        for name in ("max_bytes", "max_words", "max_columns", "max_depth"):
            if not is_number_from(1, value := getattr(self, name)):
                raise ValueError(
                    f"{name} is {short_repr(value)}, expected a whole number, 1 or more"
                )
        # No rating would reach NaN, and all of them would be left out.
        if self.threshold is not None and not is_finite_number(self.threshold):
            raise ValueError(
                f"threshold is {short_repr(self.threshold)}, expected a number or None"
            )
        if self.page_key not in ("title", "id"):
            raise ValueError(f'page_key is {self.page_key!r}, expected "title" or "id"')
        if self.delimiter is not None and not (
            len(self.delimiter) == 1 and self.delimiter.isascii() and self.delimiter not in '"\r\n'
        ):
            raise ValueError(f"delimiter is {self.delimiter!r}, expected one ASCII character")
        if isinstance(self.vocabulary, str | Mapping):
            kind = type(self.vocabulary).__name__
            raise ValueError(f"vocabulary is a {kind}, expected the words in a list")

    @property
    def needs_id(self) -> bool:
        """Whether a record without an id is a bad one."""
        if self.require_id is None:
            return self.id_column not in ("id", None)
        return self.require_id

    @property
    def rating_columns(self) -> RatingColumns:
        """The columns of a table of ratings."""
        return RatingColumns(
            self.user_column, self.item_column, self.rating_column, self.timestamp_column
        )
