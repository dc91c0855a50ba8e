"""Resolve addresses of stores, and show them without passwords.

A password must not reach a screen, a log or the list of processes. So one function gives the
name of a store for messages: it shows what it knows to be harmless and hides everything else.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from trustream.store.errors import StoreError

# Characters of a file that holds an address.
_MAX_LENGTH = 10_000
# PostgreSQL cuts longer names off, and two stores would be one.
_MAX_SCHEMA = 63

_URL = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://", re.ASCII)
# However it is misspelt: a path that begins like this is an address that went wrong.
_POSTGRES = re.compile(r"\s*(postgres|postgresql)\s*:", re.IGNORECASE)
# As psql takes them, but not this library.
_PAIRS = re.compile(r"\s*(host|hostaddr|port|dbname|user|password|service|sslmode)\s*=")
# What else may come with a password, however it is written.
_SECRET = re.compile(
    r"\b\w*(pass|pwd|secret|token)\w*\s*[=:]|\buser\w*\s*=\s*[^\s=&/]*:", re.IGNORECASE
)
# Names as people give them: what follows a colon or a slash may be a password.
_NAME = re.compile(r"[\w .,+~-]*")
_DATABASE = re.compile(r"[\w .,/+~-]*")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]*\]|[\w./~-]*)(:[0-9]*)?")
# Parts of a query that may be shown, if nothing stands before them that may not: only where they
# are what such a part is.
_ADDRESSES = re.compile(rf"([0-9A-Fa-f:.]*|{_HOST.pattern})(,([0-9A-Fa-f:.]*|{_HOST.pattern}))*")
_SHOWN = {
    "schema": _NAME,
    "host": _ADDRESSES,
    "hostaddr": _ADDRESSES,
    "port": re.compile("[0-9,]*"),
    "dbname": _DATABASE,
    "user": _NAME,
    "service": _NAME,
    "sslmode": re.compile("disable|allow|prefer|require|verify-ca|verify-full"),
}
# Names of other parts; an unknown name may be a piece of a password that has a bare & in it.
_NAMES = {*_SHOWN} | {
    "application_name", "channel_binding", "client_encoding", "connect_timeout", "gssencmode",
    "options", "passfile", "password", "sslcert", "sslkey", "sslpassword", "sslrootcert",
    "target_session_attrs",
}  # fmt: skip
_HIDDEN = "..."


class PostgresAddress(NamedTuple):
    """The parts of `postgresql://...`, read as PostgreSQL's own library reads them.

    Attributes:
        user: as it stands, still encoded; None if there is none.
        password: the same.
        hosts: with ports, separated by commas.
        database: the same.
        query: pairs of names and values.
    """

    user: str | None
    password: str | None
    hosts: str
    database: str
    query: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, url: str) -> PostgresAddress:
        """Take an address apart; any text has parts, whether they make sense or not."""
        rest = url.partition("://")[2]
        login = re.match(r"([^@/]*)@", rest)
        user = password = None
        if login:
            user, colon, text = login[1].partition(":")
            password = text if colon else None
            rest = rest[login.end() :]
        place, _, query = rest.partition("?")
        hosts, _, database = place.partition("/")
        pairs = (part.partition("=") for part in query.split("&") if part)
        return cls(
            user, password, hosts, database, tuple((name, value) for name, _, value in pairs)
        )

    def driver_address(self) -> str:
        """What PostgreSQL's library is given: all but the schema, which is ours."""
        login = "" if self.user is None else self.user
        login += "" if self.password is None else f":{self.password}"
        login += "" if self.user is None else "@"
        query = "&".join(f"{name}={value}" for name, value in self.query if name != "schema")
        place = f"{self.hosts}/{self.database}" if self.database else self.hosts
        return f"postgresql://{login}{place}{'?' if query else ''}{query}"

    def schema(self) -> str:
        """Where the tables are."""
        name = unquote(dict(self.query).get("schema", "trustream"))
        size = len(name.encode(errors="replace"))
        if not 1 <= size <= _MAX_SCHEMA or "\0" in name:
            raise StoreError(
                f"the schema of {self.shown()} has a name of {size} bytes; give it a name of 1 to "
                f"{_MAX_SCHEMA} bytes, which is all that PostgreSQL can tell apart"
            )
        return name

    def without_secrets(self, text: str) -> str:
        """A message of the driver as it may be shown; it may repeat parts of the address."""
        if self.is_muddled():
            return (
                "the address cannot be used as it is; write special characters of the password as "
                "%40 and the like, or leave the password to PGPASSWORD or a password file"
            )
        secrets = [value for name, value in self.query if not _is_shown(name, value)]
        secrets += [name for name, _ in self.query if name not in _NAMES]
        secrets += [self.password or "", *map(unquote, [*secrets, self.password or ""])]
        for secret in sorted({*secrets} - {""}, key=len, reverse=True):
            text = text.replace(secret, _HIDDEN)
        return text

    def shown(self) -> str:
        """The address without its secrets, or next to nothing of it if they may be anywhere."""
        if self.is_muddled():
            return f"postgresql://{_HIDDEN}"
        shown = []
        for name, value in self.query:
            if not _is_shown(name, value):
                # What follows may belong to it: a password may have a bare & in it.
                break
            shown.append(f"{name}={value}")
        login = f"{self.user}@" if self.user else ""
        database = f"/{self.database}" if self.database else ""
        return f"postgresql://{login}{self.hosts}{database}{'?' if shown else ''}{'&'.join(shown)}"

    def is_muddled(self) -> bool:
        """Whether parts of a password may have got where they do not belong."""
        query = "&".join(f"{name}={value}" for name, value in self.query)
        users = [self.user or "", *(value for name, value in self.query if name == "user")]
        return (
            # Bare characters that divide addresses, on either side of where it was divided.
            "@" in f"{self.hosts}{self.database}{query}"
            or "?" in (self.password or "")
            or not all(_is_harmless(user, _NAME) for user in users)
            or not _is_harmless(self.database, _DATABASE)
            or not all(_HOST.fullmatch(unquote(host)) for host in self.hosts.split(","))
        )


