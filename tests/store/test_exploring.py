"""Topics of a store, on both databases: the same numbers as those of an estimator and of texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from trustream import TopicModel, open_store
from trustream.store import DocumentStore, Record
from trustream.streaming.published import MissingModelError
from trustream.text import Tokeniser
from trustream.topics import (
    GrowingBins,
    TopicSet,
    as_topics,
    explore,
    representative_documents,
    stored_batches,
    topic_correlation,
    topic_info,
    topics_over_time,
    view_documents,
)
from trustream.topics.documents import as_matrix
from trustream.topics.stored_documents import sampled

PETS, MONEY, WEATHER = "cat dog bird mouse", "bank rate bond stock", "rain wind snow cloud"
N = 2300


def texts(n: int = N) -> tuple[list[str], list[float]]:
    """Texts of one or two subjects, and times in which one of them comes up."""
    rng = np.random.default_rng(0)
    subjects = [subject.split() for subject in (PETS, MONEY, WEATHER)]
    found, times = [], []
    for i in range(n):
        weights = np.array([1.0, 1.0, 0.2 + 2.0 * i / n])
        main, other = rng.choice(3, 2, p=weights / weights.sum())
        words = [*rng.choice(subjects[main], 8), *rng.choice(subjects[other], int(rng.integers(4)))]
        found.append(" ".join(words))
        times.append(float(i) * 3600.0)
    return found, times


@pytest.fixture(scope="module")
def model() -> TopicModel:
    return TopicModel(3, random_state=0, tokeniser=Tokeniser()).fit(texts()[0])


def filled(address: str, n: int = N, **options: Any) -> DocumentStore:
    store = open_store(address, min_documents=1, held_out=0.1, **options)
    tokenise = Tokeniser()
    documents = zip(*texts(n), strict=True)
    records = [
        Record(f"d{i}", tokenise(text), time, text=text, title=f"T{i}" if i % 2 else None)
        for i, (text, time) in enumerate(documents)
    ]
    # Words come in another order than in the model, and so do their columns.
    store.append([Record("first", sorted(f"{MONEY} {WEATHER} {PETS}".split(), reverse=True))])
    store.append(records)
    store.delete(["first"])
    return store


def same(found: Any, expected: Any) -> None:
    """The same numbers; sums over batches of other sizes may differ in the last bits."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, float | np.ndarray):
            assert found[name] == pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True), name
        elif isinstance(value, list) and value and isinstance(value[0], list):
            assert found[name] == value or name == "words"
        elif name not in ("trends",):
            assert found[name] == value, name


def test_every_function_gives_the_same_numbers(address: str, model: TopicModel) -> None:
    given, times = texts()
    counts, estimator = model.count(given), model.estimator_
    keys = [f"d{i}" for i in range(N)]
    with filled(address) as store:
        batches = lambda: stored_batches(store, model.words_)  # noqa: E731
        assert store.vocabulary().words[:5] != model.words_[:5], "columns are not the model's"
        found = explore(store, model, bins=7, n_documents=9)
        tables = [topic_info(m, batches()) for m in (estimator, model)]
        tables += [model.topic_info(given), topic_info(model.topics_, counts), found.table]
        for table in tables:
            for info, expected in zip(table, topic_info(estimator, counts), strict=True):
                same(asdict(info), asdict(expected))
            assert (table.n_documents, table.n_tokens) == (N, counts.sum())
        for topic in range(3):
            expected_best = representative_documents(estimator, topic, counts, 9, keys=keys)
            assert representative_documents(model, topic, batches(), 9) == expected_best
            assert found.documents[topic] == expected_best
            of_texts = model.representative_documents(topic, 9, given)
            assert [d.row for d in of_texts] == [d.row for d in expected_best]
            assert [d.proportion for d in of_texts] == [d.proportion for d in expected_best]
        expected_time = topics_over_time(estimator, counts, times, bins=7)
        edges = expected_time.edges.tolist()
        over = [topics_over_time(m, batches(), bins=edges) for m in (estimator, model)]
        over += [model.topics_over_time(times, 7, given), found.over_time]
        for one in over:
            same(vars(one), vars(expected_time))
            kinds = [trend.kind for trend in expected_time.trends]
            assert [trend.kind for trend in one.trends] == kinds and "rising" in kinds
            for words, others in zip(one.words, expected_time.words, strict=True):
                assert [[w.word for w in k] for k in words] == [[w.word for w in k] for k in others]
        correlations = [topic_correlation(m, batches()) for m in (estimator, model)]
        for correlation in (*correlations, topic_correlation(model, counts)):
            assert correlation == pytest.approx(topic_correlation(estimator, counts), rel=1e-12)
        first = next(batches())
        views = list(view_documents(model, as_matrix(first.counts)))
        assert views == list(view_documents(estimator, counts[:1000]))


