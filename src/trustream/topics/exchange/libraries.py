"""Import a library that is needed for one function only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def needing(name: str, purpose: str) -> Iterator[None]:
    """A context for imports, in which an ImportError says what is needed and how to get it.

    >>> with needing("stars", "drawing"):
    ...     import no_such_library
    Traceback (most recent call last):
    ...
    ImportError: drawing needs stars: pip install stars
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{purpose} needs {name}: pip install {name}") from error


def check_class(model: Any, cls: Any, title: str, advice: str = "") -> None:
    """Refuse a model of another class.

    >>> check_class([1.0], dict, "a dictionary")
    Traceback (most recent call last):
    ...
    ValueError: the model is of type builtins.list, expected a dictionary
    """
    if not isinstance(model, cls):
        kind = f"{type(model).__module__}.{type(model).__qualname__}"
        raise ValueError(f"the model is of type {kind}, expected {title}{advice}")
