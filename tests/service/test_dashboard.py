"""The dashboard in a browser: what people see and can do."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from tests.browser import open_browser
from tests.service.clients import until
from tests.service.dashboards import (
    ANSI,
    BACKWARDS,
    LONG,
    N_DOCUMENTS,
    SCRIPT,
    SUBJECTS,
    Dashboard,
    fetched,
    fill,
    learn,
    records,
    served,
)
from trustream.service.access import create_token, revoke_token
from trustream.store import open_store
from trustream.topics.stored_topics import delete_stored_topics, split_stored_topic

WIDTHS = (360, 900, 1600)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as found:
        yield found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dashboard") / "news.db"
    fill(path)
    return path


@pytest.fixture(scope="module")
def address(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that tests only read."""
    path = shutil.copy(filled, tmp_path_factory.mktemp("read") / "news.db")
    with served(Path(path)) as address:
        until(lambda: fetched(address, "status")["report"])
        yield address


@pytest.fixture
def path(filled: Path, tmp_path: Path) -> Path:
    """A store that a test may change."""
    return Path(shutil.copy(filled, tmp_path / "news.db"))


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Dashboard]:
    found = Dashboard(browser, address)
    found.wait(".topic-tile")
    yield found
    found.close()


def labels(opened: Dashboard) -> list[str]:
    return opened.texts(".topic-tile h3")


def test_figures_cards_and_words_are_those_of_the_api(opened: Dashboard, address: str) -> None:
    status = fetched(address, "status")
    opened.until("() => document.querySelector('.arrivals').children.length === 8")
    assert opened.tile("Documents") == str(status["totals"]["documents"])
    assert opened.tile("Tokens") == f"{status['totals']['tokens']:,}"
    assert opened.tile("Topics") == "4"
    score = status["model"]["last_score"]
    assert opened.tile("Held-out score") == f"{score:.3f}".replace("-", "−")
    assert "perplexity" in opened.text(".tile:last-child .note")
    newest = [item["title"] for item in fetched(address, "documents?limit=8")["items"]]
    assert opened.texts(".arrivals .title") == newest
    topics = fetched(address, "topics")["items"]
    assert labels(opened) == [topic["label"] for topic in topics]
    words = [topic["words"] for topic in topics]
    shown = [text.split(", ") for text in opened.texts(".card-words")]
    # A list of the API has ten words, of the same relevance; cards have twelve.
    assert [found[:10] for found in shown] == [[w["word"] for w in found] for found in words]
    slider = opened.page.get_by_role("slider", name="Relevance")
    slider.press("End")
    most = sorted(words[0], key=lambda word: -word["probability"])
    probable = opened.texts(".card-words")[0].split(", ")
    assert probable[0] == most[0]["word"] and len(probable) == 12
    # Nothing but the largest share fills its bar.
    widths = [bar.evaluate("bar => bar.style.width") for bar in opened.page.locator(".topic-tile .within").all()]  # fmt: skip
    assert widths[0] == "100%" and all(float(width[:-1]) <= 100 for width in widths)


def test_search_finds_topics_by_word(opened: Dashboard, address: str) -> None:
    search = opened.page.get_by_label("Search topics by word")
    search.fill("rocket")
    opened.wait(".topic-tile .place", "rocket")
    first = fetched(address, "search?word=rocket")["items"][0]
    assert labels(opened)[0] == first["label"]
    assert f"no. {first['rank']}" in opened.texts(".topic-tile .place")[0]
    search.fill("no such word")
    opened.until("() => document.querySelectorAll('.topic-tile').length === 0")
    assert "0 of 4 topics" in opened.text(".matched")
    search.fill("")
    opened.until("() => document.querySelectorAll('.topic-tile').length === 4")