def test_titles_and_excerpts(address: str, model: TopicModel) -> None:
    given, _ = texts(300)
    with filled(address, 300, keep_text=True) as store:
        found = explore(store, model, n_documents=4)
        topics = as_topics(model)
        by_batches = {
            topic: representative_documents(topics, topic, stored_batches(store, topics.words), 4)
            for topic in range(3)
        }
        assert found.documents == by_batches, "looked up at the end, or read with the rest"
        for document in (d for some in found.documents.values() for d in some):
            i = int(document.key[1:])
            assert document.excerpt == given[i]
            assert document.title == (f"T{i}" if i % 2 else given[i])
        (batch,) = stored_batches(store, topics.words, texts=False)
        assert batch.titles is None and batch.excerpts is None
        store.delete([found.documents[0][0].key])
        assert explore(store, model).documents[0][0].key != found.documents[0][0].key
    with filled(address + "2" if "://" not in address else f"{address}2", 300) as store:
        assert {d.title for some in explore(store, model).documents.values() for d in some} == {
            None
        }


def test_a_sample_is_uniform_and_says_so(address: str, model: TopicModel) -> None:
    with filled(address, 300) as store:
        held_out = store.totals().held_out
        assert held_out > 10
        seen = np.zeros(300)
        for seed in range(60):
            rng = np.random.default_rng(seed)
            blocks = list(sampled(store, 50, rng, block=7))
            keys = [key for block in blocks for key in block.keys]
            assert len(set(keys)) == len(keys) == 50
            seen[[int(key[1:]) for key in keys]] += 1
        # Each 10 times on average, binomial: none is left out or comes up all the time.
        assert 0 < seen.min() and seen.max() < 24
        calls: list[tuple[int, int]] = []
        found = explore(store, model, sample=120, progress=lambda *n: calls.append(n))
        assert found.n_documents == found.table.n_documents == 120
        assert found.n_stored == 300 and found.is_sample
        assert calls[-1] == (120, 120)
        again = explore(store, model, sample=120)
        assert [asdict(info) for info in again.table] == [asdict(info) for info in found.table]
        whole = explore(store, model, sample=10**6)
        assert whole.n_documents == 300 and not whole.is_sample


def test_times_that_are_not_there(new_address: Callable[[], str]) -> None:
    topics = TopicSet.of(np.float32([[9, 1], [1, 9]]), 0.1, ["cat", "bank"])
    with open_store(new_address(), min_documents=1) as store:
        assert store.time_range() is None
        with pytest.raises(ValueError, match="has no documents yet"):
            explore(store, topics)
        store.append(Record(f"a{i}", ["cat", "cat"], 50.0) for i in range(10))
        assert store.time_range() == (50.0, 50.0)
        found = explore(store, topics)
        assert found.over_time is None and found.n_arrival == 0
        one = explore(store, topics, bins=[0.0, 100.0]).over_time
        assert one is not None and one.n_documents.tolist() == [10]
        store.append(Record(f"b{i}", ["bank"]) for i in range(5))
        found = explore(store, topics)
        assert found.n_arrival == 5 and found.over_time is not None
        assert found.over_time.n_documents.sum() == 15
        growing = explore(store, topics, bins=GrowingBins(86400.0)).over_time
        assert growing is not None and growing.n_documents.sum() == 15
        assert explore(store, topics, bins=None).over_time is None


def test_a_store_by_its_address(address: str, model: TopicModel) -> None:
    with filled(address, 100):
        pass
    assert explore(address, model).n_documents == 100
    with pytest.raises(MissingModelError, match="holds no model"):
        explore(address)
    for wrong in ({"sample": 0}, {"n_documents": 0}, {"bins": 0}, {"bins": [5, 1]}):
        with pytest.raises(ValueError):
            explore(address, model, **wrong)


def test_an_error_while_reading_ends_the_other_thread(address: str, model: TopicModel) -> None:
    with filled(address) as store:

        def stop(n: int, of: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            explore(store, model, progress=stop)
        assert explore(store, model, sample=10).n_documents == 10, "the store can be used at once"
