"""Run the service: a socket, signals, and who may come in."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import uvicorn

from trustream.service.access import create_token, list_tokens
from trustream.service.app import create_app
from trustream.service.connections import GuardedProtocol, sweep
from trustream.service.settings import ServiceSettings
from trustream.store import open_store

_LOG = logging.getLogger("trustream.service")
# Descriptors that are not for connections: stores, pipes, files.
_OTHER_DESCRIPTORS = 100
# Seconds for requests that are being answered when the service is stopped.
_TO_END = 10


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


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine alone.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "a.org")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(
    settings: ServiceSettings,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    on_ready: Callable[[str], object] | None = None,
    on_token: Callable[[str], object] | None = None,
) -> Served:
    """Serve a store until SIGINT or SIGTERM.

    A service that others than this machine can reach asks for tokens: if `host` is no loopback
    address, or names are allowed by which it is called (`ServiceSettings.hosts`).

    Parameters
    ----------
    settings : ServiceSettings
    host : str, default="127.0.0.1"
        Address to listen at.
    port : int, default=8000
        0 chooses a free one.
    on_ready : callable, default=None
        Called with the address of the service when it listens.
    on_token : callable, default=None
        Called with a token that was made because tokens are asked for and the store has none. It
        is the only time that it can be seen. Without this function the service refuses to start.

    Raises
    ------
    ValueError
        If tokens are asked for and there is none.
    """
    began = time.monotonic()
    server, bound = _prepared(settings, host, port, on_ready, on_token)
    port = bound.getsockname()[1]
    try:
        server.run(sockets=[bound])
    finally:
        bound.close()
    if not server.started:
        raise RuntimeError("the service could not be started; the log says why")
    return Served(host, port, time.monotonic() - began)


@contextmanager
def serving(settings: ServiceSettings, *, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve a store in a thread of this process, as in a notebook; yields the address.

    >>> import tempfile, trustream, urllib.request
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trustream.open_store(f"{folder}/topics.db").close()
    ...     with serving(ServiceSettings(f"{folder}/topics.db")) as address:
    ...         urllib.request.urlopen(f"{address}/healthz").read()
    b'{"status":"alive"}'
    """
    ready: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    server, bound = _prepared(settings, host, port, ready.put, None)

    def run() -> None:
        try:
            # Uvicorn ends the process if it cannot start: not this one.
            with suppress(SystemExit):
                server.run(sockets=[bound])
        finally:
            bound.close()
            ready.put(None)

    thread = threading.Thread(target=run, name="trustream-service", daemon=True)
    thread.start()
    try:
        address = ready.get()
        if address is None:
            raise RuntimeError("the service could not be started; the log says why")
        yield address
    finally:
        server.should_exit = True
        thread.join()


def _prepared(
    settings: ServiceSettings,
    host: str,
    port: int,
    on_ready: Callable[[str], object] | None,
    on_token: Callable[[str], object] | None,
) -> tuple[_Server, socket.socket]:
    """A server and its socket, after seeing to who may come in."""
    if not is_loopback(host) or settings.hosts:
        settings = replace(settings, requires_token=True)
    # A store that is not there is said so here, and not in a log.
    open_store(settings.store, create=False).close()
    # First: a token that is shown once should be that of a service that runs.
    bound = _bind(host, port)
    try:
        if settings.requires_token:
            _see_to_token(settings, host, on_token)
    except BaseException:
        bound.close()
        raise
    port = bound.getsockname()[1]
    GuardedProtocol.most = _connections(settings.max_connections)
    config = uvicorn.Config(
        create_app(settings),
        http=GuardedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=int(settings.header_seconds),
        timeout_graceful_shutdown=_TO_END,
        h11_max_incomplete_event_size=32 * 2**10,
    )
    name = f"[{host}]" if ":" in host else host
    return _Server(config, f"http://{name}:{port}", on_ready, settings.header_seconds), bound


class _Server(uvicorn.Server):
    """Uvicorn's server, which closes idle connections, and ends event streams before it ends."""

    def __init__(
        self,
        config: uvicorn.Config,
        address: str,
        on_ready: Callable[[str], object] | None,
        header_seconds: float,
    ) -> None:
        super().__init__(config)
        self._address, self._on_ready = address, on_ready
        self._header_seconds = header_seconds
        self._sweeper: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Called by uvicorn."""
        await super().startup(sockets)
        if not self.started:
            return
        connections = self.server_state.connections
        self._sweeper = asyncio.create_task(sweep(connections, self._header_seconds))
        if self._on_ready is not None:
            self._on_ready(self._address)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Called by uvicorn."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        application: Any = self.config.app
        application.state.context.events.stop()
        await super().shutdown(sockets)
        # A signal that has ended it has done its work: uvicorn would raise it again.
        getattr(self, "_captured_signals", []).clear()


def _see_to_token(
    settings: ServiceSettings, host: str, on_token: Callable[[str], object] | None
) -> None:
    with open_store(settings.store, create=False) as store:
        now = time.time()
        if any(t.expires is None or t.expires > now for t in list_tokens(store)):
            return
        if on_token is None:
            raise ValueError(
                f"a service at {host} asks for tokens, and the store has none: make one by "
                "trustream token create, or give --token-file"
            )
        secret, _ = create_token(store, "first", ["admin"])
    on_token(secret)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Said to be TCP: asyncio then sends small answers at once (TCP_NODELAY).
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.set_inheritable(False)
    except OSError as error:
        bound.close()
        option = "--host" if isinstance(error, socket.gaierror) else "--port"
        raise ValueError(
            f"cannot listen at {host}, port {port} ({error.strerror}): choose another {option}"
        ) from error
    return bound


def _connections(most: int) -> int:
    """As many connections as descriptors allow, after asking for as many as there may be."""
    try:
        import resource
    except ImportError:  # not on Windows
        return most
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + _OTHER_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return most
    return max(min(most, soft - _OTHER_DESCRIPTORS), 10)
