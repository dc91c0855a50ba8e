"""Compute what a report shows, as plain JSON values, in one pass over documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from trustream.evaluation.validation import whole_number
from trustream.terminal import shown
from trustream.topics.characteristic_words import RELEVANCE
from trustream.topics.documents import DocumentBatch, Gatherer, gather
from trustream.topics.over_time import chosen_bins, with_times
from trustream.topics.relations import topic_hierarchy, topic_map
from trustream.topics.report.report_words import ReportWords
from trustream.topics.representatives import RepresentativeDocument, RunningTop
from trustream.topics.table import TableCounts, TopicInfo, topic_info
from trustream.topics.time_bins import GrowingBins, is_number
from trustream.topics.time_counts import TimeCounts
from trustream.topics.time_result import TopicsOverTime
from trustream.topics.topic_set import TopicSet, as_topics
from trustream.topics.trends import Trend

# Of what `report_data` returns; a page says which it can show.
FORMAT = 1
BINS = 32
# A day divided by 2 eleven times: bins of a stream grow from 42 seconds to hours, days and weeks,
# and begin at midnight.
_NARROWEST = 86400.0 / 2**11
# Steps of the slider of relevance, from 0 to 1.
_STEPS = 20
# Words of a topic in a bin.
_WORDS_IN_BIN = 4
# Characters of titles and keys that are shown, as many as a TopicModel keeps of texts.
_LONGEST = 200


def report_data(
    model: Any,
    documents: Any = None,
    *,
    title: str = "Topics",
    times: Any = None,
    bins: Any = BINS,
    n_documents: int = 5,
    n_words: int = 20,
    into: Sequence[Gatherer] = (),
) -> dict[str, Any]:
    """Return what a report shows of topics, as values that can be written as JSON.

    The numbers are those of `topic_info`, `representative_documents`, `topics_over_time`,
    `topic_map` and `topic_hierarchy` for the same documents, to seven digits, or nine for
    probabilities of words. Control characters in texts are escaped, as on a terminal.

    Parameters
    ----------
    model, documents, title, times, bins, n_documents, n_words
        As in `write_report`.
    into : sequence of Gatherer, default=()
        What else is to be computed in the same pass over the documents (`topics.gather`).

    Returns
    -------
    dict
        - `format`: 1, `title`, `n_documents` and `n_tokens` that were read (None without
          documents), `n_words` of the vocabulary;
        - `words` and `frequencies`: words that occur below by number, and their probabilities in
          all topics together (None for those that only occur in bins of time);
        - `relevance`: `start`, `steps` from 0 to 1, and `n_words` to show. For each step the most
          relevant words of each topic are among its words;
        - `topics`, the largest first: `topic` (id), `label`, `labelled`, `share`,
          `weight_share` (its share of the topics' weights, by which words are compared),
          `n_documents`, `n_documents_with`, `coherence`, `position` on the map, `words` (numbers)
          with `probabilities`, `documents`, and, if documents have times, `shares`, `lower`,
          `upper` and `bin_words` (numbers) by bin, and `trend`;
        - `threshold` of `n_documents_with`; `explained` by the map;
        - `time`: `edges` in seconds since 1970, `level` of the intervals, `n_documents` by bin,
          and numbers of documents that were left out; None if no document has a time;
        - `hierarchy`: `order` of ids, `distance`, and `mergers`, each with `left`, `right` (ids of
          a topic in each group), `distance` and `label`.

    Examples
    --------
    >>> topics = TopicSet.of([[6.0, 2.0, 1.0], [1.0, 2.0, 7.0]], 0.1, ["cat", "the", "bank"])
    >>> data = report_data(topics, np.array([[3, 1, 0], [0, 1, 4], [2, 0, 0]]))
    >>> [(topic["topic"], topic["label"], topic["n_documents"]) for topic in data["topics"]]
    [(0, 'cat, the, bank', 2), (1, 'bank, the, cat', 1)]
    >>> data["time"] is None
    True
    """
    topics = as_topics(model)
    if not isinstance(title, str) or not title.strip():
        raise ValueError(f"title is {title!r}, expected a text")
    if documents is None and times is not None:
        raise ValueError("times are given without documents: give the documents, too")
    n_words = whole_number("n_words", n_words)
    counts, best, over_time = _read(topics, documents, times, bins, n_documents, into)
    table = topic_info(topics, counts, n_words=0)
    words = ReportWords(topics, n_words, [step / _STEPS for step in range(_STEPS + 1)])
    found_map = topic_map(topics)
    shown_topics = []
    for info in table:
        entry = _topic(info) | words.of_topic(info.row)
        entry["weight_share"] = _number(topics.shares[info.row])
        entry["position"] = [_number(x) for x in found_map.positions[info.row]]
        if best is not None:
            entry["documents"] = [_document(found) for found in best.documents(info.topic)]
        if over_time is not None:
            entry |= _over_time(over_time, over_time.topics.index(info.topic), words)
        shown_topics.append(entry)
    return {
        "format": FORMAT,
        "title": shown(title.strip()),
        "n_documents": table.n_documents,
        "n_tokens": None if table.n_tokens is None else _number(table.n_tokens),
        "n_words": topics.n_words,
        "threshold": table.threshold,
        "explained": _number(found_map.explained),
        "relevance": {"start": RELEVANCE, "steps": _STEPS, "n_words": n_words},
        "time": None if over_time is None else _times(over_time),
        "hierarchy": _hierarchy(topics),
        "topics": shown_topics,
    } | words.data()


def _read(
    topics: TopicSet,
    documents: Any,
    times: Any,
    bins: Any,
    n_documents: int,
    into: Sequence[Gatherer],
) -> tuple[TableCounts | None, RunningTop | None, TopicsOverTime | None]:
    """All that is counted in documents, from one pass."""
    n = whole_number("n_documents", n_documents, 0)
    if documents is None:
        return None, None, None
    documents = with_times(documents, times)
    counts, best = TableCounts(topics), RunningTop(topics, n) if n else None
    in_bins = TimeCounts(topics, _bins(bins, documents))
    gatherers = [g for g in (counts, best, in_bins, *into) if g is not None]
    n_read = gather(topics, documents, *gatherers)
    without = in_bins.n_without_time + in_bins.n_without_words
    if without == n_read and times is None:
        return counts, best, None
    return counts, best, in_bins.result(n_words=_WORDS_IN_BIN)


def _bins(bins: Any, documents: Any) -> Any:
    """Bins as in `topics_over_time`; those of a stream grow until it is read."""
    timed = isinstance(documents, DocumentBatch) and documents.times is not None
    if is_number(bins) and not (timed and not np.isnan(documents.times).all()):
        return GrowingBins(_NARROWEST, most=int(bins))
    return chosen_bins(bins, documents)


def _topic(info: TopicInfo) -> dict[str, Any]:
    return {
        "topic": info.topic,
        "label": shown(info.label),
        "labelled": info.labelled,
        "share": _number(info.share),
        "n_documents": info.n_documents,
        "n_documents_with": info.n_documents_with,
        "coherence": _number(info.coherence),
    }


def _document(found: RepresentativeDocument) -> dict[str, Any]:
    return {
        "row": found.row,
        "key": _text(found.key),
        "title": _text(found.title),
        "proportion": _number(found.proportion),
        "n_tokens": _number(found.n_tokens),
    }


def _over_time(found: TopicsOverTime, column: int, words: ReportWords) -> dict[str, Any]:
    values = {
        name: [_number(x) for x in getattr(found, name)[:, column]]
        for name in ("shares", "lower", "upper")
    }
    in_bins = [[words.number(weight.word) for weight in row[column]] for row in found.words]
    return {**values, "bin_words": in_bins, "trend": _trend(found.trends[column])}


def _trend(trend: Trend) -> dict[str, Any]:
    return {
        "kind": trend.kind,
        "p_value": _number(trend.p_value),
        "time": trend.time,
        "before": _number(trend.before),
        "after": _number(trend.after),
    }


def _times(found: TopicsOverTime) -> dict[str, Any]:
    return {
        "edges": found.edges.tolist(),
        "level": found.level,
        "n_documents": found.n_documents.tolist(),
        "n_without_time": found.n_without_time,
        "n_outside": found.n_outside,
        "n_without_words": found.n_without_words,
    }


def _hierarchy(topics: TopicSet) -> dict[str, Any]:
    found = topic_hierarchy(topics)
    mergers = [
        {
            "left": merger.left[0],
            "right": merger.right[0],
            "distance": _number(merger.distance),
            "label": shown(merger.label),
        }
        for merger in found.mergers
    ]
    return {"order": list(found.order), "distance": found.distance, "mergers": mergers}


def _text(value: Any) -> str | None:
    """A key or title on one line, not too long; None for none."""
    if value is None:
        return None
    text = shown(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _number(value: Any, digits: int = 7) -> float | None:
    """A number with so many digits; None for None, NaN and infinities, which JSON does not have."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{float(value):.{digits}g}")
