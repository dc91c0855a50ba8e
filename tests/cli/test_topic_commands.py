"""Commands on topics: tables, documents, trends, labels, edits, reports and their number."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trustream
from tests.cli.commands import call, fails, ok, values
from tests.pets_and_money import MONEY, PETS, records
from trustream.cli.trends import sparkline
from trustream.store import Record
from trustream.topics import as_topics, stored_batches, topic_info
from trustream.topics.stored_topics import stored_topics


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pets at first, then money; and a model of four topics."""
    path = tmp_path_factory.mktemp("topics") / "topics.db"
    ok("init", path, "--topics", 4, "--min-documents", 1, "--batch", 20)
    rng = np.random.default_rng(0)
    with trustream.open_store(path) as store:
        store.append(
            Record(f"d{i}", rng.choice([PETS, MONEY][i // 150], 12).tolist(), time=i * 86400.0)
            for i in range(300)
        )
    ok("train", path, "--steps", 40)
    return path


@pytest.fixture
def store(trained: Path, tmp_path: Path) -> Path:
    path = tmp_path / "topics.db"
    shutil.copy(trained, path)
    return path


def lines(*arguments: object) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ok(*arguments, "--json").splitlines()]


def usage(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 2, result.output
    return result.output


def topic_of(path: Path, words: list[str]) -> int:
    """The largest topic of these words."""
    shown = lines("topics", path, "-n", 3)
    return next(topic["topic"] for topic in shown if set(topic["words"]) <= set(words))


def test_topics_with_info(trained: Path, tmp_path: Path) -> None:
    with trustream.open_store(trained, create=False) as found:
        topics = stored_topics(found)
        table = topic_info(topics, stored_batches(found, topics.words), n_words=3, relevance=0.3)
    printed = lines("topics", trained, "--info", "-n", 3, "--relevance", 0.3)
    assert [topic["topic"] for topic in printed] == [info.topic for info in table]
    assert [topic["share"] for topic in printed] == [info.share for info in table]
    assert sum(topic["n_documents"] for topic in printed) == 300
    assert printed[0]["relevant"][0] == {
        "word": table.topics[0].relevant[0].word,
        "weight": table.topics[0].relevant[0].weight,
    }
    text = ok("topics", trained, "--info").splitlines()
    assert text[0] == "4 topics in 300 documents, words by relevance 0.6"
    assert text[1].split("\t") == ["topic", "share", "documents", "coherence", "words"]
    # A file has no documents to count in.
    ok("export", trained, tmp_path / "topics.safetensors")
    text = ok("topics", tmp_path / "topics.safetensors", "--info").splitlines()
    assert text[1].split("\t") == ["topic", "share", "words"] and len(text) == 6
    refused = usage("topics", trained, "--relevance", 0.3)
    assert "--relevance, --sample and --cluster need --info" in refused


def test_labels(store: Path, tmp_path: Path) -> None:
    hostile = "<b>red</b> \x1b[31m\u202e"
    assert ok("label", store, 1, hostile) == "topic 1 (<b>red</b> \\x1b[31m\\u202e)\n"
    everything = ok("topics", store) + ok("topics", store, "--info") + ok("documents", store, 1)
    assert "\x1b" not in everything and "<b>red</b> \\x1b[31m\\u202e" in everything
    assert values("label", store, hostile, "pets")["after"][0]["label"] == "pets"
    shown = {topic["topic"]: topic["label"] for topic in lines("topics", store)}
    assert shown == {0: None, 1: "pets", 2: None, 3: None}
    assert "pets: " in ok("topics", store)
    # They are in the file, and in Python.
    ok("export", store, tmp_path / "topics.safetensors")
    assert "pets: " in ok("topics", tmp_path / "topics.safetensors")
    loaded = as_topics(trustream.load(tmp_path / "topics.safetensors"))
    assert loaded.names.labels == {1: "pets"}
    assert "has no label now" in ok("label", store, "PETS", "--remove")
    assert "pets: " not in ok("topics", store)
    assert "there is no topic 'pets'" in fails("label", store, "pets", "cats")
    assert "give either a LABEL or --remove" in usage("label", store, 1)
    assert "give either a LABEL or --remove" in usage("label", store, 1, "pets", "--remove")
    assert "expected a text" in fails("label", store, 1, " ")
    assert "at most 200 are kept" in fails("label", store, 1, "x" * 201)


def test_files_of_topic_models_show_ids_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    texts = [" ".join(record.words) for record in records(60)]
    model = trustream.TopicModel(4, random_state=0, min_documents=1).fit(texts)
    model.merge_topics([0, 2]).set_labels({3: "the last"}).save(path)
    shown = {topic["topic"]: topic["label"] for topic in lines("topics", path)}
    assert shown == {0: None, 1: None, 3: "the last"}
    (tmp_path / "new.txt").write_text("cat and dog\n")
    (document,) = lines("transform", path, tmp_path / "new.txt", "--top", 3)
    assert {part["topic"] for part in document["topics"]} == {0, 1, 3}
    line = ok("transform", path, tmp_path / "new.txt", "--all")
    assert [part.split(":")[0] for part in line.split("  ")[1:]] == ["0", "1", "3"]
    assert model.estimator_.topic_names_ == model.topics_.names


def test_merge_split_and_delete(store: Path) -> None:
    ok("label", store, 2, "money")
    text = ok("merge", store, "money", 0)
    assert text.endswith("are one topic: 2 (money); 3 topics now\n")
    assert {topic["topic"] for topic in lines("topics", store)} == {1, 2, 3}
    split = values("split", store, "money")
    assert [topic["topic"] for topic in split["after"]] == [4, 5] and split["n_topics"] == 4
    assert "deleted 1 (" in ok("delete-topics", store, 1)
    # The model goes on with the topics that there are, and settings of that number.
    ok("train", store, "--steps", 5)
    assert values("status", store)["topics"] == 3
    assert {topic["topic"] for topic in lines("topics", store)} == {3, 4, 5}
    message = fails("merge", store, 3, 0)
    assert "there is no topic '0': topics are 3 to 5" in message
    assert re.search(r"no topic 'horse': near (is|are) [345] \(", fails("merge", store, 3, "horse"))
    assert "expected at least 2" in fails("merge", store, 3)
    assert "twice" in fails("merge", store, 3, 3)
    assert "all topics would be deleted" in fails("delete-topics", store, 3, 4, 5)
    assert "--documents" in usage("split", store, 3, "--documents", 1)


def test_a_trainer_is_named(store: Path) -> None:
    with trustream.open_store(store, create=False) as found:
        with trustream.StreamTrainer(found):
            message = fails("merge", store, 0, 1)
            assert "a trainer of the model 'model' of" in message and "process" in message
            ok("label", store, 0, "fine")
    ok("merge", store, 0, 1)


def test_documents_of_a_topic_and_the_reverse(trained: Path) -> None:
    pets = topic_of(trained, PETS)
    best = lines("documents", trained, pets, "-n", 4)
    assert [document["topic"] for document in best] == [pets] * 4
    shares = [document["proportion"] for document in best]
    assert shares == sorted(shares, reverse=True) and all(int(d["key"][1:]) < 150 for d in best)
    text = ok("documents", trained, pets, "-n", 4).splitlines()
    assert [line.split()[-1] for line in text] == [document["key"] for document in best]
    sampled = call("documents", trained, pets, "--sample", 50)
    assert "Chosen from a random sample of 50 of 300 documents." in sampled.stderr
    view = values("documents", trained, "--document", best[0]["key"])
    assert view["topics"][0]["topic"] == pets
    assert view["topics"][0]["proportion"] == pytest.approx(shares[0], abs=1e-5)
    words = {word["word"]: word for word in view["words"]}
    assert set(words) <= set(PETS) and view["ids"] == [0, 1, 2, 3]
    assert sum(words["cat"]["phi"]) == pytest.approx(1)
    text = ok("documents", trained, "--document", best[0]["key"])
    assert "12 words that the model knows" in text and f"{pets} (" in text
    assert "has no document 'none'" in fails("documents", trained, "--document", "none")
    assert "there is no topic '9': topics are 0 to 3" in fails("documents", trained, 9)
    assert "give either a TOPIC or --document" in usage("documents", trained)
    assert "give either a TOPIC" in usage("documents", trained, 1, "--document", "d1")


def test_documents_without_known_words(store: Path) -> None:
    with trustream.open_store(store, create=False) as found:
        found.append([Record("odd \x1b[31m", ["unheard"], time=0.0), Record("none", [], time=0.0)])
    for key in ("odd \x1b[31m", "none"):
        text = ok("documents", store, "--document", key)
        assert "knows none of its words" in text and "\x1b" not in text
    assert values("trends", store)["n_without_words"] == 2
    assert "2 without words that the model knows" in ok("trends", store)


def test_trends(trained: Path) -> None:
    found = values("trends", trained, "--all", "--bins", 6)
    kinds = {topic["topic"]: topic["kind"] for topic in found["topics"]}
    assert kinds[topic_of(trained, PETS)] == "fading"
    assert kinds[topic_of(trained, MONEY)] in ("new", "rising")
    assert len(found["edges"]) == 7 and found["n_documents"] == [50] * 6
    for topic in found["topics"]:
        for low, share, high in zip(topic["lower"], topic["shares"], topic["upper"], strict=True):
            assert low <= share <= high
    text = ok("trends", trained)
    assert text.startswith("300 documents from 1970-01-01 to 1970-10-27, 10 bins\n")
    assert "▁" not in text and "█" not in text
    assert "\tfading\t1970-05-3" in text
    late = ok("trends", trained, "--since", "1970-06-15", "--bins", 3)
    assert "all 4 topics are steady" in late and "165 outside of these times" in late
    assert values("trends", trained, "--since", "14256000", "--bins", 3)["n_outside"] == 165
    assert "no documents from 2024-01-01 on" in fails("trends", trained, "--since", "2024-01-01")
    assert "neither a date" in usage("trends", trained, "--since", "tomorrow")
    assert "neither a date" in usage("trends", trained, "--since", "nan")


def test_bins_without_documents_and_one_time(store: Path) -> None:
    with trustream.open_store(store, create=False) as found:
        found.append([Record("late", PETS, time=3000 * 86400.0)])
    found = values("trends", store, "--all")
    assert found["n_documents"] == [300, *[0] * 8, 1]
    assert found["topics"][0]["shares"][4] is None
    ok("trends", store, "--all")
    with trustream.open_store(store, create=False) as opened:
        opened.delete([f"d{i}" for i in range(300)])
    assert "same time" in fails("trends", store)


def test_sparklines() -> None:
    assert sparkline([0.0, 0.0]) == "▁▁" and sparkline([float("nan")]) == " "


def test_no_model_and_no_documents(tmp_path: Path, store: Path) -> None:
    new = tmp_path / "new.db"
    ok("init", new, "--topics", 2)
    for arguments in (
        ["topics", new, "--info"], ["documents", new, 0], ["trends", new], ["label", new, 0, "x"],
        ["report", new, tmp_path / "x.html"], ["merge", new, 0, 1], ["split", new, 0],
        ["delete-topics", new, 0], ["documents", new, "--document", "d1"],
    ):  # fmt: skip
        assert "no model 'model' yet" in fails(*arguments), arguments
    assert "has 0 documents, of which 0 have two words" in fails("choose-k", new)
    with trustream.open_store(store, create=False) as found:
        found.delete([f"d{i}" for i in range(300)])
    assert "has no documents yet" in fails("topics", store, "--info")
    assert "has no documents yet" in fails("documents", store, 0)
    assert "has no documents" in fails("trends", store)
    assert "has no documents" in fails("report", store, tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()
    assert "documents" in fails("split", store, 0)


def test_report(store: Path, tmp_path: Path) -> None:
    page = tmp_path / "topics.html"
    ok("label", store, 1, "<script>alert(1)</script>")
    written = values("report", store, page, "--title", "Pets & <money>")
    assert written["n_documents"] == 300 and written["n_topics"] == 4
    text = page.read_text(encoding="utf-8")
    assert written["n_bytes"] == page.stat().st_size
    assert "<script>alert(1)" not in text and "Pets &amp; &lt;money&gt;" in text
    assert ok("report", store, page).startswith(f"{page}: 4 topics, 300 documents read, ")
    assert "ends in .html" in usage("report", store, store)
    assert "ends in .html" in usage("report", store, tmp_path / "topics.db")


def test_choose_k(trained: Path, tmp_path: Path) -> None:
    numbers = ["--candidates", "2,3,5", "--jobs", 1]
    found = values("choose-k", trained, *numbers, "--documents", 200)
    with trustream.open_store(trained, create=False) as store:
        n_training = store.totals().training
    assert (found["n_sampled"], found["n_documents"]) == (200, n_training)
    assert [score["n_components"] for score in found["scores"]] == [2, 3, 5]
    text = ok("choose-k", trained, *numbers)
    assert "recommended" in text and "nats per word" in text and text.startswith("all ")
    # The same documents as texts, and as a matrix.
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(" ".join(record.words) for record in records(100)))
    from_texts = values("choose-k", texts, *numbers)
    assert from_texts["n_documents"] == 100 and from_texts["n_components"] == 2
    counts = trustream.feeds.read_matrix(texts, sorted(PETS + MONEY))
    np.save(tmp_path / "counts.npy", counts.toarray())
    assert values("choose-k", tmp_path / "counts.npy", *numbers)["scores"] == from_texts["scores"]
    for wrong in ("", "a", "0,2", "2,,3", "1e3"):
        assert "list of numbers" in usage("choose-k", trained, "--candidates", wrong)
    assert "there is no file" in fails("choose-k", tmp_path / "none.jsonl")
    assert "is for files" in usage("choose-k", trained, "--text-column", "x")
