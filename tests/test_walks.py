"""The ways through the code that docs/architecture.md lists are the ones that calls take."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from trustream import LatentDirichletAllocation, feeds, kernels, open_store
from trustream.cli import main
from trustream.store.records import Record
from trustream.store.sqlite_tables import SqliteTables

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
SHARED_FROM = "trustream.learning.learner:Learner.step"


def listed(heading: str) -> list[str]:
    """The functions in the block under a heading."""
    section = PAGE.read_text(encoding="utf-8").partition(f"### {heading}\n")[2]
    found = re.search(r"```text\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found.group(1).split()


TO_ROW = listed("A document from a file to a row")
TO_LAMBDA = listed("A batch from a store to lambda")
TO_COMPONENTS = listed("A matrix through fit to `components_`")


def stack(frame: Any) -> list[str]:
    """Our functions on the stack, the outermost first."""
    names = []
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("trustream."):
            names.append(f"{module}:{frame.f_code.co_qualname}")
        frame = frame.f_back
    return names[::-1]


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """Where the kernel of LDA's local step, and the insertion of rows, were called from."""
    found: list[list[str]] = []

    def spy_on(place: Any, name: str, called: str) -> None:
        real: Callable[..., Any] = getattr(place, name)

        def spy(*arguments: Any) -> Any:
            if threading.current_thread() is threading.main_thread():
                found.append([*stack(sys._getframe(1)), called])
            return real(*arguments)

        monkeypatch.setattr(place, name, spy)

    spy_on(kernels.get("lda", "compiled"), "lda_local", TO_LAMBDA[-1])
    spy_on(SqliteTables, "insert", TO_ROW[-1])
    yield found


def test_fit(stacks: list[list[str]]) -> None:
    counts = np.random.default_rng(0).poisson(1.0, (60, 20))
    lda = LatentDirichletAllocation(3, random_state=0, n_jobs=1).fit(counts)
    stacks.clear()  # of the first call, which compiles
    lda.fit(counts)
    assert stacks[0] == TO_COMPONENTS


def test_train_and_ingest(stacks: list[list[str]], tmp_path: Path) -> None:
    path, file = str(tmp_path / "store.db"), tmp_path / "feed.jsonl"
    run = CliRunner().invoke
    assert run(main, ["init", path, "--topics", "3", "--min-documents", "1"]).exit_code == 0
    file.write_text(json.dumps({"id": "a", "text": "cats and dogs"}) + "\n")
    with open_store(path) as store:
        feeds.ingest(store, file)
        assert stacks[0] == TO_ROW
        store.append(Record(str(i), ["cat", "dog", "bird"]) for i in range(50))
    stacks.clear()
    assert run(main, ["train", path, "--steps", "2", "--jobs", "1"]).exit_code == 0
    steps = [found for found in stacks if "trustream.streaming.training:Training.step" in found]
    assert steps[0][steps[0].index(TO_LAMBDA[0]) :] == TO_LAMBDA


def test_the_ways_are_short_and_meet() -> None:
    """Under 20 functions each, and the same from the learner down."""
    for way in (TO_ROW, TO_LAMBDA, TO_COMPONENTS):
        assert len(way) < 20
    shared = [way[way.index(SHARED_FROM) :] for way in (TO_LAMBDA, TO_COMPONENTS)]
    assert shared[0] == shared[1] and len(shared[0]) > 5


@pytest.mark.parametrize("name", sorted({*TO_ROW, *TO_LAMBDA, *TO_COMPONENTS}))
def test_what_is_listed_exists(name: str) -> None:
    module, _, rest = name.partition(":")
    found = __import__(module, fromlist=["x"])
    for part in rest.partition(".<locals>")[0].split("."):
        found = getattr(found, part)
    assert callable(found)
