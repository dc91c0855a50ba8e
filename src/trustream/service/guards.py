"""What every request has to pass: host, origin, rate, token, and a body that is whole in time.

It stands before the application, so that nothing of a request that is refused is looked at, and so
that every answer, also to those, has the headers that a browser should see.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from urllib.parse import parse_qs, urlsplit

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trustream.service.line_parts import LONGEST, PART
from trustream.service.problem_error import ProblemError
from trustream.service.rate_limit import RateLimit
from trustream.service.settings import ServiceSettings

# What a browser may do with an answer. No script or style that is not a file of ours.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_TYPES = frozenset({"application/json", "application/x-ndjson"})
# Paths that need no token.
_OPEN = frozenset({"/", "/favicon.ico", "/healthz", "/readyz", "/api/v1/session"})
_DOCUMENTS = "/api/v1/documents"
# What FastAPI takes for true.
_YES = frozenset({"1", "true", "t", "yes", "y", "on"})
# Bytes of a body of other routes than that of documents, and of a login.
_SMALL_BODY, _LOGIN_BODY = 8 * 2**20, 4096
# Bytes of a body that are read to the end although the request is refused, so that its sender
# gets to see why.
_DRAINED = 2**20
# A body has more time if more than this many bytes per second arrive.
_SLOWEST = 50_000.0


class Guards:
    """ASGI middleware, see above."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings) -> None:
        self._app, self._settings = app, settings
        self._hosts = frozenset(host.lower() for host in settings.hosts)
        self._pending = 0
        rate = settings.requests_per_second
        self._rate = None if rate is None else RateLimit(rate, settings.burst)
        # Wrong tokens, of one address.
        self._failures = RateLimit(1.0, 20)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await receive()
                await send({"type": "websocket.close", "code": 1008})
                return
            await self._app(scope, receive, send)
            return
        started = False

        async def guarded_send(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        body: _Body | None = None
        try:
            self._check(scope, headers)
            body = _Body(receive, self, self._limit(scope["path"]))
            await self._authenticate(scope)
            if scope["method"] not in _READS:
                if _comes_in_parts(scope):
                    body.reserve(PART + LONGEST)
                    receive = body.pass_on
                else:
                    await body.read(headers)
                    receive = body.replay
        except ProblemError as error:
            await self._refuse(error, scope, headers, receive, guarded_send)
            return
        else:
            try:
                await self._app(scope, receive, guarded_send)
            except Exception:
                if not started:
                    problem = ProblemError(500, "failed", "something went wrong; see the log")
                    await problem.response()(scope, receive, guarded_send)
                raise
        finally:
            if body is not None:
                self._pending -= body.size

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Everything that can be said without the store."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            raise ProblemError(
                421,
                "wrong-host",
                f"this service is not called {', '.join(hosts)!r:.120}: use the address that it "
                "listens at, or name the host by --allow-host",
            )
        client = (scope.get("client") or ("", 0))[0]
        if self._rate is not None and not self._rate.allows(client):
            raise ProblemError(
                429, "too-many-requests", "too many requests: slow down", headers=_retry(1)
            )
        path, method = scope["path"], scope["method"]
        is_page = path == "/" or path.startswith("/static/") or path == "/favicon.ico"
        site = headers.get("sec-fetch-site")
        if not is_page and site not in (None, "same-origin", "none"):
            raise ProblemError(
                403, "cross-site", "requests of pages of other sites are refused (Sec-Fetch-Site)"
            )
        if method not in _READS:
            self._check_write(headers, hosts[0])

    def _check_write(self, headers: Headers, host: str) -> None:
        origin = headers.get("origin")
        if origin is not None:
            found = urlsplit(origin)
            same = found.scheme in ("http", "https") and found.netloc.lower() == host.lower()
            if not same or (self._settings.secure and found.scheme != "https"):
                raise ProblemError(
                    403, "cross-site", f"writes from the origin {origin!r:.120} are refused"
                )
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding != "identity":
            raise ProblemError(
                415, "unsupported-type", f"Content-Encoding is {encoding!r:.60}: send bodies as is"
            )
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if has_body and kind not in _TYPES:
            expected = " or ".join(sorted(_TYPES))
            raise ProblemError(
                415, "unsupported-type", f"Content-Type is {kind!r:.80}, expected {expected}"
            )

    def _is_ours(self, host: str) -> bool:
        """Whether a Host is a name of ours. An address is: no other site can have it for a name."""
        name = _without_port(host.lower())
        if name in self._hosts or host.lower() in self._hosts or name == "localhost":
            return True
        try:
            ipaddress.ip_address(name.strip("[]").partition("%")[0])
        except ValueError:
            return False
        return True

    async def _authenticate(self, scope: Scope) -> None:
        """Find the token of a request; without one only some paths are open."""
        path = scope["path"]
        if not self._settings.requires_token or path in _OPEN or path.startswith("/static/"):
            return
        client = (scope.get("client") or ("", 0))[0]
        request = Request(scope)
        context = scope["app"].state.context
        token = await context.sender(request)
        if token is None:
            # Who has a token is let in all the same: many may come through one proxy.
            tried = request.headers.get("authorization") or request.cookies
            if tried and not self._failures.allows(client):
                raise ProblemError(
                    429, "too-many-failures", "too many wrong tokens: slow down", headers=_retry(5)
                )
            raise context.no_token()
        scope.setdefault("state", {})["token"] = token

    def _limit(self, path: str) -> int:
        if path == _DOCUMENTS:
            return self._settings.max_body
        small = _LOGIN_BODY if path == "/api/v1/session" else _SMALL_BODY
        return min(small, self._settings.max_body)

    async def _refuse(
        self, error: ProblemError, scope: Scope, headers: Headers, receive: Receive, send: Send
    ) -> None:
        """Answer with a problem; a body that is on its way is read if it is small."""
        response = error.response()
        length = headers.get("content-length", "0")
        if error.status in (408, 413) or "transfer-encoding" in headers:
            response.headers["Connection"] = "close"
        elif length != "0":
            if length.isdigit() and int(length) <= _DRAINED:
                await _drain(receive)
            else:
                response.headers["Connection"] = "close"
        await response(scope, receive, send)

    def reserve(self, n: int) -> None:
        """Let a body take so many bytes of memory more."""
        if self._pending + n > self._settings.max_pending:
            raise ProblemError(
                503, "busy", "too many bodies wait to be stored: try again", headers=_retry(1)
            )
        self._pending += n

    @property
    def body_seconds(self) -> float:
        """How long a body may take."""
        return self._settings.body_seconds


