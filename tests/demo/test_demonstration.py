"""The demonstration runs from end to end."""

from __future__ import annotations

import io
import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from trustream import demo, terminal
from trustream.cli import main
from trustream.store import open_store
from trustream.streaming.published import load_checkpoint, load_settings


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


@pytest.mark.parametrize("terminal_", [False, True])
def test_run_from_end_to_end(tmp_path: Path, terminal_: bool) -> None:
    out = Console(file=io.StringIO(), width=100, height=40, force_terminal=terminal_)
    folder = tmp_path / "sources"
    folder.mkdir()
    kinds = planted_tree(folder)
    store = tmp_path / "demo.db"
    result = demo.run(
        n_components=2,
        n_words=60,
        max_documents=300,
        seconds=6.0,
        store=store,
        roots=[folder],
        out=out,
    )
    assert result.totals.documents == 300 and result.totals.tokens == 9000
    assert sorted(map(sorted, result.topics)) == sorted(map(sorted, kinds))
    # Knowing the kind halves the words to choose from, a gain of log 2.
    assert result.scores[-1][1] == pytest.approx(math.log(2), abs=0.1)
    printed = out.file.getvalue()  # type: ignore[attr-defined]
    assert "300 docstrings came in, 9,000 words" in printed
    assert f"trustream train {store}" in printed.replace("\n", "")
    if terminal_:
        assert "over time" in printed
    with open_store(store, create=False) as found:
        assert load_settings(found).n_components == 2  # type: ignore[union-attr]
        assert load_checkpoint(found).state.n_steps == result.steps  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="has documents already"):
        demo.run(store=store, roots=[folder], out=out)


def test_nothing_is_left_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources, temporary = tmp_path / "sources", tmp_path / "temporary"
    sources.mkdir()
    temporary.mkdir()
    planted_tree(sources, 150)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    out = Console(file=io.StringIO(), width=40)
    result = demo.run(n_components=2, max_documents=150, seconds=2.0, roots=[sources], out=out)
    assert result.store is None and result.totals.documents == 150
    assert list(temporary.iterdir()) == []
    printed = out.file.getvalue()  # type: ignore[attr-defined]
    assert "trustream demo --store demo.db keeps it.\n" in printed
    # Elsewhere than on a terminal nothing is wrapped or boxed.
    assert not set(printed) & set("│┃━─") and "150 docstrings came in, 4,500 words, and" in printed
    with pytest.raises(ValueError, match="found 0 docstrings"):
        demo.run(roots=[temporary], out=out, seconds=1.0)
    assert list(temporary.iterdir()) == []


def test_run_needs_documents(tmp_path: Path) -> None:
    quiet = Console(file=io.StringIO())
    with pytest.raises(ValueError, match="found 0 docstrings"):
        demo.run(store=tmp_path / "demo.db", roots=[tmp_path], out=quiet, seconds=1.0)


def test_bar_on_a_terminal() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with terminal.progress(console, "Working", 3000, "documents") as advance:
        advance(3000, "12 bad")
    assert "3,000 of 3,000 documents, 12 bad" in console.file.getvalue()


def test_command_passes_its_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, int]] = []
    monkeypatch.setattr(demo, "run", lambda **options: seen.append(options))
    options = ["--topics", "7", "--documents", "200", "--words", "3", "--seed", "5"]
    options += ["--seconds", "9", "--store", "x.db"]
    result = CliRunner().invoke(main, ["demo", *options])
    assert result.exit_code == 0, result.output
    expected = {"n_components": 7, "max_documents": 200, "n_words": 3, "seed": 5}
    assert seen == [{**expected, "seconds": 9.0, "store": Path("x.db")}]


def test_command_shows_an_error_as_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: int) -> None:
        raise ValueError("nothing to read")

    monkeypatch.setattr(demo, "run", fail)
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 1
    assert result.output == "Error: nothing to read\n"
