"""Topics over time: shares by hand, intervals that cover, trends that are found and none else."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from tests.helpers import Array
from tests.topics.planted import documents_of, in_batches, planted_topics
from trustream import LatentDirichletAllocation
from trustream.topics.documents import DocumentBatch, gather, read
from trustream.topics.over_time import TimeCounts, topics_over_time
from trustream.topics.share_intervals import ShareSums, intervals
from trustream.topics.time_bins import FixedBins, GrowingBins, as_seconds
from trustream.topics.topic_set import TopicSet
from trustream.topics.trends import FADING, NEW, RISING, STEADY, Trend, find_trends, holm


@pytest.fixture(scope="module")
def corpus() -> tuple[TopicSet, sparse.csr_array, Array]:
    rng = np.random.default_rng(0)
    topics = planted_topics(rng, 4)
    counts = documents_of(rng, topics, rng.dirichlet(np.full(4, 0.3), 1500), 30)
    return topics, counts, rng.uniform(0, 1000, 1500)


def test_shares_by_hand(corpus: Any) -> None:
    topics, counts, times = corpus
    found = topics_over_time(topics, counts, times, bins=5)
    tokens = np.concatenate([part.tokens for part in read(topics, counts)])
    shares = tokens / tokens.sum(axis=1, keepdims=True)
    edges = np.linspace(times.min(), times.max(), 6)
    np.testing.assert_allclose(found.edges, edges)
    for b in range(5):
        last = times <= edges[b + 1] if b == 4 else times < edges[b + 1]
        here = (times >= edges[b]) & last
        assert found.n_documents[b] == here.sum()
        assert found.n_tokens[b] == counts[here].sum()
        np.testing.assert_allclose(found.shares[b], shares[here].mean(axis=0), rtol=1e-9)
        weighted = tokens[here].sum(axis=0) / tokens[here].sum()
        np.testing.assert_allclose(found.token_shares[b], weighted, rtol=1e-9)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    assert (found.lower < found.shares).all() and (found.shares < found.upper).all()
    assert found.n_documents.sum() == 1500 and found.n_bins == 5
    frame = found.frame()
    assert len(frame) == 20 and frame["share"][4] == found.shares[1, 0]
    assert frame["start"][0] == pd.Timestamp(edges[0], unit="s").round("us")


def test_a_result_is_shown_in_few_lines() -> None:
    rng = np.random.default_rng(0)
    topics = TopicSet.of(
        rng.gamma(0.3, size=(30, 20)) + 1e-3, 0.1, ["\x1b[31m" * 9, *list("abcdefghijklmnopqrs")]
    )
    counts, times = rng.integers(0, 3, (400, 20)), np.arange(400)
    counts[200:, :3] = 40  # something rises
    found = topics_over_time(topics, counts, times, bins=4)
    lines = repr(found).splitlines()
    assert lines[0] == "30 topics in 4 bins of 400 documents, shares before and after"
    assert lines[-1] == "... and 10 more" and len(lines) == 22
    assert max(map(len, lines)) < 90 and "\x1b" not in repr(found)
    first = found.trends[found.by_trend()[0]]
    assert first.kind != "steady"
    share = [str(first.topic), first.kind, f"{first.before:.1%}", f"{first.after:.1%}"]
    assert lines[1].split()[:4] == share


def test_batches_merging_and_any_order_give_the_same(corpus: Any) -> None:
    topics, counts, times = corpus
    edges = np.linspace(0, 1000, 8)
    whole = topics_over_time(topics, counts, times, bins=edges)
    order = np.random.default_rng(1).permutation(1500)
    halves = [TimeCounts(topics, edges), TimeCounts(topics, edges)]
    for half, rows in zip(halves, (order[:400], order[400:]), strict=True):
        gather(topics, in_batches(counts[rows], 90, times=times[rows]), half)
    halves[0].merge(halves[1])
    again = halves[0].result()
    for name in ("shares", "lower", "upper", "token_shares", "n_documents", "n_tokens"):
        np.testing.assert_allclose(getattr(again, name), getattr(whole, name), rtol=1e-9)
    assert [t.kind for t in again.trends] == [t.kind for t in whole.trends]
    for a, b in zip(again.words, whole.words, strict=True):
        assert [[w.word for w in words] for words in a] == [[w.word for w in words] for words in b]


def test_words_of_a_bin() -> None:
    # Topic 0 speaks of cats first and of dogs later, and always of pets.
    topics = TopicSet.of([[40.0, 40, 40, 1], [1.0, 1, 1, 99]], 0.1, ["cat", "dog", "pet", "bank"])
    counts = np.array([[5, 0, 4, 0]] * 20 + [[0, 5, 4, 0]] * 20 + [[0, 0, 0, 9]] * 5)
    times = [0.0] * 20 + [10.0] * 20 + [10.0] * 5
    found = topics_over_time(topics, counts, times, bins=2, n_words=3)
    assert [words[0][0].word for words in found.words] == ["cat", "dog"]
    assert {w.word for w in found.words[0][0][:2]} == {"cat", "pet"}
    # 100 of the topic's 180 tokens in the bin, smoothed by 10 of which cats are 100 of 360.
    assert found.words[0][0][0].weight == pytest.approx((100 + 10 * 100 / 360) / 190, rel=0.01)
    assert found.words[0][1] == []
    assert topics_over_time(topics, counts, times, bins=2, n_words=0).words[0][0] == []


def test_growing_bins_are_bounded_and_add_up(corpus: Any) -> None:
    topics, counts, times = corpus
    grown = TimeCounts(topics, GrowingBins(width=1.0, most=16))
    other = TimeCounts(topics, GrowingBins(width=1.0, most=16))
    # Times from -500 to 500, of which the first few need narrow bins only.
    moved = np.sort(times) - 500
    gather(topics, in_batches(counts[:1200], 50, times=moved[:1200]), grown)
    gather(topics, in_batches(counts[1200:1203], 50, times=moved[1200:1203]), other)
    narrow = other.bins
    assert isinstance(narrow, GrowingBins) and isinstance(grown.bins, GrowingBins)
    assert narrow.width < grown.bins.width
    forward, backward = TimeCounts(topics, GrowingBins(1.0, most=16)), other
    gather(topics, in_batches(counts[:1200], 700, times=moved[:1200]), forward)
    forward.merge(other)
    backward.merge(grown)
    a, b = forward.result(), backward.result()
    np.testing.assert_allclose(a.edges, b.edges)
    np.testing.assert_allclose(a.shares, b.shares, rtol=1e-9)
    assert a.n_bins <= 16 and a.n_documents.sum() == 1203
    direct = topics_over_time(topics, counts[:1203], moved[:1203], bins=a.edges)
    np.testing.assert_allclose(a.shares, direct.shares, rtol=1e-9)
    with pytest.raises(ValueError, match="in other bins"):
        forward.merge(TimeCounts(topics, GrowingBins(0.3)))
    with pytest.raises(ValueError, match="in other bins"):
        forward.merge(TimeCounts(topics, [0.0, 1.0]))


# --- intervals and trends, on the shares of documents themselves


def regimes() -> list[tuple[str, Array, int, int, bool]]:
    """Name, alpha, documents, bins, and whether there are ever more documents."""
    return [
        ("common topics", np.full(5, 1.0), 300, 5, False),
        ("sparse documents", np.full(20, 0.02), 300, 10, False),
        ("many rare topics", np.full(60, 0.01), 600, 10, True),
        ("one large topic", np.r_[0.5, np.full(19, 0.01)], 500, 10, True),
        ("few documents", np.full(5, 0.2), 40, 4, False),
    ]


def draws(rng: np.random.Generator, alpha: Array, n: int, bins: int, grows: bool) -> list[Array]:
    """Shares of documents, some for each bin; of 1 to 100 tokens, so that shares are noisy."""
    weights = 1.5 ** np.arange(bins) if grows else np.ones(bins)
    place = rng.choice(bins, n, p=weights / weights.sum())
    theta = rng.dirichlet(alpha, n)
    lengths = np.ceil(np.exp(rng.uniform(0, np.log(100), n))).astype(int)
    shares = rng.multinomial(lengths, theta) / lengths[:, None]
    return [shares[place == b] for b in range(bins)]


@pytest.mark.parametrize("name, alpha, n, bins, grows", regimes())
def test_intervals_cover(name: str, alpha: Array, n: int, bins: int, grows: bool) -> None:
    rng = np.random.default_rng(0)
    truth, covered, count = alpha / alpha.sum(), 0, 0
    for _ in range(200):
        _, lower, upper = intervals(ShareSums.of(draws(rng, alpha, n, bins, grows)), 0.9)
        filled = ~np.isnan(lower[:, 0])
        covered += int(((lower <= truth) & (truth <= upper))[filled].sum())
        count += int(filled.sum()) * truth.size
    assert 0.85 <= covered / count <= 0.95, name


@pytest.mark.parametrize("name, alpha, n, bins, grows", regimes())
def test_nothing_is_a_trend_where_nothing_changes(
    name: str, alpha: Array, n: int, bins: int, grows: bool
) -> None:
    rng = np.random.default_rng(1)
    edges, ids = np.arange(bins + 1.0), tuple(range(alpha.size))
    alarms = 0
    for _ in range(400):
        moments = ShareSums.of(draws(rng, alpha, n, bins, grows))
        alarms += any(trend.kind != STEADY for trend in find_trends(moments, edges, ids))
    assert alarms / 400 <= 0.05, name


def test_tokens_are_not_taken_for_documents() -> None:
    """The usual test of tokens calls half of such corpora changed; this is the negative control."""
    rng = np.random.default_rng(0)
    tokens_alarms = 0
    for _ in range(100):
        early, late = draws(rng, np.full(5, 0.2), 200, 2, False)
        a, b = 50 * early[:, 0].sum(), 50 * late[:, 0].sum()
        n, m = 50 * len(early), 50 * len(late)
        p = (a + b) / (n + m)
        z = (a / n - b / m) / np.sqrt(p * (1 - p) * (1 / n + 1 / m))
        tokens_alarms += abs(z) > 2.6
    assert tokens_alarms > 40


def planted_trends(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Shares of documents over 10 units of time: 0 rises, 1 fades, 2 is new at 6, 3 ends at 6.

    The others are constant: what is new takes the place of what ends.
    """
    times = rng.uniform(0, 10, n)
    alpha = np.full((n, 10), 0.1)
    alpha[:, 0] = 0.04 + 0.012 * times
    alpha[:, 1] = 0.16 - 0.012 * times
    alpha[:, 2] = np.where(times < 6, 1e-6, 0.1)
    alpha[:, 3] = np.where(times < 6, 0.1, 1e-6)
    theta = rng.standard_gamma(alpha)
    return theta / theta.sum(axis=1, keepdims=True), times


