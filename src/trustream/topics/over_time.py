"""Follow topics over time: their shares with intervals, their words, and which are trends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from trustream.topics.documents import DocumentBatch, gather
from trustream.topics.time_bins import TimeBins, as_seconds, bins_of_times, is_number
from trustream.topics.time_counts import TimeCounts, fixed
from trustream.topics.time_result import TopicsOverTime
from trustream.topics.topic_set import as_topics

__all__ = ["TimeCounts", "TopicsOverTime", "topics_over_time"]


def topics_over_time(
    model: Any,
    documents: Any,
    times: Any = None,
    bins: Any = 10,
    *,
    n_words: int = 5,
    level: float = 0.9,
    trend_level: float = 0.05,
) -> TopicsOverTime:
    """Return the shares of topics over time, with intervals, words and trends, from one pass.

    The share of a topic in a bin is the mean, over the documents in the bin, of the part of the
    document's tokens that is the topic's. Its interval allows for the choice of the documents, not
    of their tokens: see `TopicsOverTime` and `trustream.topics.share_intervals`. How topics are
    called new, rising or fading is described in `trustream.topics.trends`.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
    documents : matrix of shape (n_documents, n_words), or batches of documents
        As in `trustream.topics.documents.as_batches`. They come in any order.
    times : sequence, default=None
        When each document of a matrix was made, as in `trustream.topics.time_bins.as_seconds`;
        batches have their own. Documents without a time are left out, and counted.
    bins : int, sequence of edges, FixedBins or GrowingBins, default=10
        A number of bins of the same width is for a matrix, of which the first and the last time are
        known. For batches give edges, or `GrowingBins`.
    n_words : int, default=5
        Words of each topic in each bin.
    level : float, default=0.9
        Probability with which an interval covers.
    trend_level : float, default=0.05
        The probability of calling any topic a trend if nothing changes.

    Examples
    --------
    >>> from trustream.topics.topic_set import TopicSet
    >>> topics = TopicSet.of([[90.0, 10.0], [10.0, 90.0]], 0.1, ["cat", "bank"])
    >>> rng = np.random.default_rng(0)
    >>> years = np.arange(2000, 2010).repeat(50)
    >>> theta = np.stack([(years - 1999) / 11, (2010 - years) / 11], axis=1)
    >>> counts = rng.multinomial(30, theta @ [[0.9, 0.1], [0.1, 0.9]])
    >>> found = topics_over_time(topics, counts, [f"{year}-07-01" for year in years], bins=5)
    >>> [trend.kind for trend in found.trends], found.shares[0].argmax()
    (['rising', 'fading'], np.int64(1))
    """
    topics, documents = as_topics(model), with_times(documents, times)
    counts = TimeCounts(topics, chosen_bins(bins, documents), words=n_words > 0)
    gather(topics, documents, counts)
    return counts.result(n_words=n_words, level=level, trend_level=trend_level)


def with_times(documents: Any, times: Any) -> Any:
    """Return documents, those of a matrix with these times; a single batch has them in seconds.

    >>> with_times(np.ones((1, 2)), ["1970-01-02"]).times.tolist()
    [86400.0]
    """
    if times is not None:
        if not hasattr(documents, "shape"):
            raise ValueError(
                "times go with a single matrix of documents: give batches as DocumentBatch, each "
                "with its own times"
            )
        documents = DocumentBatch(documents, times=as_seconds(times))
    if isinstance(documents, DocumentBatch) and documents.times is not None:
        documents = replace(documents, times=as_seconds(documents.times))
    return documents


def chosen_bins(bins: Any, documents: Any) -> TimeBins:
    """Return bins for documents that come from `with_times`, as `topics_over_time` takes them."""
    if not (isinstance(documents, DocumentBatch) and is_number(bins)):
        return bins if isinstance(bins, TimeBins) else fixed(bins)
    times = np.empty(0) if documents.times is None else documents.times
    return bins_of_times(bins, times)
