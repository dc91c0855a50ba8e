"""Who may do what: bearer tokens with scopes, kept hashed in the store, and sessions of them."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from trustream.store.protocol import Store

Scope = Literal["read", "append", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "append", "admin")
# What each scope allows; admin deletes documents, too.
_IMPLIED: dict[str, tuple[Scope, ...]] = {
    "read": ("read",),
    "append": ("append",),
    "admin": ("read", "append", "admin"),
}
# Under this name tokens are saved in the store; beginnings of tokens and of sessions.
SAVED = "service.access"
_TOKEN, _SESSION = "tsk_", "tss_"
_MOST_SESSIONS = 1000
# A token that expires later than calendars go could not be listed.
MOST_DAYS = 36_525


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token; never the token itself.

    Attributes:
        id: by which it is listed and revoked.
        name: what people call it.
        scopes: what it allows.
        created: in seconds since 1970.
        expires: in seconds since 1970; None is never.
    """

    id: str
    name: str
    scopes: tuple[Scope, ...]
    created: float
    expires: float | None = None

    def allows(self, scope: Scope) -> bool:
        """Whether its holder may do what a scope allows."""
        return any(scope in _IMPLIED[given] for given in self.scopes)


ANYBODY = Token("", "", SCOPES, 0.0)


def create_token(
    store: Store, name: str, scopes: Iterable[str], *, days: float | None = None
) -> tuple[str, Token]:
    """Make a token; returns it, which is shown once and kept nowhere, and what is kept of it.

    Parameters
    ----------
    store : Store
    name : str
        What people call it: 1 to 100 characters that can be printed.
    scopes : iterable of {"read", "append", "admin"}
    days : float, default=None
        How long it is valid, up to a hundred years; None is for ever.

    Examples
    --------
    >>> import tempfile, trustream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db") as store:
    ...         secret, token = create_token(store, "laptop", ["read"])
    ...         known = [found.name for found in list_tokens(store)]
    ...         found = find_token(store, secret)
    ...         revoked = revoke_token(store, token.id)
    ...         gone = find_token(store, secret)
    >>> known, found == token, revoked, gone
    (['laptop'], True, True, None)
    """
    given = _checked(scopes)
    if days is not None and not 0 < days <= MOST_DAYS:
        raise ValueError(
            f"days is {days}, expected a positive number up to {MOST_DAYS:,} (a hundred years), or "
            "None for ever"
        )
    if not (1 <= len(name) <= 100 and name.isprintable()):
        raise ValueError(f"name is {name!r:.120}, expected 1 to 100 characters that can be printed")
    secret, now = _TOKEN + secrets.token_urlsafe(32), time.time()
    expires = None if days is None else now + 86400.0 * days
    token = Token(secrets.token_hex(4), name, given, now, expires)

    def add(kept: dict[str, Any]) -> None:
        kept["tokens"][digest(secret)] = asdict(token)

    _change(store, add)
    return secret, token


def keep_token(store: Store, secret: str, name: str, scopes: Iterable[str]) -> Token:
    """Let a token that somebody chose be valid, under a name; another one of that name is not.

    >>> import tempfile, trustream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db") as store:
    ...         for secret in ("one" * 10, "two" * 10):
    ...             _ = keep_token(store, secret, "token file", ["admin"])
    ...         [find_token(store, secret) is not None for secret in ("one" * 10, "two" * 10)]
    [False, True]
    """
    if not 20 <= len(secret) <= 500 or not secret.isascii() or not secret.isprintable():
        raise ValueError("a token has 20 to 500 printable ASCII characters: make a longer one")
    kept = find_token(store, secret)
    if kept is not None and kept.name == name and set(kept.scopes) == set(scopes):
        return kept
    revoke_token(store, name)
    token = Token(secrets.token_hex(4), name, _checked(scopes), time.time())

    def add(kept: dict[str, Any]) -> None:
        kept["tokens"][digest(secret)] = asdict(token)

    _change(store, add)
    return token


