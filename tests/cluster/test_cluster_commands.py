"""Commands with --cluster print what they print on one machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from tests.cluster import corpus_files
from trustream.cli import main
from trustream.store import Record, open_store

pytestmark = pytest.mark.usefixtures("ray_cluster")


def run(*arguments: Any) -> str:
    result = CliRunner().invoke(main, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def model(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "topics.safetensors"
    fitted = corpus_files.fitted(folder)
    fitted.estimator.set_words(corpus_files.WORDS)
    fitted.estimator.save(path)
    return path


ONE_WORKER = ("--cluster", "local", "--workers", 1)


def test_transform_and_evaluate(model: Path, folder: Path) -> None:
    one, on_cluster = folder / "docs-0.parquet", ONE_WORKER
    assert run("transform", model, one, "--json", *on_cluster) == run(
        "transform", model, one, "--json"
    )
    evaluate = ("evaluate", model, one, "-m", "chib", "-m", "npmi", "--rows", 40, "--json")
    assert run(*evaluate, *on_cluster) == run(*evaluate)


@pytest.mark.slow
def test_files_of_many(model: Path, folder: Path, tmp_path: Path) -> None:
    """What the command calls has tests of its own, and one file is written below."""
    out = tmp_path / "out"
    said = run("transform", model, folder / "*.parquet", "--out", out, *ONE_WORKER)
    assert "540 documents in 9 files" in said
    assert parquet.read_table(out).num_rows == 540


def test_ingest_and_topics(folder: Path, tmp_path: Path) -> None:
    store, on_cluster = tmp_path / "topics.db", ("--cluster", "local", "--workers", 2)
    run("init", store, "--topics", 3, "--min-documents", 1)
    lines = run("ingest", store, folder, "--json", *on_cluster).splitlines()
    found = [json.loads(line) for line in lines]
    assert sum(one["n_records"] for one in found) == 540 and len(found) == 9
    run("train", store, "--steps", 2)
    info = ("topics", store, "--info", "--json")
    assert run(*info, *on_cluster) == run(*info)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["transform", "m", __file__, "--workers", "2"], "--workers needs --cluster"),
        (["transform", "m", __file__, "--out", "x"], "--out is for the workers"),
        (["transform", "m", "-", "--cluster", "local"], "workers cannot read standard input"),
        (["topics", "m", "--cluster", "local"], "need --info"),
        (["evaluate", "m", "x", "--cluster", "local", "--reference", __file__], "one machine"),
    ],
)
def test_wrong_calls(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code != 0 and message in result.output


@pytest.fixture(scope="module")
def secret(server: Any) -> str:
    """The address of a store, with a password."""
    address = f"{server.url.replace('postgres:@', 'postgres:s3cret@')}&schema=cluster_secret"
    with open_store(address, min_documents=1) as store:
        store.append(Record(f"d{i}", corpus_files.WORDS[:5]) for i in range(30))
    return address


def without_secrets(*command: Any) -> Result:
    result = CliRunner().invoke(main, [*map(str, command), *map(str, ONE_WORKER)])
    assert "s3cret" not in result.output, command
    return result


def test_no_password_is_shown(model: Path, secret: str, tmp_path: Path) -> None:
    """Of a store whose documents workers read."""
    done = without_secrets("transform", model, secret, "--out", tmp_path / "out")
    assert done.exit_code == 0 and "30 documents in 1 file" in done.output, done.output
    assert "s3cret" not in (tmp_path / "out" / "_transform.json").read_text()
    assert without_secrets("transform", model, f"{secret}x", "--out", tmp_path / "none").exit_code


@pytest.mark.slow
def test_no_password_is_printed(model: Path, secret: str) -> None:
    """Nor by what prints its results; how it prints is the same without a cluster."""
    for command in (["evaluate", model, secret, "-m", "bound"], ["transform", model, secret]):
        assert without_secrets(*command).exit_code == 0
