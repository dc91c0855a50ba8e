"""What people do with topics: look at them, and at documents through them.

The modules are loaded on first use:

>>> import trustream
>>> trustream.topics.summary.summarise.__name__
'summarise'
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trustream.topics import inference, summary

__all__ = ["inference", "summary"]


def __getattr__(name: str) -> ModuleType:
    """Import a module of this package (PEP 562)."""
    import importlib

    if name not in __all__:
        raise AttributeError(f"module 'trustream.topics' has no attribute {name!r}")
    return importlib.import_module(f"trustream.topics.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
