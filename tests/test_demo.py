"""The demonstration runs from end to end."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from trustream import demo, terminal
from trustream.cli import main


def planted_tree(folder: Path, n: int = 300) -> list[list[str]]:
    """Write docstrings of two kinds and return the words of each: they share none."""
    rng = np.random.default_rng(3)
    syllables = ["ba", "ko", "mi", "ru", "te"]
    words = [f"{a}{b}{c}" for a in syllables for b in syllables for c in syllables]
    kinds = [words[:60], words[60:120]]
    for number in range(n):
        text = " ".join(rng.choice(kinds[number % 2], size=30))
        (folder / f"m{number:03}.py").write_text(f'"""{text}"""\n')
    return kinds


def test_run_from_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = (Console(file=io.StringIO(), width=100) for _ in range(2))
    kinds = planted_tree(tmp_path)
    result = demo.run(n_components=2, n_words=60, roots=[tmp_path], out=out, err=err)
    assert sorted(map(sorted, result.topics)) == sorted(map(sorted, kinds))
    assert (result.n_documents, result.n_held_out, result.n_words) == (285, 15, 120)
    assert result.uniform == pytest.approx(-math.log(120))
    assert result.unigram == pytest.approx(-math.log(120), abs=0.1)
    # Knowing the kind halves the words to choose from, a gain of log 2.
    assert result.trained == pytest.approx(-math.log(60), abs=0.1)
    assert result.first_step <= result.trained + 0.01
    printed = out.file.getvalue()
    assert f"{result.trained:.3f}" in printed
    assert "285 docstrings, 120 different words" in printed
    assert err.file.getvalue().startswith("Reading docstrings: ")
    assert "LatentDirichletAllocation: step" in capsys.readouterr().err
    again = demo.run(
        n_components=2, n_words=60, roots=[tmp_path], out=out, err=Console(file=io.StringIO())
    )
    assert again.trained == result.trained
    assert again.topics == result.topics


def test_run_needs_documents(tmp_path: Path) -> None:
    quiet = Console(file=io.StringIO())
    with pytest.raises(ValueError, match="found 0 docstrings"):
        demo.run(roots=[tmp_path], out=quiet, err=quiet)


def test_bar_on_a_terminal() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with terminal.progress(console, "Working", 3) as advance:
        advance(3)
    assert "3/3" in console.file.getvalue()


def test_command_passes_its_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, int]] = []
    monkeypatch.setattr(demo, "run", lambda **options: seen.append(options))
    options = ["--topics", "7", "--documents", "200", "--words", "3", "--seed", "5"]
    result = CliRunner().invoke(main, ["demo", *options])
    assert result.exit_code == 0, result.output
    assert seen == [{"n_components": 7, "max_documents": 200, "n_words": 3, "seed": 5}]


def test_command_shows_an_error_as_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: int) -> None:
        raise ValueError("nothing to read")

    monkeypatch.setattr(demo, "run", fail)
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 1
    assert result.output == "Error: nothing to read\n"
