"""`trustream-experiments`: the paper's experiments, which a clone has and a wheel does not."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from trustream.cli.failures import ExitCode


def main() -> None:
    """Run `python -m experiments` of the clone that this package is installed from, anywhere."""
    root = Path(__file__).resolve().parents[3]
    if not (root / "experiments" / "command.py").is_file():
        print(
            "Error: the experiments are not part of the installed package. "
            'In a clone of trustream, run pip install -e ".[experiments]" first.',
            file=sys.stderr,
        )
        sys.exit(ExitCode.FAILED)
    sys.path.insert(0, str(root))
    importlib.import_module("experiments.command").main(prog_name="trustream-experiments")
