"""The tutorial with real ratings of docs/factorization.md prints what stands there."""

from __future__ import annotations

import doctest
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("TRUSTREAM_DATA") or ROOT.parent / "shared" / "data")


def test_the_tutorial_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    if not (DATA / "movietweetings.npz").is_file():
        pytest.skip(f"there is no movietweetings.npz in {DATA}: set TRUSTREAM_DATA")
    monkeypatch.chdir(DATA)
    text = (ROOT / "docs" / "factorization.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```pycon\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 5
    test = doctest.DocTestParser().get_doctest("".join(blocks), {}, "factorization.md", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    failures: list[str] = []
    runner.run(test, out=failures.append)
    assert not failures, "".join(failures)
