"""JSON lines: an object a line."""

from __future__ import annotations

import json
from typing import Any

from trustream.feeds.items import Item, Items, Mark, Options, Problem
from trustream.feeds.lines import read_lines
from trustream.feeds.records import make_record, make_words
from trustream.feeds.sources import Source
from trustream.store.protocol import Record

_CONTENTS = ("text", "tokens", "counts")


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
            record = _record(_parsed(text), options) if text.strip() else None
            yield Item(mark, mark.number, record)
        except Problem as problem:
            yield Item(mark, mark.number, problem=str(problem))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Problem(f"not JSON: {error.msg} (character {error.colno})") from None
    except (ValueError, RecursionError) as error:  # a huge number, brackets without end
        raise Problem(f"not JSON that can be read: {error}") from None


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
    return make_record(value["id"], content, value.get("time"), value.get("append_id"))
