"""The command ``trustream trends``."""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo, echo_json, echo_table
from trustream.cli.shared_parameters import json_option, model_option, opened, store_argument
from trustream.cli.topic_parameters import of_documents, percent, reading, sample_option

if TYPE_CHECKING:
    from trustream.topics.time_result import TopicsOverTime

_EPILOG = """\b
Examples:
  trustream trends topics.db
  trustream trends topics.db --bins 24 --since 2024-01-01
  trustream trends topics.db --all --json > trends.json
"""
_BARS = "▁▂▃▄▅▆▇█"


class Time(click.ParamType):
    """Accept a date or a time, such as 2024-05-31, or seconds since 1970.

    >>> Time().convert("1970-01-02", None, None)
    86400.0
    """

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Called by click."""
        from trustream.topics.time_bins import as_seconds

        for given in (value, _number(value)):
            try:
                seconds = float(as_seconds([given])[0])
            except ValueError:
                continue
            if not math.isnan(seconds):
                return seconds
        self.fail(f"{value!r} is neither a date such as 2024-05-31 nor seconds.", param, ctx)


@click.command(epilog=_EPILOG, short_help="Say which topics are new, rising and fading.")
@store_argument
@click.option("--bins", default=10, type=Whole(2, 1000), help="Bins of time, of the same width.")
@click.option("--since", type=Time(), help="Only documents from this time on, 2024-05-31 say.")
@click.option("--all", "everything", is_flag=True, help="Show steady topics too.")
@sample_option
@model_option
@json_option
def trends(
    store: str,
    bins: int,
    since: float | None,
    everything: bool,
    sample: int | None,
    name: str,
    as_json: bool,
) -> None:
    """Say which topics of a STORE are new, rising and fading, by the times of its documents.

    A document that came without a time has that of its arrival. A topic is called so if its share
    before and after some time differs by more than chance, corrected for the number of topics and
    of times. Shares are means over documents; "last" is that in the last bin with documents, with
    its 90 % interval.
    """
    from trustream.topics.stored_trends import stored_trends

    with opened(store) as found, reading(found, sample) as progress:
        explored = stored_trends(
            found, name, bins=bins, since=since, sample=sample, progress=progress
        )
    result = explored.over_time
    assert result is not None  # that of stored_trends
    if as_json:
        numbers = {name: getattr(explored, name) for name in ("n_stored", "n_arrival")}
        echo_json({**_values(result, everything), **numbers})
        return
    _print(result, everything)
    if explored.is_sample:
        echo(f"of {of_documents(explored)}")
    if explored.n_arrival:
        echo(f"{explored.n_arrival:,} of them came without a time, and count at that of arrival")


def _number(value: Any) -> Any:
    try:
        return float(value)
    except ValueError:
        return value


def _values(result: TopicsOverTime, everything: bool) -> dict[str, Any]:
    topics = [
        {
            **dataclasses.asdict(result.trends[k]),
            "label": result.labels[k],
            "shares": result.shares[:, k].tolist(),
            "lower": result.lower[:, k].tolist(),
            "upper": result.upper[:, k].tolist(),
            "words": [[entry.word for entry in words[k]] for words in result.words],
        }
        for k in _columns(result, everything)
    ]
    return {
        "edges": result.edges.tolist(),
        "level": result.level,
        "n_documents": result.n_documents.tolist(),
        "n_without_time": result.n_without_time,
        "n_outside": result.n_outside,
        "n_without_words": result.n_without_words,
        "topics": topics,
    }


def _columns(result: TopicsOverTime, everything: bool) -> list[int]:
    """Topics that are shown: new, rising and fading ones, the surest first; then steady ones."""
    from trustream.topics.trends import STEADY

    return [k for k in result.by_trend() if everything or result.trends[k].kind != STEADY]


def _print(result: TopicsOverTime, everything: bool) -> None:
    from trustream.topics.stored_trends import date_text
    from trustream.topics.trends import STEADY

    edges, shown = result.edges, _columns(result, everything)
    title = (
        f"{int(result.n_documents.sum()):,} documents from {date_text(edges[0])[:10]} to "
        f"{date_text(edges[-1])[:10]}, {result.n_bins} bins"
    )
    if sys.stdout is not None and sys.stdout.isatty():
        echo(title)
        for k in shown:
            _print_lines(result, k)
    else:
        columns = ["topic", "label", "trend", "at", "before", "after", "last", "lower", "upper"]
        echo_table(title, [*columns, "p"], [_cells(result, k) for k in shown])
    n_steady = sum(trend.kind == STEADY for trend in result.trends)
    if n_steady and not everything:
        only = "all" if n_steady == len(result.topics) else "the other"
        echo(f"{only} {n_steady} topics are steady (--all shows them)")
    left = [
        f"{count:,} {why}"
        for count, why in (
            (result.n_without_time, "without a time"),
            (result.n_outside, "outside of these times"),
            (result.n_without_words, "without words that the model knows"),
        )
        if count
    ]
    if left:
        echo(f"documents left out: {', '.join(left)}")


def _cells(result: TopicsOverTime, k: int) -> list[str]:
    from trustream.topics.stored_trends import date_text

    trend, last = result.trends[k], _last(result)
    return [
        str(trend.topic),
        result.labels[k],
        trend.kind,
        "" if trend.time is None else date_text(trend.time)[:10],
        *(
            percent(float(share))
            for share in (
                trend.before,
                trend.after,
                result.shares[last, k],
                result.lower[last, k],
                result.upper[last, k],
            )
        ),
        f"{trend.p_value:.1g}",
    ]


def _print_lines(result: TopicsOverTime, k: int) -> None:
    topic, label, kind, at, before, after, last, lower, upper, p = _cells(result, k)
    changed = f"{before} before {at}, {after} since" if at else f"{after} on average"
    echo(f"{topic:>4} {sparkline(result.shares[:, k].tolist())} {kind}: {label}")
    lower = lower.removesuffix(" %")
    echo(f"     {changed}; last {last} ({lower} to {upper}), p {p}")


def _last(result: TopicsOverTime) -> int:
    """The last bin with documents."""
    return max(b for b in range(result.n_bins) if result.n_documents[b])


def sparkline(values: list[float]) -> str:
    """Return values as a line of bars from nothing to the largest; a blank where there is none.

    >>> sparkline([0.0, 0.1, float("nan"), 0.4])
    '▁▃ █'
    """
    most = max((value for value in values if value == value), default=0.0) or 1.0
    return "".join(
        " " if value != value else _BARS[min(int(8 * value / most), 7)] for value in values
    )
