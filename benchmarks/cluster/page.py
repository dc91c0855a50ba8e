"""Write what was measured into `docs/cluster.md`, between two marks."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.cluster.kept import kept
from benchmarks.cluster.steps import N_TOPICS, N_WORKERS, TARGETS, Measured, measured_steps
from benchmarks.harness.rows import Row, Setup, information

FILES: tuple[str, ...] = ()
PAGE = Path("docs") / "cluster.md"
BEGIN = "<!-- Written by `scripts/bench cluster`: -->"
END = "<!-- until here. -->"


def measure(setup: Setup) -> Iterator[Row]:
    """Figures of the last run of each measurement; with --quick nothing is written."""
    if setup.quick:
        return
    parts = [table(measured_steps()), memory(kept("steps")["memory"]), fits(kept("fits"))]
    parts += [spark(kept("spark")), prediction(kept("prediction"))]
    wrapped = [part if part.startswith("|") else textwrap.fill(part, 110) for part in parts]
    PAGE.write_text(replaced(PAGE.read_text(), "\n\n".join(wrapped)))
    yield information(f"parts written to {PAGE}", float(len(parts)), "")


def replaced(page: str, text: str) -> str:
    """The page with another text between its marks.

    >>> replaced(f"a {BEGIN} b {END} c", "new").splitlines()[1:4]
    ['', 'new', '']
    """
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def table(measured: list[Measured]) -> str:
    """Efficiency and bytes by batch, topics and parts."""
    cells: dict[Any, dict[str, Measured]] = {}
    alone = {}
    for one in measured:
        if one.mode == "one process":
            alone[one.batch_size, one.n_topics] = one.seconds
        else:
            key = one.n_topics, one.n_parts, one.batch_size
            cells.setdefault(key, {})[one.mode] = one
    lines = ["| | exact | local |", "|---|---|---|"]
    for (n_topics, n_parts, batch_size), modes in sorted(cells.items()):
        said = [f"batches of {batch_size:,}, K = {n_topics}{_parts(n_parts)}"]
        for mode in ("exact", "local"):
            target = None
            if (n_topics, n_parts) == (N_TOPICS, N_WORKERS):
                target = TARGETS.get((mode, batch_size))
            value = f"{alone[batch_size, n_topics] / modes[mode].seconds:.2f}"
            said.append(value if target is None else f"{value} (target {target:g})")
        lines.append(f"| {' | '.join(said)} |")
    for n_parts in sorted({key[1] for key in cells}):
        some = [modes for key, modes in cells.items() if key[1] == n_parts]
        said = [f"bytes of a step over 4 W K, {n_parts} parts"]
        for mode in ("exact", "local"):
            values = [_bytes(modes[mode]) for modes in some]
            low, high = f"{min(values):.1f}", f"{max(values):.1f}"
            said.append(low if low == high else f"{low} to {high}")
        lines.append(f"| {' | '.join(said)} |")
    return "\n".join(lines)


def _parts(n_parts: int) -> str:
    return "" if n_parts == N_WORKERS else f", {n_parts} parts"


def _bytes(one: Measured) -> float:
    return (one.sent + one.received) / (4 * one.n_words * one.n_topics)


def memory(found: dict[str, float]) -> str:
    """Of driver and worker."""
    return (
        f"({N_WORKERS} parts where nothing else is said; W are the words of a batch.) The driver, "
        f"which held all articles for the one process too, took {found['driver']:.0f} MB, a worker "
        f"{found['worker']:.0f} MB."
    )


def fits(found: dict[str, Any]) -> str:
    """Whole fits."""
    seconds = found["seconds"]
    return (
        f"A whole fit of {found['n_documents']:,} articles with {found['n_topics']} topics and all "
        f"defaults takes one process {seconds['one process']:.1f} seconds, two workers with 8 "
        f"parts {seconds['exact']:.1f} with exact steps and {seconds['local']:.1f} with local "
        "ones, their start included. Batches are small by default, and the exchange is most of it."
    )


def spark(found: dict[str, Any]) -> str:
    """Next to Spark."""
    theirs = max(found["spark"], key=lambda point: point[1])
    best = max(score for _, score in found["ours"])
    reaches = "do not reach it"
    if found["seconds"] is not None:
        reaches = f"take {found['seconds']:.0f} to reach it, most of which is their start"
    return (
        "Next to Spark's online LDA (`local[2]`, its documents in memory and its code compiled "
        f"before), on {found['n_documents']:,} articles with {found['n_topics']} topics: Spark "
        f"takes {theirs[0]:.0f} seconds to its best completion score, {theirs[1]:.3f} nats per "
        f"word; two workers {reaches}. After one pass they are at {best:.3f}."
    )


def prediction(found: dict[str, Any]) -> str:
    """How well the model fits, and what it says of 64 workers."""
    error = max(one["error"] for one in found.values())
    local = found["local"]["of_64"]
    return (
        "A model that is fitted to these steps (compute, latency, bytes; within "
        f"{100 * error:.0f} % of each of them) says what to expect of more workers. With 100,000 "
        "words and 10 Gbit/s, 64 workers are predicted to work at "
        f"{local['100000']:.2f} with 100,000 documents each in a batch, at {local['10000']:.2f} "
        f"with 10,000, and at {local['1000']:.2f} with 1,000 (local steps)."
    )