def list_tokens(store: Store) -> list[Token]:
    """Return what is known of all tokens, the oldest first; without sessions."""
    return sorted(map(_token, load(store)["tokens"].values()), key=lambda token: token.created)


def revoke_token(store: Store, id: str) -> bool:
    """Revoke a token by its id or name, and all sessions of it; returns whether there was one."""
    done = False

    def remove(kept: dict[str, Any]) -> None:
        nonlocal done
        gone = {t["id"] for t in kept["tokens"].values() if id in (t["id"], t["name"])}
        done = bool(gone)
        for part, field in (("tokens", "id"), ("sessions", "token")):
            left = {d: entry for d, entry in kept[part].items() if entry[field] not in gone}
            kept[part] = left

    _change(store, remove)
    return done


def begin_session(store: Store, secret: str, seconds: float) -> tuple[str, Token] | None:
    """Begin a session with a token; returns its secret and what it allows; None for no token."""
    token = find_token(store, secret)
    if token is None or secret.startswith(_SESSION):
        return None
    session, now = _SESSION + secrets.token_urlsafe(32), time.time()
    expires = min(now + seconds, token.expires or now + seconds)

    def add(kept: dict[str, Any]) -> None:
        kept["sessions"][digest(session)] = {"token": token.id, "expires": expires}
        # The first to end go first.
        while len(kept["sessions"]) > _MOST_SESSIONS:
            oldest = min(kept["sessions"], key=lambda key: kept["sessions"][key]["expires"])
            del kept["sessions"][oldest]

    _change(store, add)
    return session, Token(token.id, token.name, token.scopes, token.created, expires)


def end_session(store: Store, session: str) -> None:
    """Forget a session."""
    _change(store, lambda kept: kept["sessions"].pop(digest(session), None))


def find_token(store: Store, secret: str) -> Token | None:
    """The token or the token of a session; None if it is unknown, revoked or has expired."""
    return lookup(load(store), secret)


def lookup(kept: dict[str, Any], secret: str) -> Token | None:
    """Find a secret in what is kept; only hashes are compared."""
    now, key = time.time(), digest(secret)
    expires = None
    if secret.startswith(_SESSION):
        session = kept["sessions"].get(key)
        if session is None or session["expires"] <= now:
            return None
        expires = session["expires"]
        entries = [t for t in kept["tokens"].values() if t["id"] == session["token"]]
    else:
        entries = [kept["tokens"][key]] if key in kept["tokens"] else []
    for entry in entries:
        token = _token(entry)
        if token.expires is None or token.expires > now:
            until = token.expires if expires is None else expires
            return Token(token.id, token.name, token.scopes, token.created, until)
    return None


def load(store: Store) -> dict[str, Any]:
    """All that a store keeps of tokens and sessions, by hash."""
    return _parsed(store.load(SAVED) or b"{}")


def digest(secret: str) -> str:
    """The hash by which a secret is kept. Secrets have 256 random bits: no salt is needed."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def _checked(scopes: Iterable[str]) -> tuple[Scope, ...]:
    wanted = set(scopes)
    if wanted - set(SCOPES) or not wanted:
        raise ValueError(f"scopes are {sorted(wanted)}, expected some of {', '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in wanted)


def _token(entry: dict[str, Any]) -> Token:
    return Token(**{**entry, "scopes": tuple(entry["scopes"])})


def _parsed(content: bytes) -> dict[str, Any]:
    return {"tokens": {}, "sessions": {}} | json.loads(content)


def _change(store: Store, change: Any) -> None:
    def changed(content: bytes) -> bytes:
        kept = _parsed(content)
        now = time.time()
        kept["sessions"] = {k: s for k, s in kept["sessions"].items() if s["expires"] > now}
        change(kept)
        return json.dumps(kept).encode()

    store.change_saved(SAVED, changed, missing=b"{}")
