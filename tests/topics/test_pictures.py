"""Pictures show the numbers that they are given, where they are told to, and can be read."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Any

import matplotlib
import numpy as np
import pytest

from tests.topics.planted import documents_of, planted_topics
from trustream.topics import (
    DocumentBatch,
    TopicSet,
    UnknownTopicError,
    plot_choice,
    plot_document,
    plot_hierarchy,
    plot_map,
    plot_over_time,
    plot_top_words,
    set_labels,
    topic_hierarchy,
    topic_info,
    topic_map,
    topics_over_time,
    view_documents,
)
from trustream.topics.characteristic_words import relevant_words
from trustream.topics.choosing import ComponentsScore, choice_of
from trustream.topics.pictures import drawing
from trustream.topics.pictures.over_time import spread
from trustream.topics.time_result import TopicsOverTime

MARKUP = "costs $5 and $x^2$ <b>"


@pytest.fixture(autouse=True)
def no_windows() -> Iterator[None]:
    from matplotlib import pyplot

    matplotlib.use("agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def topics() -> TopicSet:
    return set_labels(planted_topics(np.random.default_rng(0), 8), {3: MARKUP})


@pytest.fixture(scope="module")
def counts(topics: TopicSet) -> Any:
    rng = np.random.default_rng(1)
    alpha = np.full((400, 8), 0.2)
    alpha[200:, 3] = 2.0
    theta = rng.standard_gamma(alpha)
    return documents_of(rng, topics, theta / theta.sum(axis=1, keepdims=True))


@pytest.fixture(scope="module")
def over_time(topics: TopicSet, counts: Any) -> TopicsOverTime:
    days = np.datetime64("2024-01-01") + np.arange(400)
    days[150:180] = np.datetime64("NaT")
    return topics_over_time(topics, counts, days, bins=20)


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def boxes(ax: Any) -> list[tuple[float, ...]]:
    """Where the texts of Axes are in the picture as it is saved."""
    ax.figure.canvas.draw()
    return [drawing.extent(text) for text in ax.texts if text.get_text()]


def overlaps(found: list[tuple[float, ...]]) -> int:
    return sum(drawing.overlap(a, b) for a, b in itertools.combinations(found, 2))


def all_plain(ax: Any, part: str) -> bool:
    """Whether texts with this part are shown as they are."""
    found = [text for text in ax.findobj(matplotlib.text.Text) if part in text.get_text()]
    return bool(found) and not any(text.get_parse_math() for text in found)


def test_bars_are_probabilities(topics: TopicSet) -> None:
    axes = plot_top_words(topics, [3, 0], 5, relevance=0.3)
    for topic, ax in zip([3, 0], axes, strict=True):
        expected = relevant_words(topics, topic, 5, 0.3)
        assert [label.get_text() for label in ax.get_yticklabels()] == [w.word for w in expected]
        beta = dict(zip(topics.words, topics.probabilities(topic), strict=True))
        widths = [bar.get_width() for bar in ax.patches]
        np.testing.assert_allclose(widths, [beta[word.word] for word in expected])
    assert all_plain(axes[0], "$5")
    assert len(plot_top_words(topics)) == 8


def test_the_map_has_positions_and_sizes(topics: TopicSet) -> None:
    found = topic_map(topics)
    ax = plot_map(topics)
    (circles,) = ax.collections
    order = np.argsort(-found.shares, kind="stable")
    np.testing.assert_allclose(circles.get_offsets(), found.positions[order])
    areas = circles.get_sizes()
    np.testing.assert_allclose(areas / areas.sum(), found.shares[order])
    assert MARKUP in texts(ax) and all_plain(ax, "$5")
    assert overlaps(boxes(ax)) == 0
    assert "topic 0" in texts(plot_map(found))
    assert "first" in texts(plot_map(found, {0: "first"}))


def test_labels_of_many_topics_do_not_overlap() -> None:
    topics = planted_topics(np.random.default_rng(0), 100, 300)
    ax = plot_map(topics)
    assert overlaps(boxes(ax)) == 0
    assert sum("," in text for text in texts(ax)) > 20


def test_the_hierarchy_joins_at_its_distances(topics: TopicSet) -> None:
    tree = topic_hierarchy(topics)
    ax = plot_hierarchy(tree, topics, n_groups=3)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert [int(label.partition(":")[0]) for label in labels] == list(tree.order)
    assert all_plain(ax, "$5")
    joins = [(*line.get_xdata(), *line.get_ydata()) for line in ax.lines]
    np.testing.assert_allclose([join[1] for join in joins], [m.distance for m in tree.mergers])
    # Each line begins where earlier ones ended: leaves at zero, groups at their own distance.
    ends = {(0.0, float(place)) for place in range(8)}
    for x0, x1, _, x3, y0, _, _, y3 in joins:
        assert {(x0, y0), (x3, y3)} <= ends
        ends.add((x1, (y0 + y3) / 2))


def test_lines_over_time_are_shares(over_time: TopicsOverTime) -> None:
    ax = plot_over_time(over_time, [3, 1])
    lines = [line for line in ax.lines if line.get_linestyle() == "-"]
    for topic, line in zip([3, 1], lines, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), over_time.shares[:, topic])
    assert np.isnan(lines[0].get_ydata()).any()  # bins without documents
    assert texts(ax)[0] == f"{MARKUP} ({over_time.trends[3].kind})" and all_plain(ax, "$5")
    assert over_time.trends[3].kind in ("rising", "new")
    # The one that changes comes first, if nobody chooses.
    ax = plot_over_time(over_time)
    assert texts(ax)[0].startswith(MARKUP) and len(texts(ax)) == 6
    assert overlaps(boxes(ax)) == 0


def test_heights_are_spread_as_little_as_needed() -> None:
    rng = np.random.default_rng(0)
    heights = rng.uniform(0, 10, 12)
    moved = spread(heights, 0.7)
    assert (np.argsort(moved) == np.argsort(heights)).all()
    assert np.diff(np.sort(moved)).min() >= 0.7 - 1e-12
    from scipy.optimize import minimize

    order = np.argsort(heights)
    rising = {"type": "ineq", "fun": lambda x: np.diff(x) - 0.7}
    start = np.arange(12) * 0.9
    best = minimize(lambda x: ((x - heights[order]) ** 2).sum(), start, constraints=[rising])
    np.testing.assert_allclose(moved[order], best.x, atol=1e-4)
    assert spread([0.0, 0.1], 1.0, bottom=0.0).tolist() == [0.0, 1.0]


def test_words_of_a_document_stand_on_the_colours_of_their_topics(
    topics: TopicSet, counts: Any
) -> None:
    batch = DocumentBatch(counts[:3], titles=["a $title$", None, None], keys=[None, "key", None])
    view, keyed, numbered = view_documents(topics, batch)
    ax = plot_document(view, topics)
    assert ax.get_title(loc="left") == "a $title$" and all_plain(ax, "$title")
    assert plot_document(keyed).get_title(loc="left") == "key"
    assert plot_document(numbered).get_title(loc="left") == "document 2"
    largest = view.topics[0]
    assert texts(ax)[0].startswith(f"{100 * largest.proportion:.0f} %")
    colour_of = {text.get_text(): text.get_bbox_patch().get_facecolor() for text in ax.texts}
    names = {word.word: word for word in view.words}
    for shown, colour in colour_of.items():
        word = names.get(shown.partition(" ×")[0])
        if word is not None and word.topic == largest.topic:
            np.testing.assert_allclose(colour[:3], colour_of[texts(ax)[0]][:3])
    assert overlaps(boxes(ax)) == 0
    assert any("more words" in text for text in texts(plot_document(view, n_words=3)))
    (empty,) = view_documents(topics, np.zeros((1, 200)))
    assert "no word of this document is known to the model" in texts(plot_document(empty))


def test_the_choice_of_a_number_is_marked() -> None:
    values = {2: -6.5, 4: -6.1, 8: -6.02, 16: -6.0, 32: -6.01}
    choice = choice_of([ComponentsScore(k, v, 0.03, k / 100, 0.02) for k, v in values.items()])
    score, coherence = plot_choice(choice)
    np.testing.assert_allclose(score.lines[0].get_ydata().astype(float), [*values.values()])
    np.testing.assert_allclose(
        coherence.lines[0].get_ydata().astype(float), [k / 100 for k in values]
    )
    marks = [marked.get_offsets()[0].tolist() for marked in score.collections[-2:]]
    assert marks == [[8.0, -6.02], [16.0, -6.0]]
    labels = [text.get_text() for text in score.get_legend().get_texts()]
    assert "recommended: 8 topics" in labels and "best score: 16 topics" in labels
    single = choice_of([ComponentsScore(3, -6.0, float("nan"), 0.1, float("nan"))])
    assert len(plot_choice(single)) == 2


def test_axes_that_are_given_are_drawn_on(
    topics: TopicSet, counts: Any, over_time: TopicsOverTime
) -> None:
    from matplotlib.figure import Figure

    choice = choice_of([ComponentsScore(k, -6.0 - k, 0.1, 0.1, 0.1) for k in (2, 3)])
    view = next(view_documents(topics, counts))
    panels = Figure(figsize=(12, 8)).subplots(2, 3).ravel()
    assert plot_map(topics, ax=panels[0]) is panels[0]
    assert plot_hierarchy(topics, ax=panels[1]) is panels[1]
    assert plot_over_time(over_time, ax=panels[2]) is panels[2]
    assert plot_document(view, ax=panels[3]) is panels[3]
    assert plot_choice(choice, ax=panels[4])[0] is panels[4]
    assert plot_top_words(topics, [2], ax=panels[5])[0] is panels[5]
    assert list(plot_top_words(topics, [2, 1], ax=panels[:2])) == list(panels[:2])
    subfigure = Figure().subfigures(1, 2)[0]
    assert plot_map(topics, ax=subfigure.subplots()).collections


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda t, o: plot_top_words(t, [99]), UnknownTopicError, "there is no topic 99"),
        (lambda t, o: plot_top_words(t, []), ValueError, "topics are empty"),
        (lambda t, o: plot_top_words(t, 3), ValueError, "topics are 3, expected a list"),
        (lambda t, o: plot_top_words(t, n_words=0), ValueError, "n_words"),
        (lambda t, o: plot_top_words(t, relevance=2), ValueError, "relevance is 2"),
        (lambda t, o: plot_top_words(t, [1], ax=3), ValueError, "ax is of type int"),
        (lambda t, o: plot_map("text"), ValueError, "model is of type str"),
        (lambda t, o: plot_over_time(t), ValueError, "found is of type TopicSet"),
        (lambda t, o: plot_over_time(o, [77]), UnknownTopicError, "there is no topic 77"),
        (lambda t, o: plot_document(t), ValueError, "view is of type TopicSet"),
        (lambda t, o: plot_choice(t), ValueError, "choice is of type TopicSet"),
    ],
)
def test_bad_input(
    topics: TopicSet, over_time: TopicsOverTime, draw: Any, error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        draw(topics, over_time)


def test_several_topics_need_several_axes(topics: TopicSet) -> None:
    from matplotlib.figure import Figure

    with pytest.raises(ValueError, match="ax has 1 Axes, expected 2"):
        plot_top_words(topics, [1, 2], ax=Figure().subplots())


def test_labels_come_from_whatever_knows_them(topics: TopicSet, over_time: TopicsOverTime) -> None:
    for source in (topics, topic_info(topics), over_time, {3: MARKUP}):
        assert drawing.labels_of(source, [3]) == {3: MARKUP}
    assert drawing.labels_of({1: "\x1b[31mred"}, [1]) == {1: "\\x1b[31mred"}


def test_one_topic_and_equal_topics() -> None:
    for weights in ([[2.0, 1.0]], [[1.0, 1.0]] * 3):
        topics = TopicSet.of(weights, 0.1)
        assert plot_map(topics).collections
        assert len(plot_hierarchy(topics).get_yticklabels()) == len(weights)
        assert len(plot_top_words(topics)) == len(weights)


def test_without_matplotlib_an_error_names_the_extra(
    topics: TopicSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"trustream\[plot\]"):
        plot_map(topics)
