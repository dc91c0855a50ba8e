"""Draws are uniform over the live documents of a part."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from trustream.store import DocumentStore, Record, open_store
from trustream.store.document_slots import is_held_out


def fill(store: DocumentStore, n: int) -> None:
    store.append(Record(f"{i}", ["a", f"w{i}"], float(i)) for i in range(n))


def p_value(store: DocumentStore, keys: list[str], held_out: bool) -> float:
    """Of draws of 5 against equal chances."""
    rng = np.random.default_rng(7)
    counts = dict.fromkeys(keys, 0)
    for _ in range(600):
        drawn = store.draw(5, rng, held_out=held_out).keys
        assert len(set(drawn)) == 5
        for key in drawn:
            counts[key] += 1
    # Draws without replacement vary less than a multinomial by (N - 5) / (N - 1).
    n = len(keys)
    found = np.array(list(counts.values()))
    statistic = ((found - found.mean()) ** 2 / found.mean()).sum() * (n - 1) / (n - 5)
    return float(stats.chi2.sf(statistic, n - 1))


@pytest.mark.parametrize("deleted", ["none", "90 % at random", "all but the newest 10 %"])
def test_uniform(address: str, deleted: str) -> None:
    n = 1000
    with open_store(address, held_out=0.4) as store:
        fill(store, n)
        keys = [f"{i}" for i in range(n)]
        if deleted == "90 % at random":
            order = np.random.default_rng(1).permutation(n)
            store.delete(f"{i}" for i in order[:500])
            store.delete(f"{i}" for i in order[500:900])
            keys = [f"{i}" for i in order[900:]]
        elif deleted.startswith("all"):
            store.keep(newest=100)
            keys = keys[900:]
        parts = {part: [k for k in keys if is_held_out(k, 0.4) == part] for part in (False, True)}
        totals = store.totals()
        assert totals.training == len(parts[False]) > 25
        assert totals.held_out == len(parts[True]) > 25
        for part, members in parts.items():
            assert p_value(store, members, part) > 1e-3


def test_the_test_of_uniformity_can_fail(file: object) -> None:
    """One document twice as likely as others is found out."""
    with open_store(str(file), held_out=0.0) as store:
        fill(store, 50)
        draw = store.draw
        loaded = np.random.default_rng(0)

        def biased(n: int, rng: np.random.Generator, *, held_out: bool = False) -> object:
            drawn = draw(n, rng, held_out=held_out)
            if "7" not in drawn.keys and loaded.random() < 0.12:
                drawn.keys[0] = "7"
            return drawn

        store.draw = biased  # type: ignore[method-assign, assignment]
        assert p_value(store, [f"{i}" for i in range(50)], False) < 1e-3


def test_a_part_of_a_draw_is_a_draw(address: str) -> None:
    """The first row is uniform, too."""
    with open_store(address, held_out=0.0) as store:
        fill(store, 20)
        rng = np.random.default_rng(5)
        first = [store.draw(8, rng).keys[0] for _ in range(1000)]
        counts = [first.count(f"{i}") for i in range(20)]
        assert stats.chisquare(counts).pvalue > 1e-3


def test_what_is_drawn_from_the_generator_depends_on_sizes_alone(address: str) -> None:
    """The generator ends where it ends for any other store of that size, deletions or not."""
    ends = []
    for prefix in ("a", "b"):
        with open_store(address, held_out=0.0) as store:
            store.append(Record(f"{prefix}{i}", ["x"] * (i % 3)) for i in range(300))
            if prefix == "b":
                store.delete(f"a{i}" for i in range(300))
            rng = np.random.default_rng(0)
            store.draw(40, rng)
            ends.append(rng.random())
    assert ends[0] == ends[1]


def test_more_than_there_are(address: str) -> None:
    with open_store(address, held_out=0.0) as store:
        rng = np.random.default_rng(0)
        assert store.draw(3, rng).keys == []
        fill(store, 4)
        assert sorted(store.draw(9, rng).keys) == ["0", "1", "2", "3"]
        assert store.draw(0, rng).keys == []
        assert store.draw(3, rng, held_out=True).keys == []


def test_the_rows_are_the_documents(address: str) -> None:
    with open_store(address, held_out=0.0, min_documents=1) as store:
        fill(store, 50)
        store.delete(f"{i}" for i in range(0, 50, 3))
        words = store.vocabulary().words
        drawn = store.draw(20, np.random.default_rng(2))
        for row, key in enumerate(drawn.keys):
            columns = drawn.indices[drawn.indptr[row] : drawn.indptr[row + 1]]
            assert {words[column] for column in columns} == {"a", f"w{key}"}
