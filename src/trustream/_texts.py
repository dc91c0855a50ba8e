"""Tell users who give texts, words or bags of words in the place of numbers what to give instead.

Called when numbers were expected and something else came, never before: what is right costs
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from trustream.array_types import Array

_VECTORIZER = "CountVectorizer"
_FROM_WORDS = "CountVectorizer(analyzer=lambda words: words)"
_FROM_PAIRS = "gensim.matutils.corpus2csc(...).T"
# What to pass instead.
COUNTS = "counts, for example from {}"
NUMBERS = "rows of numbers, for example an embedding of each text"


def refuse(given: Any, name: str = "X", instead: str = COUNTS) -> None:
    """Raise a ValueError if texts, lists of words or bags of words were given; else do nothing.

    Parameters
    ----------
    given : object
        What was given where a matrix of numbers was expected.
    name : str, default="X"
        What to call it in the error.
    instead : str, default=COUNTS
        What to pass; the name of a vectoriser is put in the place of {}.

    Examples
    --------
    >>> refuse([[1, 2], [3, 4]])
    >>> refuse(["a cat and a dog", "money in the bank"])
    Traceback (most recent call last):
    ...
    ValueError: X is a list of strings, expected a matrix of numbers: pass counts, for example \
from CountVectorizer
    """
    found = _found(given)
    if found is not None:
        what, maker = found
        # Without the error that was caught, which may show the whole text.
        raise ValueError(
            f"{name} is {what}, expected a matrix of numbers: pass {instead.format(maker)}"
        ) from None


def described(given: Any) -> str | None:
    """Return what was given, in a few words, if it is no numbers but texts, words or bags of words.

    Examples
    --------
    >>> described([["a", "cat"], ["dogs"]])
    'a list of lists of words'
    >>> described([[1, 2], [3]])
    """
    found = _found(given)
    return None if found is None else found[0]


def _found(given: Any) -> tuple[str, str] | None:
    """(what was given, the vectoriser that makes counts of it), None if it is nothing of the kind.

    >>> _found([["a", "cat"], ["dogs"]])
    ('a list of lists of words', 'CountVectorizer(analyzer=lambda words: words)')
    """
    if _is_text(given):
        return "a single string", f"{_VECTORIZER} for a list of texts"
    kind = _with_article(type(given).__name__)
    array = _objects(given)
    if array is None:
        return None
    if array.ndim == 0:
        # Generators, sets, open files: what they hold is not known before they are used up.
        return (kind, f"{_VECTORIZER} for a list of texts") if hasattr(given, "__iter__") else None
    if array.ndim == 1:
        return _found_in_rows(kind, array.tolist())
    if array.ndim == 3 and array.shape[2] == 2 and isinstance(given, list | tuple):
        return f"{kind} of lists of pairs", _FROM_PAIRS
    if array.ndim != 2:
        return None
    columns = [j for j in range(array.shape[1]) if any(map(_is_word, array[:, j].tolist()))]
    if not columns:
        return None
    if isinstance(given, list | tuple):
        return f"{kind} of lists of words", _FROM_WORDS
    names = getattr(given, "column_names", getattr(given, "columns", range(array.shape[1])))
    return f"{kind} with strings in column {str(names[columns[0]])[:40]!r}", _VECTORIZER


def _found_in_rows(kind: str, rows: list[Any]) -> tuple[str, str] | None:
    if any(map(_is_text, rows)):
        return f"{kind} of strings", _VECTORIZER
    if any(isinstance(row, Mapping) for row in rows):
        return f"{kind} of dicts", "DictVectorizer"
    if any(_is_text(word) for row in rows for word in _entries(row)):
        return f"{kind} of lists of words", _FROM_WORDS
    if all(_is_bag(row) for row in rows) and any(rows):
        return f"{kind} of lists of pairs", _FROM_PAIRS
    return None


def _objects(given: Any) -> Array | None:
    """The entries as an array of objects, None if they are numbers or no entries at all."""
    if getattr(getattr(given, "dtype", None), "kind", "O") in "biufc":
        return None
    try:
        return np.asarray(given, dtype=object)
    except (TypeError, ValueError):
        return None


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiouAEIOU' or kind == 'ndarray' else 'a'} {kind}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str | bytes | bytearray)


def _is_word(value: Any) -> bool:
    """Whether it is a string that is not merely a number in quotes."""
    if not _is_text(value):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def _entries(row: Any) -> Any:
    return row if isinstance(row, list | tuple | set | np.ndarray) else ()


def _is_bag(row: Any) -> bool:
    """Whether it is a list of pairs, as of word and count."""
    return isinstance(row, list | tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in row
    )
