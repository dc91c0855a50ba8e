"""Bad input: an error that says what to do, and nothing of the append is stored."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.store.contents_of import everything
from trustream.store import (
    Position,
    Record,
    RecordError,
    StoreError,
    document_encoding,
    open_store,
)
from trustream.store.limits import MAX_COUNT, MAX_DISTINCT

GOOD = Record("good", ["word"], 1.0)

BAD = {
    "empty key": (Record("", ["a"]), "key '' has 0 characters; give it 1 to 500"),
    "long key": (Record("x" * 501, ["a"]), "has 501 characters; give it 1 to 500"),
    "key with NUL": (Record("a\0b", ["a"]), "NUL character"),
    "key of half a character": (Record("a\ud800", ["a"]), "surrogate"),
    "key of another type": (Record(7, ["a"]), "is of type int; give a string"),
    "no record": ({"id": "a"}, "is of type dict; give a Record"),
    "a text": (Record("a", "some text"), "one text; give a list of tokens"),
    "bytes": (Record("a", b"text"), "one text; give a list of tokens"),
    "a number": (Record("a", 3), "words are of type int; give a list of tokens"),
    "a set": (Record("a", {"b", "c"}), "words are of type set"),
    "empty token": (Record("a", ["b", ""]), "word '' has 0 characters"),
    "long token": (Record("a", ["b" * 501]), "has 501 characters"),
    "token with NUL": (Record("a", ["\0"]), "NUL character"),
    "token of half a character": (Record("a", {"\udcff": 1}), 'errors="replace"'),
    "token of another type": (Record("a", ["b", 3]), "word 3 is of type int; give a string"),
    "no token": (Record("a", [None]), "word None is of type NoneType"),
    "token that is a list": (Record("a", ["b", ["c"]]), "word ['c'] is of type list"),
    "count of zero": (Record("a", {"b": 0}), "the count of 'b' is 0, expected a whole number"),
    "negative count": (Record("a", {"b": -1}), "is -1, expected a whole number from 1 on"),
    "fraction": (Record("a", {"b": 1.5}), "is 1.5, expected"),
    "whole float": (Record("a", {"b": 2.0}), "is 2.0, expected"),
    "truth": (Record("a", {"b": True}), "is True, expected"),
    "text as count": (Record("a", {"b": "2"}), "is '2', expected"),
    "too large a count": (Record("a", {"b": MAX_COUNT + 1}), f"expected {MAX_COUNT} at most"),
    "far too large a count": (Record("a", {"b": 10**30}), f"expected {MAX_COUNT} at most"),
    "sum too large": (Record("good", {"word": MAX_COUNT}), "would occur 2147483649 times"),
    "time that is none": (
        Record("a", ["b"], math.nan),
        "the time is nan, expected seconds since 1970",
    ),
    "time without end": (Record("a", ["b"], math.inf), "time is inf"),
    "time as text": (Record("a", ["b"], "now"), "time is 'now'"),
    "time as truth": (Record("a", ["b"], True), "time is True"),
    "time too far away": (Record("a", ["b"], 10**400), "expected seconds since 1970 or None"),
    "time in milliseconds": (
        Record("a", ["b"], 1.7e12),
        "1.7e+12, expected seconds since 1970 or None for now; divide milliseconds by 1000",
    ),
    "time before all times": (Record("a", ["b"], -(10**13)), "the time is -1e+13, expected"),
    "empty append id": (Record("a", ["b"], append_id=""), "append id '' has 0 characters"),
    "append id of another type": (Record("a", ["b"], append_id=3), "append id 3 is of type int"),
}
# What is wrong with those that have good words.
FIELDS = {
    "empty key": "key", "long key": "key", "key with NUL": "key", "key of half a character": "key",
    "key of another type": "key", "no record": None, "time that is none": "time",
    "time without end": "time", "time as text": "time", "time as truth": "time",
    "time too far away": "time", "time in milliseconds": "time", "time before all times": "time",
    "empty append id": "append_id",
    "append id of another type": "append_id",
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_record(address: str, name: str) -> None:
    record, message = BAD[name]
    with open_store(address, min_documents=1) as store:
        store.append([GOOD])
        before = everything(store)
        with pytest.raises(RecordError, match=re.escape(message)) as caught:
            store.append(
                [Record("new", ["fresh"], append_id="id"), record, GOOD],  # type: ignore[list-item]
                Position("feed", 1),
            )
        assert caught.value.index == 1
        assert caught.value.field == FIELDS.get(name, "words")
        assert pickle.loads(pickle.dumps(caught.value)).field == caught.value.field
        assert str(caught.value).startswith("record 1: ")
        assert everything(store) == before
        assert store.position("feed") is None
        # The store goes on, with numbers as if nothing had been.
        assert store.append([Record("new", ["fresh"], append_id="id")]).n_repeated == 0
        assert store.vocabulary().words == ["word", "fresh"]


def test_a_gigantic_document(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a thousandth of the size: the limit is there to keep memory and values in bounds."""
    limit = MAX_DISTINCT // 1000
    monkeypatch.setattr(document_encoding, "MAX_DISTINCT", limit)
    with open_store(address) as store:
        half = limit // 2
        words = [f"{i}" for i in range(limit + 1)]
        with pytest.raises(RecordError, match=r"1049 different words.*split the document") as e:
            store.append([GOOD, Record("giant", words)])
        assert e.value.index == 1
        assert store.totals().documents == 0
        store.append([Record("giant", words[:half])])
        store.append([Record("giant", words[half:-1])])
        assert store.totals().tokens == limit
        with pytest.raises(RecordError, match="split the document"):
            store.append([Record("giant", words[-1:])])
        assert store.totals().tokens == limit


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"held_out": 1.0}, "held_out is 1.0; give a share from 0 up to, but below, 1"),
        ({"held_out": -0.1}, "held_out is -0.1"),
        ({"held_out": math.nan}, "held_out is nan"),
        ({"held_out": "some"}, "held_out is 'some'"),
        ({"min_documents": 0}, "min_documents is 0; give a whole number, 1 or more"),
        ({"min_documents": 2.5}, "min_documents is 2.5"),
        ({"max_words": 0}, "max_words is 0"),
        ({"vocabulary": ["a", "b", "a"]}, "vocabulary has 'a' twice, as words 0 and 2"),
        ({"vocabulary": []}, "vocabulary has no words"),
        ({"vocabulary": "text"}, "vocabulary is one string"),
        ({"vocabulary": ["a", ""]}, "vocabulary: word 1 has 0 characters"),
        ({"vocabulary": ["a", "\ud800"]}, "vocabulary: word 1 has half of a surrogate"),
        ({"vocabulary": ["a"], "max_words": 3}, "max_words has no meaning for a fixed vocabulary"),
    ],
)
def test_bad_settings(address: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        open_store(address, **settings)
    with pytest.raises(StoreError, match="is not there; make the store first"):
        open_store(address, create=False)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"held_out": 0.1}, "was made with held_out=0.2, not 0.1; leave held_out out"),
        ({"min_documents": 4}, "was made with min_documents=3, not 4"),
        ({"max_words": None}, "was made with max_words=9, not None"),
        ({"vocabulary": ["a"]}, "was made with a vocabulary that grows"),
    ],
)
def test_other_settings_than_the_store_has(
    address: str, settings: dict[str, Any], message: str
) -> None:
    open_store(address, held_out=0.2, min_documents=3, max_words=9).close()
    with pytest.raises(StoreError, match=re.escape(message)):
        open_store(address, **settings)
    with open_store(address) as store:
        assert (store.settings.held_out, store.settings.max_words) == (0.2, 9)


