"""docs/reproduction.md, written from results that are there and from nothing else."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable
from pathlib import Path

from experiments.command import experiment_of
from experiments.frame import SCALES, Result
from experiments.progress import duration
from experiments.running import write_text

_INTRODUCTION = """# The paper, repeated

Theis and Hoffman, "A trust-region method for stochastic variational inference with applications to
streaming data" (ICML 2015), experiment by experiment. `python -m experiments report` writes this
page from what `python -m experiments NAME` left in `results/`. Numbers after ± are two standard
errors of the mean over runs with different seeds. The paper's numbers come from its plots
([experiments/published](../experiments/published/README.md)).
"""

_TO_COME = "`stream-text` (Figure 4) and `stream-ratings` (Figure 5) have no command yet.\n"


def write(out: Path, docs: Path, names: Iterable[str]) -> Path:
    """Write the page and copy its figures to `docs/reproduction/`.

    Args:
        out: where the experiments wrote; paper scale is preferred to quick.
        names: of all experiments, also those that were not run.
    """
    sections, missing = [_INTRODUCTION], []
    for name in names:
        result = _latest(out, name)
        if result is None:
            missing.append(name)
            continue
        (docs / "reproduction").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(out / result.scale / f"{name}.png", docs / "reproduction" / f"{name}.png")
        sections.append(_section(result))
    if missing:
        sections.append(
            "## Not run yet\n\n" + ", ".join(f"`{name}`" for name in missing) + ": "
            "no results at hand.\n"
        )
    sections.append(_TO_COME)
    path = docs / "reproduction.md"
    write_text(path, "\n".join(sections))
    return path


def _latest(out: Path, name: str) -> Result | None:
    for scale in reversed(SCALES):
        path = out / scale / f"{name}.json"
        if path.is_file():
            return Result.read(path)
    return None


def _section(result: Result) -> str:
    experiment = experiment_of(result.experiment)
    summary = experiment.summarise(result)
    table = ["| | paper | ours |", "|---|---|---|"]
    table += [f"| {' | '.join(row)} |" for row in summary.rows]
    figure = f"![{experiment.title}](reproduction/{result.experiment}.png)"
    return "\n".join(
        [
            f"## {experiment.title}",
            "",
            textwrap.fill(_facts(result), 100, break_on_hyphens=False, break_long_words=False),
            "",
            *table,
            "",
            textwrap.fill(" ".join(summary.notes), 100),
            "",
            figure,
            "",
        ]
    )


def _facts(result: Result) -> str:
    """Scale, seeds, data, versions and time in one paragraph."""
    source, versions = result.source, result.versions
    seeds = len(result.seeds)
    of = "the paper's data" if source.same_as_paper else "not the paper's data"
    files = ", ".join(source.files) if len(source.files) < 5 else f"{len(source.files)} files"
    seconds = sum(run.seconds for run in result.runs)
    return (
        f"`python -m experiments {result.experiment} --scale {result.scale} --seeds {seeds}`: "
        f"{source.name}, {of} ({files}, SHA-256 {source.sha256[:12]}), "
        f"{seeds} {'seeds' if seeds > 1 else 'seed'}, {duration(seconds)} on "
        f"{result.machine['cores']} cores, trustream {versions['trustream']}, "
        f"NumPy {versions['numpy']}, Numba {versions['numba']}."
    )
