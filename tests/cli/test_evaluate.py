"""`trustream evaluate`: the numbers of the library, as a table and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse

import trustream
from tests.forking import run_forked
from tests.helpers import planted_lda
from trustream.cli import main
from trustream.cli.evaluate import MEASURES
from trustream.evaluation.report import TOPIC_MEASURES, report

WORDS = [f"q{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(40)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a topic model, two mixtures and data for them."""
    folder = tmp_path_factory.mktemp("evaluate")
    counts, _ = planted_lda(np.random.default_rng(0), 3, 40, 130, 30, 0.2, 0.1)
    lda = trustream.LatentDirichletAllocation(3, random_state=0).fit(counts[:100])
    lda.save(folder / "topics.safetensors")
    held_out = sparse.csr_array(counts[100:].astype(np.int64))
    sparse.save_npz(folder / "held_out.npz", held_out)
    (folder / "words.txt").write_text("\n".join(WORDS))
    lines = [" ".join(np.repeat(WORDS, row)) for row in held_out.toarray()]
    (folder / "held_out.txt").write_text("\n".join(lines))
    points = np.random.default_rng(1).normal(size=(60, 2))
    trustream.GaussianMixture(2, random_state=0).fit(points[:40]).save(folder / "gauss")
    trustream.BernoulliMixture(2, random_state=0).fit(points[:40] > 0).save(folder / "bern")
    np.save(folder / "points.npy", points[40:])
    np.save(folder / "bits.npy", (points[40:] > 0).astype(float))
    return folder


def run(*arguments: object) -> str:
    result = CliRunner().invoke(main, ["evaluate", *map(str, arguments)])
    assert result.exit_code == 0, result.output + str(result.exception)
    return result.stdout


def fail(*arguments: object) -> str:
    result = CliRunner().invoke(main, ["evaluate", *map(str, arguments)])
    assert result.exit_code != 0 and not isinstance(result.exception, TypeError | AttributeError)
    assert "Traceback" not in result.output
    return result.output


def figures(text: str) -> dict[str, dict[str, object]]:
    return {figure["name"]: figure for figure in json.loads(text)["figures"]}


def test_measures_are_those_of_the_report() -> None:
    assert MEASURES == TOPIC_MEASURES


def test_json_has_the_numbers_of_the_library(files: Path) -> None:
    lda = trustream.load(files / "topics.safetensors")
    X = sparse.load_npz(files / "held_out.npz")
    found = figures(run(files / "topics.safetensors", files / "held_out.npz", "--json"))
    chib = lda.chib(X, random_state=0)
    assert found["log-likelihood, chib"]["value"] == chib.per_word
    assert found["log-likelihood, chib"]["standard_error"] == chib.standard_error
    assert found["perplexity, chib"]["value"] == chib.perplexity
    completed = lda.completion(X, random_state=0)
    assert found["log-likelihood, completion"]["value"] == completed.per_word
    bound = lda.bound(X)
    assert found["lower bound"]["value"] == bound.per_word
    assert found["topics' term of the lower bound"]["value"] == bound.topics
    assert found["coherence, npmi"]["value"] == lda.coherence(X).mean
    assert found["topic diversity"]["value"] == lda.diversity(25)
    # A lower bound is below what it bounds, by more than the estimate's error.
    assert bound.per_word < chib.per_word + 4 * chib.standard_error


def test_every_measure(files: Path) -> None:
    options = [part for measure in MEASURES for part in ("-m", measure)]
    found = figures(run(files / "topics.safetensors", files / "held_out.npz", "--json", *options))
    for measure in ("chib", "left-to-right", "completion", "importance"):
        value = found[f"log-likelihood, {measure}"]["value"]
        assert -np.log(40) - 1 < value < 0  # type: ignore[operator]
    assert {"coherence, npmi", "coherence, umass", "coherence, c_v"} <= set(found)


def test_text_is_counted_with_the_vocabulary(files: Path) -> None:
    arguments = ("--vocabulary", files / "words.txt", "--json", "-m", "bound")
    of_text = run(files / "topics.safetensors", files / "held_out.txt", *arguments)
    of_counts = run(files / "topics.safetensors", files / "held_out.npz", *arguments)
    assert json.loads(of_text) == json.loads(of_counts)


def test_rows_and_reference(files: Path) -> None:
    arguments = (files / "topics.safetensors", files / "held_out.npz", "--json", "-m", "npmi")
    few = json.loads(run(*arguments, "--rows", 10))
    assert few["n_rows"] == 10
    by_all = figures(run(*arguments, "--rows", 10, "--reference", files / "held_out.npz"))
    assert by_all["coherence, npmi"]["value"] != few["figures"][0]["value"]


def test_a_table_for_people(files: Path) -> None:
    text = run(files / "topics.safetensors", files / "held_out.npz", "-m", "chib")
    assert "log-likelihood, chib" in text and "nats/word" in text
    assert "topics.safetensors (LatentDirichletAllocation) on held_out.npz" in text


@pytest.mark.parametrize(("model", "data"), [("gauss", "points.npy"), ("bern", "bits.npy")])
def test_mixtures(files: Path, model: str, data: str) -> None:
    found = figures(run(files / model, files / data, "--json"))
    expected = trustream.load(files / model).score(np.load(files / data))
    assert found["posterior-predictive log-density"]["value"] == expected
    assert "its only measure is the predictive density" in fail(
        files / model, files / data, "-m", "chib"
    )


def test_errors_say_what_to_do(files: Path, tmp_path: Path) -> None:
    topics, data = files / "topics.safetensors", files / "held_out.npz"
    assert "there is no model file" in fail(tmp_path / "none", data)
    assert "points.npy" in fail(files / "points.npy", data)
    assert "give a vocabulary" in fail(topics, files / "held_out.txt")
    assert "features" in fail(topics, files / "points.npy")
    (tmp_path / "few.txt").write_text("one\ntwo\n")
    message = fail(topics, files / "held_out.txt", "--vocabulary", tmp_path / "few.txt")
    assert "2 words, the model has 40" in message
    np.save(tmp_path / "empty.npy", np.zeros((2, 40)))
    assert "no tokens" in fail(topics, tmp_path / "empty.npy")


def test_a_real_process_keeps_progress_off_standard_output(files: Path) -> None:
    command = ["evaluate", "topics.safetensors", "held_out.npz", "--json", "-m", "chib"]
    done = run_forked(None, *command, cwd=files)
    assert done.returncode == 0, done.stderr
    assert figures(done.stdout)["log-likelihood, chib"]["unit"] == "nats/word"
    assert "chib: 30 of 30" in done.stderr


def test_reports_refuse_unknown_measures(files: Path) -> None:
    lda = trustream.load(files / "topics.safetensors")
    with pytest.raises(ValueError, match="measure must be one of"):
        report(lda, np.ones((1, 40)), measures=["perplexity"])


def test_recommenders_have_a_method_of_their_own() -> None:
    likes = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    model = trustream.TopicRecommender(2, random_state=0).fit(likes)
    with pytest.raises(ValueError, match="evaluate"):
        report(model, likes)
