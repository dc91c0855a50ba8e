"""Readers of ratings, and the search on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments import plots, ratings, search_ratings
from experiments.experiment import Result
from tests.experiments import tiny

# User 7 rates first but likes little; 3 comes before 1.
ROWS = [
    (7, 1, 5, 20050101),
    *((3, movie, 4, 20050102) for movie in range(1, 7)),
    *((1, movie, 5, 20050103) for movie in range(2, 8)),
    (1, 1, 3, 20050104),
    (7, 2, 1, 20050105),
]


def write(folder: Path, kind: str) -> None:
    if kind == "netflix":
        # By movie, as it comes: the order of users is in the dates alone.
        movies = sorted({row[1] for row in ROWS})
        for part, chosen in enumerate((movies[:3], movies[3:]), start=1):
            lines = []
            for movie in chosen:
                lines.append(f"{movie}:")
                for user, _, rating, day in (row for row in ROWS if row[1] == movie):
                    date = f"{str(day)[:4]}-{str(day)[4:6]}-{str(day)[6:]}"
                    lines.append(f"{user},{rating},{date}")
            text = "\n".join(lines) + "\n"
            (folder / f"combined_data_{part}.txt").write_text(text)
    elif kind == "csv":
        lines = ["userId,movieId,rating,timestamp", *(",".join(map(str, row)) for row in ROWS)]
        (folder / "ratings.csv").write_text("\n".join(lines) + "\n")
    elif kind == "dat":
        lines = ["::".join(map(str, row)) for row in ROWS]
        (folder / "ratings.dat").write_text("\n".join(lines) + "\n")
    else:
        user, item, rating, time = np.array(ROWS).T
        np.savez(
            folder / "movietweetings.npz", user=user, item=item, rating=2 * rating, timestamp=time
        )


@pytest.mark.parametrize("kind", ["netflix", "csv", "dat", "tweets"])
def test_all_formats_give_the_same_likes(tmp_path: Path, kind: str) -> None:
    """Users who like enough, by their first rating; a rating of 3 (or 6 of 10) is no like."""
    write(tmp_path, kind)
    found, source = ratings.load(tmp_path, 1, 1)
    expected = np.array([[1] * 6 + [0], [0] + [1] * 6])
    np.testing.assert_array_equal((found.train + found.held_out).toarray(), expected)
    assert found.held_out.sum(axis=1).tolist() == [1, 1]
    assert sorted([*found.validation, *found.test]) == [0, 1]
    assert source.same_as_paper == (kind == "netflix")
    assert ("instead of Netflix" in source.name) == (kind != "netflix")


@pytest.mark.parametrize("text", ["1,2,2005-01-01\n", "1:\n1,2\n", "1:\nsome,5,2005-01-01\n"])
def test_bad_lines_are_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "combined_data_1.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"{path.name}, line {text.count(chr(10))}: expected"):
        ratings.find(tmp_path)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"combined_data_.*movietweetings\.npz.*--data"):
        ratings.load(tmp_path, 1, 1)


def test_parts_are_apart(tmp_path: Path) -> None:
    found, _ = ratings.load(tiny.likes(tmp_path), 10, 5)
    assert (found.train.multiply(found.held_out)).nnz == 0
    assert (len(found.validation), len(found.test)) == (10, 5)
    assert not set(found.validation) & set(found.test)
    few, _ = ratings.load(tmp_path, 100, 60)
    assert (len(few.validation), len(few.test)) == (25, 15)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Result:
    folder = tiny.likes(tmp_path_factory.mktemp("likes"))
    return tiny.result_of(tiny.RATINGS, folder)


def test_the_search_has_both_measures_for_both_methods(found: Result) -> None:
    assert [(run.series, run.seed) for run in found.runs] == [
        ("popularity", 0), ("TR_K2", 0), ("NG_K2", 0), ("TR_K2", 1), ("NG_K2", 1),
    ]  # fmt: skip
    for run in found.runs:
        (point,) = run.points
        # 20 movies of 20: whatever is held out is on the list.
        assert point["recall"] == point["precision"] == 100.0


def test_short_lists_find_the_users_own_kind(tmp_path: Path) -> None:
    """Of 15 movies that a user has not seen, 5 are of the user's kind, one of them held out."""
    settings = {**tiny.RATINGS.settings["quick"], "list_length": 5}
    data, _ = search_ratings.load(tiny.likes(tmp_path), settings)
    run = search_ratings.Run(
        "TR_K2",
        0,
        {
            "n_components": 2, "batch_size": 10, "alpha": 0.1, "eta": 0.1, "kappa": 0.5,
            "tau": 1.0, "n_inner": 5, "n_local": 40,
        },
    )  # fmt: skip
    ((point,), _) = search_ratings.perform(data, run, settings, lambda cost: None)
    assert point["recall"] == 100.0


def test_popularity_is_the_same_list_for_all(tmp_path: Path) -> None:
    """By hand: the best of the movies that a user has not seen, by how many like them."""
    settings = {**tiny.RATINGS.settings["quick"], "list_length": 3}
    data, _ = search_ratings.load(tiny.likes(tmp_path), settings)
    run = search_ratings.Run("popularity", 0)
    ((point,), _) = search_ratings.perform(data, run, settings, lambda cost: None)
    counts = data.train.toarray().sum(axis=0)
    hits = []
    for user in data.validation:
        unseen = np.where(data.train[[user]].toarray()[0] > 0, -1, counts)
        best = np.argsort(-unseen, kind="stable")[:3]
        hits.append(data.held_out[[user]].toarray()[0, best].sum())
    assert point["recall"] == pytest.approx(100 * np.mean(hits))


def test_figure_and_table(found: Result) -> None:
    names = [line.get_gid() for line in plots.curves(search_ratings.draw(found))]
    assert names == [
        "ours-K2-recall", "paper-K2-recall", "ours-K2-precision", "paper-K2-precision",
    ]  # fmt: skip
    rows = {what: ours for what, _, ours in search_ratings.summarise(found).rows}
    assert rows["K = 2, recall: pairs in which trust region wins"] == "0 of 2"
