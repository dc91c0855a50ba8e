"""The commands ``trustream token create``, ``list`` and ``revoke``."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any

import click

from trustream.cli.number_parameters import Real
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, opened, store_argument

_EPILOG = """\b
Examples:
  trustream token create topics.db laptop
  trustream token create topics.db crawler --scope append --days 90
  trustream token list topics.db
  trustream token revoke topics.db crawler
"""
# 9999-12-31 23:59, the last time that can be printed.
_LAST = 253_402_300_740


@click.group(epilog=_EPILOG, short_help="Make, list and revoke tokens of the service.")
def token() -> None:
    """Make, list and revoke the tokens with which programs and people come to trustream serve."""


@token.command("create", short_help="Make a token, which is shown once.")
@store_argument
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(["read", "append", "admin"]),
    help="What it allows; may be given several times. admin allows all.  [default: read]",
)
@click.option("--days", type=Real(0, min_open=True), help="How long it is valid.  [default: ever]")
@json_option
def create(
    store: str, name: str, scopes: tuple[str, ...], days: float | None, as_json: bool
) -> None:
    """Make a token called NAME for a STORE; it is shown once, and only its hash is kept."""
    from trustream.service.access import create_token

    with opened(store) as found:
        secret, made = create_token(found, name, scopes or ("read",), days=days)
    if as_json:
        echo_json({"token": secret, **dataclasses.asdict(made)})
    else:
        echo(secret)
        echo("Keep it: it is not shown again.", err=True)


@token.command("list", short_help="List tokens, without their secrets.")
@store_argument
@json_option
def list_(store: str, as_json: bool) -> None:
    """List the tokens of a STORE; what they are themselves nobody knows but their owners."""
    from trustream.service.access import list_tokens

    with opened(store) as found:
        tokens = list_tokens(found)
    if as_json:
        for one in tokens:
            echo_json(dataclasses.asdict(one))
        return
    if not tokens:
        echo("no tokens")
    for one in tokens:
        until = "" if one.expires is None else f", until {_date(one.expires)}"
        scopes = ", ".join(one.scopes)
        echo(f"{one.id}  {one.name}: {scopes}; made {_date(one.created)}{until}")


@token.command("revoke", short_help="Revoke a token by its id or name.")
@store_argument
@click.argument("id")
def revoke(store: str, id: str) -> None:
    """Revoke a token of a STORE by its id or name, with the sessions that it began, at once."""
    from trustream.service.access import revoke_token

    with opened(store) as found:
        if not revoke_token(found, id):
            raise ValueError(f"{found.name} has no token {id!r}: trustream token list shows them")
    echo(f"revoked {id}")


def _date(seconds: Any) -> str:
    return datetime.fromtimestamp(min(seconds, _LAST), UTC).strftime("%Y-%m-%d %H:%M")
