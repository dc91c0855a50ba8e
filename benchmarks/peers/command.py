"""`python -m benchmarks peers`: run methods on workloads, then write plots and the document."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import require
from benchmarks.harness import machine, report
from benchmarks.harness.command import rows_of
from benchmarks.harness.rows import Row, Setup
from benchmarks.peers import MEASUREMENTS, document, grid, methods, trustream_curves
from benchmarks.peers.recorder import Recorder, Scorer
from benchmarks.peers.result_files import Results
from benchmarks.peers.workloads import WORKLOADS, Workload


def run(
    data: Path,
    out: Path,
    quick: bool,
    only: Sequence[str],
    n_threads: int,
    workloads: Sequence[str],
    chosen: Sequence[str],
    spark: bool,
    fresh: bool,
    search: bool,
    tries: float,
    docs: Path,
) -> None:
    """Run what was asked for and is not there yet, then write everything that is there.

    Args:
        only: measurements beside the curves; with some, workloads run only if named.
        workloads: names in WORKLOADS.
        chosen: methods by name; none are all.
        search: first look for each peer's best settings.
        tries: most settings of each that are tried now; the rest another time.
        fresh: repeat what is stored.
        docs: directory of the document and the plots.

    Raises:
        FileNotFoundError: a data set is not there.
        SystemExit: a method failed; the others are reported all the same.
    """
    picked = [WORKLOADS[name].quick() if quick else WORKLOADS[name] for name in workloads]
    modules = {
        name: importlib.import_module(f"benchmarks.peers.{MEASUREMENTS[name]}") for name in only
    }
    needed = [file for workload in picked for file in workload.files]
    needed += [file for module in modules.values() for file in module.FILES]
    require(data, [*needed, *(grid.WORKLOAD.files if search else ())])
    names = _names(chosen, spark)
    results = Results(out)
    failed = False
    if search:
        for name in names:
            if name in methods.PEERS and methods.missing(name) is None:
                grid.search(name, data, n_threads, fresh, tries)
    for workload in picked:
        failed |= _run_workload(workload, names, chosen, data, results, n_threads, fresh)
    for name, module in modules.items():
        print(f"{name}", file=sys.stderr, flush=True)
        rows = rows_of(name, module, Setup(data, quick, n_threads))
        if any("error" in row.details for row in rows):
            failed = True
        else:
            results.put_rows(name, [row.as_json() for row in rows])
    _print(results)
    for path in document.write(results, docs):
        print(path)
    if failed:
        sys.exit(1)


def _names(chosen: Sequence[str], spark: bool) -> list[str]:
    every = [*trustream_curves.variants(), *methods.PEERS, *(methods.SPARK if spark else ())]
    unknown = [name for name in chosen if name not in every]
    if unknown:
        sys.exit(f"no method {', '.join(unknown)}; there are {', '.join(every)}")
    if not chosen:
        return every
    return [name for name in every if name in chosen]


def _run_workload(
    workload: Workload,
    names: Iterable[str],
    asked: Sequence[str],
    data: Path,
    results: Results,
    n_threads: int,
    fresh: bool,
) -> bool:
    """Run what is not stored; whether something failed."""
    stored = {} if fresh else results.methods(workload.name)
    todo = [name for name in names if "points" not in stored.get(name, {})]
    todo = [name for name in todo if name not in workload.without or name in asked]
    if not todo:
        return False
    train, held_out = workload.load(data)
    scorer = Scorer(held_out, workload.n_chib, n_threads)
    facts = {
        "about": workload.about,
        "n_documents": train.shape[0],
        "n_words": train.shape[1],
        "n_tokens": int(train.sum()),
        "n_topics": workload.n_topics,
        "n_held_out": held_out.shape[0],
        "n_chib": scorer.whole.shape[0],
        "limit": workload.limit,
        "machine": machine.facts(),
    }
    failed = False
    for name in todo:
        print(f"{workload.about}: {name}", file=sys.stderr, flush=True)
        try:
            entry = _run_method(name, workload, train, scorer)
        except Exception as error:
            # Minutes of other methods must not be lost.
            traceback.print_exc(limit=-5)
            entry, failed = {"error": repr(error)}, True
        results.put(workload.name, facts, name, entry)
    return failed


def _run_method(name: str, workload: Workload, train: Any, scorer: Scorer) -> dict[str, Any]:
    if name in methods.PEERS or name in methods.SPARK:
        reason = methods.missing(name)
        if reason:
            print(f"  left out: {reason}", file=sys.stderr, flush=True)
            return {"missing": reason}
        peer = methods.module(name)
        with_chib, chosen = {peer.REFERENCE}, grid.settings(name)
        recorder = Recorder(scorer, workload.limit, with_chib, name)
        peer.run(train, workload.n_topics, chosen, peer.EFFORT * workload.effort, recorder)
        more = {"settings": chosen, "version": methods.version(name), "reference": peer.REFERENCE}
    else:
        with_chib = {trustream_curves.passes_label(trustream_curves.default_passes())}
        recorder = Recorder(scorer, workload.limit / 2, with_chib, name)
        chosen = trustream_curves.variants()[name]
        trustream_curves.run(train, workload.n_topics, chosen, workload.effort, recorder)
        more = {"settings": chosen, "reference": next(iter(with_chib))}
    return {**recorder.as_json(), **more}


def _print(results: Results) -> None:
    console = report.console()
    rows = [row for workload in results.content["workloads"] for row in _lines(results, workload)]
    for stored in results.content["measurements"].values():
        rows += [Row(**row) for row in stored]
    report.print_table(console, [*rows, *document.target_rows(results)])


def _lines(results: Results, workload: str) -> Iterable[Row]:
    """The last point of each method."""
    for name, entry in results.methods(workload).items():
        if "points" in entry:
            last = entry["points"][-1]
            title = f"{workload}, {name}: {last['label']}, {last['seconds']:.1f} s"
            yield Row(title, last["completion"], "", "nats per word", None, {})
