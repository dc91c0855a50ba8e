"""Output that goes to a file or a pipe: no boxes, no colours, and no line is wrapped."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable

import numpy as np
import pytest

from tests.forking import run_forked

LONG = " ".join(letter * 12 for letter in "abcdefghijklmnopqrstuvwxyz")
# Lines of tables, and escape sequences.
DRAWN = re.compile("[\u2500-\u259f\x1b\r]")


@pytest.fixture(scope="module")
def redirected(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[str, str]]:
    """What a command writes to two pipes; the terminal that it was called from is narrow."""
    folder = tmp_path_factory.mktemp("redirected")
    with (folder / "feed.jsonl").open("w") as file:
        for number in range(40):
            file.write(json.dumps({"id": f"d{number}", "text": LONG}) + "\n")
    rng = np.random.default_rng(0)
    rows = [f"user{u},item{i},1" for u in range(9) for i in range(7) if rng.random() < 0.5]
    (folder / "ratings.csv").write_text("user,item,rating\n" + "\n".join(rows) + "\n")

    def run(*arguments: str, code: int = 0) -> tuple[str, str]:
        done = run_forked(None, *arguments, cwd=folder, env={**os.environ, "COLUMNS": "40"})
        printed, said = done.stdout, done.stderr
        assert done.returncode == code, said
        assert not DRAWN.search(printed + said), printed + said
        return printed, said

    run("init", "s.db", "--topics", "2", "--min-documents", "1", "--batch", "10")
    run("ingest", "s.db", "feed.jsonl")
    run("train", "s.db", "--steps", "5")
    return run


def test_topics_are_one_line_each(redirected: Callable[..., tuple[str, str]]) -> None:
    printed, _ = redirected("topics", "s.db", "-n", "26")
    assert len(printed.splitlines()) == 2
    assert all(len(line) > 300 for line in printed.splitlines())


def test_a_table_is_lines_with_tabs(redirected: Callable[..., tuple[str, str]]) -> None:
    printed, said = redirected("evaluate", "s.db", "feed.jsonl", "-m", "completion", "-m", "npmi")
    title, headings, *rows = printed.splitlines()
    assert title.startswith("s.db (LatentDirichletAllocation) on feed.jsonl: 40 documents")
    assert headings.split("\t") == ["Measure", "Value", "Error", "Unit", "Note"]
    assert len(rows) == 3 and all(line.count("\t") == 4 for line in rows)
    assert rows[0].split("\t")[0] == "log-likelihood, completion"
    assert float(rows[0].split("\t")[1]) < 0
    # Progress has a unit, and no line twice.
    assert "completion: 40 of 40 documents" in said.splitlines()
    assert len(set(said.splitlines())) == len(said.splitlines())


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["status", "s.db"], 0),
        (["transform", "s.db", "feed.jsonl"], 0),
        (["ingest", "s.db", "feed.jsonl"], 0),
        (["check", "s.db"], 0),
        (["recommend", "ratings.csv", "--topics", "2", "--passes", "1", "--all"], 0),
        (["status", "a store that is not there and has a long name.db"], 1),
    ],
)
def test_other_commands(
    redirected: Callable[..., tuple[str, str]], arguments: list[str], code: int
) -> None:
    printed, said = redirected(*arguments, code=code)
    if code:
        assert printed == "" and len(said.splitlines()) == 1
    else:
        assert printed