def check_planted(trends: list[Trend], edges: Array) -> None:
    assert [trend.kind for trend in trends[:4]] == [RISING, FADING, NEW, FADING]
    for trend in trends[2:4]:
        assert trend.time is not None and abs(trend.time - 6) <= edges[1] - edges[0]
    assert trends[2].before < 0.01 < 0.08 < trends[2].after


def test_planted_trends_are_found() -> None:
    rng = np.random.default_rng(0)
    alarms, edges = 0, np.linspace(0, 10, 11)
    for _ in range(100):
        theta, times = planted_trends(rng, 1500)
        place = np.floor(times).astype(int)
        moments = ShareSums.of([theta[place == b] for b in range(10)])
        trends = find_trends(moments, edges, tuple(range(10)))
        check_planted(trends, edges)
        alarms += any(trend.kind != STEADY for trend in trends[4:])
    assert alarms <= 5


def test_planted_trends_in_documents_of_a_fitted_model() -> None:
    """From counts to trends: topics are learned, matched with the planted ones, and read."""
    rng = np.random.default_rng(2)
    planted = planted_topics(rng, 10, 300)
    theta, times = planted_trends(rng, 3000)
    counts = documents_of(rng, planted, theta, 50)
    # More topics than there are, so that each one is found.
    lda = LatentDirichletAllocation(20, random_state=0).fit(counts)
    _, match = linear_sum_assignment(cdist(planted.weights, lda.components_, "cosine"))
    found = topics_over_time(lda, counts, times, bins=10)
    trends = [found.trends[k] for k in match]
    check_planted(trends, found.edges)
    assert all(trend.kind == STEADY for trend in trends[4:])
    shown = [found.trends[k] for k in found.by_trend()]
    assert shown[0].kind == NEW and {trend.topic for trend in shown} == {*found.topics}
    order = [([NEW, RISING, FADING, STEADY].index(trend.kind), trend.p_value) for trend in shown]
    assert order == sorted(order)
    truth = np.array([theta[np.floor(times) == b].mean(axis=0) for b in range(10)])
    np.testing.assert_allclose(found.shares[:, match], truth, atol=0.05)


