"""What importing the package costs, and what it offers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import trustream

PACKAGES = (
    "cluster", "demo", "estimators", "evaluation", "families", "feeds", "inference", "learning",
    "models", "persist", "presets", "recommender", "service", "store", "streaming", "text",
    "topics",
)  # fmt: skip
HEAVY = ["numba", "sklearn", "scipy", "numpy", "pandas", "rich", "matplotlib", "ray"]


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
        "LatentDirichletAllocation", "BernoulliMixture", "GaussianMixture", "PoissonFactorization",
        "PoissonRecommender", "TopicRecommender", "HiddenMarkovModel", "BayesianLinearRegression",
        "ProbitRegression", "TrendingRecommender",
        "StreamTrainer", "TopicModel", "load", "open_store",
    }  # fmt: skip
    assert {*public, *PACKAGES, "__version__"} == set(trustream.__all__)
    assert {*public, *PACKAGES} <= set(dir(trustream))


@pytest.mark.parametrize(
    "code",
    [
        "trustream.streaming.setup.init_store, trustream.topics.summary.summarise",
        "trustream.evaluation.npmi, trustream.feeds.ingest, trustream.store.open_store",
        f"[getattr(trustream, name).__name__ for name in {PACKAGES}]",
    ],
)
def test_packages_are_attributes(code: str) -> None:
    """In a process that has imported nothing else."""
    command = [sys.executable, "-c", f"import trustream; {code}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_every_public_package_is_an_attribute() -> None:
    """All but those that are not for users, or only to be run."""
    root = Path(trustream.__file__).parent
    found = {path.parent.name for path in root.glob("*/__init__.py")}
    assert found - {"cli", "kernels"} <= set(PACKAGES)
    for name in ("streaming", "topics"):
        package = getattr(trustream, name)
        assert all(hasattr(package, module) for module in package.__all__)
        assert set(package.__all__) <= set(dir(package))
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = package.nothing


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