def test_from_a_topic_to_a_document_and_back(opened: Dashboard, address: str) -> None:
    topic = fetched(address, "topics")["items"][0]
    opened.page.get_by_role("link", name=topic["label"], exact=True).click()
    opened.wait("h1", topic["label"])
    assert topic["label"] in opened.page.title() and "news.db" in opened.page.title()
    # The focus follows, so that a screen reader says where one is.
    opened.until("() => document.activeElement.tagName === 'H1'")
    opened.wait(".documents .excerpt")
    assert opened.page.get_by_role("slider", name="Share of topic").count() == 1
    best = fetched(address, f"topics/{topic['topic']}/documents?limit=5")["items"]
    assert opened.texts(".documents .title a")[0] == best[0]["title"]
    opened.page.get_by_role("button", name="Show more").click()
    opened.until("() => document.querySelectorAll('.documents li').length === 20")
    opened.page.locator(".documents a").first.click()
    found = fetched(address, f"documents/{quote(best[0]['key'], safe='')}")
    opened.wait("h1", found["title"])
    coloured = [s for s in found["segments"] if s["topic"] is not None]
    assert len(coloured) == 14 and opened.text(".text") == found["text"].strip()
    marks = opened.page.locator(".text [data-topic]").all()
    assert [int(mark.get_attribute("data-topic")) for mark in marks] == [s["topic"] for s in coloured]  # fmt: skip
    # Words of the largest topic have the first colour, and can be pointed out.
    largest = found["topics"][0]["topic"]
    backs = {mark.evaluate("m => getComputedStyle(m).backgroundColor") for mark in marks}
    assert len(backs) >= 1 and "rgba(0, 0, 0, 0)" not in backs
    opened.page.locator(".legend button").first.click()
    pointed = opened.page.locator(".text .pointed").count()
    assert pointed == sum(segment["topic"] == largest for segment in coloured)
    opened.wait(".near a")
    opened.page.go_back()
    opened.wait("h1", topic["label"])
    opened.page.go_back()
    opened.wait("h1", "Overview")


def test_try_a_text(opened: Dashboard, address: str) -> None:
    opened.page.get_by_role("link", name="Try a text").click()
    area = opened.page.get_by_label("Text", exact=True)
    area.fill(f"The rocket and the moon, a planet and a star; unheard-of. {SCRIPT}")
    area.press("Control+Enter")
    said = opened.wait(".said", "Mostly about").inner_text()
    topics = fetched(address, "topics")["items"]
    space = next(t for t in topics if "rocket" in [word["word"] for word in t["words"]])
    assert space["label"] in said and "knows 4 of" in said
    assert opened.texts(".text [data-topic]") == ["rocket", "moon", "planet", "star"]
    assert SCRIPT in opened.text(".text") and opened.page.title().startswith("Try a text")
    assert fetched(address, "status")["totals"]["documents"] == N_DOCUMENTS
    area.fill("zzz")
    opened.page.get_by_role("button", name="Find topics").click()
    opened.wait(".said", "knows none")


def test_hostile_texts_stay_texts(opened: Dashboard) -> None:
    expected = {1: SCRIPT, 2: ANSI.replace("\x1b", "\u241b"), 3: BACKWARDS, 4: LONG}
    for number, text in expected.items():
        opened.open(f"#/documents/d%2F{number}")
        title = opened.wait("h1", f"Title {number}").inner_text()
        assert text in title
        assert text in opened.text(".text")
        for width in WIDTHS:
            opened.page.set_viewport_size({"width": width, "height": 800})
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.page.locator("main script, main img").count() == 0
    assert "taken" not in opened.page.title().replace(SCRIPT, "")
    opened.open("#/documents/%3Cscript%3E")
    opened.wait("[role=status]", "no such document")
    # A browser says on its console that it was not found.
    assert len(opened.errors) == 1 and "404" in opened.errors.pop()


def test_by_keyboard(opened: Dashboard) -> None:
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    opened.open("#/map")
    opened.wait(".map [aria-selected=true]")
    before = opened.text("#chosen-topic")
    page.locator(".map [aria-selected=true]").focus()
    page.keyboard.press("ArrowRight")
    opened.until("label => document.querySelector('#chosen-topic').textContent !== label", before)
    link = page.get_by_role("link", name="Open the page of this topic")
    chosen = page.locator(".map [aria-selected=true]").get_attribute("data-topic")
    assert link.get_attribute("href") == f"#/topics/{chosen}"
    opened.open("#/")
    chart = page.get_by_role("slider", name="Documents in the store")
    chart.focus()
    page.keyboard.press("Home")
    assert f"{N_DOCUMENTS} documents" in chart.get_attribute("aria-valuetext")


