"""Who gets in, and no barriers: what axe-core finds, both themes, from a phone to a wide screen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.browser import open_browser
from tests.service.clients import until
from tests.service.dashboards import Dashboard, fetched, fill, served
from trustream.service.access import create_token, revoke_token
from trustream.store import Record, open_store
from trustream.streaming.setup import init_store
from trustream.streaming.training_run import prepared_trainer, train

# Each view, and what is there when it is complete.
VIEWS = {
    "#/": ".topic-tile",
    "#/map": ".map [aria-selected=true]",
    "#/topics/1": ".documents .excerpt",
    "#/documents/d%2F1": ".near a",
    "#/text": "textarea",
    "#/changes": ".range",
}
WIDTHS = (360, 900, 1600)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as found:
        yield found


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dashboard") / "news.db"
    fill(path)
    return path


@pytest.fixture(scope="module")
def address(path: Path) -> Iterator[str]:
    with served(path) as address:
        until(lambda: fetched(address, "status")["report"])
        yield address


def barriers(opened: Dashboard) -> list[str]:
    """What axe-core finds that is serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(opened.page).response["violations"]
    return [
        f"{entry['id']}: {entry['nodes'][0]['html']}"
        for entry in found
        if entry["impact"] in ("serious", "critical")
    ]


def show(opened: Dashboard, view: str) -> None:
    opened.open(view)
    opened.wait(VIEWS[view])
    if view == "#/text":
        opened.page.get_by_label("Text", exact=True).fill("A rocket to the moon, and a bank.")
        opened.page.get_by_role("button", name="Find topics").click()
        opened.wait(".near a")


def test_no_barriers_and_no_sideways_scrolling(browser: Any, address: str) -> None:
    """Each view in all widths; six views have two themes and three widths between them."""
    opened = Dashboard(browser, address, width=360)
    for place, view in enumerate(VIEWS):
        opened.page.emulate_media(color_scheme=["light", "dark"][place % 2])
        show(opened, view)
        for width in WIDTHS:
            opened.page.set_viewport_size({"width": width, "height": 900})
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= width, view
            if width == WIDTHS[place % 3]:
                assert barriers(opened) == [], (view, width)
    opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_barriers_anywhere(
    browser: Any, address: str, tmp_path: Path, width: int, theme: str
) -> None:
    """All views, in both themes and three widths; pictures of them are kept for those who look."""
    opened = Dashboard(browser, address, theme=theme, width=width)
    for place, view in enumerate(VIEWS):
        show(opened, view)
        assert barriers(opened) == [], view
        opened.page.screenshot(path=str(tmp_path / f"{place}-{width}-{theme}.png"), full_page=True)
    opened.close()


def test_log_in_and_out(browser: Any, path: Path, tmp_path: Path) -> None:
    own = Path(shutil.copy(path, tmp_path / "news.db"))
    with open_store(own) as store:
        secret, token = create_token(store, "laptop", ["read"])
        writer, _ = create_token(store, "robot", ["append"])
    with served(own, requires_token=True) as address:
        opened = Dashboard(browser, address)
        field = opened.page.get_by_label("Token")
        button = opened.page.get_by_role("button", name="Log in")
        field.fill("tsk_wrong")
        button.click()
        opened.wait("[role=alert]", "unknown")
        assert "401" in opened.errors.pop()
        field.fill(writer)
        button.click()
        opened.wait("[role=alert]", "may not read")
        field.fill(secret)
        field.press("Enter")
        opened.wait(".topic-tile")
        opened.wait(".connection", "Live")
        (cookie,) = opened.page.context.cookies()
        assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
        assert secret not in str(cookie["value"]) and secret not in opened.page.content()
        assert opened.page.evaluate("document.cookie + Object.keys(localStorage)") == ""
        opened.page.reload()
        opened.wait(".topic-tile")
        opened.page.get_by_role("button", name="Log out").click()
        opened.wait("h1", "Log in")
        assert opened.page.locator(".topic-tile, nav a").count() == 0
        assert opened.page.context.cookies() == []
        # A token that is revoked leads here by itself: the stream of events ends.
        field.fill(secret)
        field.press("Enter")
        opened.wait(".topic-tile")
        with open_store(own) as store:
            revoke_token(store, token.id)
        opened.wait("h1", "Log in")
        opened.errors = [error for error in opened.errors if "401" not in error]
        opened.close()


def test_no_barriers_at_the_door(browser: Any, path: Path, tmp_path: Path) -> None:
    own = Path(shutil.copy(path, tmp_path / "news.db"))
    with open_store(own) as store:
        create_token(store, "laptop", ["read"])
    with served(own, requires_token=True) as address:
        opened = Dashboard(browser, address, width=360)
        opened.wait("h1", "Log in")
        assert opened.page.evaluate("document.activeElement.id") == "token"
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360
        for theme in ("light", "dark"):
            opened.page.emulate_media(color_scheme=theme)
            assert barriers(opened) == [], theme
        opened.close()


def test_500_topics(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    init_store(str(path), 500, batch_size=100, min_documents=1)
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(2000)])
    with open_store(path) as store:
        store.append(Record(f"d{i}", rng.choice(words, 30).tolist()) for i in range(200))
        with prepared_trainer(store, n_jobs=1) as trainer:
            train(trainer, steps=2)
    with served(path) as address:
        opened = Dashboard(browser, address)
        opened.wait(".topic-tile")
        assert opened.tile("Topics") == "500"
        assert opened.page.locator(".topic-tile").count() == 48
        opened.page.get_by_role("button", name="Show 48 more").click()
        opened.until("() => document.querySelectorAll('.topic-tile').length === 96")
        # The first of those that came has the focus.
        place = opened.page.evaluate(
            "[...document.querySelectorAll('.topic-tile')]"
            ".indexOf(document.activeElement.closest('.topic-tile'))"
        )
        assert place == 48
        report = fetched(address, "report")
        last = report["topics"][-1]
        rare = report["words"][last["words"][0]]
        opened.page.get_by_label("Search topics by word").fill(rare)
        opened.wait(f".topic-tile [data-topic='{last['topic']}']")
        opened.open("#/map")
        opened.wait(".map [aria-selected=true]")
        assert opened.page.locator(".map .topic").count() == 500
        assert opened.page.locator(".topics tbody tr").count() == 500
        opened.close()