def test_another_vocabulary_than_the_store_has(address: str) -> None:
    open_store(address, vocabulary=["a", "b"]).close()
    with pytest.raises(StoreError, match="made with another vocabulary"):
        open_store(address, vocabulary=["b", "a"])


def test_arguments(address: str) -> None:
    rng = np.random.default_rng(0)
    with open_store(address) as store:
        for call, message in [
            (lambda: store.draw(-1, rng), "n is -1"),
            (lambda: store.keep(), "give newest=... or since=..."),
            (lambda: store.keep(newest=-1), "newest is -1"),
            # One document would be kept.
            (lambda: store.keep(newest=True), "newest is True; give a whole number of documents"),
            (lambda: store.keep(since=math.nan), "since is nan"),
            (lambda: store.keep(since=True), "since is True"),
            # Nothing would be kept.
            (lambda: store.keep(since=1.7e12), "give seconds since 1970 (divide milliseconds by"),
            (lambda: store.expire_append_ids(1.7e12), "before is 1.7e+12; give seconds since 1970"),
            (lambda: store.expire_append_ids(math.nan), "before is nan; give seconds since 1970"),
            (lambda: store.delete("key"), "give a list of keys"),
            (lambda: store.read("key"), "give a list of keys"),
            (lambda: next(store.scan(0)), "block is 0"),
            (lambda: next(store.scan(2.5)), "block is 2.5; give a whole number of documents"),  # type: ignore[arg-type]
            (lambda: store.newest(math.nan), "n is nan; give a whole number"),  # type: ignore[arg-type]
            (lambda: store.arrivals(-1, True), "n is True; give a whole number"),
            (lambda: store.draw(math.nan, rng), "n is nan; give a whole number"),  # type: ignore[arg-type]
            (lambda: store.save("", b""), "name '' has 0 characters"),
            (lambda: store.append([], Position("", 0)), "feed '' has 0 characters"),
            (lambda: store.append([], Position("f", 0, detail={"a": {1}})), "that is not JSON"),
            (lambda: store.append([], Position("f", 1), after=7), "after is 7; give a position"),  # type: ignore[arg-type]
            (lambda: store.append([], Position("f", -1)), "has the offset -1; give a whole number"),
            (lambda: store.append([], Position("f", 2**63)), "has the offset 9223372036854775808"),
            (lambda: store.append([], Position("f", 1.5)), "has the offset 1.5"),  # type: ignore[arg-type]
            (lambda: store.append([], Position("f", 1), after=Position("f", True)), "offset True"),
        ]:
            with pytest.raises(ValueError, match=re.escape(message)):
                call()
        assert store.totals().sequence == 0