def _is_harmless(text: str, pattern: re.Pattern[str]) -> bool:
    """Whether a part can be nothing but what it should be, also when it is decoded."""
    once = unquote(text)
    return all(pattern.fullmatch(form) is not None for form in (once, unquote(once)))


def _is_shown(name: str, value: str) -> bool:
    """Whether a part of a query may be shown."""
    return name in _SHOWN and _is_harmless(value, _SHOWN[name])


def shown_address(url: str | Path) -> str:
    """The name of a store as it may be shown: an address without its password.

    Passwords are left out wherever they stand. Where it is not certain what belongs to the
    password (it has characters in it that must be written as `%40` and the like), nearly
    everything is left out. Paths of files are shown as they are.

    Args:
        url: what `open_store` takes, or anything that was meant to be that.

    >>> shown_address("topics.db")
    'topics.db'
    >>> shown_address("postgresql://me:secret@host/name?schema=news&password=secret")
    'postgresql://me@host/name?schema=news'
    >>> shown_address("postgresql://me:p@ss/word@host/name")
    'postgresql://...'
    """
    text = str(url)
    if _POSTGRES.match(text) and "://" in text[:20]:
        return PostgresAddress.read(text).shown()
    if _POSTGRES.match(text):
        return f"postgresql://{_HIDDEN}"
    if scheme := _URL.match(text):
        return f"{scheme[1].lower()}://{_HIDDEN}"
    return _shown_path(text)


def _shown_path(text: str) -> str:
    """A path as it is, unless it looks like something with a password."""
    if "://" in text:
        return _HIDDEN
    # As for psql: host=... user=... password=...
    if pair := _SECRET.search(text):
        return f"{text[: pair.start()]}{_HIDDEN}"
    if "%" in text and (_SECRET.search(once := unquote(text)) or _SECRET.search(unquote(once))):
        return _HIDDEN
    drive = re.match(r"[A-Za-z]:[\\/]", text)
    start = drive.end() if drive else 0
    if login := re.search(r":.*@.*", text[start:], re.DOTALL):
        return f"{text[: start + login.start()]}:{_HIDDEN}"
    return text


def resolve_address(url: str | Path) -> str:
    """The address of a store, which may stand in the environment or in a file.

    Everybody on a machine can see the arguments of its processes. `env:NAME` is the address that
    the environment variable NAME holds, `@path` the one on the only line of a file. Everything
    else is the address itself.

    Args:
        url: what `open_store` was given. A path that begins like that is written `./@path`.

    Raises:
        StoreError: there is no address.

    >>> resolve_address("topics.db")
    'topics.db'
    >>> os.environ["NEWS_STORE"] = "postgresql://me:secret@host/news"
    >>> shown_address(resolve_address("env:NEWS_STORE"))
    'postgresql://me@host/news'
    """
    if isinstance(url, str) and url.startswith("env:"):
        found, where = os.environ.get(url[4:]), f"the environment variable {url[4:]!r}"
        if found is None:
            raise StoreError(f"{where} is not set; put the address of the store into it")
    elif isinstance(url, str) and url.startswith("@"):
        found, where = _first_line(url[1:]), f"the file {url[1:]!r}"
    else:
        return _plain(str(url))
    found = found.strip()
    if not found or len(found.splitlines()) > 1 or not found.isprintable():
        raise StoreError(f"{where} holds no address; put it there, and nothing else, on one line")
    if found.startswith(("env:", "@")):
        raise StoreError(f"{where} says where else to look; put the address itself there")
    return _plain(found)


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_LENGTH)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(
            f"the file {path!r} with the address of the store cannot be read: {reason}"
        ) from error


def _plain(address: str) -> str:
    """An address as it is, without spaces around it; refuses what only looks like a path."""
    scheme = _URL.match(address)
    if scheme is None and not _POSTGRES.match(address) and not _PAIRS.match(address):
        if "\0" in address:
            raise StoreError(f"{shown_address(address)!r} has a NUL in it; give the path of a file")
        return address
    address = address.strip()
    if scheme is None or not address.isprintable():
        raise StoreError(
            f"{shown_address(address)} cannot be read as an address; give "
            "postgresql://user@host/database as a string, or the path of a file"
        )
    return scheme[1].lower() + address[len(scheme[1]) :]
