"""Documents that a store keeps in memory between draws are those that the database has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trustream.store import DocumentStore, Record, open_store
from trustream.store.draw_order import DrawOrder
from trustream.store.drawn_documents import DrawnDocumentCache
from trustream.store.records import Documents

N = 60


def records(first: int, last: int, *, word: str = "more") -> list[Record]:
    return [Record(f"{i}", {f"w{i % 7}": i + 1, word: 2}, float(i)) for i in range(first, last)]


def contents(documents: Documents) -> list[tuple[str, list[int], list[float]]]:
    edges = documents.indptr.tolist()
    return [
        (key, documents.indices[a:b].tolist(), documents.counts[a:b].tolist())
        for key, a, b in zip(documents.keys, edges[:-1], edges[1:], strict=True)
    ]


def drawn(store: DocumentStore, rng: Any = None) -> list[tuple[str, list[int], list[float]]]:
    """A pass over all training documents, by key."""
    found = store.draw(10**6, rng or DrawOrder(np.random.default_rng(1)))
    return sorted(contents(found))


def test_what_others_change_is_drawn_as_it_is(address: str) -> None:
    """Appended to, replaced, deleted and moved, by this store or by another process' connection."""
    with open_store(address, min_documents=1) as store, open_store(address) as other:
        store.append(records(0, N))
        assert drawn(store) == drawn(other) == drawn(store)
        for change in (
            lambda by: by.append([Record("3", {"w1": 5})]),
            lambda by: by.append([Record("4", {"w2": 1}, replace=True)]),
            lambda by: by.append(records(N, N + 5)),
            lambda by: by.delete(["5", "6"]),  # others take their places
            lambda by: by.append(records(5, 6, word="another")),
            lambda by: by.keep(newest=20),
            lambda by: by.check(repair=True),
        ):
            for by, looking in ((other, store), (store, other)):
                change(by)
                with open_store(address) as fresh:
                    assert drawn(looking) == drawn(fresh) == drawn(looking)


def test_draws_do_not_depend_on_what_is_kept(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Order, keys and rows of a hundred draws, training and held out, with and without a cache."""
    found = []
    for most_bytes in (0, 3000, 10**9):
        monkeypatch.setattr(
            "trustream.store.reader.DrawnDocumentCache",
            lambda most=most_bytes: DrawnDocumentCache(most),
        )
        with open_store(address, min_documents=1, held_out=0.3) as store:
            if not store.totals().documents:
                store.append(records(0, N))
            order, rng = DrawOrder(np.random.default_rng(1)), np.random.default_rng(2)
            draws = [contents(store.draw(7, order)) for _ in range(50)]
            draws += [contents(store.draw(7, rng, held_out=True)) for _ in range(50)]
            timed = store.draw(7, order, times=True)
            assert timed.times is not None and len(timed.times) == 7
            found.append([*draws, contents(timed)])
    assert found[0] == found[1] == found[2]


def test_a_batch_and_the_totals_it_is_drawn_by(address: str) -> None:
    """The same documents as by `totals` and `draw`, and totals of the same moment."""
    with open_store(address, min_documents=1, held_out=0.3) as store:
        empty, totals = store.draw_batch(lambda found: found.training, np.random.default_rng(0))
        assert empty.keys == [] and totals == store.totals()
        store.append(records(0, N))
        for make in (np.random.default_rng, lambda seed: DrawOrder(np.random.default_rng(seed))):
            one, other = make(3), make(3)
            for divisor in (2, 3):
                found, totals = store.draw_batch(lambda t, d=divisor: t.training // d, one)
                assert totals == store.totals() and totals.sequence == found.sequence
                expected = store.draw(totals.training // divisor, other)
                assert contents(found) == contents(expected)
                assert len(found.keys) == totals.training // divisor > 0


def test_memory_is_bounded() -> None:
    """Of a thousand documents as many are kept as fit, and only others are read again."""
    read: list[int] = []

    def rows(places: list[int]) -> list[tuple[int, str, bytes]]:
        read.extend(places)
        return [(place, str(place), bytes(700)) for place in places]

    cache = DrawnDocumentCache(most_bytes=100_000)
    for _ in range(3):
        for first in range(0, 1000, 10):
            got = cache.get(range(first, first + 10), 1, rows)
            assert [key for key, _ in got] == [str(place) for place in range(first, first + 10)]
    assert len(cache._kept) == 100  # 700 bytes and 300 for what holds them
    assert len(read) == 1000 + 2 * 900
    cache.get([0], 2, rows)
    assert len(cache._kept) == 1
