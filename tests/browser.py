"""Open pages in Chromium, for tests of what people see."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")


@contextmanager
def open_browser() -> Iterator[Any]:
    """Start Debian's Chromium; without it the test is skipped, and fails where CI is set."""
    if not CHROMIUM.exists():
        reason = f"there is no {CHROMIUM}: apt-get install --no-install-recommends chromium"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    from playwright.sync_api import sync_playwright

    # Chromium's sandbox does not work for root.
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=arguments)
        yield browser
        browser.close()


class OpenPage:
    """A file, or a page of a service, in a browser, with what went wrong on the way.

    Attributes:
        page: of Playwright.
        requests: addresses that the page has asked for, beside its own and those of its service.
        errors: exceptions, and errors and warnings on the console.
    """

    def __init__(
        self,
        browser: Any,
        path: Path | str,
        width: int = 1280,
        theme: str = "light",
        hash: str = "",
    ) -> None:
        self.page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
        )
        self.requests: list[str] = []
        self.errors: list[str] = []
        address = path.as_uri() if isinstance(path, Path) else f"{path}/"
        # What a file needs is in it; a service has files of its own.
        self._own = address if isinstance(path, str) else None
        self.page.on("request", lambda asked: self._asked(asked.url, address))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self._said(message))
        self.page.goto(address + hash)

    def _asked(self, url: str, address: str) -> None:
        if self._own is not None and url.startswith((self._own, "data:")):
            return
        if url.partition("#")[0] != address:
            self.requests.append(url)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements, with plain blanks."""
        found = self.page.locator(selector).all_inner_texts()
        return [text.replace("\u00a0", " ").strip() for text in found]

    def text(self, selector: str) -> str:
        """Return the text of the one element."""
        (found,) = self.texts(selector)
        return found
