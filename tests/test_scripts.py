"""The commands: executable, sound bash, and free of what would tie them to one machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMMANDS = ["scripts/demo", "scripts/test", "scripts/bench", "scripts/experiments", "scripts/docs"]
COMMANDS += [".ci/run"]

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the commands need bash")


def bash(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_command_is_executable_and_parses(name: str) -> None:
    path = ROOT / name
    assert os.access(path, os.X_OK)
    result = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def tree(folder: Path) -> Path:
    """Copy the shell code, with a stand-in for the project, to a place of its own."""
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/lib.sh", folder / "scripts/lib.sh")
    (folder / "pyproject.toml").write_text("first")
    return folder


def fake_venv(folder: Path) -> None:
    """Put a Python in .venv that notes each install instead of doing it."""
    python = folder / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(
        "#!/usr/bin/env bash\n"
        f'if [ "${{2:-}}" = pip ]; then echo "$@" >>"{folder}/log"; exit "${{PIP_EXIT:-0}}"; fi\n'
        f'exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)


def installs(folder: Path) -> list[str]:
    log = folder / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [line.split()[-1] for line in lines if " install " in line]


def test_installs_once_for_each_extra_and_again_when_the_project_changes(tmp_path: Path) -> None:
    folder = tree(tmp_path / "with space")
    fake_venv(folder)
    ensure = f'source "{folder}/scripts/lib.sh"; ensure test; ensure test; ensure ""'
    assert bash(ensure).returncode == 0
    assert bash(ensure).returncode == 0
    assert installs(folder) == ["space[test]", "space"]
    (folder / "pyproject.toml").write_text("second")
    assert bash(ensure).returncode == 0
    assert installs(folder) == ["space[test]", "space"] * 2


def test_failed_install_stops_and_is_tried_again(tmp_path: Path) -> None:
    folder = tree(tmp_path / "tree")
    fake_venv(folder)
    # The stand-in's `pip --version` fails too, so a new .venv would be made: leave no Python.
    code = f'source "{folder}/scripts/lib.sh"; find_python() {{ return 1; }}; ensure test; echo on'
    result = bash(code, PIP_EXIT="1")
    assert result.returncode != 0
    assert "on" not in result.stdout.split()
    assert not (folder / ".venv/.installed-test").exists()
    assert bash(code).stdout.split() == ["on"]


def test_find_python_passes_over_what_does_not_run(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    (tmp_path / "python3.12").symlink_to(sys.executable)
    code = f'source "{ROOT}/scripts/lib.sh"; PATH="{tmp_path}"; find_python'
    assert bash(code, PYTHON="").stdout.strip() == "python3.12"
    assert bash(code, PYTHON=sys.executable).stdout.strip() == sys.executable


def test_no_python_is_said_plainly(tmp_path: Path) -> None:
    code = f'source "{ROOT}/scripts/lib.sh"; PATH="{tmp_path}"; find_python'
    result = bash(code, PYTHON="")
    assert result.returncode == 1
    assert "Python 3.11 or newer" in result.stderr


@pytest.fixture
def scripts_test(tmp_path: Path) -> Callable[[str], str]:
    """`scripts/test` with arguments, as what it gives to Python."""
    folder = tree(tmp_path / "tree")
    shutil.copy(ROOT / "scripts/test", folder / "scripts/test")
    (folder / "tests").mkdir()
    (folder / "tests/test_one.py").touch()
    python = folder / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(
        '#!/usr/bin/env bash\n[ "${2:-}" = pytest ] || exit 0\n'
        'printf "<%s>" "$@"; [ -n "$PYTHONHASHSEED" ] && [ -z "${PYTHONDONTWRITEBYTECODE:-}" ]\n'
    )
    python.chmod(0o755)

    def run(arguments: str) -> str:
        command = f'cd / && "{folder}/scripts/test" {arguments}'
        result = bash(command, PYTHONDONTWRITEBYTECODE="1")
        assert result.returncode == 0, result.stderr
        return result.stdout.removeprefix("<-m><pytest>")

    return run


SHARED = "<-n><logical><--maxprocesses><4><--dist><worksteal>"


@pytest.mark.parametrize(
    "arguments, given",
    [
        ("", SHARED),
        ("-x tests", f"{SHARED}<-x><tests>"),
        ("-n 0", f"{SHARED}<-n><0>"),  # pytest takes the last
        ('--all -k "two words"', f"{SHARED}<-m><><-k><two words>"),
        ("tests/test_one.py -x", "<tests/test_one.py><-x>"),
        ("--all tests/test_one.py::test", "<-m><><tests/test_one.py::test>"),
    ],
)
def test_arguments_for_pytest(
    scripts_test: Callable[[str], str], arguments: str, given: str
) -> None:
    assert scripts_test(arguments) == given


def test_the_whole_suite_in_processes_ends_with_the_usual_line(tmp_path: Path) -> None:
    """The options of `scripts/test` are understood, and the number of passed tests is last."""
    (tmp_path / "test_some.py").write_text(
        "import os, threading, pytest\n"
        "@pytest.mark.parametrize('i', range(4))\n"
        "def test_i(i):\n"
        "    assert os.environ['PYTEST_XDIST_WORKER']\n"
        "    assert threading.current_thread() is threading.main_thread()\n"
    )
    options = SHARED.strip("<>").split("><")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 4 passed in " in result.stdout.splitlines()[-1]
