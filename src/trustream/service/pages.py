"""The dashboard: files of `trustream.web`, as they are."""

from __future__ import annotations

import functools
import hashlib
from importlib.resources import files

from fastapi import APIRouter, Request, Response

from trustream.service.answers import accepts_gzip
from trustream.service.problem_error import ProblemError

# Of the page at `/`; it loads everything else from `/static/`.
PAGE = "dashboard.html"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}

router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=["GET", "HEAD"])
async def dashboard(request: Request) -> Response:
    """The page; what it shows it asks the API for."""
    return _file(request, PAGE)


@router.api_route("/favicon.ico", methods=["GET", "HEAD"])
async def icon() -> Response:
    """None: the page names its own."""
    return Response(None, 204)


@router.api_route("/static/{path:path}", methods=["GET", "HEAD"])
async def static(request: Request, path: str) -> Response:
    """A file of the dashboard."""
    return _file(request, path)


def _file(request: Request, path: str) -> Response:
    found = _known().get(path)
    if found is None:
        raise ProblemError(404, "not-found", f"there is no file {path!r:.120}")
    content, kind, etag = found
    headers = {"ETag": etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if etag in request.headers.get("if-none-match", ""):
        return Response(None, 304, headers)
    if len(content) > 1000 and accepts_gzip(request.headers.get("accept-encoding", "")):
        import gzip

        content = gzip.compress(content, 6, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return Response(content, 200, headers, kind)


@functools.cache
def _known() -> dict[str, tuple[bytes, str, str]]:
    """All files that may be asked for, by their path below `web`: no other path leads anywhere."""
    found: dict[str, tuple[bytes, str, str]] = {}
    waiting = [("", files("trustream") / "web")]
    while waiting:
        before, folder = waiting.pop()
        for entry in folder.iterdir():
            name = before + entry.name
            if entry.is_dir():
                waiting.append((f"{name}/", entry))
                continue
            kind = _TYPES.get("." + entry.name.rpartition(".")[2])
            if kind is not None:
                content = entry.read_bytes()
                digest = hashlib.blake2b(content, digest_size=12).hexdigest()
                found[name] = content, kind, f'"{digest}"'
    return found
