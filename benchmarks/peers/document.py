"""Write `docs/benchmarks.md` from the results that are available."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.harness.report import number
from benchmarks.peers import grid, methods, plot
from benchmarks.peers.curves import curve, point, time_to
from benchmarks.peers.result_files import Results
from benchmarks.peers.targets import TIMES, target_rows
from benchmarks.peers.trustream_curves import DEFAULT
from benchmarks.peers.workloads import WORKLOADS

__all__ = ["target_rows", "write"]

_INTRODUCTION = """\
# Benchmarks

trustream next to other libraries: the same documents, the same machine, the same run. This page
and its pictures are written by `scripts/bench peers`; `scripts/bench peers --help` tells how to run
a part of it.

## How it is measured

- **Score.** One function outside all libraries: each hands over its topics and its alpha, and
  held-out documents are scored by document completion (nats per word of a random half of the tokens
  given the other half, higher is better; [evaluation](evaluation.md)). A document's topics are
  inferred by the scorer, never by the library. Chib's estimate of log p(w) stands beside it at some
  points.
- **Time.** Wall clock of training alone. The clock stands still while a model is scored; imports,
  compilation (a first small fit) and handing documents over in a library's own format are left out,
  except for Vowpal Wabbit, which reads while it learns. Cores that a method itself kept busy, and
  those that other programs did meanwhile, stand in the tables: the latter should be 0.0. Ratios of
  processor time, all threads and processes together, stand beside those of time.
- **Peers at their best.** Settings come from a small grid on {grid}, searched
  one parameter at a time
  (`benchmarks/peers/grid.json` has every setting and score): the highest
  score at the point that the targets look at; of those within {tolerance} nats the one with the
  least processor time a worker, one or two of them. Learning rates are (tau + t)^-kappa with t
  counted in batches, for all; gensim's own t moves by one a pass after the first.
- **trustream** is `LatentDirichletAllocation(n_components=K)` and nothing else. Its `fit` lets the
  learning rate fall to zero at its end, so every point is a complete `fit` of its own: on a random
  part of the documents for less than a pass, with `max_iter` for more, timed as a whole. Fits of
  less than four seconds are made seven times, all of them in turn, and the median time counts.
  Other curves of trustream change one parameter.
- **Runs.** Methods run one after the other, and what is finished is stored, so that rows of a table
  can be minutes or days apart, and a shared machine's speed drifts meanwhile. "Both in turn" is
  measured with seven rounds of both sides in one run, each with another seed.
- **Time to a score** is read off the curve: linear in the logarithm of time between two points. The
  first complete fit that reaches it stands beside it.
- **Compilation.** trustream's first call in a process loads its kernels from a cache or compiles
  them: {first_call}.
"""


def write(results: Results, docs: Path) -> list[Path]:
    """The document and a picture a workload; their paths, none without results."""
    if "machine" not in results.content:
        return []
    introduction = _INTRODUCTION.format(
        grid=grid.WORKLOAD.about, tolerance=grid.TOLERANCE, first_call=_first_call(results)
    )
    parts = [introduction, _machine(results), _targets(results)]
    paths = []
    stored = results.content["workloads"]
    for name in (name for name in WORKLOADS if name in stored):
        picture = docs / "benchmarks" / f"{name}.png"
        if any("points" in run for run in stored[name]["methods"].values()):
            plot.draw(stored[name], picture)
            paths.append(picture)
            parts.append(_workload(name, stored[name], picture.relative_to(docs)))
    parts += [_measurements(results), _settings(results)]
    path = docs / "benchmarks.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(part for part in parts if part))
    return [path, *paths]


def table(headings: list[str], rows: list[list[str]]) -> str:
    """In Markdown.

    >>> print(table(["a", "b"], [["1", "2"]]), end="")
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [headings, ["---"] * len(headings), *rows]
    text = [f"| {' | '.join(line)} |" for line in lines]
    text[1] = text[1].replace(" ", "")
    return "\n".join(text) + "\n"


def _first_call(results: Results) -> str:
    stored = results.content["workloads"].values()
    runs = [pair for workload in stored for pair in workload["methods"].items()]
    # Spark has a first call of its own.
    own = [run for name, run in runs if name.startswith(DEFAULT)]
    seconds = [run["first_call"] for run in own if "first_call" in run]
    if not seconds:
        return "not measured here"
    return f"{number(min(seconds))} to {number(max(seconds))} s in these runs"


