"""JSON lines: an object a line."""

from __future__ import annotations

import json
import re
from typing import Any

from trustream.feeds.items import BAD_RECORD, Item, Items, Mark, Options, Problem, said
from trustream.feeds.lines import read_lines
from trustream.feeds.records import make_record, make_words
from trustream.feeds.sources import Source
from trustream.store.protocol import Record

_CONTENTS = ("text", "tokens", "counts")
# Strings, which may hold brackets that mean nothing, and brackets.
_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[][{}]', re.DOTALL)


def read_json_lines(source: Source, mark: Mark, options: Options) -> Items:
    """Records of objects with `id` and one of `text`, `tokens`, `counts`.

    `time` and `append_id` are taken if they are there, other fields are passed over, and so are
    empty lines.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> stream = io.BytesIO(b'{"id": "a", "text": "The cat."}\\n{"id": "b"}\\n')
    >>> items = list(read_json_lines(StreamSource(stream), Mark(), Options()))
    >>> items[0].record
    Record(key='a', words=['cat'], time=None, append_id=None)
    >>> items[1].line, items[1].problem
    (2, 'has none of text, tokens and counts, expected one')
    """
    for line in read_lines(source, mark, options.max_bytes):
        if line is None:
            yield Item(mark, mark.number, pause=True)
            continue
        mark = line.mark
        try:
            text = line.text(options.max_bytes)
            record = None
            if text.strip():
                record = _record(_parsed(text, options.max_depth), options)
            yield Item(mark, mark.number, record)
        except BAD_RECORD as error:
            yield Item(mark, mark.number, problem=said(error))


def _parsed(text: str, max_depth: int) -> Any:
    # Nearly always there are fewer brackets than that, so that nothing else has to be looked at.
    if text.count("[") + text.count("{") > max_depth and _is_deep(text, max_depth):
        raise Problem(f"nested deeper than {max_depth} levels; max_depth allows more")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Problem(f"not JSON: {error.msg} (character {error.colno})") from None
    except RecursionError:
        raise Problem("nested deeper than Python can read; max_depth is too high") from None
    except ValueError:
        raise Problem("has a number with thousands of digits") from None


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


def _record(value: Any, options: Options) -> Record:
    if not isinstance(value, dict):
        raise Problem(f"a JSON {type(value).__name__}, expected an object with an id")
    if "id" not in value:
        raise Problem("has no id")
    there = [name for name in _CONTENTS if name in value]
    if len(there) != 1:
        found = " and ".join(there) if there else "none of text, tokens and counts"
        raise Problem(f"has {found}, expected one")
    content = value[there[0]]
    if there[0] == "text":
        if not isinstance(content, str):
            raise Problem(f"the text is a {type(content).__name__}, expected a string")
        content = make_words(options.tokenise, content)
    elif there[0] == "counts" and not isinstance(content, dict):
        raise Problem(f"the counts are a {type(content).__name__}, expected an object")
    elif there[0] == "tokens" and not isinstance(content, list):
        raise Problem(f"the tokens are a {type(content).__name__}, expected a list")
    time, append_id = value.get("time"), value.get("append_id")
    return make_record(value["id"], content, time, append_id, options.max_words)
