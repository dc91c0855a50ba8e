"""Who may do what: tokens, scopes, sessions, and a service that refuses to be open by mistake."""

from __future__ import annotations

import logging
from collections.abc import Callable

import httpx
import pytest

from tests.service.clients import problem
from trustream.service import ServiceSettings, access, server, serving
from trustream.store import open_store


def token(path: str, name: str, *scopes: str, days: float | None = None) -> str:
    with open_store(path) as store:
        return access.create_token(store, name, scopes, days=days)[0]


DOCUMENT = {"id": "new", "text": "cat"}


def test_nothing_without_a_token(path: str, client_of: Callable[..., httpx.Client]) -> None:
    secret = token(path, "all", "admin")
    client = client_of(path, requires_token=True)
    described = client.get(
        "/api/v1/openapi.json", headers={"Authorization": f"Bearer {secret}"}
    ).json()
    n_tried = 0
    for route, methods in described["paths"].items():
        for method in methods:
            if route in ("/healthz", "/readyz", "/api/v1/session"):
                continue
            where = route.replace("{id}", "d0").replace("{topic}", "0")
            wrong = [{}, {"X-Token": secret}]
            if n_tried < 15:  # more wrong credentials in a row are slowed down
                wrong.append({"Authorization": f"Basic {secret}"})
            for headers in wrong:
                answer = client.request(method, where, headers=headers)
                problem(answer, 401, "no-token")
                assert answer.headers["www-authenticate"].startswith("Bearer")
            # Not in the address: it would end up in logs and histories.
            problem(client.request(method, f"{where}?token={secret}"), 401, "no-token")
            n_tried += 1
    assert n_tried > 15
    problem(client.get("/api/v1/openapi.json"), 401, "no-token")
    assert client.get("/").status_code == 200 and client.get("/healthz").status_code == 200


def test_scopes(path: str, client_of: Callable[..., httpx.Client]) -> None:
    secrets = {scope: token(path, scope, scope) for scope in access.SCOPES}
    client = client_of(path, requires_token=True)
    allowed = {
        "read": {"read"}, "append": {"append"}, "admin": {"read", "append", "admin"},
    }  # fmt: skip
    for scope, secret in secrets.items():
        headers = {"Authorization": f"Bearer {secret}"}
        answers = {
            "read": client.get("/api/v1/status", headers=headers),
            "append": client.post("/api/v1/documents", json=DOCUMENT, headers=headers),
            "admin": client.delete("/api/v1/documents/none", headers=headers),
        }
        for wanted, answer in answers.items():
            if wanted in allowed[scope]:
                assert answer.status_code in (200, 404)
            else:
                problem(answer, 403, "not-allowed")


def test_wrong_revoked_and_expired_tokens(
    path: str, client_of: Callable[..., httpx.Client]
) -> None:
    secret, old = token(path, "mine", "read"), token(path, "old", "read", days=1e-9)
    client = client_of(path, requires_token=True)

    def status(secret: str) -> httpx.Response:
        return client.get("/api/v1/status", headers={"Authorization": f"Bearer {secret}"})

    assert status(secret).json()["access"] == {"name": "mine", "scopes": ["read"]}
    for wrong in (secret[:-1], secret + "x", secret.swapcase(), "x" * 10_000, old, "\\0"):
        problem(status(wrong), 401, "no-token")
    login = client.post("/api/v1/session", json={"token": secret})
    cookie = {"Cookie": f"trustream_session={login.cookies['trustream_session']}"}
    client.cookies.clear()
    assert client.get("/api/v1/status", headers=cookie).status_code == 200
    with open_store(path) as store:
        assert access.revoke_token(store, "mine")
    problem(status(secret), 401, "no-token")
    problem(client.get("/api/v1/status", headers=cookie), 401, "no-token")
    problem(client.post("/api/v1/session", json={"token": secret}), 401, "wrong-token")


