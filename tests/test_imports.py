"""What importing the package costs, and what it offers."""

from __future__ import annotations

import subprocess
import sys

import pytest

import trustream

HEAVY = ["numba", "sklearn", "scipy", "numpy", "pandas", "rich"]


@pytest.mark.parametrize(
    "code",
    [
        "import trustream; dir(trustream)",
        "from trustream.cli import main; main(['--help'], standalone_mode=False)",
        "from trustream.cli import main; main(['--version'], standalone_mode=False)",
        "from trustream.cli import main; main(['demo', '--help'], standalone_mode=False)",
        "from trustream.cli import main; main(['recommend', '--help'], standalone_mode=False)",
    ],
)
def test_light_start(code: str) -> None:
    check = f"import sys; print('loaded', [name for name in {HEAVY} if name in sys.modules])"
    command = [sys.executable, "-c", f"{code}\n{check}"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "loaded []"


def test_public_names() -> None:
    public = {
        "LatentDirichletAllocation", "BernoulliMixture", "GaussianMixture", "TopicRecommender",
        "StreamTrainer", "load", "open_store",
    }  # fmt: skip
    assert {*public, "__version__"} == set(trustream.__all__)
    assert public <= set(dir(trustream))


def test_load_is_the_function_of_persist() -> None:
    from trustream import persist

    assert trustream.load is persist.load


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = trustream.nothing


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_module_runs_as_a_program(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "trustream", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert (trustream.__version__ if "--version" in arguments else "demo") in result.stdout
