"""Read JSON lines: one object per line."""

from __future__ import annotations

import json
import re
from typing import Any

from trustream.feeds.csv_rows import listed
from trustream.feeds.errors import InvalidValue
from trustream.feeds.items import Items, Mark
from trustream.feeds.lines import read_line_records
from trustream.feeds.options import Options
from trustream.feeds.sources import Source
from trustream.feeds.validation import made_key, make_record, make_words, with_text
from trustream.store.records import Record

# The fields that words may come from: how an error begins, and what is expected.
_CONTENTS = {
    "text": (str, "the text", "is", "a string"),
    "tokens": (list, "the tokens", "are", "a list"),
    "counts": (dict, "the counts", "are", "an object"),
}
_MISSING = object()
_DECODER = json.JSONDecoder()
# Strings, which may hold brackets that mean nothing, and brackets.
_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[][{}]', re.DOTALL)


def read_json_lines(source: Source, mark: Mark, options: Options) -> Items:
    """Records of objects with `id` and one of `text`, `tokens`, `counts`.

    `options.id_column`, `text_column`, `time_column` and `title_column` name other fields, and
    "a.b" a field in a field. `time` and `append_id` are taken if they are there, other fields are
    passed over, and so are empty lines. How an object without an id is named, `options.require_id`
    tells.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> stream = io.BytesIO(b'{"id": "a", "text": "The cat."}\\n{"id": "b"}\\n')
    >>> items = list(read_json_lines(StreamSource(stream), Mark(), Options()))
    >>> items[0].record
    Record(key='a', words=['cat'], time=None, append_id=None, replace=False)
    >>> items[1].line, items[1].problem
    (2, 'has none of text, tokens and counts, expected one; its fields are id: ...')
    """
    name = options.name or source.name

    def record(text: str, number: int) -> Record:
        return json_record(parsed(text, options.max_depth), options, name, number)

    return read_line_records(source, mark, options, record)


def parsed(text: str, max_depth: int) -> Any:
    """The value of a line of JSON; an `InvalidValue` says what is wrong.

    >>> parsed('{"id": 7}', 200)
    {'id': 7}
    """
    # Nearly always there are fewer brackets than that, so that nothing else has to be looked at.
    if text.count("[") + text.count("{") > max_depth and _is_deep(text, max_depth):
        raise InvalidValue(f"nested deeper than {max_depth} levels", advice="max_depth allows more")
    try:
        # What `json.loads` does for the usual line, without what it does for others.
        value, end = _DECODER.raw_decode(text)
        if end == len(text):
            return value
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidValue(f"not JSON: {error.msg} (character {error.colno})") from None
    except RecursionError:
        raise InvalidValue(
            "nested deeper than Python can read", advice="max_depth is too high"
        ) from None
    except ValueError:
        raise InvalidValue("has a number with thousands of digits") from None


def _is_deep(text: str, max_depth: int) -> bool:
    """Whether lists and objects stand inside one another deeper than that."""
    depth = 0
    for match in _STRUCTURE.finditer(text):
        token = match[0]
        if token in "[{":
            depth += 1
            if depth > max_depth:
                return True
        elif token in "]}":
            depth -= 1
    return False


def json_record(value: Any, options: Options, name: str = "", number: int = 0) -> Record:
    """The record of an object; an `InvalidValue` says what is wrong with it.

    Args:
        value: what JSON says.
        options: how records are read.
        name: of the feed, and
        number: of the line, by which an object without an id is named.

    >>> json_record({"id": "a", "tokens": ["cat"], "time": 60}, Options())
    Record(key='a', words=['cat'], time=60.0, append_id=None, replace=False)
    """
    if not isinstance(value, dict):
        expected = "an object with an id" if options.needs_id else "an object"
        raise InvalidValue(f"a JSON {type(value).__name__}", expected=expected)
    key = _MISSING if options.id_column is None else _field(value, options.id_column)
    if key is _MISSING and options.needs_id:
        raise _no_field(value, options.id_column or "id")
    content = _content(value, options.text_column)
    if key is _MISSING:
        key = made_key(name, number, content, options)
    words = make_words(options.tokenise, content) if isinstance(content, str) else content
    if options.time_column is None:
        time = value.get("time")
    elif (time := _field(value, options.time_column)) is _MISSING:
        raise _no_field(value, options.time_column)
    record = make_record(key, words, time, value.get("append_id"), options.max_words)
    if not options.keep_text:
        return record
    return with_text(record, content, _field(value, options.title_column), options)


def _content(value: dict[str, Any], column: str) -> Any:
    """What the words come from: a text, tokens or counts."""
    if column != "text":
        content = _field(value, column)
        if content is _MISSING:
            raise _no_field(value, column)
        if not isinstance(content, str | list | dict):
            found = f"is a {type(content).__name__}"
            expected = "a string, a list of tokens, or an object of counts"
            raise InvalidValue(found, field=column, expected=expected, name=column)
        return content
    there = [field for field in _CONTENTS if field in value]
    if len(there) != 1:
        found = " and ".join(there) if there else "none of text, tokens and counts"
        advice = None if there else f"its fields are {_listed(value)}: text_column names another"
        raise InvalidValue(f"has {found}", expected="one", advice=advice)
    content = value[there[0]]
    kind, field, verb, expected = _CONTENTS[there[0]]
    if not isinstance(content, kind):
        found = f"{verb} a {type(content).__name__}"
        raise InvalidValue(found, field=field, expected=expected, name=there[0])
    return content


def _field(value: dict[str, Any], path: str) -> Any:
    """A field by its name, or by the names of fields in one another with dots between them."""
    if path in value or "." not in path:
        return value.get(path, _MISSING)
    first, _, rest = path.partition(".")
    inner = value.get(first)
    return _field(inner, rest) if isinstance(inner, dict) else _MISSING


def _no_field(value: dict[str, Any], name: str) -> InvalidValue:
    return InvalidValue(f"has no {name}", advice=f"its fields are {_listed(value)}", name=name)


def _listed(value: dict[str, Any]) -> str:
    return listed([*map(str, value)]) if value else "none"
