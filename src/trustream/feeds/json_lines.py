"""Read JSON lines: one object per line."""

from __future__ import annotations

import json
import re
from typing import Any

from trustream.feeds.errors import InvalidValue
from trustream.feeds.items import Items, Mark
from trustream.feeds.lines import read_line_records
from trustream.feeds.options import Options
from trustream.feeds.sources import Source
from trustream.feeds.validation import make_record, make_words
from trustream.store.protocol import Record

# The fields that words may come from: how an error begins, and what is expected.
_CONTENTS = {
    "text": (str, "the text", "is", "a string"),
    "tokens": (list, "the tokens", "are", "a list"),
    "counts": (dict, "the counts", "are", "an object"),
}
# Strings, which may hold brackets that mean nothing, and brackets.
_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[][{}]', re.DOTALL)


def read_json_lines(source: Source, mark: Mark, options: Options) -> Items:
    """Records of objects with `id` and one of `text`, `tokens`, `counts`.

    `time` and `append_id` are taken if they are there, other fields are passed over, and so are
    empty lines. Without `options.require_id`, an object without an id is named by its line.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> stream = io.BytesIO(b'{"id": "a", "text": "The cat."}\\n{"id": "b"}\\n')
    >>> items = list(read_json_lines(StreamSource(stream), Mark(), Options()))
    >>> items[0].record
    Record(key='a', words=['cat'], time=None, append_id=None)
    >>> items[1].line, items[1].problem
    (2, 'has none of text, tokens and counts, expected one')
    """
    name = options.name or source.name

    def record(text: str, number: int) -> Record:
        return _record(_parsed(text, options.max_depth), f"{name}:{number}", options)

    return read_line_records(source, mark, options, record)


def _parsed(text: str, max_depth: int) -> Any:
    # Nearly always there are fewer brackets than that, so that nothing else has to be looked at.
    if text.count("[") + text.count("{") > max_depth and _is_deep(text, max_depth):
        raise InvalidValue(f"nested deeper than {max_depth} levels", advice="max_depth allows more")
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


def _record(value: Any, name: str, options: Options) -> Record:
    """The record of an object; `name` is its key if it need not have an id and has none."""
    if not isinstance(value, dict):
        expected = "an object with an id" if options.require_id else "an object"
        raise InvalidValue(f"a JSON {type(value).__name__}", expected=expected)
    if options.require_id and "id" not in value:
        raise InvalidValue("has no id")
    there = [field for field in _CONTENTS if field in value]
    if len(there) != 1:
        found = " and ".join(there) if there else "none of text, tokens and counts"
        raise InvalidValue(f"has {found}", expected="one")
    content = value[there[0]]
    kind, field, verb, expected = _CONTENTS[there[0]]
    if not isinstance(content, kind):
        found = f"{verb} a {type(content).__name__}"
        raise InvalidValue(found, field=field, expected=expected)
    if isinstance(content, str):
        content = make_words(options.tokenise, content)
    time, append_id = value.get("time"), value.get("append_id")
    return make_record(value.get("id", name), content, time, append_id, options.max_words)
