"""A report in a browser: what people see and can do, and what the page must not do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import browser as browsers
from tests.browser import OpenPage, open_browser
from tests.topics.planted import documents_of, planted_topics
from trustream.topics import (
    DocumentBatch,
    TopicSet,
    representative_documents,
    set_labels,
    topic_info,
    topics_over_time,
    write_report,
)
from trustream.topics.characteristic_words import relevant_words

HOSTILE = "<script>document.title='taken'</script></script><img src=x onerror=alert(1)>"
ANSI = "\x1b[31mred\x1b[0m"
N = 400


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as found:
        yield found


@pytest.fixture(scope="module")
def topics() -> TopicSet:
    topics = planted_topics(np.random.default_rng(0), 6, 120)
    return set_labels(topics, {1: HOSTILE, 2: "costs $5 & more", 3: ANSI})


@pytest.fixture(scope="module")
def documents(topics: TopicSet) -> DocumentBatch:
    """Topic 4 rises."""
    rng = np.random.default_rng(1)
    alpha = np.full((N, 6), 0.3)
    alpha[N // 2 :, 4] = 1.5
    theta = rng.standard_gamma(alpha)
    counts = documents_of(rng, topics, theta / theta.sum(axis=1, keepdims=True))
    days = np.datetime64("2024-01-01") + np.arange(N)
    titles = [HOSTILE if row % 2 else f"Title of {row} {ANSI}" for row in range(N)]
    return DocumentBatch(counts, [f"key{row}</script>" for row in range(N)], titles, days)


@pytest.fixture(scope="module")
def path(
    tmp_path_factory: pytest.TempPathFactory, topics: TopicSet, documents: DocumentBatch
) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, topics, documents, title=f"Pets & {HOSTILE}", bins=12)
    return path


@pytest.fixture
def opened(browser: Any, path: Path) -> Iterator[OpenPage]:
    found = OpenPage(browser, path)
    yield found
    found.page.close()
    assert found.requests == [] and found.errors == []


def shown_words(opened: OpenPage) -> list[tuple[str, ...]]:
    """Words, their probabilities in the topic, and which part of their uses is there."""
    columns = [opened.texts(f".bars tbody tr > :nth-child({place})") for place in (1, 3, 4)]
    return list(zip(*columns, strict=True))


def expected_words(topics: TopicSet, topic: int, relevance: float) -> list[tuple[str, ...]]:
    row = topics.row(topic)
    beta, uses = topics.probabilities(row), topics.weights[row] / topics.weights.sum(axis=0)
    columns = [topics.words.index(w.word) for w in relevant_words(topics, row, 20, relevance)]
    return [
        (topics.words[column], f"{100 * beta[column]:.2f} %", f"{100 * uses[column]:.0f} %")
        for column in columns
    ]


def test_the_page_says_what_the_table_of_topics_says(
    opened: OpenPage, topics: TopicSet, documents: DocumentBatch
) -> None:
    table = topic_info(topics, documents)
    rows = [row.split("\t") for row in opened.texts(".topics tbody tr")]
    for info, (topic, _, share, n_documents, coherence, _) in zip(table, rows, strict=True):
        assert topic.strip() == str(info.topic)
        assert share == f"{100 * info.share:.2f} %"
        assert n_documents == str(info.n_documents)
        assert coherence == f"{info.coherence:.3f}"
    figures = dict(zip(opened.texts(".figures dt"), opened.texts(".figures dd"), strict=True))
    largest = table.topics[0]
    assert figures["Topic"] == str(largest.topic)
    assert figures["Share"] == f"{100 * largest.share:.2f} %"
    assert figures["Main topic of"] == str(largest.n_documents)
    assert figures["At least 10 % of"] == str(largest.n_documents_with)
    assert f"6 topics · 120 words · {N} documents" in opened.text(".summary")


def test_the_slider_sorts_words_as_the_library_does(opened: OpenPage, topics: TopicSet) -> None:
    largest = int(opened.texts(".figures dd")[0])
    assert shown_words(opened) == expected_words(topics, largest, 0.6)
    slider = opened.page.get_by_role("slider", name="Relevance")
    slider.focus()
    seen = set()
    for key, times, relevance in [("ArrowLeft", 3, 0.45), ("Home", 1, 0.0), ("End", 1, 1.0)]:
        for _ in range(times):
            slider.press(key)
        assert opened.text(".slider output") == f"{relevance:.2f}"
        assert shown_words(opened) == expected_words(topics, largest, relevance)
        seen.add(tuple(shown_words(opened)))
    assert len(seen) == 3
    # Other topics are sorted by what the slider says now.
    opened.page.get_by_role("button", name="Smaller topic").click()
    other = int(opened.texts(".figures dd")[0])
    assert other != largest and shown_words(opened) == expected_words(topics, other, 1.0)


def test_a_topic_is_chosen_on_the_map_by_pointer_and_keys(opened: OpenPage) -> None:
    order = [int(text) for text in opened.texts(".topics tbody td:first-child")]
    chosen = opened.page.locator("[role=option][aria-selected=true]")
    chosen.focus()
    chosen.press("ArrowRight")
    opened.page.wait_for_function(f"location.hash === '#topic-{order[1]}'")
    assert opened.page.evaluate("document.activeElement.dataset.topic") == str(order[1])
    chosen.press("End")
    opened.page.wait_for_function(f"location.hash === '#topic-{order[-1]}'")
    opened.page.locator(f"[role=option][data-topic='{order[2]}'] circle").click(force=True)
    opened.page.wait_for_function(f"location.hash === '#topic-{order[2]}'")
    assert opened.texts(".figures dd")[0] == str(order[2])
    opened.page.go_back()
    opened.page.wait_for_function(
        f"document.querySelector('.figures dd').textContent == {order[-1]}"
    )
    opened.page.locator(f".topics button[data-topic='{order[3]}']").click()
    opened.page.get_by_role("combobox", name="Topic").select_option(str(order[0]))
    opened.page.wait_for_function(
        f"document.querySelector('.figures dd').textContent == {order[0]}"
    )


def test_documents_and_hostile_texts_are_shown_as_text(
    browser: Any, path: Path, topics: TopicSet, documents: DocumentBatch
) -> None:
    opened = OpenPage(browser, path, hash="#topic-1")
    assert opened.page.title() == f"Pets & {HOSTILE}"
    assert opened.text("h1") == f"Pets & {HOSTILE}"
    assert opened.text(".topic-label") == HOSTILE
    best = representative_documents(topics, 1, documents)
    visible = "\\x1b[31mred\\x1b[0m"
    assert opened.texts(".documents .title") == [one.title.replace(ANSI, visible) for one in best]
    assert opened.texts(".proportion") == [f"{100 * one.proportion:.0f} %" for one in best]
    notes = opened.texts(".documents .note")
    assert notes == [f"{one.key} · {one.n_tokens:.0f} known words" for one in best]
    assert opened.page.locator("img").count() == 0
    # The data and the page's own script.
    assert opened.page.locator("script").count() == 2
    opened.page.get_by_role("combobox", name="Topic").select_option("3")
    opened.page.wait_for_function("document.querySelector('.figures dd').textContent == 3")
    assert opened.text(".topic-label") == visible
    assert opened.requests == [] and opened.errors == []
    opened.page.close()


def test_the_page_forbids_itself_the_network_and_other_scripts(opened: OpenPage) -> None:
    """The policy holds for whatever a mistake might let in."""
    opened.page.evaluate(
        """() => {
            const script = document.createElement("script");
            try { script.textContent = "window.taken = 1"; document.body.append(script); } catch {}
            try { document.body.insertAdjacentHTML("beforeend", "<b id=taken>x</b>"); } catch {}
            const image = new Image(); image.src = "https://example.invalid/x.png";
        }"""
    )
    refused = opened.page.evaluate("fetch('https://example.invalid/').then(() => 0, () => 1)")
    assert refused == 1
    assert opened.page.evaluate("window.taken ?? document.getElementById('taken')") is None
    opened.page.wait_for_timeout(50)
    assert any("Content Security Policy" in error for error in opened.errors)
    # Chromium reports what the policy stopped as requests that failed.
    opened.errors.clear()
    opened.requests.clear()


def test_topics_over_time_have_the_numbers_of_the_library(
    browser: Any, path: Path, topics: TopicSet, documents: DocumentBatch
) -> None:
    opened = OpenPage(browser, path, hash="#topic-4")
    found = topics_over_time(topics, documents, bins=12)
    trend = found.trends[4]
    assert trend.kind == "rising"
    verdict = opened.text(".verdict")
    assert verdict.startswith("▲ rising") and f"{100 * trend.before:.2f} % before" in verdict
    assert f"{100 * trend.after:.2f} % since" in verdict
    opened.page.get_by_text("As a table").click()
    rows = [row.split("\t") for row in opened.texts(".timeline ~ details tbody tr")]
    assert len(rows) == 12
    for b, (_, share, interval, n_documents, words) in enumerate(rows):
        assert share == f"{100 * found.shares[b, 4]:.2f} %"
        low, high = 100 * found.lower[b, 4], 100 * found.upper[b, 4]
        assert interval == f"{low:.2f} % to {high:.2f} %"
        assert n_documents == str(found.n_documents[b])
        assert words == ", ".join(one.word for one in found.words[b][4][:4])
    chart = opened.page.locator(".timeline svg")
    chart.focus()
    chart.press("Home")
    assert f"{100 * found.shares[0, 4]:.2f} %" in opened.text(".readout")
    assert chart.get_attribute("aria-valuetext") == opened.page.locator(".readout").inner_text()
    listed = opened.texts(".trends .name")
    expected = {found.labels[t.topic] for t in found.trends if t.kind != "steady"}
    assert len(listed) == len(expected) and found.labels[4] in listed
    assert opened.requests == [] and opened.errors == []
    opened.page.close()


def test_the_table_can_be_sorted_and_searched(opened: OpenPage, topics: TopicSet) -> None:
    before = opened.texts(".topics tbody td:first-child")
    opened.page.locator(".topics thead button", has_text="Topic").press("Enter")
    assert opened.texts(".topics tbody td:first-child") == sorted(before, key=int)
    assert opened.page.locator("th[aria-sort=ascending]").count() == 1
    word = relevant_words(topics, 5, 1, 0.6)[0].word
    opened.page.get_by_role("searchbox").fill(word)
    assert "5" in opened.texts(".topics tbody td:first-child")
    assert opened.text(".search .note").endswith("of 6 topics")
    opened.page.get_by_role("searchbox").fill("no such word")
    assert opened.texts(".topics tbody tr") == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_phones_and_wide_screens_and_has_contrast(
    browser: Any, path: Path, theme: str
) -> None:
    for width in (360, 820, 1600):
        opened = OpenPage(browser, path, width, theme, "#topic-1")
        opened.page.wait_for_selector(".map circle")
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        for selector in (".map svg", ".timeline svg", ".tree svg", ".bars"):
            box = opened.page.locator(selector).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width
        worst = opened.page.evaluate(CONTRAST)
        assert worst["ratio"] >= 4.5, worst
        assert opened.requests == [] and opened.errors == []
        opened.page.close()


# The smallest contrast of a text with what is behind it, as WCAG defines it.
CONTRAST = """() => {
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => {
        const linear = parts(colour).slice(0, 3).map((value) => {
            const part = value / 255;
            return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const behind = (node) => {
        for (; node; node = node.parentElement) {
            const colour = getComputedStyle(node).backgroundColor;
            const alpha = parts(colour)[3];
            if (alpha === undefined || alpha === 1) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    let worst = { ratio: 21 };
    const report = document.getElementById("report");
    const walker = document.createTreeWalker(report, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || node.closest("title")) continue;
        const style = getComputedStyle(node);
        const colour = node.closest("svg") ? style.fill : style.color;
        const [a, b] = [light(colour), light(behind(node))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < worst.ratio) worst = { ratio, text: walker.currentNode.textContent, colour };
    }
    return worst;
}"""


def test_without_documents_the_page_has_what_the_model_knows(
    browser: Any, tmp_path: Path, topics: TopicSet
) -> None:
    write_report(tmp_path / "report.html", topics)
    opened = OpenPage(browser, tmp_path / "report.html")
    assert opened.texts("section h2.panel-title") == ["Map of topics", "Hierarchy", "All topics"]
    assert opened.texts(".figures dt") == ["Topic", "Share"]
    assert opened.errors == []
    opened.page.close()


@pytest.mark.parametrize("weights", [[[1.0]], [[2.0, 2.0], [2.0, 2.0]]], ids=["one", "equal"])
def test_a_single_topic_and_equal_topics(
    browser: Any, tmp_path: Path, weights: list[list[float]]
) -> None:
    topics = TopicSet.of(weights, 0.1)
    counts = np.ones((3, len(weights[0])))
    batches = [DocumentBatch(counts, times=[0, 0, 0])]
    write_report(tmp_path / "report.html", topics, batches)
    opened = OpenPage(browser, tmp_path / "report.html")
    assert opened.page.locator(".map .topic circle").count() == len(weights)
    assert len(opened.texts(".documents li")) == 3
    assert opened.errors == []
    opened.page.close()


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail), ("", pytest.skip)])
def test_without_chromium_tests_are_skipped_but_not_in_ci(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ci: str, outcome: Any
) -> None:
    monkeypatch.setattr(browsers, "CHROMIUM", tmp_path / "chromium")
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome.Exception, match="apt-get install"), open_browser():
        pass
