"""The dashboard in a browser: what people see of a store, and can do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.browser import open_browser
from tests.service.clients import until
from tests.service.dashboards import (
    ANSI,
    BACKWARDS,
    LONG,
    N_DOCUMENTS,
    SCRIPT,
    Dashboard,
    fetched,
    fill,
    served,
)

WIDTHS = (360, 900, 1600)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as found:
        yield found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("dashboard") / "news.db"
    fill(path)
    with served(path) as address:
        until(lambda: fetched(address, "status")["report"])
        yield address


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
    bars = opened.page.locator(".topic-tile .within").all()
    widths = [bar.evaluate("bar => bar.style.width") for bar in bars]
    assert widths[0] == "100%" and all(float(width[:-1]) <= 100 for width in widths)


def test_search_finds_topics_by_word(opened: Dashboard, address: str) -> None:
    search = opened.page.get_by_label("Search topics by word")
    search.fill("rocket")
    opened.wait(".topic-tile .place", "rocket")
    first = fetched(address, "search?word=rocket")["items"][0]
    assert labels(opened)[0] == first["label"]
    assert f"word {first['rank']} here" in opened.texts(".topic-tile .place")[0]
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
    # Control characters, which some titles and texts have, can be seen.
    title, text = (found[name].strip().replace("\x1b", "\u241b") for name in ("title", "text"))
    opened.wait("h1", title)
    coloured = [s for s in found["segments"] if s["topic"] is not None]
    assert len(coloured) == 14 and opened.text(".text") == text
    marks = opened.page.locator(".text [data-topic]").all()
    ids = [int(mark.get_attribute("data-topic")) for mark in marks]
    assert ids == [segment["topic"] for segment in coloured]
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


def test_circles_do_not_hide_each_other(opened: Dashboard) -> None:
    """Topics at one place are drawn beside each other, in the picture; others stay."""
    found = opened.page.evaluate(
        """async () => {
          const { topicMap } = await import("/static/map.js");
          const map = topicMap({ onSelect() {} });
          document.body.append(map.element);
          const places = [[0, 0], [0, 0], [0.01, 0], [0, 0.02], [0, 0], [1, 1], [1, -1]];
          const each = {label: "a", share: 1 / 7};
          const topics = places.map((position, topic) => ({...each, topic, position}));
          map.update({topics, explained: 0.5}, 0);
          await new Promise(requestAnimationFrame);
          const { circles, width, height } = map.element.querySelector(".map").places;
          map.element.remove();
          return [circles.map(({x, y, radius}) => [x, y, radius]), width, height];
        }"""
    )
    circles, width, height = found
    for i, (x, y, radius) in enumerate(circles):
        assert radius < x < width - radius and radius < y < height - radius
        for other in circles[:i]:
            apart = math.hypot(x - other[0], y - other[1])
            assert apart > 0.8 * (radius + other[2])
    # Far from all others, they are where the topics are: as far right as each other.
    assert abs(circles[5][0] - circles[6][0]) < 1e-9 and circles[5][1] < circles[6][1]


def test_a_map_keeps_the_way_up_it_was(opened: Dashboard) -> None:
    """Places that were turned and mirrored are turned back."""
    found = opened.page.evaluate(
        """async () => {
          const { aligned } = await import("/static/dashboard/align.js");
          const old = new Map([[0, [1, 2]], [1, [-3, 1]], [2, [0.5, -2]], [3, [2, 0]]]);
          const away = [];
          for (const side of [1, -1]) for (const angle of [0, 0.7, 2, 3.1, -1.2]) {
            const [c, s] = [Math.cos(angle), Math.sin(angle)];
            const turn = ([x, y]) => [c * x - s * side * y, s * x + c * side * y];
            const topics = [...old].map(([topic, place]) => ({topic, position: turn(place)}));
            for (const [topic, [x, y]] of aligned(topics, old)) {
              away.push(Math.hypot(old.get(topic)[0] - x, old.get(topic)[1] - y));
            }
          }
          const alone = aligned([{topic: 9, position: [1, 1]}], old).get(9);
          return [Math.max(...away), alone];
        }"""
    )
    assert found[0] < 1e-9 and found[1] == [1, 1]
