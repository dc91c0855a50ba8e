"""The data and the file of a report: the numbers of the library, read once, safe to open."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import trustream
from tests.topics.planted import documents_of, in_batches, planted_topics
from tests.topics.texts import mixed_texts
from trustream import TopicModel
from trustream.store import DocumentStore
from trustream.streaming.published import load_model
from trustream.topics import (
    DocumentBatch,
    GrowingBins,
    TimeCounts,
    TopicSet,
    as_topics,
    gather,
    report_data,
    representative_documents,
    set_labels,
    stored_batches,
    topic_hierarchy,
    topic_info,
    topic_map,
    topics_over_time,
    write_report,
)
from trustream.topics.characteristic_words import relevant_words
from trustream.topics.report import page

N = 300
DAYS = [f"2024-{1 + day // 28:02d}-{1 + day % 28:02d}" for day in range(N)]


@pytest.fixture(scope="module")
def topics() -> TopicSet:
    topics = planted_topics(np.random.default_rng(0), 5)
    return set_labels(topics.with_names(topics.names.restarted([1])), {2: "a label"})


@pytest.fixture(scope="module")
def counts(topics: TopicSet) -> sparse.csr_array:
    rng = np.random.default_rng(1)
    return documents_of(rng, topics, rng.dirichlet(np.full(5, 0.3), N))


def close(found: Any, expected: Any) -> None:
    """Equal to the digits that are kept."""
    as_floats = [np.nan if value is None else value for value in found]
    np.testing.assert_allclose(as_floats, np.asarray(expected, float), rtol=1e-6)


def embedded(path: Path) -> dict[str, Any]:
    """The data on a page, as a browser reads it."""
    text = path.read_text(encoding="utf-8")
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(found)


def test_the_numbers_are_those_of_the_functions(topics: TopicSet, counts: Any) -> None:
    data = report_data(topics, counts, times=DAYS, bins=7, n_documents=3)
    table, found_map = topic_info(topics, counts), topic_map(topics)
    over_time = topics_over_time(topics, counts, DAYS, bins=7)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert (data["n_documents"], data["n_tokens"]) == (N, counts.sum())
    close([data["explained"]], [found_map.explained])
    close(data["time"]["edges"], over_time.edges)
    assert data["time"]["n_documents"] == over_time.n_documents.tolist()
    assert [one["topic"] for one in data["topics"]] == [info.topic for info in table]
    for one, info in zip(data["topics"], table, strict=True):
        assert (one["label"], one["labelled"]) == (info.label, info.labelled)
        assert one["n_documents"] == info.n_documents
        assert one["n_documents_with"] == info.n_documents_with
        close([one["share"], one["coherence"]], [info.share, info.coherence])
        close([one["weight_share"]], [topics.shares[info.row]])
        close(one["position"], found_map.positions[info.row])
        for name in ("shares", "lower", "upper"):
            close(one[name], getattr(over_time, name)[:, info.row])
        for numbers, words in zip(one["bin_words"], over_time.words, strict=True):
            expected = [word.word for word in words[info.row][:4]]
            assert [data["words"][number] for number in numbers] == expected
        trend = over_time.trends[info.row]
        assert (one["trend"]["kind"], one["trend"]["time"]) == (trend.kind, trend.time)
        close([one["trend"]["before"], one["trend"]["p_value"]], [trend.before, trend.p_value])
        best = representative_documents(topics, info.topic, counts, n=3)
        assert [document["row"] for document in one["documents"]] == [d.row for d in best]
        close([d["proportion"] for d in one["documents"]], [d.proportion for d in best])
    tree = topic_hierarchy(topics)
    assert data["hierarchy"]["order"] == list(tree.order)
    close([m["distance"] for m in data["hierarchy"]["mergers"]], [m.distance for m in tree.mergers])


def test_words_for_every_position_of_the_slider_are_there(topics: TopicSet) -> None:
    """Sorted by the formula, as the page does it, they are the most relevant words."""
    data = report_data(topics, n_words=7)
    steps = data["relevance"]["steps"]
    for one in data["topics"]:
        beta = np.array(one["probabilities"])
        p = np.array([data["frequencies"][number] for number in one["words"]])
        for step in range(steps + 1):
            relevance = step / steps
            scores = relevance * np.log(beta) + (1 - relevance) * np.log(beta / p)
            best = np.argsort(-scores, kind="stable")[:7]
            expected = relevant_words(topics, topics.row(one["topic"]), 7, relevance)
            assert [data["words"][one["words"][i]] for i in best] == [w.word for w in expected]
            np.testing.assert_allclose(scores[best], [w.weight for w in expected], rtol=1e-6)


def test_a_stream_is_read_once_and_gives_the_same_numbers(topics: TopicSet, counts: Any) -> None:
    rows = range(N)
    keys, times = [f"key {row}" for row in rows], [f"2024-01-01T{row % 24:02d}:00" for row in rows]
    n_read = 0

    def stream() -> Iterator[DocumentBatch]:
        nonlocal n_read
        for batch in in_batches(counts, 70, keys=keys, times=times):
            n_read += batch.size
            yield batch

    data = report_data(topics, stream(), bins=16)
    assert n_read == N
    whole = report_data(topics, DocumentBatch(counts, keys, times=times), bins=16)
    assert [one["label"] for one in data["topics"]] == [one["label"] for one in whole["topics"]]
    for one, other in zip(data["topics"], whole["topics"], strict=True):
        close([one["share"], one["coherence"]], [other["share"], other["coherence"]])
        assert [d["key"] for d in one["documents"]] == [d["key"] for d in other["documents"]]
    # Bins of a stream double in width from a part of a day until they are few enough.
    edges = np.array(data["time"]["edges"])
    assert 8 < edges.size - 1 <= 16 and (edges[0] % 86400) == 0
    counted = TimeCounts(topics, GrowingBins(float(edges[1] - edges[0])))
    gather(topics, stream(), counted)
    for one in data["topics"]:
        close(one["shares"], counted.result().shares[:, topics.row(one["topic"])])


def test_a_store_gives_the_same_numbers(trained_store: DocumentStore, tmp_path: Path) -> None:
    topics = as_topics(load_model(trained_store))
    write_report(tmp_path / "report.html", topics, stored_batches(trained_store, topics.words))
    table = topic_info(topics, stored_batches(trained_store, topics.words))
    data = embedded(tmp_path / "report.html")
    close([one["share"] for one in data["topics"]], [info.share for info in table])
    assert data["n_documents"] == table.n_documents == 200
    assert data["topics"][0]["documents"][0]["key"]


def test_a_model_of_texts_gives_the_numbers_of_its_methods(tmp_path: Path) -> None:
    texts, path = mixed_texts(90), tmp_path / "report.html"
    model = TopicModel(3, random_state=0).fit(texts)
    for given in (None, iter(texts)):
        model.report(path, given, DAYS[:90], bins=4, title="Ours", n_documents=2)
        data = embedded(path)
        found, table = model.topics_over_time(DAYS[:90], bins=4), model.topic_info()
        assert data["title"] == "Ours"
        for one, info in zip(data["topics"], table, strict=True):
            close([one["share"]], [info.share])
            close(one["shares"], found.shares[:, info.row])
            best = model.representative_documents(info.topic, n=2)
            assert [d["title"] for d in one["documents"]] == [d.title for d in best]
    assert data["topics"][0]["documents"][0]["key"] is None
    model.save(tmp_path / "model.safetensors")
    trustream.load(tmp_path / "model.safetensors").report(
        path, texts, DAYS[:90], bins=4, title="Ours", n_documents=2
    )
    assert embedded(path) == data
    with pytest.raises(ValueError, match="90 times, but 80 texts"):
        model.report(path, texts[:80], DAYS[:90])
    with pytest.raises(ValueError, match="80 times, but more texts"):
        model.report(path, texts, DAYS[:80])
    with pytest.raises(ValueError, match="80 times, but 90 documents were learned"):
        model.report(path, times=DAYS[:80])
    assert embedded(path) == data


def test_without_kept_documents_there_is_a_report_but_not_over_time(tmp_path: Path) -> None:
    model = TopicModel(2, random_state=0, keep_documents=0).fit(mixed_texts(30))
    model.report(tmp_path / "report.html")
    data = embedded(tmp_path / "report.html")
    assert data["n_documents"] is None and "documents" not in data["topics"][0]
    with pytest.raises(ValueError, match=r"no documents are kept .*report\(path, texts, times\)"):
        model.report(tmp_path / "report.html", times=DAYS[:30])


HOSTILE = "</script><script>alert(1)</script><!--\u2028&amp;\x1b[31m\ud800\u202e"
# Labels go into files and stores, which take Unicode only.
HOSTILE_LABEL = HOSTILE.replace("\ud800", "")


def test_hostile_texts_stay_inside_the_data(tmp_path: Path) -> None:
    words = [HOSTILE, "ordinary", "żółw"]
    topics = TopicSet.of([[5.0, 1.0, 1.0], [1.0, 5.0, 2.0]], 0.1, words)
    topics = set_labels(topics, {0: HOSTILE_LABEL})
    batch = DocumentBatch(
        np.eye(3), [HOSTILE, b"bytes", ("a", 1)], [HOSTILE, None, 3], [0, 9, None]
    )
    path = tmp_path / "report.html"
    write_report(path, topics, [batch], title=HOSTILE)
    text, data = path.read_text(encoding="utf-8"), embedded(path)
    assert text.count("</script>") == 2 and text.count("<!--") == 0
    visible = "</script><script>alert(1)</script><!--\\u2028&amp;\\x1b[31m\\ud800\\u202e"
    by_id = {one["topic"]: one for one in data["topics"]}
    assert visible in data["words"] and "żółw" in data["words"]
    assert by_id[0]["label"] == visible.replace("\\ud800", "")
    assert visible == by_id[0]["documents"][0]["title"] == data["title"]
    assert {d["key"] for d in by_id[0]["documents"]} == {visible, "b'bytes'", "('a', 1)"}
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    assert "http:" not in text.replace("http://www.w3.org/2000/svg", "") and "https:" not in text


def test_long_titles_are_shortened() -> None:
    topics = TopicSet.of([[5.0, 1.0]], 0.1)
    batch = DocumentBatch(np.ones((1, 2)), titles=["long " * 1000])
    (document,) = report_data(topics, batch)["topics"][0]["documents"]
    assert len(document["title"]) == 200 and document["title"].endswith("…")


def test_the_file_is_replaced_whole_or_not_at_all(topics: TopicSet, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(path, topics)
    before = path.read_bytes()

    def broken() -> Iterator[np.ndarray]:
        yield np.ones((2, 200))
        raise RuntimeError("the feed broke")

    with pytest.raises(RuntimeError, match="the feed broke"):
        write_report(path, topics, broken())
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]
    write_report(path, topics)
    assert path.read_bytes() == before  # the same topics make the same file
    with pytest.raises(ValueError, match="it is a device"):
        write_report(os.devnull, topics)
    with pytest.raises(ValueError, match="it is a directory"):
        write_report(tmp_path, topics)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"times": [1, 2]}, "times are given without documents"),
        ({"title": " "}, "title is ' ', expected a text"),
        ({"n_words": 0}, "n_words"),
        ({"n_documents": -1}, "n_documents"),
        ({"documents": np.ones((2, 3))}, "documents have 3 columns, the topics 200"),
        ({"documents": np.zeros((2, 200))}, "have not a single word"),
        ({"documents": []}, "have not a single word"),
        ({"documents": "text"}, "documents are of type str"),
        ({"documents": [np.ones((2, 200))], "times": [1, 2]}, "times go with a single matrix"),
        ({"documents": np.ones((2, 200)), "times": [1, 2, 3]}, "times are 3, but there are 2"),
        ({"documents": np.ones((2, 200)), "times": [None, None]}, "no document is in any bin"),
        ({"documents": np.ones((2, 200)), "times": [5, 5]}, "the same time"),
        ({"documents": np.ones((2, 200)), "bins": "many"}, "times are 'many'"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(
    topics: TopicSet, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        write_report(tmp_path / "report.html", topics, options.pop("documents", None), **options)
    assert not [*tmp_path.iterdir()]


def test_a_report_of_a_hundred_topics_is_below_a_megabyte(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    beta = rng.dirichlet(np.full(5000, 0.02), 100)
    words = [f"wörter{v:05d}" for v in range(5000)]
    topics = TopicSet.of(1e5 * beta + 0.1, 0.1, words, eta=0.1)
    counts = documents_of(rng, topics, rng.dirichlet(np.full(100, 0.05), 600))
    titles = ["ein längerer Titel, wie ihn Überschriften haben " * 5] * 600
    batch = DocumentBatch(counts, [f"https://example.org/{i:040d}" for i in range(600)], titles,
                          rng.uniform(0, 1e9, 600))  # fmt: skip
    write_report(tmp_path / "report.html", topics, [batch])
    assert (tmp_path / "report.html").stat().st_size < 1_000_000


def test_modules_share_a_scope_without_sharing_names(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {
        "main.js": 'import { a } from "./a.js";\nimport { b } from "./b.js";\na(b());\n',
        "a.js": 'import { b } from "./b.js";\nexport function a(x) {\n  return b() + x;\n}\n',
        "b.js": "export const b = () => 1;\n",
    }
    monkeypatch.setattr(page, "_asset", modules.__getitem__)
    expected = "const b = () => 1;\n\nfunction a(x) {\n  return b() + x;\n}\n\na(b());\n"
    assert page.bundled("main.js") == expected
    modules["b.js"] += "function a() {}\n"
    with pytest.raises(AssertionError, match=r"a is declared in b\.js and in a\.js"):
        page.bundled("main.js")
