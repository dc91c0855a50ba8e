"""Say for each claim of the paper what it says, what we see, at what scale, and whether it holds.

Each function takes the result of an experiment and returns claims. A verdict is computed from the
runs; the reason after it names the experiment that shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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

_WHERE = (
    "see the section, and [where trust region matters]"
    "(#where-trust-region-matters-batches-articles-and-population-full-scale)"
)


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
            _all_and_few(used["TR"], used["NG"], k),
        ),
        Claim(
            "2B",
            "the bound of trust region ends far higher, nat/image",
            "9.4",
            f"{gap:.1f} ({with_error(bounds['TR'])} against {with_error(bounds['NG'])})",
            _holds(min(bounds["TR"]) > max(bounds["NG"])),
        ),
    ]


def _all_and_few(ours: list[int], others: list[int], k: int) -> str:
    """Whether trust region uses all components, and natural gradient fewer than half.

    >>> _all_and_few([40, 40], [19, 22], 40)
    'yes for trust region; for natural gradient in 1 of 2 runs'
    """
    n_few = sum(used < k / 2 for used in others)
    if min(ours) < k or not n_few:
        return "no; see the section"
    if n_few == len(others):
        return "yes"
    return f"yes for trust region; for natural gradient in {n_few} of {len(others)} runs"


def _patches(result: Result) -> list[Claim]:
    found = []
    for start in result.settings["starts"]:
        ours, paper = patches.bounds(result, start)
        if len(ours) < len(paper):
            continue
        order, theirs = (sorted(each, key=lambda s: -each[s]) for each in (ours, paper))
        verdict = f"trust region: {_holds(order[0] == 'TR')}"
        if order == theirs:
            verdict = "yes, in the same order"
        elif order[:2] == theirs[:2]:
            verdict = "yes, the first two in the same order"
        found.append(
            Claim(
                "2C",
                "trust region has the highest bound after a pass; natural gradient falls behind",
                patches.ordered(paper),
                f"{start}: {patches.ordered(ours)}",
                verdict,
            )
        )
    return found


def _search(
    result: Result,
    measure: str,
    figure: str,
    paper: search.Pairs,
    of: str,
    unit: str,
    digits: int,
    more: str = "",
) -> list[Claim]:
    """Two claims for each population; `more` is what else is to be known of our numbers."""
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
                f"{scaled}: {search.wins_of(ng, tr)}; {gain} {unit}{more}",
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
        return f"in part: most, not almost all; {_WHERE}"
    return f"no; {_WHERE}"


def _search_text(result: Result) -> list[Claim]:
    k = result.settings["n_components"][0]
    paper = search_text.published_pairs(k)
    return _search(result, "score", "3A", paper, "text", "nat/word", 3)


def _search_ratings(result: Result) -> list[Claim]:
    k = result.settings["n_components"][0]
    paper = search_ratings.published_pairs("recall")(k)
    popular = result.of("popularity")[0].points[0]["recall"]
    more = f" (for comparison, lists of popular movies have a recall of {popular:.1f} %)"
    return _search(result, "recall", "3B", paper, "recall of movies", "points", 1, more)


def _stream_text(result: Result) -> list[Claim]:
    found = []
    for stream in result.settings["streams"]:
        k = stream["n_components"]
        why = partial(_still_rising, result, k)
        paper = stream_text.published(k)
        found += _stream(result, k, "score", "4", paper, "nat/word", 3, 0.05, why)
    return found


def _stream_ratings(result: Result) -> list[Claim]:
    k = result.settings["streams"][0]["n_components"]
    paper = stream_ratings.published("recall")
    return _stream(result, k, "recall", "5", paper, "% recall", 1, 1.5, partial(_few, result, k))


def _stream(
    result: Result,
    k: int,
    measure: str,
    figure: str,
    paper: stream_lines.Lines,
    unit: str,
    digits: int,
    close: float,
    why: Callable[[str], str],
) -> list[Claim]:
    """Streaming TR, and trustream's own streams, minus other lines, each where both have runs.

    Args:
        close: how far behind a line still ends close to another.
        why: says of a line of ours why a claim may not hold for it.
    """
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
            verdict = "yes" if holds else f"no; {why(line)}"
            if holds and name != "full_TR" and gap < theirs / 2:
                verdict = f"above, by {gap / theirs:.0%} of the paper's difference"
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


def _still_rising(result: Result, k: int, line: str) -> str:
    """What a line gained between its last two points: a stream that is too short still rises."""
    x, mean, _ = stream_lines.curve(stream_lines.chosen(result, line, k), "score")
    if len(x) < 2:
        return "see the section"
    return (
        f"the line has moved by {mean[-1] - mean[-2]:+.3f} from {x[-2]:,.0f} to {x[-1]:,.0f} "
        "documents (the paper's streams have millions)"
    )


def _few(result: Result, k: int, line: str) -> str:
    """How many users there are, and where lists of popular movies stand."""
    n = result.of(f"full_TR_K{k}")[0].points[-1]["n_documents"]
    popular = result.of(f"popularity_K{k}")[0].points[-1]["recall"]
    own = np.mean([run.points[-1]["recall"] for run in stream_lines.chosen(result, line, k)])
    return (
        f"there are {n:,.0f} users here and 480,189 in the paper; the line ends at {own:.1f} %, "
        f"and lists of popular movies have {popular:.1f} %"
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
