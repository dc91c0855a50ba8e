"""The demonstration runs from end to end."""

from __future__ import annotations

import io
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from trustream import demo, terminal
from trustream.cli import main
from trustream.demo import docstrings
from trustream.store import open_store
from trustream.streaming.published import load_checkpoint, load_settings
from trustream.topics.stored_topics import stored_topics


def planted_tree(folder: Path, n: int = 300) -> list[list[str]]:
    """Write docstrings of two kinds and return the words of each: they share none."""
    rng = np.random.default_rng(3)
    syllables = ["ba", "ko", "mi", "ru", "te"]
    words = [f"{a}{b}{c}" for a in syllables for b in syllables for c in syllables]
    kinds = [words[:60], words[60:120]]
    for number in range(n):
        text = " ".join(rng.choice(kinds[number % 2], size=30))
        file = folder / ("even", "odd")[number % 2] / f"_m{number:03}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f'"""{text}"""\n')
    return kinds


@pytest.mark.parametrize("terminal_", [False, True])
def test_run_from_end_to_end(
    tmp_path: Path, terminal_: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert sorted(sorted(row.words) for row in result.rows) == sorted(map(sorted, kinds))
    assert sum(row.share for row in result.rows) == pytest.approx(1)
    # Each kind has a package of its own, which names its topic, in the store as well.
    packages = {row.topic: row.modules for row in result.rows}
    assert sorted(packages.values()) == [["even"], ["odd"]]
    for row in result.rows:
        assert (row.words[0] in kinds[0]) == (row.modules == ["even"])
    # Knowing the kind halves the words to choose from, a gain of log 2.
    assert result.scores[-1][1] == pytest.approx(math.log(2), abs=0.1)
    printed = out.file.getvalue()  # type: ignore[attr-defined]
    assert "300 docstrings came in, 9,000 words" in printed
    assert f"trustream topics {store} --info" in printed.replace("\n", "")
    assert "equally likely words (the perplexity)" in printed.replace("\n", " ")
    if terminal_:
        assert "over time" in printed and "used most in" in printed
    else:
        monkeypatch.chdir(tmp_path)
        pasted = re.findall(r"^  \S*trustream (.*)$", printed, re.MULTILINE)
        assert len(pasted) == 2
        for line in pasted:
            done = CliRunner().invoke(main, shlex.split(line))
            assert done.exit_code == 0, done.output
        assert (tmp_path / "topics.html").is_file()
    with open_store(store, create=False) as found:
        labels = stored_topics(found).names.labels
        assert {topic: label.split(":")[0] for topic, label in labels.items()} == {
            topic: modules[0] for topic, modules in packages.items()
        }
        assert load_settings(found).n_components == 2  # type: ignore[union-attr]
        assert load_checkpoint(found).state.n_steps == result.steps  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="has documents already"):
        demo.run(store=store, roots=[folder], out=out)


def test_the_store_is_kept_in_a_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources, temporary = tmp_path / "sources", tmp_path / "temporary"
    sources.mkdir()
    temporary.mkdir()
    planted_tree(sources, 150)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    out = Console(file=io.StringIO(), width=40)
    result = demo.run(n_components=2, max_documents=150, seconds=2.0, roots=[sources], out=out)
    assert result.store.is_relative_to(temporary) and result.totals.documents == 150
    printed = out.file.getvalue()  # type: ignore[attr-defined]
    # Elsewhere than on a terminal nothing is wrapped or boxed.
    assert not set(printed) & set("│┃━─") and "150 docstrings came in, 4,500 words, and" in printed
    # The last lines can be pasted.
    command = printed.splitlines()[-2].strip()
    pasted = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=300)
    assert pasted.returncode == 0, pasted.stderr
    assert result.rows[0].words[0] in pasted.stdout
    # What fails leaves nothing.
    kept = list(temporary.iterdir())
    with pytest.raises(ValueError, match="found 0 docstrings"):
        demo.run(roots=[tmp_path / "nothing"], out=out, seconds=1.0)
    assert list(temporary.iterdir()) == kept


def test_the_dashboard_runs_beside_it_until_interrupted(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "trustream", "demo", "--seconds", "3", "--documents", "200"]
    command += ["--serve", "--store", str(tmp_path / "demo.db"), "--topics", "3"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        try:
            lines: list[str] = []
            for line in process.stdout:
                lines.append(line)
                if "stays at" in line:
                    break
            (address,) = {found for line in lines for found in re.findall(r"http://[\d.:]+", line)}
            with urllib.request.urlopen(f"{address}/api/v1/status", timeout=60) as answer:
                status = json.load(answer)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    # All that came in: how many that is, in three seconds, depends on what else the machine does.
    (said,) = {
        found for line in lines for found in re.findall(r"([\d,]+) docstrings came in", line)
    }
    assert status["totals"]["documents"] == int(said.replace(",", "")) >= 100
    with pytest.raises(OSError):
        urllib.request.urlopen(f"{address}/healthz", timeout=5)


def test_a_dashboard_needs_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(ValueError, match=r"needs fastapi.*pip install"):
        demo.run(serve=True)


def test_run_needs_documents(tmp_path: Path) -> None:
    quiet = Console(file=io.StringIO())
    with pytest.raises(ValueError, match="found 0 docstrings"):
        demo.run(store=tmp_path / "demo.db", roots=[tmp_path], out=quiet, seconds=1.0)


def test_a_busy_machine_gets_more_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted_tree(tmp_path, 120)
    read = docstrings.stream

    def slowly(roots: list[Path]) -> Iterator[list[docstrings.Docstring]]:
        for found in read(roots):
            time.sleep(0.01)
            yield found

    monkeypatch.setattr(docstrings, "stream", slowly)
    out = Console(file=io.StringIO(), width=40)
    options = {"n_components": 2, "max_documents": 120, "seconds": 0.5, "out": out}
    result = demo.run(store=tmp_path / "demo.db", roots=[tmp_path], **options)
    assert result.totals.documents >= 100


def test_bar_on_a_terminal() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with terminal.progress(console, "Working", 3000, "documents") as advance:
        advance(3000, "12 bad")
    assert "3,000 of 3,000 documents, 12 bad" in console.file.getvalue()


def test_command_passes_its_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, int]] = []
    monkeypatch.setattr(demo, "run", lambda **options: seen.append(options))
    options = ["--topics", "7", "--documents", "200", "--words", "3", "--seed", "5"]
    options += ["--seconds", "9", "--store", "x.db", "--serve"]
    result = CliRunner().invoke(main, ["demo", *options])
    assert result.exit_code == 0, result.output
    expected = {"n_components": 7, "max_documents": 200, "n_words": 3, "seed": 5}
    assert seen == [{**expected, "seconds": 9.0, "store": Path("x.db"), "serve": True}]


def test_command_shows_an_error_as_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: int) -> None:
        raise ValueError("nothing to read")

    monkeypatch.setattr(demo, "run", fail)
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 1
    assert result.output == "Error: nothing to read\n"
