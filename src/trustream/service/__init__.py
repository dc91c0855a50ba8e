"""Serve a store over HTTP: documents in, topics out, and a dashboard.

    from trustream.service import ServiceSettings, create_app, serve
    serve(ServiceSettings("topics.db"), port=8000)

The functions are loaded on first use, since they need the extra `serve`
(`pip install "trustream[serve]"`). `docs/service.md` has the list of routes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trustream.service.app import create_app
    from trustream.service.server import serve, serving
    from trustream.service.settings import ServiceSettings

__all__ = ["ServiceSettings", "create_app", "serve", "serving"]
_HOME = {"create_app": "app", "serve": "server", "serving": "server", "ServiceSettings": "settings"}


def __getattr__(name: str) -> object:
    """Import the public ``name`` from the module it lives in (PEP 562)."""
    import importlib

    if name not in _HOME:
        raise AttributeError(f"module 'trustream.service' has no attribute {name!r}")
    return getattr(importlib.import_module(f"trustream.service.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
