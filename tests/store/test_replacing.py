"""Records that replace documents: what a document has, counts, time, place, and who remembers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.store.contents_of import all_words, check_running_totals, documents, known_words
from trustream.store import (
    Position,
    PositionError,
    Record,
    RecordError,
    document_encoding,
    open_store,
)


def test_a_record_takes_the_place_of_its_document(address: str) -> None:
    with open_store(address, min_documents=1, held_out=0.0) as store:
        store.append([Record("a", ["cat", "dog", "cat"]), Record("b", ["dog"])])
        result = store.append([Record("a", ["dog", "bird"], replace=True), Record("b", ["cow"])])
        assert (result.n_records, result.n_documents, result.n_tokens) == (2, 0, 3)
        assert (result.replaced, result.extended, result.n_removed) == ((0,), (1,), 3)
        assert documents(store) == {"a": {"dog": 1, "bird": 1}, "b": {"dog": 1, "cow": 1}}
        assert known_words(store) == {"dog", "bird", "cow"}
        totals = store.totals()
        assert (totals.documents, totals.tokens, totals.added, totals.arrived) == (2, 4, 2, 2)
        assert store.check().ok
        check_running_totals(store)


def test_one_that_is_not_there_is_added(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        result = store.append([Record("a", ["cat"], replace=True)])
        assert (result.n_documents, result.replaced, result.n_removed) == (1, (), 0)
        assert documents(store) == {"a": {"cat": 1}}


def test_records_of_an_append_count_in_their_order(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ["old"])])
        result = store.append(
            [
                Record("a", ["lost"]),
                Record("a", ["first"], replace=True),
                Record("new", ["gone"]),
                Record("a", ["second"], replace=True),
                Record("a", ["and", "more"]),
                Record("new", ["stays"], replace=True),
            ]
        )
        assert (result.n_records, result.n_documents, result.n_tokens) == (6, 1, 4)
        assert (result.replaced, result.extended, result.n_removed) == ((0,), (), 1)
        assert documents(store) == {
            "a": {"second": 1, "and": 1, "more": 1},
            "new": {"stays": 1},
        }
        assert known_words(store) == {"second", "and", "more", "stays"}
        assert store.check().ok


def test_parts_that_come_later_are_added(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ["old"])])
        store.append([Record("a", ["cat"], replace=True)])
        assert store.append([Record("a", ["cat", "dog"])]).extended == (0,)
        assert documents(store) == {"a": {"cat": 2, "dog": 1}}


def test_the_same_content_changes_nothing_but_the_sequence_number(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ["cat", "dog"], 5.0), Record("b", ["dog"], 5.0)])
        before, vocabulary = store.totals(), store.vocabulary()
        result = store.append([Record("a", ["cat", "dog"], 5.0, replace=True)])
        assert (result.replaced, result.n_tokens, result.n_removed) == ((0,), 2, 2)
        after = store.totals()
        assert after.sequence == before.sequence + 1
        assert (after.tokens, after.words, after.vocabulary) == (3, 2, before.vocabulary)
        assert store.vocabulary() == vocabulary, "no column has changed"


def test_an_empty_replacement_leaves_an_empty_document(address: str) -> None:
    with open_store(address, min_documents=1, held_out=0.0) as store:
        store.append([Record("a", ["cat"]), Record("b", ["dog"])])
        assert store.append([Record("a", [], replace=True)]).n_removed == 1
        assert all_words(store) == {"a": {}, "b": {"dog": 1}}
        assert store.totals().documents == 2
        assert known_words(store) == {"dog"}
        assert store.vocabulary().words == [None, "dog"]
        assert store.check().ok


def test_the_time_is_that_of_the_replacement(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ["x"], 100.0), Record("b", ["x"], 100.0)])
        store.append([Record("a", ["y"], 10.0, replace=True), Record("b", ["y"], 10.0)])
        assert store.keep(since=50.0) == 1, "a part does not make a document older"
        assert list(documents(store)) == ["b"]
        store.append([Record("b", ["z"], replace=True)])
        assert store.keep(since=1e9) == 0, "without a time it is now"


def test_place_number_and_part_stay(address: str) -> None:
    keys = [f"d{i}" for i in range(40)]
    with open_store(address, min_documents=1, held_out=0.3) as store:
        store.append(Record(key, ["x"]) for key in keys)
        rng = np.random.default_rng(0)
        held_out = set(store.draw(99, rng, held_out=True).keys)
        before = store.totals()
        store.append(Record(key, ["y"], replace=True) for key in reversed(keys))
        after = store.totals()
        assert set(store.draw(99, rng, held_out=True).keys) == held_out
        assert list(documents(store)) == keys, "in the order of arrival"
        assert (after.training, after.held_out, after.added, after.arrived) == (
            before.training, before.held_out, before.added, before.arrived,
        )  # fmt: skip
        assert store.check().ok


def test_append_ids_make_it_happen_once(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        first = Record("a", ["cat"], append_id="1", replace=True)
        store.append([first])
        store.append([Record("a", ["dog"])])
        again = store.append([first, Record("b", ["cow"])])
        assert (again.n_repeated, again.n_records, again.replaced) == (1, 1, ())
        assert documents(store)["a"] == {"cat": 1, "dog": 1}
        # One that is replaced in its own append was seen, too.
        store.append([Record("c", ["x"], append_id="2"), Record("c", ["y"], replace=True)])
        assert store.append([Record("c", ["x"], append_id="2")]).n_repeated == 1
        assert documents(store)["c"] == {"y": 1}


def test_all_or_nothing(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ["cat"])], Position("feed", 1))
        with pytest.raises(RecordError) as refused:
            store.append(
                [Record("a", ["x"]), Record("a", ["dog"], replace=True), Record("b", {"x": 0})]
            )
        assert refused.value.index == 2
        with pytest.raises(PositionError):
            store.append([Record("a", ["y"], replace=True)], Position("feed", 2), after=None)
        assert documents(store) == {"a": {"cat": 1}}
        assert known_words(store) == {"cat"}
        assert store.check().ok


def test_the_index_of_a_bad_record_is_that_of_the_append(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_encoding, "MAX_DISTINCT", 20)
    many = {f"w{i}": 1 for i in range(20)}
    records = [Record("a", ["x"]), Record("a", ["y"], replace=True), Record("b", many)]
    with open_store(address) as store:
        store.append([Record("b", ["one more"])])
        with pytest.raises(RecordError, match="record 2: the document would have"):
            store.append(records)
        for wrong in ("yes", 1, None):
            with pytest.raises(RecordError, match="record 1: replace is "):
                store.append([records[0], Record("c", ["x"], replace=wrong)])  # type: ignore[arg-type]


def test_a_fixed_vocabulary_keeps_its_words(address: str) -> None:
    with open_store(address, vocabulary=["cat", "dog"]) as store:
        store.append([Record("a", ["cat", "bird"])])
        result = store.append([Record("a", ["bird", "dog"], replace=True)])
        assert (result.n_tokens, result.n_removed) == (1, 1)
        assert store.append([Record("a", ["bird"])]).extended == ()
        assert store.vocabulary().words == ["cat", "dog"]
        assert documents(store) == {"a": {"dog": 1}}
        assert store.check().ok


@pytest.mark.usefixtures("thresholds")
def test_writers_that_remember_words_that_have_left(address: str) -> None:
    """The number of a word that has left is never written again, whoever remembers it."""
    with (
        open_store(address, min_documents=1) as one,
        open_store(address, min_documents=1) as other,
    ):
        one.append([Record("a", ["secret", "cat"]), Record("b", ["cat"])])
        other.append([Record("c", ["secret"])])
        other.append([Record("a", ["cat"], replace=True), Record("c", ["cat"], replace=True)])
        assert known_words(one) == {"cat"}
        one.append([Record("d", ["secret", "cat"])])
        assert all_words(other)["d"] == {"secret": 1, "cat": 1}
        other.append([Record("d", ["secret"])])
        assert all_words(one)["d"] == {"secret": 2, "cat": 1}
        other.delete(["d"])
        one.append([Record("e", ["secret"]), Record("a", ["secret"])])
        assert all_words(one)["e"] == {"secret": 1}
        for store in (one, other):
            assert store.check().ok
            assert documents(store)["a"] == {"cat": 1, "secret": 1}


def test_a_word_stays_in_its_column_while_documents_are_replaced(address: str) -> None:
    """One that all of them lose and get again in one append has never been away."""
    with open_store(address, min_documents=2, max_words=3) as store:
        store.append([Record("a", ["x", "y"]), Record("b", ["x", "y"])])
        version = store.totals().vocabulary
        store.append([Record("a", ["x", "z"], replace=True), Record("b", ["x", "z"], replace=True)])
        assert store.vocabulary().words == ["x", None, "z"]
        assert 0 not in store.vocabulary_since(version).columns
        assert store.check().ok