def test_intervals_of_inferred_shares_cover() -> None:
    """With topics that are known, and documents that are read, the intervals still cover."""
    rng = np.random.default_rng(3)
    topics = planted_topics(rng, 8, 400)
    alpha = np.linspace(0.05, 0.2, 8)
    covered = []
    for _ in range(12):
        counts = documents_of(rng, topics, rng.dirichlet(alpha, 600), 60)
        found = topics_over_time(topics, counts, rng.uniform(0, 1, 600), bins=6, n_words=0)
        truth = alpha / alpha.sum()
        covered.append(((found.lower <= truth) & (truth <= found.upper)).mean())
    assert 0.85 <= np.mean(covered) <= 0.95


def test_p_values_are_corrected() -> None:
    assert holm(np.array([0.02, 0.5, 0.01])).tolist() == [0.04, 0.5, 0.03]
    rng = np.random.default_rng(0)
    bins = [rng.dirichlet([1, 2], 30), rng.dirichlet([1, 1], 30)]
    strict = find_trends(ShareSums.of(bins), np.arange(3.0), (0, 1), level=1e-9)
    loose = find_trends(ShareSums.of(bins), np.arange(3.0), (0, 1), level=0.5)
    assert [t.kind for t in strict] == [STEADY] * 2 and [t.kind for t in loose] == [RISING, FADING]
    assert [t.p_value for t in strict] == [t.p_value for t in loose]


