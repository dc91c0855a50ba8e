"""`trustream recommend --trending` and `--add`: what is liked at the moment, and newer ratings."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import trustream
from tests.recommender.test_trending import DAY, waves
from trustream import TopicRecommender, TrendingRecommender
from trustream.feeds import read_ratings

FIT = ["--threshold", "4", "--topics", "2"]
GIVEN = ["--trending", "--half-life", "7", "--share", "0.5"]


def run(*arguments: object) -> Result:
    from trustream.cli import main

    return CliRunner().invoke(main, ["recommend", *map(str, arguments)])


def write(path: Path, columns: dict[str, Any]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def new(path: Path, users: list[str], items: list[str]) -> Path:
    n = len(users)
    return write(
        path, {"user": users, "item": items, "rating": [5] * n, "timestamp": [71 * DAY] * n}
    )


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data") / "ratings.csv", waves(40))


@pytest.fixture(scope="module")
def model(ratings: Path) -> Path:
    path = ratings.with_suffix(".safetensors")
    result = run(ratings, *FIT, *GIVEN, "--save", path, "--quiet")
    assert result.exit_code == 0, result.output
    assert (result.stdout, result.stderr) == ("", "")
    return path


def items(result: Result) -> list[list[tuple[str, float]]]:
    assert result.exit_code == 0, result.output
    found = [json.loads(line)["items"] for line in result.stdout.splitlines()]
    return [[(item["item"], item["score"]) for item in one] for one in found]


def test_lists_are_those_of_the_recommender(ratings: Path, model: Path) -> None:
    topics = TopicRecommender(2, threshold=4, random_state=0)
    expected = TrendingRecommender(topics, half_life=7, share=0.5).fit(read_ratings(ratings))
    asked = ["--user", "u1", "--like", "a1", "--similar", "a1", "-n", 5, "--json"]
    lists = [
        list(expected.recommend("u1", 5)),
        list(expected.recommend_for(["a1"], 5)),
        list(expected.similar_items("a1", 5)),
    ]
    assert items(run(ratings, *FIT, *GIVEN, *asked, "-q")) == lists
    assert items(run("--model", model, *asked)) == lists
    assert items(run("--model", model, *asked, "--jobs", 1)) == lists


def test_the_trend_is_chosen_and_said(ratings: Path, tmp_path: Path) -> None:
    path = tmp_path / "model"
    result = run(ratings, *FIT, "--by", "poisson", "--trending", "--save", path)
    assert result.exit_code == 0, result.output
    loaded = trustream.load(path)
    assert type(loaded.recommender_) is trustream.PoissonRecommender
    said = f"half-life {loaded.trend_.half_life:g} days, share {loaded.trend_.share:g}"
    assert f"40 users, 20 items, 2 components\n{said}\n" in result.stderr
    assert (loaded.half_life, loaded.share) == ("auto", "auto")


def test_newer_ratings_are_added_and_saved(model: Path, tmp_path: Path) -> None:
    today = new(tmp_path / "today.csv", ["zoe", "u1", "u3"], ["fresh", "fresh", "a1"])
    saved = tmp_path / "model"
    asked = ["--user", "u5", "-n", 30, "--json"]
    result = run("--model", model, "--add", today, "--save", saved, *asked)
    assert result.stderr == "3 ratings added; new users: 1, new items: 1\n"
    expected = trustream.load(model).partial_fit(read_ratings(today))
    lists = [list(expected.recommend("u5", 30))]
    assert items(result) == lists == items(run("--model", saved, *asked))
    assert "fresh" in dict(lists[0])
    assert "fresh" not in trustream.load(model).item_ids_  # the old file stays


def test_ids_that_look_like_numbers_are_the_known_texts(model: Path, tmp_path: Path) -> None:
    today = new(tmp_path / "today.csv", ["1"], ["2"])
    result = run("--model", model, "--add", today, "--save", tmp_path / "model", "-q")
    assert (result.exit_code, result.stderr) == (0, "")
    loaded = trustream.load(tmp_path / "model")
    assert (loaded.user_ids_[-1], loaded.item_ids_[-1]) == ("1", "2")


def test_topics_alone_take_ratings_of_known_items(ratings: Path, tmp_path: Path) -> None:
    path = tmp_path / "topics"
    assert run(ratings, *FIT, "--save", path, "-q").exit_code == 0
    known = new(tmp_path / "known.csv", ["zoe"], ["a1"])
    result = run("--model", path, "--add", known, "--user", "zoe", "--json", "-n", 3)
    assert "a1" not in dict(items(result)[0])
    unknown = new(tmp_path / "unknown.csv", ["zoe"], ["fresh"])
    result = run("--model", path, "--add", unknown, "--all")
    assert result.exit_code == 1
    assert "has 1 items that the model does not know ('fresh'): fit a model" in result.stderr


def test_usage_errors(ratings: Path, model: Path) -> None:
    for arguments, message in [
        ([ratings, "--all", "--share", 0.5], "--share is for --trending"),
        ([ratings, "--all", "--half-life", 3], "--half-life is for --trending"),
        ([ratings, "--all", "--trending", "--share", 2], "--share"),
        ([ratings, "--all", "--trending", "--half-life", 0], "--half-life"),
        (["--model", model, "--all", "--trending"], "--trending is for fitting"),
        (["--model", model, "--all", "--share", 0.5], "--share is for fitting"),
        ([ratings, "--all", "--add", ratings], "--add is for --model"),
        (["--model", model, "--add", ratings], "nothing to do"),
        (["--model", model, "--all", "--save", "x"], "--save is for fitting"),
    ]:
        result = run(*arguments)
        assert result.exit_code == 2, arguments
        assert message in result.stderr


def test_messages_name_options(tmp_path: Path) -> None:
    timeless = {name: column for name, column in waves(20).items() if name != "timestamp"}
    result = run(write(tmp_path / "a.csv", timeless), "--trending", "--all", "-q")
    assert result.exit_code == 1
    assert "no column 'timestamp' of times" in result.stderr
    assert "name it by --timestamp-column" in result.stderr
    at_once = {**waves(20), "timestamp": [0] * len(timeless["user"])}
    result = run(write(tmp_path / "b.csv", at_once), "--trending", "--all", "-q")
    assert result.exit_code == 1
    assert "give --half-life and --share" in result.stderr
