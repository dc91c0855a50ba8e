"""Say for each claim of the paper what it says, what we see, at what scale, and whether it holds.

Each function takes the result of an experiment and returns claims. A verdict is computed from the
runs; the reason after it names the experiment that shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from experiments import (
    patches,
    search,
    search_ratings,
    search_text,
    stream_lines,
    stream_ratings,
    stream_text,
)
from experiments.experiment import Result, with_error


class Claim(NamedTuple):
    """A line of the table.

    Attributes:
        figure: of the paper.
        text: what the paper says.
        paper: its numbers.
        ours: ours.
        verdict: whether it holds, and why not.
    """

    figure: str
    text: str
    paper: str
    ours: str
    verdict: str


def lines(result: Result) -> list[str]:
    """The lines of the table that an experiment has; none if it is not in the paper."""
    found = _CLAIMS.get(result.experiment, lambda result: [])(result)
    tag = f"<!-- {result.experiment} {result.scale} -->"
    return [
        f"| {tag} {c.figure} | {c.text} | {c.paper} | {c.ours} | {result.scale} | {c.verdict} |"
        for c in found
    ]


def _mnist(result: Result) -> list[Claim]:
    ends = {s: [run.points[-1] for run in result.of(s)] for s in ("TR", "NG")}
    if not all(ends.values()):
        return []
    k = result.settings["n_components"]
    used = {s: [point["n_used"] for point in points] for s, points in ends.items()}
    bounds = {s: [point["elbo"] for point in points] for s, points in ends.items()}
    gap = np.mean(bounds["TR"]) - np.mean(bounds["NG"])
    return [
        Claim(
            "2A",
            "trust region uses all components, natural gradient fewer than half",
            f"{k}; under {k // 2}",
            f"{min(used['TR'])} to {max(used['TR'])}; {min(used['NG'])} to {max(used['NG'])}",
            _holds(min(used["TR"]) == k and np.median(used["NG"]) < k / 2),
        ),
        Claim(
            "2B",
            "the bound of trust region ends far higher, nat/image",
            "9.4",
            f"{gap:.1f} ({with_error(bounds['TR'])} against {with_error(bounds['NG'])})",
            _holds(min(bounds["TR"]) > max(bounds["NG"])),
        ),
    ]


def _patches(result: Result) -> list[Claim]:
    found = []
    for start in result.settings["starts"]:
        ours, paper = patches.bounds(result, start)
        if len(ours) < len(paper):
            continue
        same = sorted(ours, key=lambda s: ours[s]) == sorted(paper, key=lambda s: paper[s])
        best = max(ours, key=lambda s: ours[s]) == "TR"
        found.append(
            Claim(
                "2C",
                "trust region has the highest bound after a pass; natural gradient falls behind",
                patches.ordered(paper),
                f"{start}: {patches.ordered(ours)}",
                "yes, in the same order" if same else f"trust region: {_holds(best)}",
            )
        )
    return found


def _search(
    result: Result, measure: str, figure: str, paper: search.Pairs, of: str, unit: str, digits: int
) -> list[Claim]:
    k = result.settings["n_components"][0]
    found = []
    for population in search.populations(result.settings):
        ng, tr = search.pairs(result, k, measure, search.suffix(population))
        if not ng.size:
            continue
        scaled = search.scaled_to(population)
        gain = search.gains(ng, tr, digits)
        found.append(
            Claim(
                figure,
                f"trust region wins almost all random settings, K = {k}, {of}",
                f"{search.wins_of(*paper)}; mean, worst, best gain "
                f"{search.gains(*paper, digits)} {unit}",
                f"{scaled}: {search.wins_of(ng, tr)}; {gain} {unit}",
                _won(ng, tr),
            )
        )
        # With ratings it depends more on them in the paper's own table.
        if not paper[0].size or _depends_less(paper):
            found.append(
                Claim(
                    figure,
                    f"trust region depends less on the settings: best minus worst, TR, NG, {unit}",
                    _extents(paper, digits),
                    f"{scaled}: {_extents((ng, tr), digits)}",
                    _holds(_depends_less((ng, tr))),
                )
            )
    return found


def _depends_less(pairs: search.Pairs) -> bool:
    """Whether values of trust region lie closer together than those of natural gradient.

    >>> _depends_less((np.array([1.0, 3.0]), np.array([2.0, 3.0])))
    True
    >>> _depends_less(search_ratings.published_pairs("recall")(100))
    False
    """
    ng, tr = pairs
    return bool(np.ptp(tr) < np.ptp(ng))


def _extents(pairs: search.Pairs, digits: int) -> str:
    """Best minus worst of trust region, then of natural gradient; nothing if there are none."""
    ng, tr = pairs
    return f"{np.ptp(tr):.{digits}f}, {np.ptp(ng):.{digits}f}" if ng.size else ""


def _won(ng: np.ndarray, tr: np.ndarray) -> str:
    """In words: most pairs, or not."""
    share = float((tr > ng).mean())
    if share >= 0.85:
        return "yes"
    if share > 0.5 and (tr - ng).mean() > 0:
        return "in part: most, not almost all; see the section and `regimes`"
    return "no; see the section and `regimes`"


def _search_text(result: Result) -> list[Claim]:
    k = result.settings["n_components"][0]
    paper = search_text.published_pairs(k)
    return _search(result, "score", "3A", paper, "text", "nat/word", 3)


def _search_ratings(result: Result) -> list[Claim]:
    k = result.settings["n_components"][0]
    paper = search_ratings.published_pairs("recall")(k)
    return _search(result, "recall", "3B", paper, "recall of movies", "points", 1)


def _stream_text(result: Result) -> list[Claim]:
    found = []
    for stream in result.settings["streams"]:
        k = stream["n_components"]
        found += _stream(result, k, "score", "4", stream_text.published(k), "nat/word", 3, 0.05)
    return found


def _stream_ratings(result: Result) -> list[Claim]:
    k = result.settings["streams"][0]["n_components"]
    paper = stream_ratings.published("recall")
    return _stream(result, k, "recall", "5", paper, "% recall", 1, 1.5)


def _stream(
    result: Result,
    k: int,
    measure: str,
    figure: str,
    paper: stream_lines.Lines,
    unit: str,
    digits: int,
    close: float,
) -> list[Claim]:
    """Streaming TR minus other lines, each where both have runs."""
    others = {
        "full_TR": "streaming trust region ends close to trust region on the whole data",
        "stream_NG": "streaming trust region ends far above streaming natural gradient",
        "batch": "streaming trust region ends above the streaming batch algorithm",
        "svb_B1000": "streaming trust region ends above streaming VB",
        "svb_B100": "streaming trust region ends above streaming VB",
        "HPF": "streaming trust region ends above HPF",
    }
    found = []
    for name, text in others.items():
        for line in ("stream_TR", "product"):
            ours = _difference(result, k, measure, line, name)
            if ours is None or name not in paper:
                continue
            theirs = float(paper["stream_TR"][1][-1] - paper[name][1][-1])
            own = "" if line == "stream_TR" else "trustream's defaults: "
            gap = float(np.mean(ours))
            holds = gap > -close if name == "full_TR" else gap > 0
            verdict = "yes" if holds else f"no; {_still_rising(result, k, measure, line, digits)}"
            if holds and name != "full_TR" and gap < theirs / 2:
                verdict = "above, by less than half of that"
            found.append(
                Claim(
                    figure,
                    f"{text}, K = {k}, {unit}",
                    f"{theirs:+.{digits}f}" if line == "stream_TR" else "",
                    f"{own}{gap:+.{digits}f}",
                    verdict,
                )
            )
    return found


def _still_rising(result: Result, k: int, measure: str, line: str, digits: int) -> str:
    """What a line gained between its last two points: a stream that is too short still rises."""
    x, mean, _ = stream_lines.curve(stream_lines.chosen(result, line, k), measure)
    if len(x) < 2:
        return "see the section"
    gained = f"{mean[-1] - mean[-2]:+.{digits}f}"
    return (
        f"the line has moved by {gained} from {x[-2]:,.0f} to {x[-1]:,.0f} documents (the paper's "
        "streams have millions)"
    )


def _difference(
    result: Result, k: int, measure: str, first: str, second: str
) -> list[float] | None:
    """The right end of a line minus that of another, for each run of the first."""
    a, b = (stream_lines.chosen(result, name, k) for name in (first, second))
    if not a or not b:
        return None
    other = float(np.mean([run.points[-1][measure] for run in b]))
    return [run.points[-1][measure] - other for run in a]


def _holds(yes: bool) -> str:
    return "yes" if yes else "no; see the section"


_CLAIMS: dict[str, Callable[[Result], list[Claim]]] = {
    "mnist": _mnist,
    "patches": _patches,
    "search-text": _search_text,
    "search-ratings": _search_ratings,
    "stream-text": _stream_text,
    "stream-ratings": _stream_ratings,
}
