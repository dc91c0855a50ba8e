"""Stores of the version that lost words of documents that grew in parts past 256 words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.store.contents_of import check_running_totals, documents
from tests.store.faulty import execute, faulty_writer, make_old
from trustream.store import CheckResult, DocumentStore, Record, StoreError, open_store

ALL: dict[str, Any] = {"min_documents": 1, "max_words": None, "held_out": 0.2}
Contents = dict[str, Counter[str]]


def write_old(address: str, seed: int, longest: int) -> Contents:
    """Parts of random sizes for documents of an old store; what they should have come to."""
    rng = np.random.default_rng(seed)
    given: Contents = {}
    with faulty_writer(), open_store(address, **ALL) as store:
        for step in range(60):
            batch = [
                Record(f"d{d}", [f"w{w}" for w in rng.integers(0, 900, rng.integers(1, longest))])
                for d in rng.integers(0, 8, 3)
            ]
            store.append(batch)
            for record in batch:
                given.setdefault(record.key, Counter()).update(record.words)
            if step % 20 == 19:
                gone = f"d{rng.integers(0, 8)}"
                store.delete([gone])
                given.pop(gone, None)
    make_old(address)
    return given


def lost(store: DocumentStore, given: Contents) -> dict[str, int]:
    """How many tokens each document lacks, of those that lack some."""
    there = {key: sum(words.values()) for key, words in documents(store).items()}
    missing = {key: words.total() - there[key] for key, words in given.items()}
    return {key: n for key, n in missing.items() if n}


def test_what_was_lost_word_by_word(address: str) -> None:
    """As found: 300 words, of which 256 are there."""
    with faulty_writer(), open_store(address, **ALL) as store:
        store.append([Record("small", ["x", "y"]), Record("large", [f"w{i}" for i in range(220)])])
        for i in range(300):
            store.append([Record("grown", [f"w{i}"])])
        store.append([Record("whole", [f"w{i}" for i in range(400)])])
    make_old(address)
    with open_store(address) as store:
        assert len(documents(store)["grown"]) == 256
        result = store.check()
        assert result.faulty
        assert not result.ok
        assert set(result.kinds) == {"words lost", "tokens", "counts"}
        assert result.missing_tokens == 44
        # 44 words are missing: whoever has less than 256 - 44 of them has lost none.
        assert result.suspects == ("whole", "grown", "large")
        assert "'w255' is counted in 2 documents and is in 1" in result.damage[2].examples
        repaired = store.check(repair=True)
        assert repaired.ok
        assert repaired.suspects == result.suspects
        check_running_totals(store)
        # What was found is known from then on.
        again = store.check()
        assert again == CheckResult(
            4, 878, faulty=True, missing_tokens=44, n_suspects=3, suspects=result.suspects
        )
        store.append([Record("new", [f"w{i}" for i in range(400)])])
        store.delete(result.suspects)
        store.append([Record("grown", [f"w{i}" for i in range(300)])])
        assert store.check() == CheckResult(3, 702, faulty=True, missing_tokens=44)


@pytest.mark.parametrize("longest", [2, 40, 400])
def test_every_document_that_lost_words_is_a_suspect(
    new_address: Callable[[], str], longest: int
) -> None:
    for seed in range(3):
        address = new_address()
        given = write_old(address, seed, longest)
        with open_store(address) as store:
            missing = lost(store, given)
            suspects: list[str] = []
            result = store.check(on_suspect=suspects.append)
            assert set(missing) <= set(suspects)
            assert result.missing_tokens >= sum(missing.values())
            assert ("words lost" in result.kinds) == (not result.ok) == bool(result.missing_tokens)
            # All that is missing is in the last of these; words by words they stay below 256.
            assert bool(missing) == (longest > 2)
            assert store.check(repair=True).ok
            check_running_totals(store)
            store.delete(suspects)
            store.append(Record(key, given[key]) for key in suspects)
            assert documents(store) == given
            after = store.check()
            assert (after.ok, after.n_suspects) == (True, 0)


def test_an_old_store_that_lost_nothing(address: str) -> None:
    with open_store(address, **ALL) as store:
        store.append([Record("whole", [f"w{i}" for i in range(400)])])
    make_old(address)
    with open_store(address) as store:
        expected = CheckResult(1, 400, faulty=True)
        assert store.check() == store.check(repair=True) == store.check() == expected


def test_stores_without_the_fault(address: str) -> None:
    """A new one, and an old one in which nothing was ever written."""
    with open_store(address, **ALL) as store:
        assert not store.check().faulty
    make_old(address)
    with open_store(address) as store:
        store.append([Record("a", ["x"])])
        assert not store.check().faulty
    with open_store(address) as store:
        assert not store.check(repair=True).faulty


def test_a_process_of_the_old_version_cannot_write_any_more(address: str) -> None:
    """It may have had the store open; what it lost would not be noted. It can still read."""
    write_old(address, 0, 2)
    with open_store(address) as store:
        with pytest.raises(StoreError, match="could not be changed"):
            # As it writes its counters.
            execute(store, "UPDATE state SET sequence=1, tokens=1")
        assert execute(store, "SELECT * FROM state")[0][4] == store.totals().tokens
