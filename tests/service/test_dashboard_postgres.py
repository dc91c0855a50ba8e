"""From the log in to a cut: the dashboard of `trustream serve` on PostgreSQL, in a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.service.processes import ServiceProcess
from tests.browser import open_browser
from tests.service.dashboards import N_DOCUMENTS, Dashboard, fill
from tests.service.test_dashboard_live import APPENDING
from trustream.service.access import create_token
from trustream.store import open_store


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as found:
        yield found


def test_from_log_in_to_a_cut(browser: Any, server: Any, tmp_path: Path) -> None:
    address = f"{server.url}&schema=dashboard"
    fill(address)
    with open_store(address) as store:
        secret, _ = create_token(store, "me", ["admin"])
    service = ServiceProcess(address, tmp_path / "log", "--require-token")
    service.start()
    try:
        opened = Dashboard(browser, service.address)
        opened.wait("#token").fill(secret)
        opened.page.get_by_role("button", name="Log in").click()
        opened.wait(".topic-tile")
        # Documents arrive.
        other = subprocess.Popen([sys.executable, "-c", APPENDING, address])
        value = "document.querySelector('.tile .value').textContent"
        opened.until(f"n => Number({value}) === n + 30", N_DOCUMENTS)
        assert other.wait() == 0
        # One of them, its words by topic, and what is near.
        opened.wait(".arrivals .title", "Late 29").click()
        opened.wait("h1", "Late 29")
        opened.wait(".of-text [data-topic]", "rocket")
        opened.wait(".near li")
        opened.wait(".of-deletion button").click()
        opened.wait(".of-deletion .danger").click()
        opened.wait(".of-deletion [role=status]", "was deleted")
        # A topic, and a text.
        opened.open("#/topics/0")
        opened.wait(".of-documents .title")
        opened.open("#/text")
        opened.wait("textarea").fill("the bank and the moon")
        opened.page.keyboard.press("Control+Enter")
        opened.wait(".said", "The model knows 2 of 2 words")
        opened.open("#/changes")
        opened.wait(".of-figures tbody tr", "Documents")
        # Cut off, and back by itself.
        service.kill()
        opened.wait(".connection", "Cut off")
        service.start()
        opened.wait(".connection", "Live")
        opened.open("#/")
        opened.until(f"n => Number({value}) === n + 29", N_DOCUMENTS)
        # Beside what a browser says of refusals and of connections, nothing went wrong.
        own = ("net::ERR_", "status of 401")
        opened.errors = [e for e in opened.errors if not any(part in e for part in own)]
        opened.close()
    finally:
        assert service.stop() == 0
    assert secret not in service.log.read_text()
