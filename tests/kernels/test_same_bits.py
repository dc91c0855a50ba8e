"""A kernel that was just compiled and one that was read from the disk compute the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.cases import CASES

ROOT = Path(__file__).parents[2]
STEPS = """
import hashlib, sys
import numpy as np
from tests.conformance.cases import CASES
from tests.helpers import snapshot
from tests.models.test_pickling import blended
from trustream.kernels import compilation

heard = []
with compilation.heard_by(lambda: heard.append("compiling")):
    for case in CASES:
        if case.name in sys.argv[1:]:
            for dtype in ("float32", "float64"):
                model, prior = case.make(dtype=dtype, backend="compiled", n_threads=1), case.prior()
                lambda_, batch = case.start(model, prior), model.batch(case.data, np.arange(3, 43))
                found = blended(model, prior, lambda_, batch)
                natural = model.restrict(lambda_, prior, batch)
                bound = model.local_bound(natural, prior, batch, found[0])
                bits = repr(snapshot((found, bound))).encode()
                print(case.name, dtype, hashlib.sha256(bits).hexdigest())
print(bool(heard))
"""


def run(folder: Path, names: list[str]) -> list[str]:
    """What a process prints whose kernels are kept in a folder."""
    result = subprocess.run(
        [sys.executable, "-c", STEPS, *names],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def check(folder: Path, names: list[str]) -> None:
    *compiled, heard = run(folder, names)
    assert len(compiled) == 2 * len(names) and heard == "True"
    assert run(folder, names) == [*compiled, "False"]
    # What another kernel brought along is not taken for a function of the same name.
    for case in reversed(names) if len(names) > 1 else []:
        alone = [line for line in compiled if line.split()[0] == case]
        assert run(folder, [case]) == [*alone, "False"]


def test_of_hidden_markov_models(tmp_path: Path) -> None:
    """Their recursions are called several times in a kernel, so that LLVM does not inline them."""
    check(tmp_path, ["hmm-categorical"])


@pytest.mark.slow
def test_of_all_models(tmp_path: Path) -> None:
    check(tmp_path, [case.name for case in CASES])
