"""What tests of commands share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.forked import ForkingCommands


@pytest.fixture(scope="session")
def forking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkingCommands]:
    """Commands in processes of their own that need not load everything anew."""
    commands = ForkingCommands(tmp_path_factory.mktemp("forking"))
    yield commands
    commands.close()
