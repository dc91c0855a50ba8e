"""Take texts as people have them: in lists, in columns of frames, or as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain, islice
from typing import Any

# Texts that are looked at together.
_AT_ONCE = 1000
# Characters of a text that are shown of it.
_EXCERPT = 200


def text_chunks(texts: Any) -> Iterator[list[str]]:
    """Return texts in lists of 1,000, read as they are asked for; refuses what are not texts.

    Parameters
    ----------
    texts : iterable of str
        A list, a column of a pandas or polars frame, an array, a generator, an open file.

    Examples
    --------
    >>> [len(chunk) for chunk in text_chunks("text" for _ in range(1200))]
    [1000, 200]
    >>> text_chunks("a single text")
    Traceback (most recent call last):
    ...
    ValueError: texts are a single string: give a list of texts, also of one
    """
    _check_kind(texts)
    chunks = _chunks(texts)
    # The first one now, so that what is wrong is found before anything else is done.
    first = next(chunks, None)
    if first is None:
        raise ValueError("there are no texts: give at least one")
    return chain([first], chunks)


def excerpt(text: str) -> str:
    """Return the beginning of a text on one line.

    >>> excerpt("Cats,\\n\\tand\\x1b dogs")
    'Cats, and dogs'
    """
    line = " ".join(text[: 2 * _EXCERPT].split())
    if not line.isprintable():
        line = " ".join("".join(c if c.isprintable() else " " for c in line).split())
    return line[:_EXCERPT]


def _check_kind(texts: Any) -> None:
    if isinstance(texts, str):
        raise ValueError("texts are a single string: give a list of texts, also of one")
    kind, instead = type(texts).__name__, None
    if isinstance(texts, bytes | bytearray):
        instead = "give a list of strings; bytes.decode makes strings of bytes"
    elif isinstance(texts, Mapping):
        instead = "give its values, list(texts.values())"
    elif isinstance(texts, AbstractSet):
        instead = "give a list, whose order decides which row is which text"
    elif hasattr(texts, "columns"):
        instead = 'give the column that has the texts, such as frame["text"]'
    elif not isinstance(texts, Iterable):
        instead = "give a list of strings"
    elif (dimensions := getattr(texts, "ndim", 1)) != 1:
        instead = f"give a single column, not {dimensions} dimensions"
    if instead is not None:
        raise ValueError(f"texts are of type {kind}: {instead}")


def _chunks(texts: Iterable[Any]) -> Iterator[list[str]]:
    remaining, number = iter(texts), 0
    while chunk := list(islice(remaining, _AT_ONCE)):
        for i, text in enumerate(chunk):
            if not isinstance(text, str):
                _refuse(text, number + i)
        yield chunk
        number += len(chunk)


def _refuse(text: Any, number: int) -> None:
    kind = type(text).__name__
    is_nan = isinstance(text, float) and text != text
    if text is None or is_nan or kind in ("NAType", "NaTType"):
        raise ValueError(
            f"text {number} is missing ({text}), expected a string: leave such documents out, or "
            'give "" for a document without words'
        )
    if isinstance(text, list | tuple):
        raise ValueError(
            f"text {number} is of type {kind}, expected a string: for documents that are lists of "
            "words use trustream.text.count_matrix and LatentDirichletAllocation"
        )
    raise ValueError(f"text {number} is of type {kind}, expected a string: {text!r:.60}")