class _Body:
    """The body of a request, read as a whole before the application sees anything of it."""

    def __init__(self, receive: Receive, guards: Guards, limit: int) -> None:
        self._receive, self._guards, self._limit = receive, guards, limit
        self._parts: list[bytes] = []
        self.size = 0
        self._given = self._ended = False
        # Bytes that came, and seconds that were spent waiting for them.
        self._received, self._waited = 0, 0.0

    async def read(self, headers: Headers) -> None:
        """Read it; a problem if it is too large or too slow."""
        length = headers.get("content-length", "0")
        if not length.isdigit():
            raise ProblemError(400, "malformed-body", f"Content-Length is {length!r:.60}")
        if int(length) > self._limit:
            raise self._too_large()
        more = True
        while more:
            message = await self._next()
            part = message.get("body", b"")
            if self.size + len(part) > self._limit:
                raise self._too_large()
            self.reserve(len(part))
            self._parts.append(part)
            more = message.get("more_body", False)

    def reserve(self, n: int) -> None:
        """Take so many bytes of memory more, until the request is answered."""
        self._guards.reserve(n)
        self.size += n

    async def pass_on(self) -> Message:
        """Give the body to the application as it comes, which keeps little of it."""
        return await self._receive() if self._ended else await self._next()

    async def _next(self) -> Message:
        """The next of the body, if it comes in time."""
        began = time.monotonic()
        left = self._guards.body_seconds + self._received / _SLOWEST - self._waited
        try:
            message = await asyncio.wait_for(self._receive(), max(left, 0.001))
        except TimeoutError:
            raise ProblemError(408, "too-slow", "the body did not arrive in time") from None
        if message["type"] == "http.disconnect":
            raise ProblemError(400, "disconnected", "the connection was closed")
        self._waited += time.monotonic() - began
        self._received += len(message.get("body", b""))
        self._ended = not message.get("more_body", False)
        return message

    def _too_large(self) -> ProblemError:
        return ProblemError(
            413,
            "too-large",
            f"the body is longer than {self._limit:,} bytes: send several requests, or documents "
            "as lines to /api/v1/documents?in_parts=true",
        )

    async def replay(self) -> Message:
        """Give the body to the application, at once; then wait as before."""
        if self._given:
            return await self._receive()
        self._given = True
        body, self._parts = b"".join(self._parts), []
        return {"type": "http.request", "body": body, "more_body": False}


def _comes_in_parts(scope: Scope) -> bool:
    """Whether the application reads a body while it comes."""
    if scope["path"] != _DOCUMENTS or scope["method"] != "POST":
        return False
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("in_parts", [""])[-1]
    return asked.lower() in _YES


async def _drain(receive: Receive) -> None:
    async def all_of_it() -> None:
        message: Message = {"more_body": True}
        while message.get("more_body", False):
            message = await receive()

    try:
        await asyncio.wait_for(all_of_it(), 5.0)
    except TimeoutError:
        pass


def _retry(seconds: int) -> dict[str, str]:
    return {"Retry-After": str(seconds)}


def _without_port(host: str) -> str:
    """A host without its port.

    >>> [_without_port(host) for host in ("a.org:80", "[::1]:80", "[::1]", "a.org")]
    ['a.org', '[::1]', '[::1]', 'a.org']
    """
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.rpartition(":")[0] if ":" in host else host
