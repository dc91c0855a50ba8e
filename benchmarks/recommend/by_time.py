"""Recommend for the future from the past, next to other libraries.

All ratings before a day are learned from; what the users like after it, of the movies that were
rated before, is to be foretold. Settings of each method are chosen in the past alone: on its last
tenth in time, from the nine tenths before. There are several such days, so that one hit does not
decide.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.table import Table
from scipy import sparse

from benchmarks.harness import report
from benchmarks.harness.rows import Row, Setup, at_least, information
from benchmarks.recommend import data
from benchmarks.recommend.methods import METHODS, Pair
from trustream import TopicRecommender
from trustream.evaluation import ranking
from trustream.recommender import TrendingRecommender
from trustream.recommender.fading_counts import FadingCounts, in_days
from trustream.recommender.trending_recommender import HALF_LIVES

FILES = (data.FILE,)
M = 20
# Shares of the ratings in time: from where to where is foretold.
PERIODS = ((0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.0))
_LAST = 0.1
_MEASURES = ("recall", "ndcg")
TREND = "TrendingRecommender"


class Period(NamedTuple):
    """Ratings of the past as a frame, and likes (users, items) of both times.

    Attributes:
        frame: user, item, rating and timestamp of the past.
        train, seen: likes and ratings of the past.
        later: new likes of the time after it.
    """

    frame: dict[str, np.ndarray]
    train: sparse.csr_array
    seen: sparse.csr_array
    later: sparse.csr_array


def measure(setup: Setup) -> Iterator[Row]:
    """Recall and NDCG of all methods, means over periods."""
    ratings = read(setup)
    results: dict[str, list[dict[str, float]]] = {}
    for start, end in PERIODS[: setup.choose(len(PERIODS), 1)]:
        period = at(ratings, start, end)
        inner = at(period.frame, 1 - _LAST, 1.0)
        for name, method in methods().items():
            try:
                found = scored(method(period, inner), period)
            except ImportError as error:
                print(f"  {name}: not installed: {error}", file=sys.stderr)
                continue
            results.setdefault(name, []).append(found)
            print(f"  {start:.0%} to {end:.0%}, {name}: {found}", file=sys.stderr, flush=True)
    _print(f"the future from the past, {len(results['popularity'])} periods", results)
    means = {
        name: {m: float(np.mean([each[m] for each in found])) for m in _MEASURES}
        for name, found in results.items()
    }
    for name, result in means.items():
        yield information(f"{name}, by time, NDCG@{M}", result["ndcg"], "", **result)
    for other in ("popularity", "LDA, trust region"):
        for measure_ in _MEASURES:
            ratio = means[TREND][measure_] / means[other][measure_]
            yield at_least(f"by time, {TREND} over {other}, {measure_}@{M}", ratio, 1.0, "x")


def read(setup: Setup) -> dict[str, np.ndarray]:
    """All ratings, with numbers of users and movies from 0."""
    with np.load(setup.data / data.FILE) as parts:
        _, user = np.unique(parts["user"], return_inverse=True)
        _, item = np.unique(parts["item"], return_inverse=True)
        columns = {"user": user, "item": item}
        return columns | {name: parts[name] for name in ("rating", "timestamp")}


def at(ratings: dict[str, np.ndarray], start: float, end: float) -> Period:
    """What was before a share of the ratings in time, and what came until another."""
    time = ratings["timestamp"]
    first, last = np.quantile(time, [start, end])
    past, then = time < first, (time >= first) & (time <= last)
    liked = ratings["rating"] >= data.THRESHOLD
    train, seen, later = (_matrix(ratings, part) for part in (past & liked, past, then & liked))
    known = np.asarray(train.sum(axis=0)).ravel() > 0
    has_liked = np.diff(train.indptr) > 0
    later = sparse.csr_array(sparse.diags_array(has_liked * 1.0) @ later)
    later = sparse.csr_array(later @ sparse.diags_array(known * 1.0))
    later = sparse.csr_array(later - later.multiply(seen))
    later.eliminate_zeros()
    frame = {name: column[past] for name, column in ratings.items()}
    return Period(frame, train, seen, later)


def _matrix(ratings: dict[str, np.ndarray], chosen: np.ndarray) -> sparse.csr_array:
    shape = tuple(int(ratings[name].max()) + 1 for name in ("user", "item"))
    place = (ratings["user"][chosen], ratings["item"][chosen])
    matrix = sparse.csr_array((np.ones(chosen.sum(), np.float32), place), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def methods() -> dict[str, Callable[[Period, Period], Pair]]:
    """By name: (period, the last tenth of its past) -> users' and movies' factors."""
    compared = ("popularity", "LDA, trust region", "HPF (cornac)", "ALS (implicit)")
    found = {name: _matrix_method(name) for name in compared}
    return {**found, "popularity of the moment": moment, TREND: trending}


def _matrix_method(name: str) -> Callable[[Period, Period], Pair]:
    method, choices = METHODS[name]
    if name.startswith("HPF"):  # 20 factors take it minutes with so many users
        choices = choices[:1]

    def learn(period: Period, inner: Period) -> Pair:
        best = choices[0]
        if len(choices) > 1:
            tried = [scored(method(inner.train, 0, **each), inner)["ndcg"] for each in choices]
            best = choices[int(np.argmax(tried))]
        return method(period.train, 0, **best)

    return learn


def moment(period: Period, inner: Period) -> Pair:
    """Everybody gets what most like at the end of the past; how fast that fades is chosen."""
    best = max(HALF_LIVES, key=lambda h: scored(_fading(inner, h), inner)["ndcg"])
    return _fading(period, best)


def _fading(period: Period, half_life: float) -> Pair:
    frame, (n_users, n_items) = period.frame, period.train.shape
    liked = (frame["rating"] >= data.THRESHOLD).astype(float)
    days = in_days(frame["timestamp"])
    counts = FadingCounts(half_life).updated(frame["item"], liked, days, n_items)
    return np.ones((n_users, 1)), counts.shares[None]


def trending(period: Period, inner: Period) -> Pair:
    """Ours, which chooses by itself."""
    base = TopicRecommender(threshold=data.THRESHOLD, random_state=0)
    model = TrendingRecommender(base).fit(period.frame)
    print(f"    {model.trend_}", file=sys.stderr)
    users = np.zeros((period.train.shape[0], model._items().shape[0]))
    users[model.user_ids_] = model._user_factors()
    items = np.zeros((users.shape[1], period.train.shape[1]))
    items[:, model.item_ids_] = model._items()
    return users, items


def scored(pair: Pair, period: Period) -> dict[str, float]:
    """The measures of lists for what came later."""
    asked = np.flatnonzero(np.diff(period.later.indptr))
    chosen = (np.asarray(pair[0])[asked], pair[1])
    found = ranking(chosen, period.later[asked], seen=period.seen[asked], m=M)
    return {name: float(getattr(found, name).mean) for name in _MEASURES}


def _print(title: str, results: dict[str, list[dict[str, Any]]]) -> None:
    console = report.console()
    shape = box.SIMPLE_HEAD if console.is_terminal else box.ASCII2
    table = Table("method", box=shape, title=title)
    for name in _MEASURES:
        table.add_column(f"{name}@{M}", justify="right")
    for method, found in results.items():
        means = (f"{np.mean([each[name] for each in found]):.4f}" for name in _MEASURES)
        table.add_row(method, *means)
    console.print(table)