# --- what may go wrong


def test_empty_bins(corpus: Any) -> None:
    topics, counts, times = corpus
    early = times < 400
    found = topics_over_time(topics, counts[early], times[early], bins=[0, 200, 400, 600, 800])
    assert (found.n_documents[2:] == 0).all() and np.isnan(found.shares[2:]).all()
    assert np.isnan(found.upper[2:]).all() and np.isnan(found.token_shares[2:]).all()
    assert found.words[3] == [[], [], [], []] and all(t.kind == STEADY for t in found.trends)
    gap = (times < 100) | (times > 900)
    full = topics_over_time(topics, counts[gap], times[gap], bins=[0, 100, 900, 1000])
    without = topics_over_time(topics, counts[gap], times[gap], bins=[0, 500, 1000])
    # An empty bin between two is one edge, not two, to be corrected for.
    assert [t.p_value for t in full.trends] == [t.p_value for t in without.trends]


def test_documents_without_time_or_words(corpus: Any) -> None:
    topics, counts, times = corpus
    some: list[Any] = times.tolist()
    some[0] = None
    some[1] = float("nan")
    with_empty = counts.tolil()
    with_empty[2] = 0
    found = topics_over_time(topics, sparse.csr_array(with_empty), some, bins=[100, 500, 1000])
    assert (found.n_without_time, found.n_without_words) == (2, 1)
    assert found.n_outside == (times[3:] < 100).sum()
    assert found.n_documents.sum() == 1500 - 3 - found.n_outside
    with pytest.raises(ValueError, match="no document has a time"):
        topics_over_time(topics, counts, [None] * 1500)
    with pytest.raises(ValueError, match="no document has a time"):
        topics_over_time(topics, DocumentBatch(counts))
    with pytest.raises(ValueError, match="1500 have no time, 0 are outside"):
        topics_over_time(topics, [counts], bins=[0, 1])
    with pytest.raises(ValueError, match="0 have no time, 1500 are outside"):
        topics_over_time(topics, counts, times, bins=[2000, 3000])


