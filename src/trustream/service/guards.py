"""What every request has to pass: host, origin, rate, token, and a body that is whole in time.

It stands before the application, so that nothing of a request that is refused is looked at, and so
that every answer, also to those, has the headers that a browser should see.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import parse_qs, urlsplit

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trustream.service.context import Context
from trustream.service.line_parts import LONGEST, PART
from trustream.service.problem_error import ProblemError
from trustream.service.rate_limit import RateLimit
from trustream.service.request_body import PendingBytes, RequestBody, drain
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


class Guards:
    """ASGI middleware, see above."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings) -> None:
        self._app, self._settings = app, settings
        self._hosts = frozenset(host.lower() for host in settings.hosts)
        self._pending = PendingBytes(settings.max_pending)
        rate = settings.requests_per_second
        self._rate = None if rate is None else RateLimit(rate, settings.burst)

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
        body: RequestBody | None = None
        try:
            self._check(scope, headers)
            limit = self._limit(scope["path"])
            body = RequestBody(receive, self._pending, self._settings.body_seconds, limit)
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
                body.release()

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
        request = Request(scope)
        context: Context = scope["app"].state.context
        token = await context.sender(request)
        if token is None:
            # Who has a token is let in all the same: many may come through one proxy.
            if request.headers.get("authorization") or request.cookies:
                context.count_failure(request)
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
                await drain(receive)
            else:
                response.headers["Connection"] = "close"
        await response(scope, receive, send)


def _comes_in_parts(scope: Scope) -> bool:
    """Whether the application reads a body while it comes."""
    if scope["path"] != _DOCUMENTS or scope["method"] != "POST":
        return False
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("in_parts", [""])[-1]
    return asked.lower() in _YES


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
