"""The dashboard while things happen: documents, topics, an end of the service, another day."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser import open_browser
from tests.service.dashboards import (
    N_DOCUMENTS,
    SUBJECTS,
    Dashboard,
    fetched,
    fill,
    learn,
    records,
    served,
)
from trustream.service.history import COARSE, FINE, current_point
from trustream.service.live_model import load_live
from trustream.service.shown_report import compute_report
from trustream.store import Record, open_store
from trustream.streaming.setup import init_store
from trustream.topics.stored_topics import delete_stored_topics, split_stored_topic


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as found:
        yield found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dashboard") / "news.db"
    fill(path)
    return path


@pytest.fixture
def path(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "news.db"))


APPENDING = """
import sys, time
from trustream.store import Record, open_store
with open_store(sys.argv[1]) as store:
    for i in range(30):
        store.append([Record(f"late {i}", ["rocket", "moon"], text="A rocket.", title=f"Late {i}")])
        time.sleep(0.05)
"""


def test_documents_arrive_while_another_process_appends(browser: Any, path: Path) -> None:
    with served(path) as address:
        opened = Dashboard(browser, address)
        opened.wait(".topic-tile")
        opened.until("() => document.querySelector('.arrivals').children.length === 8")
        other = subprocess.Popen([sys.executable, "-c", APPENDING, str(path)])
        # Seen on the way, not only at the end.
        value = "document.querySelector('.tile .value').textContent"
        opened.until(f"n => Number({value}) > n && Number({value}) < n + 30", N_DOCUMENTS)
        opened.until(f"n => Number({value}) === n + 30", N_DOCUMENTS)
        assert other.wait() == 0
        opened.wait(".arrivals .title", "Late 29")
        assert float(opened.tile("Arriving").split()[0]) > 0
        # The report follows, and nothing was loaded anew.
        opened.wait(".of-cards .note", f"from {N_DOCUMENTS + 30} documents")
        opened.close()


def test_topics_appear_and_go(browser: Any, path: Path) -> None:
    with served(path) as address:
        opened = Dashboard(browser, address)
        opened.wait(".topic-tile")
        before = opened.page.locator(".topic-tile h3 a").all()
        ids = [int(found.get_attribute("data-topic")) for found in before]
        opened.page.locator(".topic-tile h3 a").nth(2).focus()
        places = [found.bounding_box() for found in before]
        with open_store(path) as store:
            split_stored_topic(store, str(ids[0]), random_state=0)
        opened.wait(".topic-tile .sign", "gone")
        assert len(opened.texts(".topic-tile .sign.new")) == 2
        # What was there stays where it was, and so does the focus.
        same = opened.page.locator(".topic-tile h3 a").all()[: len(ids)]
        assert [found.bounding_box() for found in same] == places
        focused = opened.page.evaluate("document.activeElement.dataset.topic")
        assert focused == str(ids[2])
        opened.page.get_by_role("button", name="Sort again").click()
        opened.until("() => document.querySelectorAll('.topic-tile').length === 5")
        assert opened.page.get_by_role("button", name="Sort again").is_disabled()
        opened.open(f"#/topics/{ids[1]}")
        opened.wait(".bars tbody tr")
        with open_store(path) as store:
            delete_stored_topics(store, [str(ids[1])])
        opened.wait("[role=status]", "any more")
        opened.close()


def test_the_service_is_cut_off_and_comes_back(browser: Any, path: Path) -> None:
    with served(path) as address:
        opened = Dashboard(browser, address)
        opened.wait(".topic-tile")
        opened.wait(".connection", "Live")
        port = urlsplit(address).port
    opened.wait(".connection", "Cut off")
    assert "tries again by itself" in opened.text(".notice")
    # What was there can still be read.
    assert opened.page.locator(".topic-tile").count() == 4
    opened.page.locator(".topic-tile h3 a").first.click()
    opened.wait(".bars tbody tr")
    opened.page.go_back()
    with open_store(path) as store:
        store.append(records(5, 300))
    with served(path, port=port):
        opened.wait(".connection", "Live")
        assert "answers again" in opened.text(".notice")
        opened.until(
            "n => document.querySelector('.tile .value').textContent === String(n)",
            N_DOCUMENTS + 5,
        )
        opened.wait(".of-cards .note", f"from {N_DOCUMENTS + 5} documents")
        # Beside what a browser says of connections, nothing went wrong.
        opened.errors = [error for error in opened.errors if "net::ERR_" not in error]
        opened.close()


def test_a_store_without_model_texts_or_times(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "bare.db"
    init_store(str(path), 4, batch_size=20, min_documents=1)
    with served(path) as address:
        opened = Dashboard(browser, address)
        opened.wait(".of-cards .note", "There is no model yet")
        opened.wait(".arrivals + .note", "No documents yet")
        for view in ("map", "text", "changes"):
            opened.open(f"#/{view}")
            opened.wait("h1")
        opened.open("#/topics/0")
        opened.wait("[role=status]", "no model yet")
        with open_store(path) as store:
            store.append(Record(r.key, r.words) for r in records(40))
            opened.open("#/documents/d%2F4")
            opened.wait(".note", "keeps no text")
            opened.wait(".note", "no model yet")
            opened.open("#/")
            learn(store, 10)
        # Topics are there without a reload.
        opened.wait(".topic-tile")
        opened.open("#/documents/d%2F5")
        opened.wait(".word-counts [data-topic]")
        found = fetched(address, "documents/d%2F5")
        assert found["text"] is None
        words = [word["word"] for word in found["words"]]
        assert opened.texts(".word-counts bdi") == words and set(words) <= set(SUBJECTS[1])
        opened.close()


def note_a_time_without_model(store: Any) -> None:
    """Keep a point of history from two hours ago."""
    then = time.time() - 7200
    point = json.dumps(current_point(then, store.totals(), None, None)).encode()
    store.note_history("model", point, then, every=(FINE, COARSE))


def test_what_changed_since_there_was_no_model(browser: Any, path: Path) -> None:
    with open_store(path) as store:
        note_a_time_without_model(store)
    with served(path) as address:
        opened = Dashboard(browser, address, "#/changes")
        opened.wait(".panel .note", "There was no model to compare with then")
        opened.close()


def test_what_changed_shows_a_report_that_comes_soon_after(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    init_store(str(path), 4, batch_size=20, min_documents=1)
    with open_store(path) as store:
        note_a_time_without_model(store)
        with served(path) as address:
            opened = Dashboard(browser, address, "#/changes")
            opened.wait(".panel .note", "No topic changed")
            store.append(Record(r.key, r.words) for r in records(40))
            learn(store, 10)
            # The last report for a long time, seconds after the view was loaded.
            opened.wait(".panel .note", "There was no model to compare with then")
            opened.close()


def test_what_changed_since_yesterday(browser: Any, path: Path) -> None:
    with open_store(path) as store:
        model = load_live(store, "model")
        assert model is not None
        report = compute_report(store, model, 1000, "news")
        now = time.time()
        point = current_point(now - 72000, store.totals(), model.published, report)
        point["documents"] -= 50
        point["score"] -= 0.5
        first, second, *rest = point["topics"]
        second["share"], second["words"] = second["share"] / 2, ["departed", *second["words"][1:]]
        point["topics"] = [second, *rest]
        content = json.dumps(point).encode()
        store.note_history("model", content, now - 72000, every=(FINE, COARSE))
    with served(path) as address:
        opened = Dashboard(browser, address, "#/changes")
        opened.wait(".changes tbody tr")
        rows = {row.split("\t")[0].strip(): row for row in opened.texts(".changes tbody tr")}
        assert "appeared" in rows[first["label"]] and "grown" in rows[second["label"]]
        assert "departed" in rows[second["label"]]
        figures = [row.split("\t") for row in opened.texts(".of-figures tbody tr")]
        documents, scores = figures[0], figures[5]
        assert [cell.strip() for cell in documents] == ["Documents", "70", "120"]
        assert float(scores[2].replace("−", "-")) == pytest.approx(
            float(scores[1].replace("−", "-")) + 0.5, abs=0.0011
        )
        # How long history is kept is said.
        assert "every 5 min for 7 days" in opened.page.locator("main").inner_text()
        opened.open("#/")
        opened.wait(".changes-short li", first["label"])
        assert "+50 documents" in opened.text(".of-changes")
        # The line of documents begins there.
        chart = opened.page.get_by_role("slider", name="Documents in the store")
        chart.press("Home")
        assert ": 70 documents" in chart.get_attribute("aria-valuetext")
        opened.close()


@pytest.mark.slow
def test_a_service_that_hangs_is_noticed(browser: Any, path: Path) -> None:
    """Nothing is closed, and nothing comes: a stream of events alone would not tell."""
    command = [sys.executable, "-m", "trustream", "serve", str(path), "--port", "0"]
    service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert service.stderr is not None
        address = next(line.split()[2] for line in service.stderr if "serving at" in line)
        opened = Dashboard(browser, address)
        opened.page.set_default_timeout(150_000)
        opened.wait(".topic-tile")
        opened.wait(".connection", "Live")
        service.send_signal(signal.SIGSTOP)
        opened.wait(".connection", "Cut off")
        service.send_signal(signal.SIGCONT)
        opened.wait(".connection", "Live")
        opened.errors = [error for error in opened.errors if "net::ERR_" not in error]
        opened.close()
    finally:
        service.send_signal(signal.SIGCONT)
        service.terminate()
        service.wait()


@pytest.mark.slow
def test_a_page_that_nobody_sees_does_not_listen(browser: Any, path: Path) -> None:
    hide = """hidden => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
    }"""
    with served(path) as address:
        opened = Dashboard(browser, address)
        opened.wait(".connection", "Live")
        opened.page.evaluate(hide, True)
        opened.wait(".connection", "Paused")
        with open_store(path) as store:
            store.append(records(7, 400))
        opened.page.evaluate(hide, False)
        opened.wait(".connection", "Live")
        opened.wait(".tile .value", str(N_DOCUMENTS + 7))
        opened.wait(".arrivals .title", "Title 406")
        opened.close()


def test_a_page_waits_for_its_service(browser: Any, path: Path) -> None:
    """Opened just before the service is there: its files came, answers do not come yet."""
    with served(path) as address:
        opened = Dashboard(browser, "about:blank", "")
        opened.page.route("**/api/v1/session", lambda route: route.abort())
        opened.page.goto(f"{address}/#/text")
        opened.wait("[role=status]", "Trying again")
        opened.page.unroute("**/api/v1/session")
        opened.wait("h1", "Try a text")
        opened.page.close()