@pytest.mark.parametrize("key", ["a\0b", "a\ud800", "", "x" * 10_000])
def test_names_that_cannot_be_there_are_not_there(address: str, key: str) -> None:
    with open_store(address) as store:
        store.append([GOOD])
        assert store.delete([key]) == 0
        with pytest.raises(KeyError):
            store.read([key])
        assert store.position(key) is None
        assert store.load(key) is None


def test_other_addresses() -> None:
    with pytest.raises(StoreError, match=r"no store for mysql://; give the path .* postgresql://"):
        open_store("mysql://host/name")


HUGE = 2**63


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.arrivals(HUGE, 5),
        lambda store: store.arrivals(0, HUGE),
        lambda store: store.newest(5, HUGE),
        lambda store: store.newest(HUGE),
        lambda store: list(store.scan(HUGE)),
        lambda store: list(store.scan(5, after=HUGE)),
        lambda store: list(store.scan(5, until=-HUGE - 1)),
        lambda store: store.word_orders(HUGE),
        lambda store: store.word_orders(0, HUGE),
        lambda store: store.vocabulary_since(HUGE),
        lambda store: store.block_ends(HUGE),
        lambda store: store.count_orders(HUGE),
        lambda store: store.rejoin(list, HUGE),
        lambda store: store.vocabulary_since(1.5),
    ],
)
def test_numbers_that_databases_do_not_take(address: str, call: Callable[[Any], object]) -> None:
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ["x"])])
        with pytest.raises(ValueError, match=r"give (a whole number|at most)"):
            call(store)
        assert store.read_slots(np.array([0], np.uint64))[0].keys == ["a"]
        assert store.read_slots(np.array([2**63 + 1, 2**64 - 1], np.uint64))[0].keys == []


def test_details_that_are_no_finite_json(address: str) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with open_store(address) as store:
        for detail in ([1], "text", {"a": float("nan")}, {"a": float("inf")}, {"a": deep}):
            with pytest.raises(ValueError, match=r"position of 'f' has (the|a) detail"):
                store.append([], Position("f", 1, False, detail))  # type: ignore[arg-type]
        assert store.position("f") is None
