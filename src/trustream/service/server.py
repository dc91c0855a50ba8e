"""Run the service."""

from __future__ import annotations

import time
from dataclasses import dataclass

import uvicorn

from trustream.service.app import create_app
from trustream.service.settings import ServiceSettings


@dataclass(frozen=True, slots=True)
class Served:
    """What a service did, when it has ended.

    Attributes:
        host: address that it listened at.
        port: its port.
        seconds: how long it ran.
    """

    host: str
    port: int
    seconds: float


def serve(settings: ServiceSettings, *, host: str = "127.0.0.1", port: int = 8000) -> Served:
    """Serve a store until a signal ends it.

    Parameters
    ----------
    settings : ServiceSettings
    host : str, default="127.0.0.1"
    port : int, default=8000
    """
    began = time.monotonic()
    uvicorn.run(create_app(settings), host=host, port=port, access_log=False, server_header=False)
    return Served(host, port, time.monotonic() - began)
