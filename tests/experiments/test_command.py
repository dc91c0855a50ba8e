"""The command line, the report, and the paper's numbers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from experiments import command, published
from tests.experiments import tiny

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real experiment, all its settings, on 60 tiny images."""
    folder = tiny.digits(tmp_path_factory.mktemp("done"), n=60)
    arguments = ["mnist", "--seeds", "2", "--data", str(folder), "--out", str(folder / "out")]
    result = CliRunner().invoke(command.main, arguments)
    assert result.exit_code == 0, result.output
    assert "trust region, components used, of 40" in result.output
    return folder


def test_files_are_where_the_command_says(done: Path) -> None:
    names = {path.name for path in (done / "out/quick").iterdir()}
    assert names == {"mnist.jsonl", "mnist.json", "mnist.png", "mnist.svg"}
    assert len((done / "out/quick/mnist.jsonl").read_text().splitlines()) == 1 + 4


def test_the_report_has_what_was_run_and_names_the_rest(done: Path) -> None:
    docs = done / "docs"
    arguments = ["report", "--docs", str(docs)]
    arguments += ["--out", str(done / "out"), "--kept", str(done / "kept")]
    result = CliRunner().invoke(command.main, arguments)
    assert result.exit_code == 0, result.output
    text = (docs / "reproduction.md").read_text(encoding="utf-8")
    assert "--scale quick`" in " ".join(text.split())
    assert "2 seeds" in text
    assert "| trust region, components used, of 40 | all 40 |" in text
    assert "![Figure 2A and 2B" in text
    assert (docs / "reproduction/mnist-quick.png").stat().st_size > 5000
    assert "`patches`" in text.partition("## Not run yet")[2]
    assert str(done) not in text


def test_a_report_without_results_claims_nothing(tmp_path: Path) -> None:
    arguments = ["report", "--out", str(tmp_path / "none"), "--docs", str(tmp_path)]
    arguments += ["--kept", str(tmp_path / "none")]
    assert CliRunner().invoke(command.main, arguments).exit_code == 0
    text = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert text.count("## ") == 1
    assert "`mnist`, `patches`" in text


def test_missing_data_are_an_error_in_plain_words(tmp_path: Path) -> None:
    arguments = ["mnist", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(command.main, arguments)
    assert result.exit_code == 1
    assert result.output.startswith("Error: no MNIST in ")


def test_ctrl_c_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.runner.complete", stopped)
    result = CliRunner().invoke(command.main, ["mnist", "--data", str(tmp_path)])
    assert result.exit_code == 130
    assert "The same command goes on" in result.output


def test_data_come_from_the_environment(tmp_path: Path) -> None:
    environment = {"TRUSTREAM_DATA": str(tmp_path / "elsewhere")}
    result = CliRunner().invoke(command.main, ["mnist"], env=environment)
    assert "elsewhere" in result.output


def test_help_is_quick_and_names_every_experiment() -> None:
    code = (
        "import sys; from experiments.command import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "print('loaded', [n for n in ('numba', 'numpy', 'matplotlib') if n in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "loaded []"
    for name in (*command.EXPERIMENTS, "all", "report"):
        assert f"  {name} " in result.stdout


def installed(folder: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """`trustream-experiments mnist --help` with the package in that folder."""
    code = "from trustream.cli.experiments import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "mnist", "--help"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(folder)},
    )


def test_the_installed_command_finds_the_clone_from_anywhere(tmp_path: Path) -> None:
    result = installed(ROOT / "src", tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("Usage: trustream-experiments mnist")


def test_the_installed_command_says_what_it_needs_without_a_clone(tmp_path: Path) -> None:
    folder = tmp_path / "lib/python/site-packages"
    shutil.copytree(ROOT / "src", folder, ignore=shutil.ignore_patterns("__pycache__"))
    result = installed(folder, tmp_path)
    assert result.returncode == 1
    assert 'pip install -e ".[experiments]"' in result.stderr


@pytest.mark.parametrize("name", command.EXPERIMENTS)
def test_every_experiment_can_be_loaded(name: str) -> None:
    experiment = command.experiment_of(name)
    assert experiment.name == name
    assert {"quick", "paper"} <= experiment.settings.keys() == experiment.n_seeds.keys()
    for scale in experiment.settings:
        runs = experiment.plan(experiment.settings[scale], experiment.n_seeds[scale])
        assert len({run.name for run in runs}) == len(runs)
        assert all(run.cost > 0 for run in runs)


@pytest.mark.parametrize("path", sorted(published.FOLDER.glob("*.csv")), ids=lambda p: p.stem)
def test_published_tables_can_be_read_and_are_described(path: Path) -> None:
    columns = published.table(path.stem)
    assert len({len(column) for column in columns.values()}) == 1
    assert path.name in (published.FOLDER / "README.md").read_text(encoding="utf-8")
    for name, column in columns.items():
        if name != "series":
            published.numbers(column)


def test_published_values_beyond_the_ends_are_unknown() -> None:
    arguments = ("fig2b_mnist_elbo", "NG", "updates", "elbo_nat_per_image")
    assert published.value_at(*arguments, 7000) != published.value_at(*arguments, 7000)
    with pytest.raises(ValueError, match="no 'XX', but"):
        published.curve("fig2b_mnist_elbo", "XX", "updates", "elbo_nat_per_image")
