"""Errors of feeds: a file that cannot be read, and a record of a file that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trustream.feeds.results import IngestResult
    from trustream.store.errors import RecordError
    from trustream.store.records import Record


class FeedError(ValueError):
    """A feed that cannot be read, or not any further."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that is wrong, where it stands and why; `str()` says it in one sentence.

    Attributes:
        file: name of the file or stream.
        line: line (or row) on which the record begins, from 1.
        field: what is wrong, such as "id" or "the count of 'cat'"; None is the record itself.
        found: what is said of it: "is -1", "has no id"; None if only what was expected is known.
        expected: what should have been there, if there is something to say.
        advice: what to do about it, if there is something to say.
        name: of the field that is wrong, for programs: "counts" where `field` is "the count of
            'cat'"; None if it is the record itself, or the format has no fields.

    >>> bad = BadRecord("pets.jsonl", 7, "the count of 'cat'", "is -1", "a whole number from 1 on")
    >>> str(bad)
    "pets.jsonl, line 7: the count of 'cat' is -1, expected a whole number from 1 on"
    """

    file: str
    line: int
    field: str | None = None
    found: str | None = None
    expected: str | None = None
    advice: str | None = None
    name: str | None = None

    @property
    def problem(self) -> str:
        """What is wrong, without where it stands."""
        both = self.field and self.found
        problem = f"{self.field} {self.found}" if both else self.field or self.found or ""
        if self.expected:
            problem += f"{', ' if problem else ''}expected {self.expected}"
        return f"{problem}; {self.advice}" if self.advice else problem

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.problem}"


class InvalidValue(ValueError):
    """Raised while a record is made, if what it is made of is wrong; `bad_record` says where.

    Attributes:
        name: of the field that is wrong, for programs, as in `BadRecord`.

    >>> raise InvalidValue("has 0 characters", field="id", advice="give it 1 to 500")
    Traceback (most recent call last):
    ...
    trustream.feeds.errors.InvalidValue: id has 0 characters; give it 1 to 500
    """

    def __init__(
        self,
        found: str | None = None,
        *,
        field: str | None = None,
        expected: str | None = None,
        advice: str | None = None,
        name: str | None = None,
    ) -> None:
        # Nothing is made of these until somebody asks: files may be full of bad records.
        super().__init__(field, found, expected, advice, name)
        self.name = name

    def at(self, file: str, line: int) -> BadRecord:
        """The bad record of a file."""
        return BadRecord(file, line, *self.args)

    def __str__(self) -> str:
        return self.at("", 0).problem

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


# What making a record raises if the record is to blame.
RECORD_ERRORS = (InvalidValue, MemoryError)


def bad_record(error: InvalidValue | MemoryError, file: str, line: int) -> BadRecord:
    """The bad record of a file, from what making a record of it raised.

    >>> str(bad_record(InvalidValue("has no id"), "pets.jsonl", 7))
    'pets.jsonl, line 7: has no id'
    >>> bad_record(MemoryError(), "pets.jsonl", 7).problem
    'needs more memory than there is; a lower max_bytes refuses such records'
    """
    if isinstance(error, InvalidValue):
        return error.at(file, line)
    return BadRecord(
        file,
        line,
        found="needs more memory than there is",
        advice="a lower max_bytes refuses such records",
    )


def field_name(error: RecordError, record: Record) -> str | None:
    """The name of the field of a feed or a request for which a store refuses a record.

    None if it is not known: words of a text and tokens are the same to a store.

    >>> from trustream.store import Record, RecordError
    >>> field_name(RecordError(0, "too many words", "words"), Record("a", {"cat": 2}))
    'counts'
    """
    if error.field == "key":
        return "id"
    if error.field != "words":
        return error.field
    if isinstance(record.words, Mapping):
        return "counts"
    return None if record.text is None else "text"


def too_long(max_bytes: int) -> InvalidValue:
    """The error for a line, row or page that is longer than allowed.

    >>> too_long(100)
    InvalidValue('longer than 100 bytes; max_bytes allows more')
    """
    return InvalidValue(f"longer than {max_bytes} bytes", advice="max_bytes allows more")


class BadRecordError(FeedError):
    """A bad record that reading stopped at; what stands before it was read, or is in the store.

    Attributes:
        bad: the record, where it stands and what is wrong; `line` and `problem` are its own.
        result: what an ingest added before it; None if nothing is stored.

    >>> raise BadRecordError(BadRecord("x.jsonl", 7, found="has no id"))
    Traceback (most recent call last):
    ...
    trustream.feeds.errors.BadRecordError: x.jsonl, line 7: has no id
    """

    def __init__(self, bad: BadRecord, result: IngestResult | None = None) -> None:
        stored = (
            ". What stands before it was added; put it right and go on, or leave bad records out "
            'with on_error="skip"'
        )
        super().__init__(str(bad) + ("" if result is None else stored))
        self.bad, self.line, self.problem, self.result = bad, bad.line, bad.problem, result

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.bad, self.result)
