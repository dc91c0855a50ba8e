"""Learning from a document store that grows (section 3.1 of the paper).

The modules are loaded on first use:

>>> import trustream
>>> trustream.streaming.setup.init_store.__name__
'init_store'
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trustream.streaming import (
        fitted_models,
        published,
        setup,
        simulation,
        status,
        trainer,
        training_run,
    )

__all__ = [
    "fitted_models",
    "published",
    "setup",
    "simulation",
    "status",
    "trainer",
    "training_run",
]


def __getattr__(name: str) -> ModuleType:
    """Import a module of this package (PEP 562)."""
    import importlib

    if name not in __all__:
        raise AttributeError(f"module 'trustream.streaming' has no attribute {name!r}")
    return importlib.import_module(f"trustream.streaming.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
