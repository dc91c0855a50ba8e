"""Joining a cluster: the right one, and no long wait where there is none."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from trustream.cli import main
from trustream.cluster import connected, connection
from trustream.cluster.addresses import Address, check_answers, is_same_place
from trustream.cluster.errors import ClusterError


class Listener:
    """A port at which somebody says something, or nothing."""

    def __init__(self, answer: bytes | None) -> None:
        self._answer, self._socket = answer, socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except OSError:
            return
        with connection, suppress(OSError):
            connection.recv(100)
            if self._answer is not None:
                connection.sendall(self._answer)
            connection.recv(100)  # until the other one goes

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def silent() -> Iterator[str]:
    listener = Listener(None)
    yield listener.place
    listener.close()


def test_an_address_that_does_not_answer(silent: str) -> None:
    with pytest.raises(ClusterError, match=f"no cluster answers at {silent} .timed out"):
        check_answers(Address(silent), patience=0.2)


def test_somebody_else_answers() -> None:
    listener = Listener(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(ClusterError, match=r"what answers at .* is no cluster of Ray"):
        check_answers(Address(listener.place))
    listener.close()


def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return f"127.0.0.1:{unused.getsockname()[1]}"


def test_nobody_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself would wait for minutes."""
    monkeypatch.setattr(connection.ray_module(), "is_initialized", lambda: False)
    place = closed_port()
    with pytest.raises(ClusterError, match=f"no cluster answers at {place}"):
        with connected(place):
            pass
    monkeypatch.setenv("RAY_ADDRESS", place)
    with pytest.raises(ClusterError, match=f"no cluster answers at {place}"):
        with connected("auto"):
            pass
    store = str(tmp_path / "topics.db")
    assert CliRunner().invoke(main, ["init", store, "--topics", "2"]).exit_code == 0
    result = CliRunner().invoke(main, ["train", store, "--cluster", place])
    assert result.exit_code == 1 and f"no cluster answers at {place}" in result.output


def test_a_real_cluster_answers(ray_cluster: Any) -> None:
    check_answers(Address(ray_cluster.address))


def test_another_cluster_than_the_one_that_is_connected(ray_cluster: Any) -> None:
    with connected(ray_cluster.address) as ray, connected("auto"), connected("local"):
        assert ray.is_initialized()
    assert ray.is_initialized()
    with pytest.raises(
        ClusterError, match=r"this process is connected to the cluster at .* is another one"
    ):
        with connected("127.0.0.1:1"):
            pass


def test_names_and_numbers_of_a_host() -> None:
    assert is_same_place("localhost:7", "127.0.0.1:7") and is_same_place("[::1]:7", "[::1]:7")
    assert not is_same_place("localhost:7", "localhost:8")
    assert not is_same_place("nobody.invalid:7", "127.0.0.1:7")


class FakeRay:
    """Counts how often it is started and ended."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def is_initialized(self) -> bool:
        return bool(self.calls) and self.calls[-1] == "init"

    def init(self, **options: Any) -> None:
        self.calls.append("init")

    def shutdown(self) -> None:
        self.calls.append("shutdown")


def test_the_last_one_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two functions at once, such as two transforms that are read side by side."""
    fake = FakeRay()
    monkeypatch.setattr(connection, "ray_module", lambda: fake)
    first, second = connected("local"), connected("local")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert fake.calls == ["init"]
    second.__exit__(None, None, None)
    with connected("local"):
        pass
    assert fake.calls == ["init", "shutdown"] * 2
    # One that was there before stays.
    fake.calls = ["init"]
    with connected("local"):
        pass
    assert fake.calls == ["init"]


def test_an_interrupt_while_ray_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeRay()

    def init(**options: Any) -> None:
        raise KeyboardInterrupt

    fake.init = init  # type: ignore[method-assign]
    monkeypatch.setattr(connection, "ray_module", lambda: fake)
    with pytest.raises(KeyboardInterrupt), connected("local"):
        pass
    assert fake.calls == ["shutdown"]


def test_without_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    store = str(tmp_path / "topics.db")
    assert CliRunner().invoke(main, ["init", store, "--topics", "2"]).exit_code == 0
    result = CliRunner().invoke(main, ["train", store, "--cluster", "local"])
    assert result.exit_code == 1 and "pip install 'trustream[cluster]'" in result.output
