"""Run the measurements of a package, one after the other."""

from __future__ import annotations

import importlib
import sys
import time
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from benchmarks.data import require
from benchmarks.harness import machine, report
from benchmarks.harness.rows import Row, Setup


def run(
    package: str, data: Path, out: Path, quick: bool, only: Iterable[str], n_threads: int
) -> None:
    """Run all or some measurements, print the table and write the file.

    Args:
        package: `benchmarks.core`, say: MEASUREMENTS has its modules by name, and each of these
            has FILES, the data that it reads, and measure(setup), which yields rows.

    Raises:
        FileNotFoundError: a data set is not there.
        SystemExit: a measurement failed; the others are reported all the same.
    """
    measurements = importlib.import_module(package).MEASUREMENTS
    names = [name for name in measurements if name in only] or list(measurements)
    modules = {name: importlib.import_module(f"{package}.{measurements[name]}") for name in names}
    require(data, (file for module in modules.values() for file in module.FILES))
    setup = Setup(data, quick, n_threads)
    console = report.console()
    start = time.perf_counter()
    rows: list[Row] = []
    for name, module in modules.items():
        print(f"[{time.perf_counter() - start:4.0f} s] {name}", file=sys.stderr, flush=True)
        rows += rows_of(name, module, setup)
    report.print_table(console, rows)
    judged = [row.met for row in rows if row.met is not None]
    elapsed = time.perf_counter() - start
    console.print(f"{sum(judged)} of {len(judged)} targets met, {elapsed:.0f} s; {out}")
    report.write_json(out, machine.facts(), rows, quick=quick, n_threads=n_threads, seconds=elapsed)
    if any("error" in row.details for row in rows):
        sys.exit(1)


def rows_of(name: str, module: ModuleType, setup: Setup) -> list[Row]:
    """Rows of one measurement; one with an "error" among its details if it fails."""
    rows: list[Row] = []
    try:
        rows.extend(module.measure(setup))
    except Exception as error:
        # Minutes of other measurements must not be lost.
        traceback.print_exc(limit=-3)
        rows.append(Row(name, None, "", "", None, {"error": repr(error)}))
    return rows
