"""What a store does, one thing after the other, on both databases."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from tests.store.contents_of import check_running_totals, documents, everything, follow
from tests.store.faulty import execute
from trustream.store import Position, Record, open_store

TEXTS = {
    "one": "the cat sat on the mat with the other cat".split(),
    "two": "a dog and a cat ran after the bird".split(),
    "three": "the bird sang on the roof and the dog sat".split(),
    "four": "stocks and bonds fell after the bank cut the rate".split(),
}


def test_word_by_word_ends_in_the_same_state_as_whole(new_address: Callable[[], str]) -> None:
    with open_store(new_address(), min_documents=2) as store:
        store.append([Record(key, words, 1.0) for key, words in TEXTS.items()])
        whole = everything(store)
    with open_store(new_address(), min_documents=2) as store:
        for key, words in TEXTS.items():
            for word in words:
                store.append([Record(key, [word], 1.0)])
        parts = everything(store)
    with open_store(new_address(), min_documents=2) as store:
        singles = [Record(k, {w: 1}, 1.0) for k, words in TEXTS.items() for w in words]
        store.append(singles[:7])
        store.append(singles[7:])
        pieces = everything(store)
    for other in (parts, pieces):
        assert other["documents"] == whole["documents"]
        assert other["counts"] == whole["counts"]
        assert other["columns"] == whole["columns"]
        for name in ("sequence", "vocabulary"):
            other["state"][name] = whole["state"][name]
        assert other["state"] == whole["state"]


def test_words_get_columns_when_they_are_in_enough_documents(address: str) -> None:
    """b is the first to be in two documents, though a was there before it."""
    with open_store(address, min_documents=2) as store:
        store.append([Record("1", ["a", "b", "b"]), Record("2", ["c"])])
        assert store.vocabulary().words == []
        assert store.read(["1"]).indices.size == 0
        store.append([Record("2", ["b", "c", "a"])])
        assert store.vocabulary().words == ["b", "a"]
        # What came before they took part counts too.
        assert documents(store)["1"] == {"b": 2, "a": 1}


def test_the_rarest_word_gives_way_and_its_column_is_used_again(address: str) -> None:
    with open_store(address, min_documents=1, max_words=2) as store:
        store.append([Record("1", ["common", "rare"]), Record("2", ["common"])])
        before = store.totals().vocabulary
        store.append([Record("3", ["new"])])
        assert store.vocabulary().words == ["common", "rare"], (
            "of equally rare ones the older stays"
        )
        assert store.totals().vocabulary == before
        store.append([Record("4", ["new"])])
        changes = store.vocabulary_since(before)
        assert (changes.columns.tolist(), changes.words) == ([1], ["new"])
        assert changes.version == store.totals().vocabulary == before + 1
        assert documents(store)["1"] == {"common": 1}
        store.append([Record("5", ["rare"]), Record("6", ["rare"])])
        assert store.vocabulary().words == ["common", "rare"]
        assert documents(store)["1"] == {"common": 1, "rare": 1}, "it was kept all the while"


def test_a_word_that_no_document_has_frees_its_column(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        store.append([Record("1", ["a", "b"]), Record("2", ["b", "c"])])
        store.delete(["1"])
        assert store.vocabulary().words == [None, "b", "c"]
        assert store.totals().words == 2
        store.append([Record("3", ["d", "e"])])
        assert store.vocabulary().words == ["d", "b", "c", "e"]


def test_changes_of_the_vocabulary_add_up_to_it(address: str) -> None:
    rng = np.random.default_rng(3)
    kept: list[str | None] = []
    version = 0
    with open_store(address, min_documents=1, max_words=6) as store:
        for step in range(30):
            words = [f"w{i}" for i in rng.integers(0, 20, 5)]
            store.append([Record(f"{step}", words, float(step))])
            store.keep(newest=8)
            version = follow(kept, store.vocabulary_since(version))
            assert kept == store.vocabulary().words
    assert version > 10


def test_a_repeated_append_does_nothing(address: str) -> None:
    record = Record("1", ["a"], 1.0, append_id="first")
    with open_store(address, min_documents=1) as store:
        assert store.append([record, record]).n_repeated == 1
        state = everything(store)
        again = store.append([record])
        assert (again.n_records, again.n_repeated, again.n_tokens) == (0, 1, 0)
        # The id is what counts, not what comes with it; others in the append are added.
        mixed = store.append([Record("2", ["b"], 1.0, "first"), Record("3", ["c"], 1.0, "second")])
        assert (mixed.n_records, mixed.n_repeated) == (1, 1)
        store.delete(["3"])
        found = everything(store)
        assert found["documents"] == state["documents"]
    with open_store(address) as store:
        assert store.append([record]).n_repeated == 1


def test_the_position_is_committed_with_its_records(address: str) -> None:
    with open_store(address) as store:
        assert store.position("feed") is None
        store.append([Record("1", ["a"])], Position("feed", 10, detail={"line": 3, "é": [1]}))
        with pytest.raises(ValueError, match="record 1"):
            store.append([Record("2", ["a"]), Record("3", [""])], Position("feed", 20))
        assert store.position("feed") == Position("feed", 10, False, {"line": 3, "é": [1]})
        assert store.totals().documents == 1
        store.append([], Position("feed", 30, finished=True))
    with open_store(address) as store:
        assert store.position("feed") == Position("feed", 30, True)
        assert store.totals().sequence == 1


def test_saved_bytes_are_replaced(address: str) -> None:
    large = np.random.default_rng(0).bytes((1 << 24) + 17)
    with open_store(address) as store:
        assert store.load("model") is None
        store.save("model", large)
        store.save("other", b"")
        assert store.load("model") == large
        store.save("model", b"\0small")
    with open_store(address) as store:
        assert (store.load("model"), store.load("other")) == (b"\0small", b"")


def test_each_save_has_a_version_of_its_own(address: str) -> None:
    with open_store(address) as store, open_store(address) as other:
        assert store.saved_version("model") is None
        for version in range(1, 5):
            (store if version % 2 else other).save("model", b"x" * version)
            assert store.saved_version("model") == other.saved_version("model") == version
        store.save("other", b"")
        store.save("other", b"")
        assert (store.saved_version("other"), store.saved_version("model")) == (2, 4)
        assert store.saved_version("nobody's") is None
        assert store.saved_version("") is store.saved_version("x" * 501) is None
    with open_store(address) as store:
        assert store.saved_version("model") == 4
        assert store.totals().sequence == 0, "documents have not changed"


def test_a_version_is_not_used_again_after_its_bytes_were_deleted(address: str) -> None:
    with open_store(address) as store:
        store.save("model", b"one")
        store.save("model", b"two")
        execute(store, "DELETE FROM saved")
        assert store.load("model") is None
        store.save("model", b"three")
        assert store.saved_version("model") == 3


def test_time_moves_forward_only_and_decides_what_is_kept(address: str) -> None:
    with open_store(address) as store:
        store.append([Record("a", ["x"], 5.0), Record("b", ["x"], 4.0), Record("c", ["x"], 4.0)])
        store.append([Record("b", ["y"], 9.0), Record("a", ["y"], 1.0)])
        assert store.keep(newest=2) == 1
        assert list(documents(store)) == ["a", "b"]
        assert store.keep(since=5.0) == 0
        assert store.keep(since=5.1, newest=9) == 1
        assert list(documents(store)) == ["b"]
        assert store.keep(newest=0) == 1
        assert store.totals().documents == store.totals().tokens == 0


def test_added_never_falls(address: str) -> None:
    with open_store(address, held_out=0.0) as store:
        store.append([Record("a", ["x"]), Record("b", ["x"])])
        store.delete(["a", "a", "nobody"])
        store.append([Record("a", ["x"])])
        totals = store.totals()
        assert (totals.added, totals.training, totals.held_out) == (3, 2, 0)


def test_documents_that_were_deleted_or_moved_gain_words(address: str) -> None:
    with open_store(address, held_out=0.0, min_documents=1) as store:
        store.append([Record(key, [key]) for key in "abcd"])
        store.delete(["a"])  # d moves into its slot
        store.append([Record("d", ["x"]), Record("a", ["y"]), Record("b", ["z"])])
        assert documents(store) == {
            "b": {"b": 1, "z": 1},
            "c": {"c": 1},
            "d": {"d": 1, "x": 1},
            "a": {"y": 1},
        }
        check_running_totals(store)


def test_a_document_without_words_is_a_document(address: str) -> None:
    with open_store(address, held_out=0.0) as store:
        store.append([Record("a", []), Record("b", {})])
        drawn = store.draw(5, np.random.default_rng(0))
        assert sorted(drawn.keys) == ["a", "b"]
        assert drawn.indptr.tolist() == [0, 0, 0]


def test_read_keeps_the_order_and_names_what_is_missing(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ["x"]), Record("b", ["x", "y"])])
        found = store.read(["b", "a", "b"])
        assert found.keys == ["b", "a", "b"]
        assert found.indptr.tolist() == [0, 2, 3, 5]
        assert (found.indices.dtype, found.counts.dtype) == (np.int32, np.float32)
        with pytest.raises(KeyError, match="nobody"):
            store.read(["a", "nobody"])
        assert store.read([]).keys == []


def test_other_words_are_not_kept_with_a_fixed_vocabulary(address: str) -> None:
    with open_store(address, vocabulary=["b", "a"]) as store:
        result = store.append([Record("1", ["a", "z", "a"]), Record("2", {"z": 5})])
        assert result.n_tokens == store.totals().tokens == 2
        assert documents(store) == {"1": {"a": 2}, "2": {}}
        store.delete(["1"])
        assert store.vocabulary().words == ["b", "a"], "a fixed word keeps its column"
    with open_store(address, vocabulary=["b", "a"]) as store:
        assert store.settings.fixed
        assert store.totals().words == 2


def test_a_batch_may_be_any_iterable(address: str) -> None:
    with open_store(address) as store:
        result = store.append(Record(f"{i}", np.array(["a", "b"])) for i in range(3))  # type: ignore[arg-type]
        assert result.n_tokens == 6


def test_many_documents_at_once(address: str) -> None:
    """More than databases take as arguments of one statement."""
    n = 33_000
    with open_store(address, min_documents=1, held_out=0.0) as store:
        store.append(Record(f"{i}", [f"w{i}"], append_id=f"{i}") for i in range(n))
        assert len(store.draw(n, np.random.default_rng(0)).keys) == n
        again = store.append(Record("1", ["x"], append_id=f"{i}") for i in range(n))
        assert (again.n_records, again.n_repeated) == (0, n)
        assert store.delete(f"{i}" for i in range(n - 10)) == n - 10
        assert len(documents(store)) == 10
        assert store.totals().words == 10


def test_closing(address: str) -> None:
    store = open_store(address)
    store.close()
    store.close()
    with pytest.raises(RuntimeError, match="was closed; open it again"):
        store.totals()
    with pytest.raises(RuntimeError, match="was closed"):
        store.append([])


def test_a_document_without_a_time_has_that_of_its_arrival(address: str) -> None:
    with open_store(address) as store:
        before = int(time.time())
        store.append([Record("a", ["x"], 7.5), Record("b", ["x"])])
        store.append([Record("a", ["y"], 3.0)])
        found = store.read(["b", "a"]).times
        assert found is not None
        assert before <= found[0] <= time.time()
        assert found[1] == 7.5, "an earlier part moves it nowhere"
        store.append([Record("a", ["z"], 2.0, replace=True)])
        assert store.read(["a"]).times == [2.0]
        empty = store.read([]).times
        assert empty is not None and empty.shape == (0,) and empty.dtype == np.float64
