"""Write docs/reproduction.md from the available results.

Sections and lines of the claims carry the names of their experiment and scale in a comment. Those
whose results are not there, because they were made elsewhere, stay as they are on the page.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from experiments import claims, provenance
from experiments.command import experiment_of
from experiments.experiment import SCALES, Result
from experiments.files import write_text
from experiments.progress import duration
from experiments.run_log import RunLog
from experiments.runner import draw, log_path

_INTRODUCTION = """# Reproduction of the paper

This page shows how far the results of the paper can be reproduced with trustream, and how to repeat
each experiment yourself. The paper is Theis and Hoffman, "A trust-region method for stochastic
variational inference with applications to streaming data" (ICML 2015). Each section has one
experiment, with the paper's numbers and ours.

`scripts/experiments NAME` repeats one experiment; after `pip install -e ".[experiments]"` so does
`trustream-experiments NAME` in any directory. It writes a JSON file with all settings, seeds and
points, and the figure, to `results/`. `scripts/experiments report` writes this page from the
available results. There are three scales: `quick` takes minutes; `full` takes hours and has all
data of the files named below; `paper` has the paper's settings and wants the paper's data. Finished
runs of scale `full` are in the repository (`experiments/results`), so that the same command goes on
from them anywhere; each has the commit that it was made with, and is repeated only if its settings,
its data or the numbers that the library computes have changed. Sections that name no commit are
older than this and were not made again. Numbers after ± are two standard errors
of the mean over runs with different seeds. The paper's numbers come from its plots
([experiments/published](../experiments/published/README.md)). In the tables, TR is trust region,
NG natural gradient, MO memoized inference and VB variational Bayes.

The data are not part of the repository. They are read from the directory that `--data DIR` or
`$TRUSTREAM_DATA` names, `../shared/data` if neither does. Where the paper's own data are not
available, other data are used instead, and the figure says so. If you have the original data, put
them into that directory; they are read in their own format and are used in preference to the
substitutes:

| experiment | original | substitute |
|---|---|---|
| `mnist` | `train-images-idx3-ubyte`, also with `.gz` | `mnist.npz`: the same images |
| `patches` | `*.iml`, linear images of van Hateren | `photographs.npz` |
| with text | a MediaWiki dump: `*.xml`, `*.xml.bz2` | `wiki_en.npz` |
| with ratings | `combined_data_*.txt` of Netflix | `ratings.csv` or `ratings.dat` of MovieLens, \
else `movietweetings.npz` |
| `stream-gap`, `gibbs-gap` | none: not in the paper | `wiki_en.npz`, `wiki_simple.npz`, \
`newsgroups20.jsonl.xz` |

`wiki_en.npz` and `wiki_simple.npz` hold counts, articles x words in random order, as the parts
`data`, `indices`, `indptr` and `shape` of a CSR matrix; `movietweetings.npz` holds `user`, `item`,
`rating` and `timestamp` of each rating in order of time; each line of `newsgroups20.jsonl.xz` has a
raw message as `text`. The words of a dump are those in `wiki_vocabulary.txt` if that file exists,
or else those that occur in most articles. Its counts are stored next to it, so that it is read only
once.
"""


_MARK = re.compile(r"^<!-- (\S+) (\S+) -->$", re.MULTILINE)
_LINE = re.compile(r"^\| <!-- (\S+) (\S+) --> .*$", re.MULTILINE)
_REST = "<!-- rest all -->"
_CLAIMS = """## The paper's claims, line by line

Each line is made of the runs that its section lists.

