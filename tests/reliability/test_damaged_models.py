"""Damaged model files and checkpoints: refused, or the very same numbers; never a crash.

Files are loaded in a process of their own with little memory to spare (`damaged_models`), so that a
crash or a huge allocation shows.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.data.models import make
from tests.reliability.rounds import rounds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as in Linux")

GOOD = ("refused", "same", "as written", "plausible", "refused data")
OLD = Path(make.__file__).parent


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of every estimator, and checkpoints, as they are written now."""
    folder = tmp_path_factory.mktemp("models")
    make.main(folder)
    return folder


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of a version without checksums."""
    folder = tmp_path_factory.mktemp("old")
    for path in OLD.glob("*.safetensors"):
        shutil.copy(path, folder)
    return folder


def outcomes(folder: Path, **kinds: int) -> dict[str, Counter[str]]:
    """How many files of each kind came to what; none may crash, or come to something bad."""
    command = [sys.executable, "-m", "tests.reliability.damaged_models", str(folder), "0"]
    result = subprocess.run(
        [*command, json.dumps(kinds)], capture_output=True, text=True, timeout=3600
    )
    lines = result.stdout.splitlines()
    assert result.returncode == 0, f"{lines[-1:]}\n{result.stderr[-2000:]}"
    found: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    for line in lines:
        case, came = (json.loads(part) for part in line.split("\t"))
        found[case["kind"]][came["outcome"]] += 1
        assert came["outcome"] in GOOD, (case, came)
    return found


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("n", "n_crafted"), [(150, 100), pytest.param(1000, 500, marks=pytest.mark.slow)]
)
def test_damage_is_found_and_crafted_files_do_no_harm(new: Path, n: int, n_crafted: int) -> None:
    n, n_crafted = rounds(n), rounds(n_crafted)
    found = outcomes(new, damage=n, craft=n_crafted, generate=n_crafted, by_hand=1)
    print(found)
    assert found["damage"] == {"refused": n}
    assert found["by_hand"] == {"refused": found["by_hand"].total()}
    for kind in ("craft", "generate"):
        # Those that are not refused say something that is possible, and are taken at their word.
        assert found[kind]["plausible"] == 0
        assert found[kind]["refused"] > found[kind].total() / 2
    assert found["craft"].total() == n_crafted


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("n", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_damage_without_checksums_gives_an_error_or_possible_numbers(old: Path, n: int) -> None:
    n = rounds(n)
    found = outcomes(old, damage=n)["damage"]
    print(found)
    assert found.total() == n
    assert found["refused"] > n / 2