def _machine(results: Results) -> str:
    facts = results.content["machine"]
    versions = {name: facts[name] for name in ("python", "trustream", "numpy", "numba", "scipy")}
    for stored in results.content["workloads"].values():
        for name, run in stored["methods"].items():
            if run.get("version"):
                versions[methods.module(name).PACKAGE] = run["version"]
    text = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"{facts['cpu']}, {facts['cores']} cores; {text}.\n"


def _targets(results: Results) -> str:
    rows = []
    for row in target_rows(results):
        details = row.details
        if "seconds" in details:
            here = f"{details['ours']:.4f} in {number(details['seconds']['ours'])} s"
            there = f"{details['theirs']:.4f} in {number(details['seconds']['theirs'])} s"
            measured = f"{row.measured:+.4f} nats"
        else:
            there = f"{details['score']:.4f} in {number(details['theirs'])} s"
            here, measured = "never", "-"
            if row.measured is not None:
                here = (
                    f"{number(details['ours'])} s (first whole fit: {number(details['whole'])} s)"
                )
                measured = f"{number(row.measured)}x less"
        cpu = f"{number(details['cpu_ratio'])}x" if "cpu_ratio" in details else ""
        met = "yes" if row.met else "**no**"
        rows.append([row.name, there, here, row.target, measured, met, cpu])
    for stored in results.content["measurements"].values():
        for row in stored:
            if row["met"] is not None:
                measured = f"{number(row['measured'])} {row['unit']}"
                met = "yes" if row["met"] else "**no**"
                rows.append([row["name"], "", "", row["target"], measured, met, ""])
    if not rows:
        return ""
    headings = ["", "the other", "trustream", "target", "measured", "met", "processor time"]
    return "## Targets\n\n" + table(headings, rows)


def _workload(name: str, stored: dict[str, Any], picture: Path) -> str:
    """Picture, last points and times to the scores that the targets look at."""
    references = [(peer, label) for peer, label, _ in TIMES]
    found = [(peer, label, point(stored["methods"].get(peer), label)) for peer, label in references]
    found = [entry for entry in found if entry[2] is not None]
    headings = ["", "last point", "seconds", "own cores", "others' cores", "completion", "Chib"]
    headings += [f"s to {peer}, {label} ({at['completion']:.3f})" for peer, label, at in found]
    rows = []
    for method, run in stored["methods"].items():
        if "points" not in run:
            reason = run.get("missing") or f"failed: {run.get('error')}"
            rows.append([method, reason, *[""] * (len(headings) - 2)])
            continue
        last = run["points"][-1]
        chib = [p["chib"] for p in run["points"] if p["chib"] is not None]
        cells = [method, last["label"], number(last["seconds"])]
        cells += [f"{last[time] / last['seconds']:.1f}" for time in ("cpu", "others")]
        cells.append(f"{last['completion']:.4f}")
        cells.append(f"{chib[-1]:.4f}" if chib else "")
        for _, _, at in found:
            reached = time_to(curve(run), at["completion"])
            cells.append(number(reached.seconds) if reached else "-")
        rows.append(cells)
    text = (
        f"## {stored['about']}\n\n{stored['n_documents']:,} documents, {stored['n_words']:,} "
        f"words, {stored['n_tokens']:,} tokens; {stored['n_held_out']:,} held-out documents, Chib "
        f"on {stored['n_chib']:,} of them; at most {stored['limit']:g} s a method (`scripts/bench "
        f"peers --workload {name}`).\n\n![{stored['about']}]({picture})\n\n"
    )
    return text + table(headings, rows)


def _measurements(results: Results) -> str:
    rows = [
        [row["name"], number(row["measured"]), row["unit"], row["target"]]
        for stored in results.content["measurements"].values()
        for row in stored
    ]
    if not rows:
        return ""
    return "## Beside the curves\n\n" + table(["", "measured", "unit", "target"], rows)


def _settings(results: Results) -> str:
    rows = []
    for name in (*methods.PEERS, *methods.SPARK):
        peer = methods.module(name)
        # What was run, which a grid that went on since may not choose any more.
        runs = [stored["methods"].get(name, {}) for stored in results.content["workloads"].values()]
        used = next((run["settings"] for run in runs if "settings" in run), grid.settings(name))
        chosen = ", ".join(f"{key} {value}" for key, value in used.items())
        unfinished = peer.GRID and not grid.finished(name)
        n_tried = f"{len(grid.tried(name))}{', not finished' if unfinished else ''}"
        rows.append([name, peer.ABOUT, chosen, n_tried])
    text = "## Settings of the peers\n\n"
    return text + table(["", "what is run", "chosen", "settings tried"], rows)
