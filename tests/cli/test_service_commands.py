"""`trustream token`, and what `trustream serve` refuses before it listens."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import call, fails, ok
from trustream.service import access
from trustream.service.access import find_token, list_tokens
from trustream.store import open_store


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "topics.db")
    open_store(path).close()
    return path


def test_tokens_are_made_listed_and_revoked(store: str) -> None:
    assert ok("token", "list", store) == "no tokens\n"
    secret = ok("token", "create", store, "my laptop").strip()
    made = json.loads(ok("token", "create", store, "crawler", "--scope", "append", "--scope",
                         "read", "--days", 90, "--json"))  # fmt: skip
    assert made["scopes"] == ["read", "append"] and made["expires"] > made["created"]
    listed = ok("token", "list", store)
    assert "my laptop: read; made" in listed and "crawler: read, append" in listed
    assert secret not in listed and made["token"] not in listed
    assert [json.loads(line)["name"] for line in ok("token", "list", store, "--json").splitlines()
            ] == ["my laptop", "crawler"]  # fmt: skip
    with open_store(store) as opened:
        assert find_token(opened, secret) and find_token(opened, made["token"])
    assert ok("token", "revoke", store, "my laptop") == "revoked my laptop\n"
    assert ok("token", "revoke", store, made["id"]) == f"revoked {made['id']}\n"
    with open_store(store) as opened:
        assert not list_tokens(opened) and find_token(opened, secret) is None
    assert "has no token 'crawler'" in fails("token", "revoke", store, "crawler")
    assert "can be printed" in fails("token", "create", store, "a\x1b[31m")
    assert call("token", "create", store, "a", "--scope", "all").exit_code == 2
    assert "make the store first" in fails("token", "list", store + "x")


def test_tokens_that_expire_later_than_calendars_go(store: str, monkeypatch: Any) -> None:
    """One that an earlier version made can be listed and revoked."""
    assert "up to 36,525" in fails("token", "create", store, "late", "--days", "1e7")
    monkeypatch.setattr(access, "MOST_DAYS", math.inf)
    ok("token", "create", store, "late", "--days", "1e300")
    assert "late: read; made" in (listed := ok("token", "list", store))
    assert "until 9999-12-31 23:59" in listed
    ok("token", "revoke", store, "late")


def test_serve_refuses_what_cannot_be(store: str, tmp_path: Path) -> None:
    assert "make the store first" in fails("serve", store + "x")
    assert "has no settings for a model 'model'" in fails("serve", store, "--train")
    short = tmp_path / "token"
    short.write_text("short")
    assert "20 to 500" in fails("serve", store, "--token-file", short)
    assert call("serve", store, "--token-file", tmp_path / "none").exit_code == 2
    assert "cannot listen at 203.0.113.1" in fails("serve", store, "--host", "203.0.113.1")


def test_a_command_starts_without_the_service() -> None:
    """FastAPI is loaded by `serve` alone."""
    code = (
        "import sys, trustream; from trustream.cli import main; "
        "main(['token', '--help'], standalone_mode=False); "
        "assert not {'fastapi', 'uvicorn', 'pydantic', 'numpy'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
