"""Describe the machine and the versions that numbers were measured with."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from pathlib import Path
from typing import Any

from trustream.kernels.threads import available_cores


def cpu_model() -> str:
    """The processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def facts() -> dict[str, Any]:
    """Processor, cores, load and versions."""
    modules = ("numpy", "numba", "scipy", "sklearn", "trustream")
    return {
        "cpu": cpu_model(),
        "cores": available_cores(),
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": sys.version.split()[0],
        **{name: importlib.import_module(name).__version__ for name in modules},
    }
