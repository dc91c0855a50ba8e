"""Wheel and source distribution can be built, and contain what they must and nothing else."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import trustream

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_wheel_has_the_package_and_its_metadata(built: Path) -> None:
    (path,) = built.glob("*.whl")
    assert path.name == f"trustream-{trustream.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        place = f"trustream-{trustream.__version__}.dist-info"
        metadata = email.message_from_bytes(wheel.read(f"{place}/METADATA"))
        commands = wheel.read(f"{place}/entry_points.txt").decode()
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"trustream", place}
    package = ROOT / "src/trustream"
    expected = {
        f"trustream/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and path.suffix in (".py", ".js", ".css", ".html", ".sql", ".typed")
    }
    assert expected <= set(names)
    assert metadata["Version"] == trustream.__version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata.get_all("Project-URL") == [
        f"{name}, {url}" for name, url in PROJECT["urls"].items()
    ]
    assert set(PROJECT["optional-dependencies"]) == set(metadata.get_all("Provides-Extra", []))
    assert "trustream = trustream.__main__:main" in commands


def test_the_version_is_the_same_everywhere() -> None:
    """In what is to be cited, with its day, and as a section of the changelog."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (version,) = re.findall(r"^version: (.*)$", citation, re.MULTILINE)
    (day,) = re.findall(r"^date-released: (.*)$", citation, re.MULTILINE)
    assert version == trustream.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {version} - {day}\n" in changes


def test_everything_but_spark_can_be_installed_at_once() -> None:
    (everything,) = PROJECT["optional-dependencies"]["all"]
    named = set(everything.removeprefix("trustream[").rstrip("]").split(","))
    assert {"postgres", "parquet", "zstd", "plot", "frames", "serve", "cluster"} <= named
    assert "spark" not in named


def test_the_source_distribution_has_tests_results_and_no_build_products(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in (
        "pyproject.toml",
        "src/trustream/__init__.py",
        "tests/test_distributions.py",
        "experiments/results/README.md",
        "docs/reproduction.md",
        "scripts/test",
        "CITATION.cff",
    ):
        assert needed in names
    left_out = (".venv/", "site/", "results/", "docs/gallery/", "docs/reference/generated/")
    assert not [name for name in names if name.startswith(left_out) or "__pycache__" in name]
