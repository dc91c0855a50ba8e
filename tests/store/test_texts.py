"""Stores that keep texts: what they keep, for how long, and what is left when it is deleted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.store.faulty import execute
from trustream.store import Record, RecordError, StoredText, StoreError, open_store
from trustream.store.kept_texts import KEPT_CHARACTERS, pack_text, unpack_text

# On pages of its own, for it can hardly be compressed.
HEX = np.random.default_rng(0).bytes(4950).hex()
LONG = " ".join(f"sentence {i} of some length" for i in range(2000))


def test_texts_are_kept_where_that_was_asked_for(address: str) -> None:
    with open_store(address, keep_text=True) as store:
        assert store.settings.keep_text == KEPT_CHARACTERS
        store.append(
            [
                Record("a", ["cats"], text="Cats!\0\ud800", title="Pets"),
                Record("b", ["dogs"]),
                Record("c", ["x"], text=LONG, title="t" * 600),
                Record("d", ["x"], title="only a title"),
            ]
        )
        found = store.texts(["c", "a", "b", "nobody", "d", "", "a"])
        assert found == {
            "a": StoredText("Cats!\0?", "Pets"),
            "c": StoredText(LONG[:KEPT_CHARACTERS], "t" * 500),
            "d": StoredText("", "only a title"),
        }
        assert store.check().ok
    with open_store(address, keep_text=True) as store, open_store(address) as other:
        assert other.texts(["a"]) == store.texts(["a"])
    for wrong in (False, 7):
        with pytest.raises(StoreError, match="was made with keep_text=10000"):
            open_store(address, keep_text=wrong)


def test_no_texts_are_kept_otherwise(address: str) -> None:
    with open_store(address) as store:
        store.append([Record("a", ["cats"], text="Cats!", title="Pets")])
        assert store.texts(["a"]) == {} and store.settings.keep_text == 0
        assert execute(store, "SELECT count(*) FROM text")[0][0] == 0
    with pytest.raises(StoreError, match="was made with keep_text=0"):
        open_store(address, keep_text=True)


def test_parts_add_up_and_replacements_replace(address: str) -> None:
    with open_store(address, keep_text=19) as store:
        store.append([Record("a", ["x"], text="one"), Record("a", ["x"], text="two")])
        store.append([Record("a", ["x"], text="three", append_id="3", title="T")])
        store.append([Record("a", ["x"], text="three", append_id="3")])
        store.append([Record("a", ["more words without a text"])])
        assert store.texts(["a"])["a"] == StoredText("one\ntwo\nthree", "T")
        store.append([Record("a", ["x"], text="and a very long end")])
        assert store.texts(["a"])["a"] == StoredText("one\ntwo\nthree\nand a", "T")
        store.append([Record("a", ["y"], text="new", replace=True), Record("a", [], text="er")])
        assert store.texts(["a"])["a"] == StoredText("new\ner")
        store.append([Record("a", ["y"], replace=True)])
        assert store.texts(["a"]) == {}
        assert store.check().ok


def test_texts_go_with_their_documents(address: str) -> None:
    with open_store(address, keep_text=True, held_out=0.3) as store:
        store.append(Record(f"d{i}", ["x"], float(i), text=f"text {i}") for i in range(50))
        store.delete([f"d{i}" for i in range(10)])
        assert store.keep(newest=25) == 15
        assert store.keep(since=30.0) == 5
        left = {f"d{i}": StoredText(f"text {i}") for i in range(30, 50)}
        assert store.texts(f"d{i}" for i in range(50)) == left
        assert execute(store, "SELECT count(*) FROM text")[0][0] == 20
        store.append([Record("d0", ["x"])])
        assert store.texts(["d0"]) == {}, "it does not come back with its key"
        assert store.erase(rewrite=True)
        assert store.texts(["d49"]) == {"d49": StoredText("text 49")}
        assert store.check().ok


def raw(file: Path) -> bytes:
    """The bytes of the file and of its log."""
    return file.read_bytes() + file.with_name(file.name + "-wal").read_bytes()


def pieces(content: bytes) -> set[bytes]:
    """Stretches of bytes, wherever pages may cut them."""
    return {content[i : i + 24] for i in range(0, len(content) - 24, 7)}


@pytest.mark.parametrize("how", ["delete", "keep", "replace", "grow and delete"])
@pytest.mark.parametrize("text", ["a short secret of person 4711", HEX], ids=["short", "long"])
def test_nothing_is_left_of_a_text(file: Path, how: str, text: str) -> None:
    """Of no text that a document had at any time; they are searched for as they are kept."""
    with open_store(file, keep_text=True, min_documents=1) as store:
        others = [f"another text with the number {i}" for i in range(300)]
        store.append(Record(f"k{i}", ["w"], 9.0, text=other) for i, other in enumerate(others))
        store.append([Record("a", ["w"], 5.0, text=text)])
        secret = pieces(pack_text(StoredText(text)))
        if how == "grow and delete":
            store.append([Record("a", ["w"], 5.0, text="more" * 50)])
            secret |= pieces(pack_text(store.texts(["a"])["a"]))
        content = raw(file)
        assert any(piece in content for piece in secret)
        if how == "keep":
            store.keep(since=7.0)
        elif how == "replace":
            store.append([Record("a", ["w"], replace=True)])
        else:
            store.delete(["a"])
        assert store.erase()
        content = raw(file)
        common = set().union(*(pieces(pack_text(StoredText(other))) for other in others))
        assert not [piece for piece in secret - common if piece in content]


def test_damaged_texts_are_found_and_removed(address: str) -> None:
    with open_store(address, keep_text=100) as store:
        store.append(Record(f"d{i}", ["x"], text=f"text {i}") for i in range(6))
        long = pack_text(StoredText("x" * 101)).hex()
        value = "'\\x{}'::bytea" if "://" in address else "X'{}'"
        execute(
            store,
            f"UPDATE text SET content = {value.format('00ff')} WHERE document = 1",
            f"UPDATE text SET content = {value.format(long)} WHERE document = 2",
            f"INSERT INTO text VALUES (77, {value.format(pack_text(StoredText('x')).hex())})",
        )
        found = store.check()
        assert not found.ok and found.kinds == ("texts",)
        assert [damage.count for damage in found.damage] == [3]
        assert "of number 77 is of no document" in " ".join(found.damage[0].examples)
        assert store.check(repair=True).ok and store.check().ok
        assert sorted(store.texts(f"d{i}" for i in range(6))) == ["d0", "d3", "d4", "d5"]


def test_a_compressed_bomb_is_refused() -> None:
    bomb = pack_text(StoredText("0" * 50_000_000))
    with pytest.raises(ValueError, match="does not end"):
        unpack_text(bomb, limit=1000)


def test_wrong_arguments(address: str) -> None:
    for wrong in (-1, 2.5, "yes", None, 10**9):
        with pytest.raises(ValueError, match="keep_text is"):
            open_store(address, keep_text=wrong)  # type: ignore[arg-type]
    with open_store(address, keep_text=True) as store:
        for record in (Record("a", [], text=b"x"), Record("a", [], title=7)):  # type: ignore[arg-type]
            with pytest.raises(RecordError, match="give a string, or None"):
                store.append([Record("b", []), record])
        with pytest.raises(ValueError, match="one string"):
            store.texts("a")


def test_times_of_arrival_are_told_apart(address: str) -> None:
    with open_store(address) as store:
        store.append([Record("a", ["x"], 5.0), Record("b", ["x"]), Record("c", ["x"])])
        store.append([Record("a", ["x"], 6.0), Record("c", ["x"], 2.0)])
        keys = ["a", "b", "c"]
        assert store.read(keys).arrival.tolist() == [False, True, True]  # type: ignore[union-attr]
        store.append([Record("b", ["x"], 1.0, replace=True), Record("a", ["x"])])
        store.append([Record("c", ["x"], 4e9)])
        assert store.read(keys).arrival.tolist() == [True, False, False]  # type: ignore[union-attr]


def test_a_text_that_is_damaged(address: str) -> None:
    """It stood in the way of words that come to its document."""
    with open_store(address, keep_text=True, min_documents=1) as store:
        store.append([Record(key, ["x"], text="some text") for key in "abc"])
        execute(store, "UPDATE text SET content = substr(content, 1, 5) WHERE document < 2")
        with pytest.raises(StoreError, match=r"text of document 'a' is damaged: it .*--repair"):
            store.texts(["c", "a"])
        store.append([Record("a", ["y"], text="more")])
        assert store.texts(["a", "c"]) == {"a": StoredText("more"), "c": StoredText("some text")}
        assert store.read(["a"]).counts.sum() == 2
        assert store.check(repair=True).ok
        assert set(store.texts(["a", "b", "c"])) == {"a", "c"}