| | the paper's claim | paper | ours | scale | does it hold? |
|---|---|---|---|---|---|
"""

# An experiment and a scale.
Part = tuple[str, str]


@dataclass(frozen=True)
class _Page:
    """Sections and lines of claims, by experiment and scale."""

    sections: dict[Part, str] = field(default_factory=dict)
    lines: dict[Part, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> _Page:
        """What a page has; nothing if there is none."""
        if not path.is_file():
            return cls()
        text = path.read_text(encoding="utf-8")
        marks = [*_MARK.finditer(text)]
        ends = [mark.start() for mark in marks[1:]] + [len(text)]
        sections = {
            (mark[1], mark[2]): text[mark.end() : end].strip() + "\n"
            for mark, end in zip(marks, ends, strict=True)
            if mark[0] != _REST
        }
        lines: dict[Part, list[str]] = {}
        for line in _LINE.finditer(text):
            lines.setdefault((line[1], line[2]), []).append(line[0])
        return cls(sections, lines)


def write(out: Path, kept: Path, docs: Path, names: Iterable[str]) -> Path:
    """Write the page and the figures to `docs/reproduction/`.

    Args:
        out: where the experiments wrote.
        kept: where those of scale "full" did.
        names: of all experiments, also those that were not run.
    """
    path = docs / "reproduction.md"
    page, missing = _Page.read(path), []
    for name in names:
        for scale in SCALES:
            result = _result(log_path(out, kept, scale, name))
            if result is None:
                continue
            part = name, scale
            experiment = experiment_of(name)
            draw(experiment, result, docs / "reproduction" / f"{name}-{scale}", (".png",))
            page.sections[part] = _section(result)
            page.lines[part] = claims.lines(result)
    texts, lines = [_INTRODUCTION], []
    sections = []
    for name in names:
        shown = _shown(page, name)
        if not shown:
            missing.append(name)
        for scale in shown:
            sections.append(f"<!-- {name} {scale} -->\n\n{page.sections[name, scale]}")
            lines += page.lines.get((name, scale), [])
    if lines:
        texts.append(_CLAIMS + "\n".join(lines) + "\n")
    texts += [*sections, _REST + "\n"]
    if missing:
        named = ", ".join(f"`{name}`" for name in missing)
        texts.append(f"## Not run yet\n\nThere are no results of {named}.\n")
    write_text(path, "\n".join(texts).rstrip("\n") + "\n")
    return path


def _shown(page: _Page, name: str) -> list[str]:
    """Scales from the largest down to the first that is complete."""
    scales = []
    for scale in reversed(SCALES):
        if (name, scale) in page.sections:
            scales.append(scale)
            if _INCOMPLETE not in page.sections[name, scale]:
                break
    return scales


def _result(path: Path) -> Result | None:
    """The runs of a log; None if there are none."""
    try:
        log = RunLog.read(path)
    except FileNotFoundError:
        return None
    result = log.result(provenance.versions(), provenance.machine())
    return result if result.runs else None


# The words by which a section says that runs are missing.
_INCOMPLETE = "planned runs are done"


def _section(result: Result) -> str:
    experiment = experiment_of(result.experiment)
    summary = experiment.summarise(result)
    table = ["| | paper | ours |", "|---|---|---|"]
    table += [f"| {' | '.join(row)} |" for row in summary.rows]
    figure = f"![{experiment.title}](reproduction/{result.experiment}-{result.scale}.png)"
    return "\n".join(
        [
            f"## {experiment.title} ({result.scale} scale)",
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
    commits = sorted({run.commit for run in result.runs} - {""})
    text = (
        f"`python -m experiments {result.experiment} --scale {result.scale}`: "
        f"{source.name}, {of} ({files}, SHA-256 {source.sha256[:12]}), "
        f"{seeds} {'seeds' if seeds > 1 else 'seed'}, {duration(seconds)} in all, "
        # Runs that are kept have commits; the version is that of today.
        f"trustream {'at ' + ', '.join(commits) if commits else versions['trustream']}, "
        f"NumPy {versions['numpy']}, Numba {versions['numba']}."
    )
    n_done = len(result.runs)
    if n_done < result.n_planned:
        text += f" **{n_done} of {result.n_planned} {_INCOMPLETE}.**"
    return text
