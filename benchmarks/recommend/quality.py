"""Compare how well trustream and other libraries predict held-out likes, on the same splits.

Settings, above all the number of factors, are chosen for each method in the same way: the best of
a few by NDCG on another split. That one shares likes with those that are measured, for all methods
alike.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich import box
from rich.table import Table

from benchmarks.harness import report
from benchmarks.harness.rows import Row, Setup, at_least, information
from benchmarks.recommend import data
from benchmarks.recommend.methods import METHODS, Method
from trustream.evaluation import ranking

FILES = (data.FILE,)
M = 20
MEASURES = ("normalised_precision", "precision", "recall", "ndcg")


def measure(setup: Setup) -> Iterator[Row]:
    """A table of all methods, and trust region over popularity."""
    matrix = data.likes(setup.data)
    splits = [data.split(matrix, seed) for seed in range(setup.choose(3, 1))]
    inner = data.split(data.split(matrix, 1000).train, 1000)
    results: dict[str, dict[str, Any]] = {}
    for name, (method, choices) in METHODS.items():
        try:
            results[name] = _result(method, choices[: setup.choose(99, 1)], inner, splits)
        except ImportError as error:
            results[name] = {"missing": f"not installed: {error}"}
        print(f"  {name}: {results[name]}", file=sys.stderr, flush=True)
    n_users, n_items = matrix.shape
    _print(f"{n_users} users, {n_items} movies, {matrix.nnz} likes; {len(splits)} splits", results)
    for name, result in results.items():
        if "missing" in result:
            yield Row(f"{name}: {result['missing']}", None, "", "", None)
        else:
            yield information(f"{name}, NDCG@{M}", result["ndcg"], "", **result)
    ours, popular = results["LDA, trust region"], results["popularity"]
    for measure_ in ("precision", "recall", "ndcg"):
        ratio = ours[measure_] / popular[measure_]
        yield at_least(f"trust region over popularity, {measure_}@{M}", ratio, 1.0, "x")


def scored(method: Method, split: data.Split, seed: int, **settings: Any) -> dict[str, float]:
    """The measures of a method on a split, and its seconds of training."""
    start = time.perf_counter()
    scores = method(split.train, seed, **settings)
    seconds = time.perf_counter() - start
    result = ranking(scores, split.held_out, seen=split.train, m=M)
    return {name: getattr(result, name).mean for name in MEASURES} | {"seconds": seconds}


def _result(
    method: Method, choices: list[dict[str, Any]], inner: data.Split, splits: list[data.Split]
) -> dict[str, Any]:
    chosen = choices[0]
    if len(choices) > 1:
        chosen = max(choices, key=lambda settings: scored(method, inner, 0, **settings)["ndcg"])
    runs = [scored(method, split, seed, **chosen) for seed, split in enumerate(splits)]
    means = {name: float(np.mean([run[name] for run in runs])) for name in MEASURES}
    spread = float(np.std([run["ndcg"] for run in runs], ddof=1)) if len(runs) > 1 else None
    # Others on the machine, and compilation, only make it slower.
    seconds = min(run["seconds"] for run in runs)
    return {"settings": chosen, **means, "ndcg_std": spread, "seconds": seconds}


def _print(title: str, results: dict[str, dict[str, Any]]) -> None:
    console = report.console()
    table = Table(title=title, box=box.SIMPLE_HEAD if console.is_terminal else box.ASCII2)
    headings = ("method", "factors", *(f"{name}@{M}" for name in MEASURES), "seconds")
    for heading in headings:
        table.add_column(
            heading.replace("_", " "), justify="left" if heading == "method" else "right"
        )
    for name, result in results.items():
        if "missing" in result:
            table.add_row(name, result["missing"])
            continue
        cells = [f"{result[measure]:.4f}" for measure in MEASURES]
        k = str(result["settings"].get("k", ""))
        table.add_row(name, k, *cells, f"{result['seconds']:.1f}")
    console.print(table)
