"""Import a library that is needed for one function only."""

from __future__ import annotations

import importlib
from typing import Any


def needed(module: str, purpose: str, install: str | None = None) -> Any:
    """Return a module, or raise an ImportError that says what it is needed for and how to get it.

    >>> needed("no_such_library", "drawing stars")
    Traceback (most recent call last):
    ...
    ImportError: drawing stars needs no_such_library: pip install no_such_library
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = install or module.partition(".")[0]
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
