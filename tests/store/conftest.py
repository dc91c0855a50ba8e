"""Every test that takes `address` runs on both databases."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.thresholds import make_small

_NUMBERS = itertools.count()


@pytest.fixture(params=["sqlite", "postgres"])
def new_address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], str]:
    """Addresses where nothing is yet."""
    if request.param == "sqlite":
        folder = tmp_path_factory.mktemp("store")
        return lambda: str(folder / f"{next(_NUMBERS)}.db")
    server = request.getfixturevalue("server")
    return lambda: f"{server.url}&schema=test_{next(_NUMBERS)}"


@pytest.fixture
def address(new_address: Callable[[], str]) -> str:
    return new_address()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A SQLite file that is not there yet."""
    return tmp_path / "topics.db"


@pytest.fixture(params=["as they are", "small"])
def thresholds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes at which the store does something else, as they are and made small."""
    if request.param == "small":
        make_small(monkeypatch)
