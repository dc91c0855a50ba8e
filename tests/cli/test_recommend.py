"""`trustream recommend`: from a file to lists, by way of a saved model."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

import trustream
from tests.forking import run_forked
from tests.recommender import planted
from trustream.cli import main
from trustream.feeds import read_ratings
from trustream.recommender import list_requests

TRAIN, HELD_OUT = planted.blocks()
FIT = ["--threshold", "4", "--topics", "4", "--passes", "20"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["recommend", *map(str, arguments)])


def write(path: Path, columns: dict[str, Any]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data") / "ratings.csv", planted.columns_of(TRAIN))


@pytest.fixture(scope="module")
def model(ratings: Path) -> Path:
    path = ratings.with_suffix(".safetensors")
    result = run(ratings, *FIT, "--save", path, "--quiet")
    assert result.exit_code == 0, result.output
    assert (result.stdout, result.stderr) == ("", "")
    return path


def lines(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def blocks(items: list[dict[str, Any]]) -> set[int]:
    return {planted.block_of_item(int(item["item"].removeprefix("żółw "))) for item in items}


def test_all_users_as_json_lines(model: Path) -> None:
    found = lines(run("--model", model, "--all", "--json", "-n", 8))
    assert len(found) == TRAIN.shape[0]
    for line in found:
        user = int(line["user"].removeprefix("user "))
        assert blocks(line["items"]) == {planted.block_of_user(user)}
    scores = [item["score"] for item in found[0]["items"]]
    assert scores == sorted(scores, reverse=True)


def test_chunks_are_put_together(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run("--model", model, "--all").stdout
    monkeypatch.setattr(list_requests, "USERS_AT_A_TIME", 7)
    result = run("--model", model, "--all")
    assert result.stdout == whole
    assert "Recommending: 160 of 160 users" in result.stderr


def test_lists_are_those_of_the_recommender(model: Path) -> None:
    recommender = trustream.load(model)
    likes, user, item = ["żółw 1", "żółw 2"], "user 3", "żółw 20"
    found = lines(
        run("--model", model, "--user", user, "--like", likes[0], "--like", likes[1],
            "--similar", item, "--json", "-n", 5)
    )  # fmt: skip
    expected = [
        ("user", user, recommender.recommend(user, 5)),
        ("likes", likes, recommender.recommend_for(likes, 5)),
        ("similar_to", item, recommender.similar_items(item, 5)),
    ]
    for line, (key, value, items) in zip(found, expected, strict=True):
        assert line[key] == value
        assert [(i["item"], i["score"]) for i in line["items"]] == list(items)


def test_table(model: Path) -> None:
    result = run("--model", model, "--user", "user 0", "--user", "user 41", "-n", 3)
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert rows[0] == ["for", "rank", "item", "score"]
    assert [row[:2] for row in rows[1:]] == [
        [user, str(rank)] for user in ("user 0", "user 41") for rank in (1, 2, 3)
    ]


def test_seen_items_on_request(model: Path) -> None:
    seen = {planted.item_name(i) for i in TRAIN[[0]].indices}
    for flags, expected in (([], set()), (["--seen"], seen)):
        (line,) = lines(run("--model", model, "--user", "user 0", "--json", "-n", 1000, *flags))
        assert {item["item"] for item in line["items"]} & seen == expected


def test_progress_goes_to_standard_error(ratings: Path) -> None:
    result = run(ratings, "--topics", 2, "--passes", 1, "--user", "user 0", "--json")
    assert len(lines(result)) == 1
    assert "160 users, 60 items, 2 topics" in result.stderr


def test_whole_numbers_and_other_columns(tmp_path: Path) -> None:
    frame = planted.columns_of(TRAIN)
    columns = {
        "who": [int(u.removeprefix("user ")) for u in frame["user"]],
        "what": [int(i.removeprefix("żółw ")) for i in frame["item"]],
        "when": ["2015-07-06 12:30"] * len(frame["user"]),
    }
    names = ["--user-column", "who", "--item-column", "what", "--rating-column", ""]
    options = [*names, "--timestamp-column", "when", "--topics", 4, "--user", 5, "--json", "-q"]
    pl.DataFrame(columns).write_parquet(tmp_path / "ratings.parquet")
    paths = [
        write(tmp_path / "ratings.csv", columns),
        write(tmp_path / "ratings.tsv", columns),
        tmp_path / "ratings.parquet",
    ]
    found = [lines(run(path, *options)) for path in paths]
    assert found[0] == found[1]
    assert found[0][0]["user"] == 5
    assert {type(item["item"]) for item in found[0][0]["items"]} == {int}
    assert found[0] == found[2]


def test_in_a_process_of_its_own(ratings: Path, tmp_path: Path) -> None:
    def process(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "trustream", "recommend", *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, encoding="utf-8",
            env={**os.environ, "PYTHONUTF8": "1"},
        )  # fmt: skip

    saved = tmp_path / "model"
    result = process(ratings, *FIT, "--save", saved, "--user", "user 0", "-n", 1, "--json")
    assert result.returncode == 0, result.stderr
    line = json.loads(result.stdout)
    assert line["user"] == "user 0" and blocks(line["items"]) == {0}
    wrong = run_forked(None, "recommend", "--model", saved, "--user", "nobody")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr == "Error: unknown user: 'nobody'\n"


def test_usage_errors(ratings: Path, model: Path) -> None:
    for arguments, message in [
        ([], "either RATINGS"),
        ([ratings, "--model", model, "--all"], "either RATINGS"),
        ([ratings], "nothing to do"),
        (["--model", model], "nothing to do"),
        (["--model", model, "--all", "--user", "user 0"], "either --user or --all"),
        (["--model", model, "--all", "--threshold", 3], "--threshold is for fitting"),
        (["--model", model, "--all", "--save", "x"], "--save is for fitting"),
        (["nowhere.csv", "--all"], "does not exist"),
        ([ratings, "--all", "-n", 0], "-n"),
    ]:
        result = run(*arguments)
        assert result.exit_code == 2, arguments
        assert message in result.stderr


BAD_FILES = {
    "empty.csv": ("", "no column 'user', 'item', 'rating'"),
    "header.csv": ("user,item,rating\n", "with a row or more"),
    "short.csv": ("user,item,rating\na,b,1\na,b\n", "short.csv, line 3: 2 values, expected 3"),
    "words.csv": (
        "user,item,rating\na,b,1\na,c,good\n",
        "line 3: the rating is 'good', expected",
    ),
    "gap.csv": (
        "user,item,rating\na,b,\na,c,2\n",
        "gap.csv, line 2: the rating is '', expected",
    ),
    "nobody.csv": ("user,item,rating\n,b,3\na,c,2\n", "line 2: user has 0 characters"),
    "times.csv": (
        "user,item,rating,timestamp\na,b,3,noon\n",
        "times.csv, line 2: the time is 'noon', expected seconds since 1970",
    ),
    "low.csv": ("user,item,rating\na,b,3\na,c,2\n", "no rating reaches the threshold 4"),
    "latin.csv": (b"user,item,rating\nJos\xe9,b,3\n", "latin.csv, line 2: not UTF-8: byte 0xe9"),
    "data.xlsx": ("x", "known are .csv, .tsv, .parquet"),
    "bad.parquet": ("x", "cannot read bad.parquet"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(tmp_path: Path, name: str) -> None:
    content, message = BAD_FILES[name]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run(path, "--threshold", 4, "--all")
    assert result.exit_code == 1, result.output
    assert message in result.stderr
    assert result.stdout == ""


def test_ids_that_are_not_numbers_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(f"\ufeffuser,item,rating,x\n007,10,1,{2**70}\n12,11,2,3\n", encoding="utf-8")
    ratings = read_ratings(path)
    assert ratings["x"].tolist() == [str(2**70), "3"]
    assert ratings["user"].tolist() == ["007", "12"]
    assert ratings["item"].tolist() == [10, 11]


def test_other_models_and_wrong_ids(tmp_path: Path) -> None:
    lda = trustream.LatentDirichletAllocation(2, random_state=0).fit(np.eye(4))
    lda.save(tmp_path / "lda")
    result = run("--model", tmp_path / "lda", "--all")
    assert result.exit_code == 1
    assert "holds a LatentDirichletAllocation, expected a recommender" in result.stderr
    trustream.TopicRecommender(2, random_state=0).fit(np.eye(4)).save(tmp_path / "model")
    result = run("--model", tmp_path / "model", "--user", "ann")
    assert result.exit_code == 1
    assert result.stderr == "Error: unknown user: 'ann'; the ids are integers\n"


def test_evaluate_says_where_recommenders_are_scored(ratings: Path, model: Path) -> None:
    result = CliRunner().invoke(main, ["evaluate", str(model), str(ratings)])
    assert result.exit_code == 1
    assert "holds a TopicRecommender, whose lists are scored by its method" in result.stderr


def test_parquet_without_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ratings.parquet").write_bytes(b"PAR1")
    for name in ("polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    result = run(tmp_path / "ratings.parquet", "--all")
    assert result.exit_code == 1
    assert "needs pyarrow or polars: pip install polars" in result.stderr


def test_a_model_that_cannot_be_written(ratings: Path, tmp_path: Path) -> None:
    result = run(ratings, "--passes", 1, "--save", tmp_path / "no" / "model")
    assert result.exit_code == 1
    assert "Error" in result.stderr and "Traceback" not in result.stderr


def test_by_poisson_factorisation(ratings: Path, tmp_path: Path) -> None:
    """The same lists of the block's items from factors, and by way of a file."""
    path = tmp_path / "factors.safetensors"
    result = run(ratings, "--by", "poisson", *FIT, "--save", path)
    assert result.exit_code == 0, result.output
    assert "160 users, 60 items, 4 components" in result.stderr
    assert type(trustream.load(path)) is trustream.PoissonRecommender
    result = run("--model", path, "--user", planted.user_name(50), "-n", 3, "--json")
    items = [entry["item"] for entry in json.loads(result.stdout)["items"]]
    assert {planted.block_of_item(int(name.split()[1])) for name in items} == {1}
    result = run("--model", path, "--by", "poisson", "--all")
    assert result.exit_code == 2 and "--by is for fitting" in result.stderr
