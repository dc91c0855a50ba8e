"""Stores that keep the order of words: what they keep, and joining phrases in documents."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.store.contents_of import all_words
from tests.store.faulty import execute
from trustream.phrase_joining import PhraseJoiner
from trustream.store import DocumentStore, Record, StoreError, kept_orders, open_store
from trustream.store.kept_orders import pack_order, unpack_order
from trustream.word_order import MIXED, OrderedWords, phrase_mark

LETTERS = list("abcdef")
PHRASES = ["a b", "c d e", "e f"]


def ordered(*stretches: str) -> OrderedWords:
    return OrderedWords([stretch.split() for stretch in stretches])


def orders(store: DocumentStore, n: int = 2) -> dict[str, list[list[str]]]:
    """By key, read a few at a time."""
    found: dict[str, list[list[str]]] = {}
    last = -1
    while (some := store.word_orders(last, n))[0]:
        found |= {order.key: order.stretches for order in some[0]}
        last = some[1]
    return found


def test_orders_are_kept_where_that_was_asked_for(address: str) -> None:
    with open_store(address, keep_order=True, min_documents=1) as store:
        store.append([Record("a", ordered("new york", "bank")), Record("b", ["as", "words"])])
        store.append([Record("c", {"word": 2}), Record("d", ordered()), Record("e", ordered("x"))])
        assert orders(store) == {"a": [["new", "york"], ["bank"]], "d": [], "e": [["x"]]}
        assert store.count_orders(0) == (3, 3)
        assert store.check().ok
    with open_store(address) as store:
        assert store.settings.keep_order and len(orders(store)) == 3
    with pytest.raises(StoreError, match="was made with keep_order=True"):
        open_store(address, keep_order=False)


def test_no_orders_are_kept_otherwise(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ordered("new york"))])
        assert all_words(store) == {"a": {"new": 1, "york": 1}}
        assert orders(store) == {} and not store.settings.keep_order
        assert execute(store, "SELECT count(*) FROM word_order")[0][0] == 0


def test_parts_add_up_and_words_without_an_order_end_it(address: str) -> None:
    joined = OrderedWords([["a", "b"]], PhraseJoiner(["a b"]), phrase_mark(["a b"]))
    with open_store(address, keep_order=True, min_documents=1) as store:
        store.append([Record("a", ordered("one two")), Record("a", ordered("three"))])
        store.append([Record("a", ordered("four"), append_id="4"), Record("b", ordered("x"))])
        store.append([Record("a", ordered("four"), append_id="4")])
        assert orders(store)["a"] == [["one", "two"], ["three"], ["four"]]
        store.append([Record("a", joined)])
        assert execute(store, "SELECT mark FROM word_order WHERE document = 0") == [(MIXED,)]
        store.append([Record("b", ["from nowhere"])])
        assert list(orders(store)) == ["a"]
        store.append([Record("b", ordered("y"))])
        assert list(orders(store)) == ["a"], "nobody knows where it would stand"
        store.append([Record("b", ordered("y"), replace=True), Record("b", ordered("z"))])
        assert orders(store)["b"] == [["y"], ["z"]]
        store.append([Record("b", ["y"], replace=True)])
        assert list(orders(store)) == ["a"]
        odd = OrderedWords([["a\0b"]])
        odd[:] = ["fine"]
        store.append([Record("c", odd), Record("d", OrderedWords([[""]], lambda words: ["fine"]))])
        assert list(orders(store)) == ["a"], "what cannot be told apart is not kept"
        assert store.check().ok


def test_orders_go_with_their_documents(address: str) -> None:
    with open_store(address, keep_order=True, held_out=0.3) as store:
        store.append(Record(f"d{i}", ordered(f"x y{i}"), float(i)) for i in range(50))
        store.delete([f"d{i}" for i in range(10)])
        assert store.keep(newest=25) == 15
        assert orders(store) == {f"d{i}": [["x", f"y{i}"]] for i in range(25, 50)}
        assert execute(store, "SELECT count(*) FROM word_order")[0][0] == 25
        store.append([Record("d0", ["x"])])
        assert "d0" not in orders(store), "it does not come back with its key"
        assert store.erase(rewrite=True) and store.check().ok


@pytest.mark.parametrize("how", ["delete", "replace", "words"])
def test_nothing_is_left_of_an_order(file: Path, how: str) -> None:
    secret = [f"{x}{i}" for i, x in enumerate(np.random.default_rng(0).bytes(900).hex(" ").split())]
    packed = pack_order([secret])
    pieces = {packed[i : i + 24] for i in range(0, len(packed) - 24, 7)}
    with open_store(file, keep_order=True, min_documents=1) as store:
        store.append(Record(f"k{i}", ordered(f"some words {i}")) for i in range(300))
        store.append([Record("a", OrderedWords([secret]))])

        def left() -> list[bytes]:
            content = file.read_bytes() + file.with_name(file.name + "-wal").read_bytes()
            return [piece for piece in pieces if piece in content]

        assert left()
        if how == "delete":
            store.delete(["a"])
        elif how == "replace":
            store.append([Record("a", ordered("other"), replace=True)])
        else:
            store.append([Record("a", ["without", "an", "order"])])
        assert store.erase() and not left()


def random_stretches(rng: np.random.Generator) -> list[list[str]]:
    sizes = rng.integers(1, 7, rng.integers(0, 5))
    return [rng.choice(LETTERS, size).tolist() for size in sizes]


@pytest.mark.usefixtures("thresholds")
@pytest.mark.parametrize("seed", range(3))
def test_joining_gives_the_store_that_would_have_been(address: str, seed: int) -> None:
    """Documents, frequencies and totals are those of documents that came joined."""
    rng = np.random.default_rng(seed)
    documents = {f"d{i}": random_stretches(rng) for i in range(40)}
    join, mark = PhraseJoiner(PHRASES), phrase_mark(PHRASES)
    with open_store(address, keep_order=True, keep_text=True, min_documents=2) as store:
        times = {key: None if i % 3 else float(i) for i, key in enumerate(documents)}
        store.append(
            Record(key, OrderedWords(stretches), times[key], text=f"the text of {key}")
            for key, stretches in documents.items()
        )
        store.append([Record("words", ["a", "b", "a"])])
        before = store.read(list(documents))
        totals = store.totals()
        sizes = []
        while n := store.rejoin(join, mark, 7):
            sizes.append(n)
        assert sizes == [7, 7, 7, 7, 7, 5]
        assert store.count_orders(mark) == (40, 40)
        expected = {
            key: Counter(word for words in stretches for word in join(words))
            for key, stretches in documents.items()
        }
        assert all_words(store) == {**expected, "words": Counter(a=2, b=1)}
        frequent = Counter(word for words in all_words(store).values() for word in words)
        active = {word for word in store.vocabulary().words if word is not None}
        assert active >= {word for word, n in frequent.items() if n >= 2}
        after = store.read(list(documents))
        np.testing.assert_array_equal(after.times, before.times)
        np.testing.assert_array_equal(after.arrival, before.arrival)
        assert store.texts(["d7"])["d7"].text == "the text of d7"
        now = store.totals()
        assert (now.documents, now.added, now.arrived) == (41, totals.added, totals.arrived)
        assert orders(store) == documents, "what they were made of stays"
        sequence = now.sequence
        assert store.rejoin(join, mark) == 0 and store.totals().sequence == sequence
        assert store.check().ok
        while store.rejoin(PhraseJoiner([]), 0):
            pass
        apart = {key: Counter(w for s in some for w in s) for key, some in documents.items()}
        assert all_words(store) == {**apart, "words": Counter(a=2, b=1)}
        assert store.check().ok


def test_damaged_orders_are_found_and_removed(address: str) -> None:
    with open_store(address, keep_order=True) as store:
        store.append(Record(f"d{i}", ordered("x y")) for i in range(4))
        empty = "X'78'" if "://" not in address else "'\\x78'::bytea"
        execute(store, f"UPDATE word_order SET content = {empty} WHERE document = 1")
        execute(store, f"INSERT INTO word_order VALUES (77, 0, {empty})")
        found = store.check()
        assert [(damage.kind, damage.count) for damage in found.damage] == [("orders", 2)]
        assert store.check(repair=True).damage[0].repaired
        assert store.check().ok and list(orders(store)) == ["d0", "d2", "d3"]


def test_bytes_that_are_no_order() -> None:
    whole = pack_order([["a", "b"], ["c"]])
    for wrong, message in [
        (b"nothing", "not compressed"),
        (whole[:-1], "does not end"),
        (whole + b"x", "does not end"),
        (pack_order([["a", ""]]), "empty word"),
    ]:
        with pytest.raises(ValueError, match=message):
            unpack_order(wrong)


def test_wrong_settings_are_refused(address: str) -> None:
    with pytest.raises(ValueError, match="keep_order is 1; give True or False"):
        open_store(address, keep_order=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="fixed vocabulary takes none"):
        open_store(address, keep_order=True, vocabulary=["a"])
    with open_store(address, keep_order=True) as store:
        with pytest.raises(ValueError, match="n is 0"):
            store.rejoin(PhraseJoiner([]), 0, 0)
        with pytest.raises(ValueError, match="n is 0"):
            store.word_orders(-1, 0)


def test_stretches_without_words(address: str) -> None:
    """One of them made the order unreadable, and with it those of all documents."""
    with open_store(address, keep_order=True, min_documents=1) as store:
        store.append([Record("a", OrderedWords([["x"], []])), Record("b", ordered("y"))])
        store.append([Record("a", OrderedWords([[], ["z"], [], ["y"]]))])
        assert orders(store) == {"a": [["x"], ["z"], ["y"]], "b": [["y"]]}
        assert store.check().ok
        assert store.rejoin(lambda words: [*words], 5) == 2
    # As an earlier version wrote them.
    for text in ("x\0\0", "\0\0x", "\0\0\0\0x"):
        assert unpack_order(zlib.compress(text.encode())) == [["x"]]


def test_an_order_that_is_damaged(address: str) -> None:
    with open_store(address, keep_order=True, min_documents=1) as store:
        store.append([Record("a", ordered("x")), Record("b", ordered("y"))])
        execute(store, "UPDATE word_order SET content = substr(content, 1, 5) WHERE document = 0")
        calls: list[Callable[[], object]] = [
            store.word_orders,
            lambda: store.rejoin(lambda words: [*words], 5),
        ]
        for call in calls:
            with pytest.raises(StoreError, match=r"order of words of document 'a' .*--repair"):
                call()
        store.append([Record("a", ordered("z"))])
        assert all_words(store)["a"] == {"x": 1, "z": 1}
        assert orders(store) == {"b": [["y"]]}
        assert store.check().ok


def test_a_document_that_grows_for_long(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part costs as much as the whole order, so that it is kept up to a length."""
    monkeypatch.setattr(kept_orders, "MAX_ORDERED", 4)
    with open_store(address, keep_order=True, min_documents=1) as store:
        store.append([Record("a", ordered("a b c d e")), Record("b", ordered("a b"))])
        store.append([Record("b", ordered("c d"))])
        assert orders(store)["b"] == [["a", "b"], ["c", "d"]]
        store.append([Record("b", ordered("e"))])
        assert list(orders(store)) == ["a"]
        store.append([Record("a", ordered("f"))])
        assert orders(store) == {}
        store.append([Record(k, ordered(k, k, k)) for k in "ccd"])
        assert list(orders(store)) == ["d"]
        assert all_words(store)["b"] == dict.fromkeys("abcde", 1)
        assert store.check().ok