APPENDING = """
import sys, time
from tests.service.dashboards import records
from trustream.store import open_store
with open_store(sys.argv[1]) as store:
    for i in range(200, 230):
        store.append(records(1, i))
        time.sleep(0.05)
"""


def test_documents_arrive_while_another_process_appends(browser: Any, path: Path) -> None:
    with served(path) as address:
        opened = Dashboard(browser, address)
        opened.wait(".topic-tile")
        opened.until("() => document.querySelector('.arrivals').children.length === 8")
        root = Path(__file__).parents[2]
        other = subprocess.Popen([sys.executable, "-c", APPENDING, str(path)], cwd=root)
        # Seen on the way, not only at the end.
        value = "document.querySelector('.tile .value').textContent"
        opened.until(f"n => Number({value}) > n && Number({value}) < n + 30", N_DOCUMENTS)
        opened.until(f"n => Number({value}) === n + 30", N_DOCUMENTS)
        assert other.wait() == 0
        opened.wait(".arrivals .title", "Title 229")
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
    opened.wait(".connection", "Cut off since")
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


def test_log_in_and_out(browser: Any, path: Path) -> None:
    with open_store(path) as store:
        secret, token = create_token(store, "laptop", ["read"])
        writer, _ = create_token(store, "robot", ["append"])
    with served(path, requires_token=True) as address:
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
        # A token that is revoked leads here, too.
        field.fill(secret)
        field.press("Enter")
        opened.wait(".topic-tile")
        with open_store(path) as store:
            revoke_token(store, token.id)
        opened.open("#/documents/d%2F7")
        opened.wait("h1", "Log in")
        opened.errors = [error for error in opened.errors if "401" not in error]
        opened.close()


def test_a_store_without_model_texts_or_times(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "bare.db"
    from trustream.streaming.setup import init_store

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
            store.append(type(r)(r.key, r.words) for r in records(40))
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


def test_what_changed_since_yesterday(browser: Any, path: Path) -> None:
    from trustream.service.history import COARSE, FINE, current_point
    from trustream.service.live_model import compute_report, load_live

    with open_store(path) as store:
        model = load_live(store, "model")
        assert model is not None
        report = compute_report(store, model, 1000, "news")
        now = time.time()
        point = current_point(now - 72000, store.totals(), model, report)
        point["documents"] -= 50
        point["score"] -= 0.5
        first, second, *rest = point["topics"]
        second["share"], second["words"] = second["share"] / 2, ["departed", *second["words"][1:]]
        point["topics"] = [second, *rest]
        import json

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


def test_a_map_keeps_the_way_up_it_was(opened: Dashboard) -> None:
    """Turned and mirrored places are turned back; others are as near as a turn can bring them."""
    found = opened.page.evaluate(
        """async () => {
          const { aligned } = await import("/static/dashboard/align.js");
          const old = new Map([[0, [1, 2]], [1, [-3, 1]], [2, [0.5, -2]], [3, [2, 0]]]);
          const worst = [];
          for (const mirrored of [1, -1]) for (const angle of [0, 0.7, 2, 3.1, -1.2]) {
            const [c, s] = [Math.cos(angle), Math.sin(angle)];
            const topics = [...old].map(([topic, [x, y]]) => ({topic, position: [c * x - s * mirrored * y, s * x + c * mirrored * y]}));
            const back = aligned(topics, old);
            worst.push(Math.max(...[...old].map(([topic, [x, y]]) => Math.hypot(back.get(topic)[0] - x, back.get(topic)[1] - y))));
          }
          const alone = aligned([{topic: 9, position: [1, 1]}], old).get(9);
          return [Math.max(...worst), alone];
        }"""
    )
    assert found[0] < 1e-9 and found[1] == [1, 1]
