"""Follow the topics of a store's model over time, from its first or any later document on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from trustream.store.protocol import Store
from trustream.streaming.published import DEFAULT_NAME
from trustream.topics.exploring import Exploration, explore
from trustream.topics.stored_topics import stored_topics
from trustream.topics.time_bins import FixedBins, as_seconds


def stored_trends(
    store: Store,
    name: str = DEFAULT_NAME,
    *,
    bins: int = 10,
    since: Any = None,
    sample: int | None = None,
    level: float = 0.9,
    trend_level: float = 0.05,
    progress: Callable[[int, int], None] | None = None,
) -> Exploration:
    """Return the shares of a store's topics over time, in bins from some time on, and trends.

    It is `explore` with bins that begin at `since`, and it never lacks `over_time`.

    Parameters
    ----------
    store : Store
        A document that was stored without a time has that of its arrival; `n_arrival` counts them.
    name : str, default="model"
        Name of the model in the store.
    bins : int, default=10
        Bins of the same width, up to the last document that there is when it begins.
    since : time, default=None
        Only documents from this time on count: a date, seconds since 1970 or a text such as
        "2024-05-31"; None is the first document.
    sample, level, trend_level, progress
        As in `explore`.

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
    ...         found = stored_trends(store, bins=4).over_time
    >>> sorted(trend.kind for trend in found.trends), found.n_documents.tolist()
    (['fading', 'new'], [50, 50, 50, 50])
    """
    topics = stored_topics(store, name)
    start = None if since is None else float(as_seconds([since])[0])
    if start is not None and math.isnan(start):
        raise ValueError(f"since is {since!r}, expected a time, or None for all documents")
    range_ = store.time_range()
    if range_ is None or (start is not None and range_[1] < start):
        when = "" if start is None else f" from {date_text(start)} on"
        timed = " with a time that is possible" if store.totals().documents and not when else ""
        raise ValueError(
            f"{store.name} has no documents{timed}{when}, so there is nothing to follow"
        )
    first, last = range_[0] if start is None else start, range_[1]
    if first == last:
        raise ValueError(
            f"all documents of {store.name} that count have the same time, {date_text(first)}: "
            "there is nothing to follow; give documents a time when they are ingested"
        )
    found = explore(
        store,
        topics,
        n_documents=1,
        bins=FixedBins.between(first, last, bins),
        sample=sample,
        coherence=False,
        level=level,
        trend_level=trend_level,
        progress=progress,
    )
    if found.over_time is None:
        raise ValueError(
            f"no document of {store.name} in these times has a word that the model knows"
        )
    return found


def date_text(seconds: float) -> str:
    """Return a time as a date, and the time of day where there is one; in UTC.

    >>> date_text(86400.0), date_text(90061.0)
    ('1970-01-02', '1970-01-02 01:01')
    """
    text = str(np.datetime64(round(seconds), "s")).replace("T", " ")
    return text[:10] if seconds % 86400 == 0 else text[:16]
