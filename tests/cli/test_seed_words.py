"""Seeds on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import call, fails, ok
from tests.topics.test_seeded_texts import SUBJECTS, texts

SEEDS = {"Health \x1b[31mcare": ["doctor", "virus"], "Sports": ["team", "league"]}


def test_a_store_with_seeds_from_init_to_topics(tmp_path: Path) -> None:
    store, seeds, feed = tmp_path / "topics.db", tmp_path / "seeds.json", tmp_path / "feed.txt"
    seeds.write_text(json.dumps(SEEDS), encoding="utf-8")
    feed.write_text("\n".join(texts(0)), encoding="utf-8")
    ok("init", store, "--topics", 4, "--seed-words", seeds, "--batch", 40)
    ok("ingest", store, feed)
    ok("train", store, "--steps", 60)
    lines = ok("topics", store, "-n", 5).splitlines()
    found = {line.split("%")[1].split(":")[0].strip(): line for line in lines if ":" in line}
    assert set(found) == {"Health \\x1b[31mcare", "Sports"}  # a label commands no terminal
    assert set(found["Sports"].split(":")[1].split()) <= set(SUBJECTS["sports"])
    parsed = [json.loads(line) for line in ok("topics", store, "--json").splitlines()]
    labels = {topic["topic"]: topic["label"] for topic in parsed}
    assert labels == {0: "Health \x1b[31mcare", 1: "Sports", 2: None, 3: None}
    # And from a file.
    ok("export", store, tmp_path / "model.safetensors")
    assert "Sports: " in ok("topics", tmp_path / "model.safetensors")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("team, game", "is no JSON"),
        ('["team"]', "does not hold lists of words by name"),
        ('{"Sports": "team"}', "does not hold lists of words by name"),
        ('{"Sports": ["team"], "Sports": ["game"]}', "has a name twice"),
        ('{"Sports": []}', "has no words"),
        ('{"Sports": [7]}', "expected a text"),
        ("{}", "--seed-words is empty"),
        ('{"a": ["a"], "b": ["b"], "c": ["c"]}', "3 seeds for 2 topics"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    seeds = tmp_path / "seeds.json"
    seeds.write_text(content, encoding="utf-8")
    output = fails("init", tmp_path / "topics.db", "--topics", 2, "--seed-words", seeds)
    assert message in output
    assert not (tmp_path / "topics.db").exists()


def test_words_that_no_text_has_are_named(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.json"
    seeds.write_text('{"Sports": ["Team", "game"]}', encoding="utf-8")
    result = call("init", tmp_path / "topics.db", "--seed-words", seeds)
    assert result.exit_code == 0
    assert "Warning: 'Team' of --seed-words is not what texts are split into" in result.stderr
    assert "--seed-words" in fails("init", tmp_path / "other.db", "--seed-strength", 2)
