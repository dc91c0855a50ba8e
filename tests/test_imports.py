"""What importing the package costs, and what it offers."""

from __future__ import annotations

import ast
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


_TWO_THREADS = """
import importlib, importlib.abc, sys, threading

failed = []
threading.excepthook = lambda args: failed.append(args.exc_value)
def loading(module):
    return threading.Thread(target=importlib.import_module, args=["trustream.kernels." + module])
second = loading("elementary")

class Midway(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "numba.core.decorators" and second.ident is None:
            second.start()
            second.join(1)  # it waits for Numba, or goes ahead and spoils it
        return None

sys.meta_path.insert(0, Midway())
first = loading("spin")
first.start()
first.join()
second.join()
assert not failed, failed
"""


def test_two_threads_load_kernels_at_once() -> None:
    """A service that has just been started is asked two things at once."""
    command = [sys.executable, "-c", _TWO_THREADS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_numba_is_imported_before_its_parts() -> None:
    """`import numba.extending` does not wait for another thread that is at `import numba`."""
    package = Path(trustream.__file__).parent
    first = {path: _first_of_numba(path) for path in package.rglob("*.py")}
    found = {path: name for path, name in first.items() if name is not None}
    assert len(found) > 3
    assert {path: name for path, name in found.items() if name != "numba"} == {}


def _first_of_numba(path: Path) -> str | None:
    """What a module imports first of Numba; None if nothing."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.partition(".")[0] == "numba":
                return name
    return None
