"""Measure what compilation adds to the first call, and what an import loads."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from benchmarks.harness.rows import Row, Setup, at_most
from benchmarks.harness.timing import seconds

FILES = ()
ESTIMATORS = ("LatentDirichletAllocation", "BernoulliMixture", "GaussianMixture")
HEAVY = ("numba", "sklearn")
_FIRST_CALL = """
import time
import numpy as np
import trustream
estimator = trustream.{name}(n_components=3, random_state=0)
data = np.random.default_rng(0).integers(0, 2, size=(20, 5))
start, cpu_start = time.perf_counter(), time.process_time()
estimator.partial_fit(data)
print(time.perf_counter() - start, time.process_time() - cpu_start)
"""
_STARTS = {
    "import trustream": "import trustream",
    "trustream --help": ("from trustream.cli import main; main(['--help'], standalone_mode=False)"),
}


def measure(setup: Setup) -> Iterator[Row]:
    """Compilation for each estimator, then imports."""
    for name in ESTIMATORS:
        with tempfile.TemporaryDirectory() as cache:
            code = _FIRST_CALL.format(name=name)
            first, first_cpu = map(float, _python(code, cache).split())
            later = min(float(_python(code, cache).split()[0]) for _ in range(setup.choose(3, 1)))
        yield at_most(
            f"compilation in the first call, {name}",
            first - later,
            10,
            "s",
            first_seconds=first,
            # What it would be if nothing else ran.
            first_cpu_seconds=first_cpu,
            later_seconds=later,
        )
    for name, code in _STARTS.items():
        yield _light_start(name, code, setup.choose(5, 2))


def _light_start(name: str, code: str, repetitions: int) -> Row:
    loaded = _python(f"{code}\nimport sys\nprint(*[m for m in {HEAVY} if m in sys.modules])")
    heavy = loaded.splitlines()[-1].split()
    runs = {
        "python": [seconds(lambda: _python("pass")) for _ in range(repetitions)],
        name: [seconds(lambda: _python(code)) for _ in range(repetitions)],
    }
    return at_most(
        f"{name}: loads of {' and '.join(HEAVY)} ({1e3 * min(runs[name]):.0f} ms)",
        len(heavy),
        0,
        "modules",
        loaded=heavy,
        timings=runs,
    )


def _python(code: str, cache: str | None = None) -> str:
    """What a fresh interpreter prints; with `cache`, compiled kernels are kept only there."""
    environment = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    if result.returncode != 0:
        raise RuntimeError(f"a fresh interpreter failed: {result.stderr.strip()[-500:]}")
    return result.stdout