def test_one_bin_one_document_and_equal_topics(corpus: Any) -> None:
    topics, counts, times = corpus
    one = topics_over_time(topics, counts, times, bins=1)
    assert one.shares.shape == (1, 4) and all(t.kind == STEADY for t in one.trends)
    single = topics_over_time(topics, counts[:1], [5.0], bins=[0, 10])
    assert (single.lower >= 0).all() and (single.upper <= 1).all() and single.n_documents[0] == 1
    alone = TopicSet.of([[1.0] * 200], 0.1)
    lonely = topics_over_time(alone, counts, times, bins=4)
    np.testing.assert_allclose(lonely.shares, 1)
    assert lonely.trends[0].kind == STEADY
    equal = TopicSet.of(np.tile([5.0, 3.0, 2.0], (3, 1)), 0.1)
    rng = np.random.default_rng(0)
    found = topics_over_time(equal, rng.poisson(3, (300, 3)), np.arange(300.0), bins=5)
    np.testing.assert_allclose(found.shares, 1 / 3, atol=1e-6)
    assert all(t.kind == STEADY for t in found.trends)


def test_bad_bins_and_times(corpus: Any) -> None:
    topics, counts, times = corpus
    for bins in (0, -1, 2.5, True, 10**9):
        with pytest.raises(ValueError, match=r"bins are|edges|times"):
            topics_over_time(topics, counts, times, bins=bins)
    for edges in ([0], [1, 1], [2, 1], [0, None]):
        with pytest.raises(ValueError, match="edges of bins"):
            topics_over_time(topics, counts, times, bins=edges)
    with pytest.raises(ValueError, match="all documents have the same time"):
        topics_over_time(topics, counts, np.full(1500, 7.0))
    with pytest.raises(ValueError, match="times are 3, but there are 1500 documents"):
        topics_over_time(topics, counts, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="not known before they are read"):
        topics_over_time(topics, in_batches(counts, 100, times=times))
    with pytest.raises(ValueError, match="times go with a single matrix"):
        topics_over_time(topics, [counts], times)
    with pytest.raises(ValueError, match="level is 90"):
        topics_over_time(topics, counts, times, level=90)
    with pytest.raises(ValueError, match="level is 0"):
        topics_over_time(topics, counts, times, trend_level=0)


def test_times_of_all_kinds() -> None:
    moment = datetime(2024, 5, 31, 12, tzinfo=UTC)
    expected = [moment.timestamp()]
    for value in (
        moment,
        moment.replace(tzinfo=None),
        "2024-05-31T12:00",
        "2024-05-31T12:00:00Z",
        np.datetime64("2024-05-31T12:00"),
        pd.Timestamp(moment),
        moment.timestamp(),
    ):
        assert as_seconds([value]).tolist() == expected
    later = moment + timedelta(hours=1)
    assert as_seconds(pd.Series([moment, later])).tolist() == [*expected, expected[0] + 3600]
    assert as_seconds(np.array(["2024-05-31T12:00"], "datetime64[ns]")).tolist() == expected
    assert as_seconds([date(1970, 1, 2)]).tolist() == [86400.0]
    assert np.isnan(as_seconds([None, pd.NaT, np.datetime64("NaT"), float("nan")])).all()
    assert np.isnan(as_seconds(np.array(["NaT"], "datetime64[D]"))).all()
    for bad in ("yesterday", object(), True, [1]):
        with pytest.raises(ValueError, match="the time of document 1 is"):
            as_seconds([0, bad])
    for far in (np.inf, -np.inf, 1.7e12):
        with pytest.raises(ValueError, match=r"document 1 is .* divide milliseconds by 1000"):
            as_seconds([0.0, far])
    with pytest.raises(ValueError, match="one for each document"):
        as_seconds("2024-05-31")
    assert FixedBins((0.0, 1.0, 2.0)).place(np.array([1.0])).tolist() == [1]
