"""A table of topics is shown in few lines, and nothing in it controls a terminal or a page."""

from __future__ import annotations

import re

import numpy as np

from trustream.topics import set_labels, topic_info
from trustream.topics.topic_set import TopicSet


def topics_of(n_topics: int, words: list[str] | None = None) -> TopicSet:
    weights = np.random.default_rng(0).gamma(0.3, size=(n_topics, 30)) + 1e-3
    return TopicSet.of(weights, 0.1, words or [f"word{i}" for i in range(30)])


def test_a_large_table_is_short() -> None:
    table = topic_info(topics_of(100))
    lines = repr(table).splitlines()
    assert str(table) == repr(table)
    assert lines[0] == "100 topics, words by relevance 0.6"
    assert lines[1].split() == ["topic", "share", "words"]
    assert lines[-1] == "... and 80 more"
    assert len(lines) == 23 and max(map(len, lines)) <= 100
    for line, info in zip(lines[2:-1], table, strict=False):
        words = [entry.word for entry in info.relevant[:7]]
        assert line.split() == [str(info.topic), f"{info.share:.1%}", *words]


def test_a_small_table_is_whole() -> None:
    lines = repr(topic_info(topics_of(20))).splitlines()
    assert len(lines) == 22 and "more" not in lines[-1]
    assert repr(topic_info(topics_of(1))).startswith("1 topic, ")
    counts = np.ones((1200, 30), int)
    assert repr(topic_info(topics_of(2), counts)).startswith("2 topics in 1,200 documents, ")


def test_labels_are_shown_once_there_are_any() -> None:
    topics = set_labels(topics_of(3), {1: "money", 2: "a label " * 20})
    table = topic_info(topics)
    lines = repr(table).splitlines()
    assert lines[1].split() == ["topic", "share", "label", "words"]
    starts = {line.index(table.topics[i].relevant[0].word) for i, line in enumerate(lines[2:])}
    assert starts == {lines[1].index("words")}
    assert any(" money " in line for line in lines)
    assert max(map(len, lines)) < 130
    # One without is called by its words, which stand beside it.
    assert not any(table.topic(0).label in line for line in lines)


def test_html_is_the_same_table_escaped() -> None:
    words = ["<script>alert(1)</script>", "a&b", "\x1b[31mred", *(f"word{i}" for i in range(27))]
    topics = set_labels(topics_of(100, words), {5: "<b>bold</b>"})
    table = topic_info(topics)
    shown = table._repr_html_()
    assert "<script" not in shown and "<b>" not in shown and "\x1b" not in shown
    assert "\x1b" not in repr(table)
    assert shown.count("<tr>") == 21 and "... and 80 more" in shown
    assert len(shown) < 6000
    table = topic_info(set_labels(topics_of(2, words), {0: "<b>bold</b>"}))
    assert "&lt;b&gt;bold&lt;/b&gt;" in table._repr_html_()
    assert set(re.findall(r"</?(\w+)", table._repr_html_())) == {
        *("p", "table", "thead", "tbody", "tr", "th", "td")
    }


def test_the_table_of_a_model_without_words_is_shown() -> None:
    table = topic_info(TopicSet.of(np.ones((2, 3)), 0.1))
    assert len(repr(table).splitlines()) == 4
