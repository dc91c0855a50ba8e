"""Stores for tests of the dashboard, and what its pages have in common."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.browser import OpenPage
from trustream.service import ServiceSettings, serving
from trustream.store import Record, open_store
from trustream.streaming.setup import init_store
from trustream.streaming.training_run import prepared_trainer, train
from trustream.text import Tokeniser

SCRIPT = "<script>document.title='taken'</script><img src=x onerror=alert(1)>"
ANSI, BACKWARDS, LONG = "\x1b[31mred\x1b[0m", "\u202eturned", "w" * 300
SUBJECTS = [
    "puppy kitten hamster bird fish horse".split(),
    "bank bond rate stock coin loan".split(),
    "pasta soup oven bread cheese salt".split(),
    "rocket orbit moon launch planet star".split(),
]
N_DOCUMENTS = 120


def records(n: int, first: int = 0) -> Iterator[Record]:
    """Yield n documents, each about one subject, with titles; some of those are hostile."""
    rng = np.random.default_rng(first)
    for i in range(first, first + n):
        words = rng.choice(SUBJECTS[i % 4], 14).tolist()
        hostile = {1: SCRIPT, 2: ANSI, 3: BACKWARDS, 4: LONG}.get(i, "")
        text = f"{' '.join(words).capitalize()}. {hostile}"
        title = f"Title {i} {hostile}".strip()
        yield Record(f"d/{i}", words, 86400.0 * i, text=text, title=title)


def fill(
    path: Path | str, *, n: int = N_DOCUMENTS, topics: int = 4, keep_text: bool = True
) -> None:
    """Make a store and a model."""
    init_store(str(path), topics, batch_size=20, min_documents=1, keep_text=keep_text)
    with open_store(path) as store:
        store.set_tokeniser(Tokeniser())
        store.append(records(n))
        learn(store)


def learn(store: Any, steps: int = 20) -> None:
    """Take some steps, and publish."""
    with prepared_trainer(store, n_jobs=1) as trainer:
        train(trainer, steps=steps)


@contextmanager
def served(path: Path, *, port: int = 0, **settings: Any) -> Iterator[str]:
    """Serve a store with short waits; yields the address."""
    options: dict[str, Any] = {"report_every": 0.2, "poll": 0.05, **settings}
    with serving(ServiceSettings(str(path), **options), port=port) as address:
        yield address


def fetched(address: str, path: str) -> Any:
    """What a route answers."""
    with urllib.request.urlopen(f"{address}/api/v1/{path}") as answer:
        return json.load(answer)


class Dashboard(OpenPage):
    """The dashboard in a browser; waits for conditions of up to a minute."""

    def __init__(self, browser: Any, address: str, view: str = "#/", **options: Any) -> None:
        super().__init__(browser, address, hash=view, **options)
        self.page.set_default_timeout(60_000)

    def open(self, view: str) -> None:
        """Go to another view."""
        self.page.evaluate("view => { location.hash = view }", view)

    def wait(self, selector: str, text: str | None = None) -> Any:
        """Wait for an element, with a text."""
        found = self.page.locator(selector)
        found = (found if text is None else found.filter(has_text=text)).first
        found.wait_for()
        return found

    def until(self, condition: str, argument: Any = None) -> None:
        """Wait until JavaScript says yes."""
        self.page.wait_for_function(condition, arg=argument)

    def tile(self, name: str) -> str:
        """The value of a figure at the top."""
        return self.text(f".tile:has(dt:text-is('{name}')) .value")

    def close(self) -> None:
        """Close it; nothing went wrong, and nobody else was asked."""
        self.page.close()
        assert self.errors == [] and self.requests == []
