"""Documents that come in parts, far past every size at which the store does something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.store.contents_of import check_running_totals, documents, everything
from tests.store.thresholds import make_small
from trustream.feeds import ingest
from trustream.store import Position, PositionError, Record, RecordError, limits, open_store
from trustream.streaming.simulator import ticks

ALL: dict[str, Any] = {"min_documents": 1, "max_words": None}


def test_every_word_of_a_document_that_grows_word_by_word(address: str) -> None:
    """400 words: the writer stops remembering the document at 256."""
    with open_store(address, **ALL) as store:
        for i in range(400):
            store.append([Record("a", [f"w{i}"])])
        assert documents(store) == {"a": {f"w{i}": 1 for i in range(400)}}
        check_running_totals(store)


def parts(rng: np.random.Generator, n: int) -> list[Record]:
    """Parts of 1 to 400 words for a few documents; some grow to thousands of words."""
    found = []
    for _ in range(n):
        first, length = rng.integers(0, 2500), int(np.exp(rng.uniform(0, 6)))
        words = [f"w{i}" for i in rng.permutation(np.arange(first, first + length))]
        content = dict.fromkeys(words, int(rng.integers(1, 4))) if rng.random() < 0.3 else words
        found.append(Record(f"{rng.integers(0, 6)}", content, 1.0))
    return found


@pytest.mark.usefixtures("thresholds")
def test_in_parts_of_any_size_ends_in_the_same_state_as_whole(
    new_address: Callable[[], str],
) -> None:
    rng = np.random.default_rng(7)
    given = parts(rng, 120)
    expected: dict[str, Counter[str]] = {}
    for record in given:
        expected.setdefault(record.key, Counter()).update(record.words)
    assert max(map(len, expected.values())) > 1500
    found = []
    cuts = sorted(rng.choice(120, 60, replace=False).tolist())
    for ends in ([120], [*cuts, 120], range(1, 121)):
        with open_store(new_address(), **ALL) as store:
            start = 0
            for end in ends:
                store.append(given[start:end])
                start = end
            assert documents(store) == expected
            check_running_totals(store)
            found.append(everything(store))
    for other in found[1:]:
        assert other["documents"] == found[0]["documents"]
        assert other["counts"] == found[0]["counts"]
        assert other["columns"] == found[0]["columns"]


def test_more_documents_than_are_remembered_grow(address: str, monkeypatch: Any) -> None:
    make_small(monkeypatch)
    expected: dict[str, Counter[str]] = {}
    rng = np.random.default_rng(2)
    with open_store(address, **ALL) as store, open_store(address) as other:
        for step in range(80):
            batch = [
                Record(f"{key}", [f"w{w}" for w in rng.integers(0, 30, rng.integers(0, 3))])
                for key in rng.integers(0, 12, rng.integers(1, 8))
            ]
            (other if step % 11 == 10 else store).append(batch)
            for record in batch:
                expected.setdefault(record.key, Counter()).update(record.words)
            if step % 13 == 12:
                gone = f"{rng.integers(0, 12)}"
                assert store.delete([gone]) == (expected.pop(gone, None) is not None)
        assert documents(store) == expected
        check_running_totals(store)


def test_ratings_of_a_user_with_many_items(tmp_path: Path) -> None:
    """As found: 272 of 900 items were left."""
    rng = np.random.default_rng(0)
    rows = [("ann", f"i{i}") for i in range(900)]
    rows += [(f"user {i % 50}", f"i{i % 300}") for i in range(3000)]
    path = tmp_path / "ratings.csv"
    lines = "".join(f"{user},{item},1\n" for user, item in rng.permutation(rows))
    path.write_text(f"user,item,rating\n{lines}")
    with open_store(tmp_path / "topics.db", **ALL) as store:
        ingest(store, path, format="ratings", timestamp_column=None, batch=100)
        assert len(documents(store)["ann"]) == 900
        check_running_totals(store)


def test_a_simulated_stream_arrives_whole(tmp_path: Path) -> None:
    counts = np.ones((4, 300), np.int64)
    words = [f"w{i}" for i in range(300)]
    with open_store(tmp_path / "topics.db", **ALL) as store:
        for tick in ticks(counts, words, rate=9.0, p=1.0, rng=np.random.default_rng(0)):
            store.append(tick.records)
        assert documents(store) == {f"document-{i}": dict.fromkeys(words, 1) for i in range(4)}


def test_refused_parts_leave_what_was_there(address: str) -> None:
    """Of a document that is remembered, and of one that is too large for that."""
    with open_store(address, **ALL) as store:
        store.append([Record("small", ["x"]), Record("large", [f"w{i}" for i in range(300)])])
        for _ in range(3):
            with pytest.raises(RecordError, match="more than 2147483647") as caught:
                store.append(
                    [
                        Record("large", ["new"]),
                        Record("small", {"x": limits.MAX_COUNT}),
                        Record("large", ["x"]),
                    ]
                )
            assert caught.value.index == 1
            store.append([Record("small", ["y"]), Record("large", ["z"])])
        found = documents(store)
        assert found["small"] == {"x": 1, "y": 3}
        assert found["large"] == {**{f"w{i}": 1 for i in range(300)}, "z": 3}
        check_running_totals(store)


def test_saved_bytes_of_any_number_of_parts(address: str, monkeypatch: Any) -> None:
    make_small(monkeypatch)
    with open_store(address) as store:
        for size in (0, 1, 4, 5, 6, 10, 11, 23, 9, 0):
            content = bytes(range(size))
            store.save("model", content)
            assert store.load("model") == content
        assert store.check().ok


def test_a_refused_record_is_named_by_its_place_among_repeated_ones(address: str) -> None:
    with open_store(address, **ALL) as store:
        known = [Record(f"{i}", ["x"], append_id=f"{i}") for i in range(3)]
        store.append(known)
        large = Record("large", {"x": limits.MAX_COUNT})
        with pytest.raises(RecordError, match="more than 2147483647") as caught:
            store.append([*known, Record("fine", ["x"]), large, large])
        assert caught.value.index == 4


def test_what_was_looked_up_before_all_was_forgotten_is_looked_up_again(address: str) -> None:
    """A second interrupt may come before the writer has forgotten what the first undid."""
    with open_store(address, **ALL) as store:
        store.append([Record("a", ["x"])])
        writer: Any = store._writer

        def interrupted() -> None:
            raise KeyboardInterrupt

        writer._forget, forget = interrupted, writer._forget
        with pytest.raises(KeyboardInterrupt):
            store.append([Record("a", ["y"]), Record("b", {"x": limits.MAX_COUNT, "z": 1})] * 2)
        writer._forget = forget
        store.append([Record("a", ["z"]), Record("c", ["y", "new"])])
        assert documents(store) == {"a": {"x": 1, "z": 1}, "c": {"y": 1, "new": 1}}
        check_running_totals(store)


def test_words_that_were_left_out_take_columns_that_are_given_back(address: str) -> None:
    with open_store(address, min_documents=2, max_words=3) as store:
        store.append([Record(f"{i}", ["a", "b", "c"]) for i in range(5)])
        store.append([Record(f"d{i}", ["d", "rare"][: 1 + (i == 0)]) for i in range(4)])
        store.append([Record(f"e{i}", ["e"]) for i in range(3)])
        assert store.vocabulary().words == ["a", "b", "c"]
        before = store.totals().vocabulary
        assert store.delete(f"{i}" for i in range(5)) == 5
        # The most frequent first; "rare" is in one document only.
        assert store.vocabulary().words == ["d", "e", None]
        assert store.totals().vocabulary == before + 1
        assert store.totals().words == 2
        assert documents(store)["d1"] == {"d": 1}
        check_running_totals(store)


def test_a_feed_goes_on_only_from_where_it_stands(address: str) -> None:
    first, second = Position("f", 10, detail={"b": [1], "a": None}), Position("f", 20)
    with open_store(address, **ALL) as store, open_store(address) as other:
        store.append([Record("a", ["x"])], first, after=None)
        for wrong in (None, second, Position("f", 10)):
            with pytest.raises(PositionError, match="another process has read it on") as caught:
                other.append([Record("a", ["y"])], second, after=wrong)
            assert (caught.value.after, caught.value.found) == (wrong, first)
        with pytest.raises(PositionError, match="'g' stands before its start and not at 3"):
            other.append([Record("a", ["y"])], Position("g", 4), after=Position("g", 3))
        assert (store.position("f"), store.position("g")) == (first, None)
        # Whether it was finished does not count, nor tuples for lists, nor the order of names.
        same = Position("f", 10, True, {"a": None, "b": (1,)})
        assert other.append([Record("a", ["z"])], second, after=same).n_tokens == 1
        other.append([], Position("f", 5))
        assert store.append([], first, after=Position("f", 5)).n_records == 0
        assert documents(store) == {"a": {"x": 1, "z": 1}}
        check_running_totals(store)


@pytest.mark.parametrize(
    ("position", "after", "message"),
    [
        (None, None, "after is given without a position"),
        (Position("f", 1), Position("g", 1), "give both of one feed"),
        (Position("f", 1), Position("f", 1, detail={"a": {1}}), "is not JSON"),
    ],
)
def test_positions_that_cannot_be_compared(
    tmp_path: Path, position: Position | None, after: Position | None, message: str
) -> None:
    with open_store(tmp_path / "topics.db") as store:
        with pytest.raises(ValueError, match=message):
            store.append([Record("a", ["x"])], position, after=after)
        assert store.totals().documents == 0
