"""Read the rows of comma-separated values, each of which knows where it ends.

The standard library's reader takes lines by itself and cannot say that it waits for one, and its
limit for a field is one for the whole process; so rows are found and taken apart here, by the same
rules: a field that begins with a quote ends at the next single one, and may have line ends in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from trustream.feeds.errors import RECORD_ERRORS, FeedError, InvalidValue, bad_record, too_long
from trustream.feeds.items import Mark
from trustream.feeds.lines import BYTE_ORDER_MARK, Line, decoded, read_lines
from trustream.feeds.options import Options
from trustream.feeds.sources import Source

# Names, and characters of a name, that an error lists.
_MANY = 20
_LONG = 60


class Row(NamedTuple):
    """Values by column, or what is wrong."""

    mark: Mark
    line: int
    values: dict[str, Any] | None = None
    error: InvalidValue | MemoryError | None = None

    def checked(self) -> dict[str, Any]:
        """The values; or the error is raised."""
        if self.error is not None:
            raise self.error
        return self.values or {}


class _Syntax:
    """Patterns for a delimiter; possessive, so that no input makes them slow."""

    def __init__(self, delimiter: str) -> None:
        d = re.escape(delimiter)
        inside = r'[^"]*+(?:""[^"]*+)*+'
        quoted = rf'"{inside}"'
        field = rf'(?:{quoted}[^{d}]*+|[^"{d}][^{d}]*+|)'
        row = rf"(?:{field}{d})*+{field}"
        self._delimiter = delimiter
        self._field = re.compile(rf'"({inside})"([^{d}]*+)|([^{d}]*+)')
        # A line that is a row, and one that ends a row whose quote was open before it.
        self.row = re.compile(row.encode())
        self.end = re.compile(rf'{inside}"[^{d}]*+(?:{d}{row})?'.encode())

    def split(self, text: str, most: int) -> list[str]:
        """The fields of a row; if there are more than `most`, one more than that."""
        if '"' not in text:
            return text.split(self._delimiter, most)
        fields: list[str] = []
        place = 0
        while place <= len(text) and len(fields) <= most:
            match = self._field.match(text, place)
            if match is None:
                raise InvalidValue("not comma-separated values")
            quoted, after, plain = match.groups()
            fields.append(plain if quoted is None else quoted.replace('""', '"') + after)
            place = match.end() + 1
        return fields


def csv_rows(
    source: Source,
    mark: Mark,
    options: Options,
    on_names: Callable[[list[str]], None] | None = None,
) -> Iterator[Row | None]:
    """The rows after a mark, by the names of columns in the first row; empty lines are left out.

    None when nothing new has come for a while.
    `on_names` is called with these names before the first row, but not if the file is empty.

    Raises:
        FeedError: the first row cannot be read, has a name twice or too many names.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> source = StreamSource(io.BytesIO(b'id,text\\na,"cats, ""dogs""\\nand birds"\\nb\\n'))
    >>> for row in csv_rows(source, Mark(), Options()):
    ...     print(row.line, row.values or row.error)
    2 {'id': 'a', 'text': 'cats, "dogs"\\nand birds'}
    4 1 value, expected 2: id, text
    """
    syntax = _Syntax(options.delimiter or ("\t" if source.suffix == ".tsv" else ","))

    def names_of(whole: _Whole) -> list[str]:
        names = _names(source, whole, syntax, options)
        if on_names is not None:
            on_names(names)
        return names

    names: list[str] | None = None
    if mark.offset:
        first = _whole_rows(read_lines(source, Mark(), options.max_bytes), Mark(), syntax, options)
        row = next((row for row in first if row is not None), None)
        if row is None:
            raise FeedError(f"{source.name} has become empty while it was read")
        names = names_of(row)
    expected = ""  # said of rows with too few values, or too many
    lines = read_lines(source, mark, options.max_bytes)
    for whole in _whole_rows(lines, mark, syntax, options):
        if whole is None:
            yield None
            continue
        mark = whole.mark
        if names is None:
            names = names_of(whole)
            continue
        try:
            values = syntax.split(whole.text(), options.max_columns)
        except RECORD_ERRORS as error:
            yield Row(mark, whole.line, error=error)
            continue
        if len(values) == len(names):
            yield Row(mark, whole.line, dict(zip(names, values, strict=True)))
        else:
            found = f"{len(values)} value{'s' if len(values) > 1 else ''}"
            if len(values) > options.max_columns:
                found = f"more than {options.max_columns} values"
            expected = expected or f"{len(names)}: {listed(names)}"
            yield Row(mark, whole.line, error=InvalidValue(found, expected=expected))


class _Whole(NamedTuple):
    """The bytes of a row, or what is wrong with it."""

    mark: Mark
    line: int
    content: bytes
    error: InvalidValue | None = None

    def text(self) -> str:
        if self.error is not None:
            raise self.error
        return decoded(self.content)


def _whole_rows(
    lines: Iterator[Line | None], mark: Mark, syntax: _Syntax, options: Options
) -> Iterator[_Whole | None]:
    """Lines put together where a quote is open."""
    parts: list[bytes] = []
    size, first, inside = 0, 0, False
    for line in lines:
        if line is None:
            yield None
            continue
        mark, content = line
        if content is not None and mark.number == 1:
            content = content.removeprefix(BYTE_ORDER_MARK)
        if not inside:
            parts, size, first = [], 0, mark.number
            if content is not None and not content.strip():
                continue
        if content is None:  # too long to look for quotes in it
            size, inside = options.max_bytes + 1, False
        else:
            size += len(content) + 1
            parts.append(content)
            if b'"' in content:
                inside = (syntax.end if inside else syntax.row).fullmatch(content) is None
        if size > options.max_bytes:
            parts = []
            if not inside:
                yield _Whole(mark, first, b"", too_long(options.max_bytes))
        elif not inside:
            yield _Whole(mark, first, b"\n".join(parts))
    if inside:
        error = InvalidValue("a quote is open at the end of the file")
        yield _Whole(mark, first, b"", error)


def _names(source: Source, whole: _Whole, syntax: _Syntax, options: Options) -> list[str]:
    try:
        names = [name.strip() for name in syntax.split(whole.text(), options.max_columns)]
    except RECORD_ERRORS as error:
        problem = bad_record(error, source.name, 1).problem
        raise FeedError(f"{source.name} has no names of columns in line 1: {problem}") from None
    check_names(source, names, options)
    return names


def check_names(source: Source, names: list[str], options: Options) -> None:
    """See to it that there are not too many columns, and none twice."""
    if len(names) > options.max_columns:
        raise FeedError(
            f"{source.name} has more than {options.max_columns} columns; max_columns allows more"
        )
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise FeedError(f"{source.name} has a column twice: {listed(sorted(twice))}")


def listed(names: Sequence[str]) -> str:
    """Names of columns on one line, the first if they are many.

    >>> listed(["id", "text of\\nlines"])
    'id, text of lines'
    """
    first = [" ".join(name[: _LONG + 1].split()) for name in names[:_MANY]]
    short = [name if len(name) <= _LONG else f"{name[:_LONG]}..." for name in first]
    return ", ".join(short) + (f" and {len(names) - _MANY} more" if len(names) > _MANY else "")
