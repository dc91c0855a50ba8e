"""Write `docs/benchmarks.md` from the results that are available.

Sections of which there are no results stay as they are on the page.
"""

from __future__ import annotations

import re
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

This page compares trustream with other libraries for topic models: how good the topics are after a
given time, on the same documents and the same machine. The first table says how much less time
trustream needs to reach the scores of the other libraries; the pictures show the whole curves.
`scripts/bench peers` writes this page and its pictures, and `scripts/bench peers --help` describes
how to run a part of it. [Performance](performance.md) summarises the results.

## How it is measured

- **Score.** One function outside of all libraries computes the score: each library hands over its
  topics and its alpha, and held-out documents are scored by document completion, the
  log-likelihood of a random half of the tokens given the other half, in nats per word. Higher is
  better ([Evaluation](evaluation.md)). The topics of a document are inferred by the scorer, never
  by the library. At some points Chib's estimate of log p(w) is given as well.
- **Time.** Time is wall-clock time of training alone. The clock is stopped while a model is
  scored. Imports, compilation (a first small fit) and the conversion of documents to the format of
  a library are left out, except for Vowpal Wabbit, which reads while it learns. The tables also
  show the number of cores that a method itself kept busy, and the number that other programs kept
  busy at the same time; the latter should be 0.0. The last column of the first table has the ratio
  of processor times, of all threads and processes together.
- **Settings of the other libraries.** Their settings come from a small grid on {grid}, searched
  one parameter at a time (`benchmarks/peers/grid.json` has every setting and score). The setting
  with the highest score at the point that the targets refer to is chosen; among settings within
  {tolerance} nats of it, the one with the least processor time per worker, with one or two
  workers. Learning rates are (tau + t)^-kappa with t counted in batches for all libraries;
  gensim's own t increases by one per pass after the first.
- **trustream** is `LatentDirichletAllocation(n_components=K)` with all other settings at their
  defaults. Its `fit` lets the learning rate fall to zero at the end, so every point is a separate,
  complete `fit`: on a random part of the documents for less than a pass, with `max_iter` for more
  than one, and timed as a whole. Fits of less than four seconds are made seven times, in turn, and
  the median time counts. The other curves of trustream change one parameter.
- **Runs.** Methods run one after the other, and finished results are stored, so that rows of a
  table can be minutes or days apart, and the speed of a shared machine drifts in between. Each
  section says what it was measured with. "Both in turn" is measured with seven rounds of both
  libraries in one run, each with another seed.
- **Time to a score** is read off the curve, by linear interpolation in the logarithm of time
  between two points. The time of the first complete fit that reaches the score is given as well.
- **Compilation.** The first call of trustream in a process loads its kernels from a cache or
  compiles them: {first_call}.
"""


def write(results: Results, docs: Path) -> list[Path]:
    """Write the document and one picture per workload; return their paths, none without results."""
    if "machine" not in results.content:
        return []
    path = docs / "benchmarks.md"
    kept = _sections(path.read_text()) if path.is_file() else {}
    introduction = _INTRODUCTION.format(
        grid=grid.WORKLOAD.about, tolerance=grid.TOLERANCE, first_call=_first_call(results)
    )
    parts = [introduction, _targets(results) or kept.get("Targets", "")]
    paths = []
    stored = results.content["workloads"]
    for name, workload in WORKLOADS.items():
        runs = stored.get(name, {}).get("methods", {}).values()
        if any("points" in run for run in runs):
            picture = docs / "benchmarks" / f"{name}.png"
            plot.draw(stored[name], picture)
            paths.append(picture)
            parts.append(_workload(name, stored[name], picture.relative_to(docs)))
        else:
            parts.append(kept.get(workload.about, ""))
    parts += [_measurements(results) or kept.get("Other measurements", ""), _settings(results)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(part for part in parts if part))
    return [path, *paths]


def _sections(text: str) -> dict[str, str]:
    """Sections of a page by their headings.

    >>> _sections("# Page\\n\\n## One\\n\\n1\\n\\n## Two\\n\\n2\\n")
    {'One': '## One\\n\\n1\\n', 'Two': '## Two\\n\\n2\\n'}
    """
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    return {part[3:].partition("\n")[0]: part.rstrip("\n") + "\n" for part in parts}


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


def _machine(stored: dict[str, Any]) -> str:
    """What a workload was measured with."""
    facts = stored["machine"]
    versions = {name: facts[name] for name in ("python", "trustream", "numpy", "numba", "scipy")}
    for name, run in stored["methods"].items():
        if run.get("version"):
            versions[methods.module(name).PACKAGE] = run["version"]
    text = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"{facts['cpu']}, {facts['cores']} cores; {text}."


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
                complete = f"first complete fit: {number(details['whole'])} s"
                here = f"{number(details['ours'])} s ({complete})"
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
    headings = ["", "other library", "trustream", "target", "measured", "met", "processor time"]
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
        f"on {stored['n_chib']:,} of them; at most {stored['limit']:g} s per method "
        f"(`scripts/bench peers --workload {name}`). {_machine(stored)}\n\n"
        f"![{stored['about']}]({picture})\n\n"
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
    return "## Other measurements\n\n" + table(["", "measured", "unit", "target"], rows)


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
    text = "## Settings of the other libraries\n\n"
    return text + table(["", "what is run", "chosen", "settings tried"], rows)
