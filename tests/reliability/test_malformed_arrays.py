"""Matrices whose arrays do not fit together: an error from every entry point, never a signal.

All calls are made in a process of their own, which may die without taking the tests with it.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import trustream
from tests.reliability import damaged_matrices
from tests.reliability.matrix_entry_points import DENSE_ONLY, ENTRY_POINTS, FILE_FORMATS
from tests.reliability.rounds import rounds
from trustream import evaluation, topics

ROOT = Path(__file__).parents[2]
DAMAGES = damaged_matrices.listed()


def child(folder: Path, mode: str, *arguments: str, timeout: float) -> str:
    """What `malformed_child` prints; fails with the call that was its last."""
    log = folder / "log"
    paths = [str(Path(trustream.__file__).parents[1]), str(ROOT), os.environ.get("PYTHONPATH", "")]
    result = subprocess.run(
        [sys.executable, "-m", "tests.reliability.malformed_child", mode, str(log), *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    last = log.read_text() if log.exists() else "nothing"
    assert result.returncode == 0, (
        f"exit code {result.returncode} after {last}\n{result.stderr[-5000:]}"
    )
    return result.stdout


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return json.loads(child(tmp_path_factory.mktemp("table"), "table", timeout=300))


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_every_entry_point_refuses_every_damage(table: Any, name: str) -> None:
    said = table[name]
    assert set(said) == set(DAMAGES)
    assert [damage for damage, message in said.items() if message is None] == []
    for damage, matrix in DAMAGES.items():
        message = said[damage]
        assert f"is a damaged {matrix.format} matrix: " in message or (
            # These take no sparse scores, whatever is in them.
            name == "ranking scores" and "expected a dense array" in message
        ), f"{damage}: {message}"


# All entry points, and those of files.
MANY = pytest.param(
    2000, len(ENTRY_POINTS) + 3, marks=[pytest.mark.slow, pytest.mark.timeout(7200)]
)


@pytest.mark.parametrize(("n", "calls"), [(120, 8), MANY])
def test_any_matrix_is_refused_or_treated_like_a_new_one(
    tmp_path: Path, n: int, calls: int
) -> None:
    """`calls` entry points a matrix, in turn."""
    n = rounds(n)
    print(child(tmp_path, "random", str(n), str(calls), timeout=300 + 5 * n))


def test_commands_refuse_damaged_files(tmp_path: Path) -> None:
    found = json.loads(child(tmp_path, "commands", timeout=300))
    assert len(found) == 4
    for command, results in found.items():
        assert len(results) == sum(matrix.format in FILE_FORMATS for matrix in DAMAGES.values())
        for damage, (code, output) in results.items():
            about = f"{command}, {damage}: {output}"
            assert code == 1 and output.startswith("Error: "), about
            assert "bad.npz is a damaged" in output and "Traceback" not in output, about


# --- the table is complete

_TAKES_A_MATRIX = {
    "X", "counts", "hidden", "topics", "reference", "first", "held_out", "seen", "ratings",
}  # fmt: skip
_ESTIMATORS = {
    "lda": trustream.LatentDirichletAllocation,
    "bernoulli": trustream.BernoulliMixture,
    "gaussian": trustream.GaussianMixture,
    "factorization": trustream.PoissonFactorization,
    "recommender": trustream.TopicRecommender,
    "poisson_recommender": trustream.PoissonRecommender,
    "hmm": trustream.HiddenMarkovModel,
    "linear": trustream.BayesianLinearRegression,
    "probit": trustream.ProbitRegression,
}
# Methods that are another one by another name, or take the same way in; scikit-learn's own.
_COVERED = {
    "lda": {"diversity"},
    "bernoulli": {"fit_transform"},
    "gaussian": {"elbo", "fit_predict", "fit_transform", "partial_fit", "predict", "score",
                 "score_samples", "transform"},
    # It takes factors, which are as many as components.
    "factorization": {"inverse_transform"},
    "recommender": set(),
    "poisson_recommender": set(),
    "hmm": set(),
    "linear": {"elbo", "score"},
    "probit": {"decision_function", "elbo", "partial_fit", "predict", "predict_log_proba", "score"},
}  # fmt: skip


def takes_a_matrix(function: Any) -> bool:
    return bool(_TAKES_A_MATRIX & set(inspect.signature(function).parameters))


@pytest.mark.parametrize("short", _ESTIMATORS)
def test_every_method_that_takes_a_matrix_is_in_the_table(short: str) -> None:
    public = {
        name
        for name, method in inspect.getmembers(_ESTIMATORS[short], inspect.isfunction)
        # set_fit_request and the like are scikit-learn's and take no data.
        if not name.startswith(("_", "set_")) and takes_a_matrix(method)
    }
    assert "fit" in public
    in_table = {
        name.removeprefix(f"{short}.").split(" ")[0]
        for name in ENTRY_POINTS
        if name.startswith(f"{short}.")
    }
    assert public - in_table - _COVERED[short] == set()


def test_every_function_of_evaluation_that_takes_a_matrix_is_in_the_table() -> None:
    functions = {
        name
        for name in evaluation.__all__
        if inspect.isfunction(getattr(evaluation, name))
        and takes_a_matrix(getattr(evaluation, name))
    }
    assert {"chib", "ranking", "npmi"} <= functions
    in_table = {name.split(" ")[0].rstrip(",") for name in ENTRY_POINTS}
    # Densities take dense data alone, and windows are counted before.
    others = {"student_t_log_density", "coherence_of_counts"}
    assert functions - in_table - others == set()
    assert DENSE_ONLY <= set(ENTRY_POINTS)


def test_every_function_of_topics_that_takes_documents_is_in_the_table() -> None:
    functions = {
        name
        for name in topics.__all__
        if inspect.isfunction(getattr(topics, name))
        and {"documents", "X"} & set(inspect.signature(getattr(topics, name)).parameters)
    }
    assert {"topic_info", "split_topic", "write_report"} <= functions
    in_table = {name.removeprefix("topics.") for name in ENTRY_POINTS}
    # A library that takes long to load shows what `gather` has found.
    assert functions - in_table - {"to_pyldavis"} == set()
