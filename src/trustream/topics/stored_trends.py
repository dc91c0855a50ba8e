"""Follow the topics of a store's model over time, in bins between its first and last document."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from trustream.store.protocol import Store
from trustream.streaming.published import DEFAULT_NAME
from trustream.topics.documents import gather
from trustream.topics.stored_documents import stored_batches
from trustream.topics.stored_topics import stored_topics
from trustream.topics.time_bins import FixedBins, as_seconds
from trustream.topics.time_counts import TimeCounts
from trustream.topics.time_result import TopicsOverTime


def stored_trends(
    store: Store,
    name: str = DEFAULT_NAME,
    *,
    bins: int = 10,
    since: Any = None,
    n_words: int = 5,
    level: float = 0.9,
    trend_level: float = 0.05,
    watch: Callable[[Any], Any] = iter,
) -> TopicsOverTime:
    """Return the shares of a store's topics over time, with intervals, words and trends.

    All documents are read twice, block by block: once for their times, once for their topics. Those
    that come in between, and are later than the last of before, are not counted.

    Parameters
    ----------
    store : Store
        A document that was stored without a time has that of its arrival.
    name : str, default="model"
        Name of the model in the store.
    bins : int, default=10
        Bins of the same width.
    since : time, default=None
        Only documents from this time on count: a date, seconds since 1970 or a text such as
        "2024-05-31".
    n_words, level, trend_level
        As in `topics_over_time`.
    watch : callable, default=iter
        Called with the batches of documents of the second time; what it yields is read.

    Raises
    ------
    MissingModelError
        If the store has no such model yet.
    ValueError
        If there are no documents from `since` on, or all have the same time.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> texts = [["cat", "dog", "bird"]] * 100 + [["bond", "bank", "rate"]] * 100
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", min_documents=1) as store:
    ...         _ = store.append(Record(str(i), t, time=i * 86400) for i, t in enumerate(texts))
    ...         with trustream.StreamTrainer(store, n_components=2) as trainer:
    ...             _ = trainer.run(until_idle=True)
    ...         found = stored_trends(store, bins=4)
    >>> sorted(trend.kind for trend in found.trends), found.n_documents.tolist()
    (['fading', 'new'], [50, 50, 50, 50])
    """
    topics = stored_topics(store, name)
    start = None if since is None else float(as_seconds([since])[0])
    if start is not None and math.isnan(start):
        raise ValueError(f"since is {since!r}, expected a time, or None for all documents")
    first, last = _range(store, -math.inf if start is None else start)
    if first > last:
        when = "" if start is None else f" from {date_text(start)} on"
        raise ValueError(f"{store.name} has no documents{when}, so there is nothing to follow")
    if first == last:
        raise ValueError(
            f"all documents of {store.name} that count have the same time, {date_text(first)}: "
            "there is nothing to follow; give documents a time when they are ingested"
        )
    # From `since` on, so that bins begin where they were asked to.
    counts = TimeCounts(
        topics, FixedBins.between(first if start is None else start, last, bins), words=n_words > 0
    )
    gather(topics, watch(stored_batches(store, topics.words)), counts)
    return counts.result(n_words=n_words, level=level, trend_level=trend_level)


def date_text(seconds: float) -> str:
    """Return a time as a date, and the time of day where there is one; in UTC.

    >>> date_text(86400.0), date_text(90061.0)
    ('1970-01-02', '1970-01-02 01:01')
    """
    text = str(np.datetime64(round(seconds), "s")).replace("T", " ")
    return text[:10] if seconds % 86400 == 0 else text[:16]


def _range(store: Store, start: float) -> tuple[float, float]:
    """The first and last time of documents that are not before `start`."""
    first, last = math.inf, -math.inf
    for documents in store.scan():
        times = documents.times
        if times is None:
            continue
        known = times[times >= start]
        if known.size:
            first, last = min(first, float(known.min())), max(last, float(known.max()))
    return first, last
