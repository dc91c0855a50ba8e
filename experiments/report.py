"""Write docs/reproduction.md from the available results and from nothing else."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from experiments.command import experiment_of
from experiments.experiment import SCALES, Result
from experiments.progress import duration
from experiments.runner import write_text

_INTRODUCTION = """# Reproduction of the paper

This page shows how far the results of the paper can be reproduced with trustream, and how to repeat
each experiment yourself. The paper is Theis and Hoffman, "A trust-region method for stochastic
variational inference with applications to streaming data" (ICML 2015). Each section has one
experiment, with the paper's numbers and ours.

`scripts/experiments NAME` repeats one experiment; after `pip install -e ".[experiments]"` so does
`trustream-experiments NAME` in any directory. It writes a JSON file with all settings, seeds and
points, and the figure, to `results/`. `scripts/experiments report` writes this page from the
available results. Numbers after ± are two standard errors of the mean over runs with different
seeds. The paper's numbers come from its plots
([experiments/published](../experiments/published/README.md)). In the tables, TR is trust region,
NG natural gradient, MO memoized inference and VB variational Bayes.

The data are read from `../shared/data` or from the directory that `--data DIR` names. Where the
paper's own data are not available, other data are used instead, and the figure says so. If you have
the original data, put them into that directory; they are read in their own format and are used in
preference to the substitutes:

| experiment | original | substitute |
|---|---|---|
| `mnist` | `train-images-idx3-ubyte`, also with `.gz` | `mnist.npz`: the same images |
| `patches` | `*.iml`, linear images of van Hateren | `photographs.npz` |
| with text | a MediaWiki dump: `*.xml`, `*.xml.bz2` | `wiki_en.npz` |
| with ratings | `combined_data_*.txt` of Netflix | `ratings.csv` or `ratings.dat` of MovieLens, \
else `movietweetings.npz` |
| `stream-gap`, `gibbs-gap` | none: not in the paper | `wiki_en.npz`, `wiki_simple.npz`, \
`newsgroups20.jsonl.xz` |

The words of a dump are those in `wiki_vocabulary.txt` if that file exists, or else those that occur
in most articles. Its counts are stored next to it, so that it is read only once.
"""


def write(out: Path, docs: Path, names: Iterable[str]) -> Path:
    """Write the page and copy its figures to `docs/reproduction/`.

    Args:
        out: where the experiments wrote; paper scale is preferred to quick.
        names: of all experiments, also those that were not run.
    """
    sections, results, missing = [_INTRODUCTION], [], []
    for name in names:
        result = _latest(out, name)
        if result is None:
            missing.append(name)
            continue
        results.append(result)
        (docs / "reproduction").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(out / result.scale / f"{name}.png", docs / "reproduction" / f"{name}.png")
        sections.append(_section(result))
    if missing:
        named = ", ".join(f"`{name}`" for name in missing)
        sections.append(f"## Not run yet\n\nThere are no results of {named}.\n")
    if results:
        spent = sum(run.seconds for result in results for run in result.runs)
        sections.append(f"All runs on this page together took {duration(spent)}.\n")
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
    seeds = result.n_seeds
    of = "the paper's data" if source.same_as_paper else "not the paper's data"
    files = ", ".join(source.files) if len(source.files) < 5 else f"{len(source.files)} files"
    seconds = sum(run.seconds for run in result.runs)
    return (
        f"`python -m experiments {result.experiment} --scale {result.scale} --seeds {seeds}`: "
        f"{source.name}, {of} ({files}, SHA-256 {source.sha256[:12]}), "
        f"{seeds} {'seeds' if seeds > 1 else 'seed'}, {duration(seconds)} on "
        f"{_cores(result.machine)}, trustream {versions['trustream']}, "
        f"NumPy {versions['numpy']}, Numba {versions['numba']}."
    )


def _cores(machine: dict[str, Any]) -> str:
    """How many, and whether they had other work.

    >>> _cores({"cores": 2, "load_average": 5.1})
    '2 cores that were busy with other work too'
    """
    busy = (machine["load_average"] or 0) > machine["cores"] + 0.5
    return f"{machine['cores']} cores" + (" that were busy with other work too" if busy else "")
