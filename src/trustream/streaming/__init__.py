"""Learning from a document store that grows (section 3.1 of the paper).

The modules are loaded on first use:

>>> import trustream
>>> trustream.streaming.setup.init_store.__name__
'init_store'
"""

from __future__ import annotations

from trustream._lazy_names import lazy_names

TYPE_CHECKING = False
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

__getattr__, __dir__ = lazy_names(__name__, {}, __all__)
