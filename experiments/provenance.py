"""Record the versions, machine and data that results were made with."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import trustream
from trustream.kernels.threads import available_cores


def versions() -> dict[str, str]:
    """Return the versions of Python and of the numerical libraries.

    >>> sorted(versions())
    ['numba', 'numpy', 'python', 'scikit-learn', 'scipy', 'trustream']
    """
    packages = ("numba", "numpy", "scikit-learn", "scipy")
    return {
        "python": sys.version.split()[0],
        "trustream": trustream.__version__,
        **{name: importlib.metadata.version(name) for name in packages},
    }


@cache
def commit() -> str:
    """The commit of this clone when it is first asked for, with + if code has changed since.

    Empty where there is no git. A process has the code that it began with.
    """
    root = Path(__file__).parents[1]
    asked = ["git", "-C", str(root)]
    try:
        text = _said([*asked, "rev-parse", "--short=7", "HEAD"])
        code = [":(glob)src/**/*.py", ":(glob)experiments/*.py"]
        changed = _said([*asked, "status", "--porcelain", "--", *code])
    except (OSError, subprocess.CalledProcessError):
        return ""
    return text + ("+" if changed else "")


def _said(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def machine() -> dict[str, Any]:
    """Return the number of cores and the kind of machine, to interpret times."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "cores": available_cores(),
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def sha256(paths: Iterable[Path]) -> str:
    """Return the hash of the bytes of the files, one after another."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()
