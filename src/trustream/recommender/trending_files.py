"""Convert a `TrendingRecommender` to arrays and header of a model file, and back with checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from trustream._schema import (
    Array,
    Described,
    Rule,
    boolean,
    check_entries,
    check_values,
    mapping,
    number,
    one_of,
    optional,
    text,
)
from trustream.estimators import saving
from trustream.recommender import model_files
from trustream.recommender.fading_counts import FadingCounts
from trustream.recommender.poisson_recommender import PoissonRecommender
from trustream.recommender.ratings import Ratings
from trustream.recommender.topic_recommender import TopicRecommender

# What the recommender within may be; a file must not choose what code runs.
_KINDS: dict[str, Any] = {cls.__name__: cls for cls in (TopicRecommender, PoissonRecommender)}
_PREFIX = "recommender."
_HEADER = {
    "estimator": text,
    "params": mapping,
    "recommender_given": boolean,
    "trend": mapping,
    "now": number(),
    "strings": optional(mapping),
    "recommender": mapping,
}
_positive = Rule(
    lambda value: type(value) in (int, float) and value > 0,
    "a positive number, which may be infinite",
)
_share = Rule(
    lambda value: type(value) in (int, float) and 0 <= value <= 1,
    "a number from 0 to 1",
)
_TREND = {"half_life": _positive, "share": _share}


def _or_auto(rule: Rule) -> Rule:
    return Rule(lambda value: value == "auto" or rule.accepts(value), f'{rule.expected}, or "auto"')


_PARAMS = {name: _or_auto(rule) for name, rule in _TREND.items()}


class TrendingParts(NamedTuple):
    """What a `TrendingRecommender` consists of.

    Attributes:
        params: its `half_life` and `share`, as given.
        recommender_given: whether it was given a recommender.
        recommender: the one that has learned.
        trend: the `half_life` and `share` that are used.
        counts: likes that fade.
        data: all ratings; those of the recommender, or more if there are items that it does not
            know.
    """

    params: dict[str, Any]
    recommender_given: bool
    recommender: Any
    trend: dict[str, float]
    counts: FadingCounts
    data: Ratings


def to_arrays(name: str, parts: TrendingParts) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return (arrays, header). Ratings that are the recommender's are kept once.

    Args:
        name: the name of the class.

    Raises:
        ValueError: there is something that could not be read again.
    """
    params = {key: saving.plain(value) for key, value in parts.params.items()}
    try:
        check_values(params, _PARAMS, "the parameters")
        kind = type(parts.recommender).__name__
        check_values({"estimator": kind}, {"estimator": one_of(_KINDS)}, "the recommender")
    except ValueError as error:
        raise ValueError(f"cannot save this {name}: {error}") from error
    inside, recommender = parts.recommender._to_arrays()
    arrays = {_PREFIX + key: array for key, array in inside.items()}
    strings = None
    if parts.data is not parts.recommender._data:
        ratings, strings = model_files.ratings_to_arrays(parts.data)
        arrays |= ratings
    header = {
        "estimator": name,
        "params": params,
        "recommender_given": parts.recommender_given,
        "trend": parts.trend,
        "now": parts.counts.now,
        "strings": strings,
        "recommender": recommender,
    }
    return arrays | {"counts": parts.counts.counts}, header


def check(header: Any, entries: Mapping[str, Described]) -> dict[str, Array]:
    """Return what the arrays of a file with this header must be; a ValueError if they are not."""
    check_values(header, _HEADER, "the header")
    check_values(header["params"], _PARAMS, "the parameters")
    check_values(header["trend"], _TREND, "the trend")
    inside = model_files.check(
        _kind(header), header["recommender"], model_files.within(_PREFIX, entries)
    )
    own = model_files.without(_PREFIX, entries)
    counts = own.pop("counts", None)
    n_items = counts.shape[0] if counts is not None and counts.shape else 0
    expected = {"counts": Array([(n_items,)], least=0.0)}
    check_entries({} if counts is None else {"counts": counts}, expected)
    if header["strings"] is None:
        check_entries(own, {})
    else:
        expected |= model_files.check_ratings(header["strings"], own, n_items)
    return {_PREFIX + name: array for name, array in inside.items()} | expected


def from_arrays(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> TrendingParts:
    """Return the parts of a header and arrays that were checked.

    Raises:
        ValueError: they are inconsistent.
    """
    inside = model_files.within(_PREFIX, arrays)
    recommender = _kind(header)._from_arrays(header["recommender"], inside)
    data, counts = recommender._data, arrays["counts"]
    if header["strings"] is not None:
        data = model_files.ratings_from_arrays(header["strings"], arrays, counts.size)
        _check_known(recommender._data, data)
    with np.errstate(over="ignore"):
        total = counts.sum()
    if counts.size != len(data.items) or not 0 < total < np.inf:
        raise ValueError(f"{counts.size} counts of {len(data.items)} items, with the sum {total:g}")
    trend = {name: float(value) for name, value in header["trend"].items()}
    return TrendingParts(
        header["params"],
        header["recommender_given"],
        recommender,
        trend,
        FadingCounts(trend["half_life"], counts, float(header["now"])),
        data,
    )


def _kind(header: dict[str, Any]) -> Any:
    """The class of the recommender within."""
    kind = {"estimator": header["recommender"].get("estimator")}
    check_values(kind, {"estimator": one_of(_KINDS)}, "the recommender")
    return _KINDS[kind["estimator"]]


def _check_known(fewer: Ratings, data: Ratings) -> None:
    """Refuse ratings that lack a user or item, or have the items in another order."""
    n_items = len(fewer.items)
    if fewer.items.strings != data.items.strings or fewer.users.strings != data.users.strings:
        raise ValueError("ids are strings for the recommender, or for the trend, and not for both")
    if not np.array_equal(data.items.values[:n_items], fewer.items.values):
        raise ValueError("the first items are not those of the recommender")
    if (data.users.find(fewer.users.values) < 0).any():
        raise ValueError("there are users of the recommender without ratings")