def test_guessing_is_slowed_down(path: str, client_of: Callable[..., httpx.Client]) -> None:
    secret = token(path, "mine", "read")
    client = client_of(path, requires_token=True)
    statuses = [
        client.get("/api/v1/status", headers={"Authorization": f"Bearer {i}"}).status_code
        for i in range(60)
    ]
    assert statuses[0] == 401 and statuses[-1] == 429
    # Who has one is let in, though they come from the same address.
    right = client.get("/api/v1/status", headers={"Authorization": f"Bearer {secret}"})
    assert right.status_code == 200


def test_sessions(path: str, client_of: Callable[..., httpx.Client]) -> None:
    secret = token(path, "mine", "read")
    client = client_of(path, requires_token=True)
    before = client.get("/api/v1/session").json()
    assert before["required"] and not before["authenticated"] and before["scopes"] == []
    problem(client.post("/api/v1/session", json={"token": "wrong"}), 401, "wrong-token")
    answer = client.post("/api/v1/session", json={"token": secret})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/" in cookie
    assert secret not in cookie and secret not in answer.text
    # The client keeps the cookie.
    assert client.get("/api/v1/session").json()["name"] == "mine"
    assert client.get("/api/v1/status").status_code == 200
    # A session cannot be made of a session.
    session = client.cookies["trustream_session"]
    problem(client.post("/api/v1/session", json={"token": session}), 401, "wrong-token")
    assert client.delete("/api/v1/session").status_code == 204
    problem(
        client.get("/api/v1/status", headers={"Cookie": f"trustream_session={session}"}),
        401,
        "no-token",
    )


def test_a_session_outlives_the_service(path: str) -> None:
    secret = token(path, "mine", "read")
    settings = ServiceSettings(path, requires_token=True, secure=True)
    with serving(settings) as address:
        answer = httpx.post(f"{address}/api/v1/session", json={"token": secret}, trust_env=False)
        assert "Secure" in answer.headers["set-cookie"]
        cookie = answer.headers["set-cookie"].partition(";")[0]
    with serving(settings) as address:
        again = httpx.get(f"{address}/api/v1/status", headers={"Cookie": cookie}, trust_env=False)
        assert again.status_code == 200


def test_only_hashes_are_kept(
    path: str, client_of: Callable[..., httpx.Client], caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the store, nor logs, nor numbers have a token or a session in them."""
    secret = token(path, "mine", "admin")
    with caplog.at_level(logging.DEBUG, logger="trustream"):
        client = client_of(path, token=secret, requires_token=True)
        client.post("/api/v1/session", json={"token": secret})
        session = client.cookies["trustream_session"]
        metrics = client.get("/metrics").text
    with open_store(path) as store:
        kept = store.load(access.SAVED)
        listed = repr(access.list_tokens(store))
    assert kept is not None
    for one in (secret, session):
        assert one.encode() not in kept
        assert one not in listed and one not in caplog.text and one not in metrics


def test_the_first_token_is_shown_once(path: str) -> None:
    shown: list[str] = []
    for host in ("0.0.0.0", "0.0.0.0"):
        _, bound = server._prepared(ServiceSettings(path), host, 0, None, shown.append)
        bound.close()
    (secret,) = shown
    with open_store(path) as store:
        found = access.find_token(store, secret)
        assert found is not None and found.allows("admin") and found.expires is None
        # On loopback none is made.
        access.revoke_token(store, "first")
    _, bound = server._prepared(ServiceSettings(path), "127.0.0.1", 0, None, shown.append)
    bound.close()
    assert shown == [secret]


def test_open_addresses_need_a_token(path: str) -> None:
    for host, hosts in (("0.0.0.0", ()), ("::", ()), ("127.0.0.1", ("topics.example.org",))):
        with pytest.raises(ValueError, match="asks for tokens, and the store has none"):
            with serving(ServiceSettings(path, hosts=hosts), host=host):
                pass
    token(path, "mine", "read")
    with serving(ServiceSettings(path), host="0.0.0.0") as address:
        where = address.replace("0.0.0.0", "127.0.0.1")
        problem(httpx.get(f"{where}/api/v1/status", trust_env=False), 401, "no-token")
