"""Files on the command line: what is read has an end, and only models are replaced by models."""

from __future__ import annotations

import os
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import trustream
from trustream.cli import main
from trustream.cli.file_parameters import InputFile, ModelFile


def refused(kind: click.Path, path: object) -> str:
    with pytest.raises(click.UsageError) as caught:
        kind.convert(str(path), None, None)
    return caught.value.message


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero")
def test_devices_are_not_read() -> None:
    assert "is a device" in refused(InputFile(), "/dev/zero")
    assert InputFile().convert(os.devnull, None, None) == Path(os.devnull)


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_pipes_are_read_but_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert InputFile().convert(str(tmp_path / "pipe"), None, None) == tmp_path / "pipe"
    assert "a device or a pipe" in refused(ModelFile(), tmp_path / "pipe")


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("command", ["init", "status", "train", "tokeniser"])
def test_a_pipe_is_no_store(tmp_path: Path, command: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    result = CliRunner().invoke(main, [command, str(tmp_path / "pipe")])
    assert result.exit_code == 1 and "is a device or a pipe" in result.stderr
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("command", ["topics", "transform", "evaluate"])
def test_a_pipe_is_no_model(tmp_path: Path, command: str) -> None:
    """Nobody writes to it: whoever opened it to look what it is would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    data = [] if command == "topics" else [os.devnull]
    result = CliRunner().invoke(main, [command, str(tmp_path / "pipe"), *data])
    assert result.exit_code == 1 and "it is a pipe; give the name of a file" in result.stderr
    assert os.listdir(tmp_path) == ["pipe"]


def test_only_models_are_replaced_by_models(tmp_path: Path) -> None:
    store, feed, model = tmp_path / "topics.db", tmp_path / "feed.txt", tmp_path / "model"
    feed.write_text("cat dog\n" * 20)
    runner = CliRunner()
    for arguments in (
        ["init", store, "--topics", 2, "--min-documents", 1],
        ["ingest", store, feed],
        ["train", store, "--steps", 1],
        ["export", store, model],
        ["export", store, model],
    ):
        assert runner.invoke(main, [str(argument) for argument in arguments]).exit_code == 0
    before = {path: path.read_bytes() for path in (store, feed)}
    for path in (store, feed):
        result = runner.invoke(main, ["export", str(store), str(path)])
        assert result.exit_code == 2 and "is no model; give another name" in result.stderr
        assert path.read_bytes() == before[path]
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("user,item,rating\na,b,1\nb,c,1\n")
    result = runner.invoke(main, ["recommend", str(ratings), "--save", str(ratings)])
    assert result.exit_code == 2 and ratings.read_text().startswith("user")
    # An empty file, as mktemp leaves it, may be written to.
    (tmp_path / "empty").write_bytes(b"")
    assert runner.invoke(main, ["export", str(store), str(tmp_path / "empty")]).exit_code == 0
    assert isinstance(trustream.load(tmp_path / "empty").components_, np.ndarray)
