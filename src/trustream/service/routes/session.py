"""Routes of sessions: a page logs in with a token and gets a cookie that scripts cannot read."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from trustream.service import schemas
from trustream.service.access import SCOPES, Token, begin_session, end_session
from trustream.service.answers import answer
from trustream.service.context import COOKIE, Context, context_of
from trustream.service.problem_error import ProblemError
from trustream.service.problems import documented

router = APIRouter(tags=["session"])


@router.get("/session", response_model=schemas.Session, responses=documented())
async def read_session(request: Request) -> Response:
    """Whether the service asks for a token, and what you may do; open to all."""
    context = context_of(request)
    return answer(request, _session(context, await context.sender(request)))


@router.post(
    "/session", response_model=schemas.Session, responses=documented(400, 408, 413, 415, 422)
)
async def log_in(request: Request, login: schemas.Login) -> Response:
    """Log in with a token; the cookie of the answer stands for it from now on."""
    context = context_of(request)
    if not context.settings.requires_token:
        return answer(request, _session(context, await context.sender(request)))
    seconds, begun = context.settings.session_seconds, None
    # Looked for before anything is changed: who guesses does not keep those who append waiting.
    if await context.find_token(login.token) is not None:
        begun = await context.appender.run(lambda store: begin_session(store, login.token, seconds))
    if begun is None:
        context.count_failure(request)
        raise ProblemError(401, "wrong-token", "the token is unknown, revoked or has expired")
    secret, token = begun
    response = answer(request, _session(context, token))
    response.set_cookie(
        COOKIE,
        secret,
        max_age=int(seconds),
        path="/",
        secure=context.settings.secure,
        httponly=True,
        samesite="strict",
    )
    return response


@router.delete("/session", status_code=204, response_class=Response, responses=documented())
async def log_out(request: Request) -> Response:
    """Log out: the cookie is worth nothing any more."""
    context = context_of(request)
    secret = request.cookies.get(COOKIE)
    if secret and context.settings.requires_token:
        await context.appender.run(lambda store: end_session(store, secret))
    response = Response(None, 204)
    response.delete_cookie(
        COOKIE, path="/", secure=context.settings.secure, httponly=True, samesite="strict"
    )
    return response


def _session(context: Context, token: Token | None) -> dict[str, object]:
    return {
        "required": context.settings.requires_token,
        "authenticated": token is not None,
        "name": None if token is None else token.name or None,
        "scopes": [] if token is None else [s for s in SCOPES if token.allows(s)],
        "expires": None if token is None else token.expires,
    }
