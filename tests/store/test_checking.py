"""A check finds every kind of damage, and a repair leaves what counting the documents gives."""

from __future__ import annotations

import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.store.contents_of import check_running_totals, documents, everything
from tests.store.faulty import execute
from trustream import persist
from trustream.store import (
    CheckResult,
    DocumentStore,
    Position,
    Record,
    StoreError,
    open_store,
    recount,
    saved_bytes,
)
from trustream.store.check_result import KINDS
from trustream.store.document_encoding import PairCounts, pack

WORDS = [f"w{i}" for i in range(40)]


@pytest.fixture
def store(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[DocumentStore]:
    monkeypatch.setattr(saved_bytes, "_PART", 4)
    rng = np.random.default_rng(0)
    with open_store(address, min_documents=3, max_words=20, held_out=0.3) as store:
        for step in range(3):
            batch = [
                Record(f"d{i}", rng.choice(WORDS, 12).tolist(), append_id=f"{step}/{i}")
                for i in range(20)
            ]
            store.append(batch, Position("feed", step))
        store.delete(["d3", "d7"])
        store.save("model", b"123456789")
        yield store


@pytest.fixture
def fixed(new_address: Callable[[], str]) -> Iterator[DocumentStore]:
    with open_store(new_address(), vocabulary=WORDS) as store:
        store.append([Record("a", WORDS[:5]), Record("b", WORDS[3:9])])
        yield store


def find(store: DocumentStore, *, repair: bool = False) -> CheckResult:
    result = store.check(repair=repair)
    assert set(result.kinds) <= set(KINDS)
    assert all(damage.count > 0 and damage.examples for damage in result.damage)
    assert all(str(damage).startswith(damage.kind) for damage in result.damage)
    return result


def test_a_store_that_is_well(store: DocumentStore, fixed: DocumentStore) -> None:
    for one in (store, fixed):
        before = everything(one)
        assert find(one) == find(one, repair=True)
        assert find(one).ok
        assert everything(one) == before
    result = find(store)
    totals = store.totals()
    assert (result.n_documents, result.n_tokens) == (totals.documents, totals.tokens)
    assert (result.damage, result.faulty, result.n_suspects) == ((), False, 0)


def test_an_empty_store_is_well(address: str) -> None:
    with open_store(address) as store:
        assert find(store) == CheckResult(0, 0)


def place_of(store: DocumentStore, key: str) -> int:
    return execute(store, f"SELECT place FROM document WHERE key = '{key}'")[0][0]


def is_postgres(store: DocumentStore) -> bool:
    return store.url.startswith("postgresql")


def blob(store: DocumentStore, content: bytes) -> str:
    """Bytes in a statement."""
    return f"'\\x{content.hex()}'::bytea" if is_postgres(store) else f"X'{content.hex()}'"


def set_content(store: DocumentStore, key: str, content: bytes) -> None:
    execute(store, f"UPDATE document SET content = {blob(store, content)} WHERE key = '{key}'")


def content_of(store: DocumentStore, key: str) -> bytes:
    return bytes(execute(store, f"SELECT content FROM document WHERE key = '{key}'")[0][0])


def work_on(store: DocumentStore, other: DocumentStore) -> None:
    """A store that was repaired does all that a store does, for all who have it open."""
    rng = np.random.default_rng(1)
    for one in (store, other, store):
        one.append([Record(f"d{i}", rng.choice(WORDS, 9).tolist()) for i in range(3, 30)])
        totals = one.totals()
        for held_out in (False, True):
            n = totals.held_out if held_out else totals.training
            assert len(one.draw(10**6, rng, held_out=held_out).keys) == n
        assert documents(store) == documents(other)
        one.delete([f"d{i}" for i in rng.integers(0, 30, 6)])
        check_running_totals(store)
    assert find(store).ok


# What is planted, and what is found; all of it is computed from the documents.
REPAIRED: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "too many tokens": (("UPDATE state SET token_count = token_count + 3",), {"tokens"}),
    "too few tokens": (("UPDATE state SET token_count = 0",), {"tokens"}),
    "no blocks": (("DELETE FROM block",), {"counts"}),
    "a block that cannot be": (
        ("INSERT INTO block SELECT 5000, counts, sequence FROM block",),
        {"counts"},
    ),
    "a block of a change to come": (
        ("UPDATE block SET sequence = sequence + 1000",),
        {"counters"},
    ),
    "training": (("UPDATE state SET training = training + 1",), {"counters"}),
    "held-out": (("UPDATE state SET held_out = held_out - 1",), {"counters"}),
    "words": (("UPDATE state SET words = 0",), {"counters"}),
    "next word": (("UPDATE state SET word_numbers = word_numbers + 1000000",), {"counters"}),
    "next word used": (("UPDATE state SET word_numbers = 5",), {"counters"}),
    "next document": (("UPDATE state SET next_document = 7",), {"counters"}),
    "added": (("UPDATE state SET added = 2",), {"counters"}),
    "sequence": (("UPDATE state SET sequence = 0",), {"counters"}),
    "vocabulary": (("UPDATE state SET vocabulary = 0",), {"counters"}),
    "negative": (("UPDATE state SET added = -1",), {"counters"}),
    "added more than came": (("UPDATE state SET added = 1000000000000",), {"counters"}),
    "a lease that is no JSON": (
        ("INSERT INTO lease VALUES ('model', 3, 'not json', 1, 7, 1, 30, 0)",),
        {"leases"},
    ),
    "a lease without its fields": (
        ("INSERT INTO lease VALUES ('model', 3, '{}', 1, 7, 1, 30, 0)",),
        {"leases"},
    ),
    "a lease that lasts for ever": (
        ("INSERT INTO lease VALUES ('model', -3, NULL, 1, 7, 1e300, 30, 0)",),
        {"leases"},
    ),
    "a word in two columns": (
        ('UPDATE "column" SET word = (SELECT word FROM "column" WHERE number = 0)'
         " WHERE number = 1",),
        {"columns", "counters"},
    ),
    "a column of a word that is not there": (
        ('UPDATE "column" SET word = 99999 WHERE number = 2',),
        {"columns", "counters"},
    ),
    "a column of a negative word": (
        ('UPDATE "column" SET word = -1 WHERE number = 2',),
        {"columns", "counters"},
    ),
    "a column of a word that no document has": (
        ("INSERT INTO word VALUES (40, 'new')",
         "UPDATE state SET word_numbers = word_numbers + 1",
         'UPDATE "column" SET word = 40 WHERE number = 2'),
        {"columns", "counters", "unused words"},
    ),
    "a word that no document has": (
        ("INSERT INTO word VALUES (40, 'new')",
         "UPDATE state SET word_numbers = word_numbers + 1"),
        {"unused words"},
    ),
    "no word in a column": (
        ('UPDATE "column" SET word = NULL WHERE number = 2',),
        {"columns", "counters"},
    ),
    "a column is gone": (('DELETE FROM "column" WHERE number = 2',), {"columns", "counters"}),
    "the last column is gone": (
        ('DELETE FROM "column" WHERE number = 19',),
        {"columns", "counters"},
    ),
    "no columns": (('DELETE FROM "column"',), {"columns", "counters"}),
    "a column too many": (
        ('INSERT INTO "column" SELECT 20, number, 1 FROM word WHERE number NOT IN'
         ' (SELECT word FROM "column") ORDER BY number LIMIT 1',),
        {"columns", "counters"},
    ),
    "a column that cannot be": (
        ('INSERT INTO "column" VALUES (1000000, NULL, 1)',),
        {"columns"},
    ),
    "a column of a version to come": (
        ('UPDATE "column" SET version = 1000 WHERE number = 1',),
        {"counters"},
    ),
    "a document far away": (
        ("UPDATE document SET place = 500 WHERE place = 0",),
        {"places"},
    ),
    "a held-out document far away": (
        ("UPDATE document SET place = -500 WHERE place = -1",),
        {"places"},
    ),
    "a document is gone": (
        ("DELETE FROM document WHERE place = 3",),
        {"places", "tokens", "counts", "counters"},
    ),
    "the last document is gone": (
        ("DELETE FROM document WHERE place = (SELECT max(place) FROM document)",),
        {"tokens", "counts", "counters"},
    ),
    "all held-out documents are gone": (
        ("DELETE FROM document WHERE place < 0",),
        {"tokens", "counts", "counters"},
    ),
    "all training documents are gone": (
        ("DELETE FROM document WHERE place >= 0",),
        {"tokens", "counts", "counters"},
    ),
    "a document in the wrong part": (
        ("UPDATE document SET place = (SELECT min(place) FROM document) - 1"
         " WHERE place = (SELECT max(place) FROM document)",),
        {"held out", "counters"},
    ),
    "documents in each other's part": (
        ("UPDATE document SET place = 1000 WHERE place = 1",
         "UPDATE document SET place = 1 WHERE place = -1",
         "UPDATE document SET place = -1 WHERE place = 1000"),
        {"held out"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REPAIRED)
def test_what_is_repaired(store: DocumentStore, name: str) -> None:
    statements, kinds = REPAIRED[name]
    with open_store(store.url) as other:
        other.append([Record("d1", ["w1"])])
        kept = everything(store)["documents"]
        execute(store, *statements)
        store.close()
        # One that knows nothing of what was there before.
        with open_store(other.url) as fresh:
            check_repair(fresh, kinds)
            assert "gone" in name or len(everything(fresh)["documents"]) == len(kept)
            work_on(fresh, other)


def check_repair(store: DocumentStore, kinds: set[str]) -> None:
    left = everything(store)["documents"]
    result = find(store)
    # Some say more: columns have other words when counts have changed, and words have left.
    assert kinds <= set(result.kinds) <= kinds | {"columns", "unused words"}
    assert not result.ok
    assert find(store) == result, "a check alone changes nothing"
    repaired = find(store, repair=True)
    assert repaired.kinds == result.kinds
    assert repaired.ok
    assert find(store).damage == ()
    check_running_totals(store)
    # In other places, perhaps, but as they were.
    found = everything(store)["documents"]
    alike = [[{**row, "place": 0} for row in rows] for rows in (left, found)]
    assert alike[0] == alike[1]


def test_columns_of_a_fixed_vocabulary(fixed: DocumentStore) -> None:
    for statement in (
        'DELETE FROM "column" WHERE number = 2',
        'DELETE FROM "column" WHERE number > 30',
        'UPDATE "column" SET word = NULL WHERE number = 2',
        'UPDATE "column" SET word = 5 WHERE number = 2',
    ):
        execute(fixed, statement)
        assert set(find(fixed).kinds) == {"columns", "counters"}
        assert find(fixed, repair=True).ok
        assert find(fixed).ok
        assert fixed.vocabulary().words == WORDS
    assert fixed.append([Record("a", ["w7", "unknown"])]).n_tokens == 1
    assert documents(fixed)["a"] == {**{f"w{i}": 1 for i in range(5)}, "w7": 1}


def test_words_that_wait_for_a_free_column(store: DocumentStore) -> None:
    """As an earlier version left them: columns are free, and frequent words have none."""
    execute(
        store,
        'UPDATE "column" SET word = NULL WHERE number IN (4, 9)',
        "UPDATE state SET words = words - 2",
    )
    result = find(store)
    assert result.kinds == ("columns",)
    assert result.damage[0].count == 2
    assert find(store, repair=True).ok
    assert find(store).ok
    assert None not in store.vocabulary().words


def once(word: int) -> bytes:
    """The content of a document that has a word once."""
    return pack(PairCounts(np.array([word]), np.array([1])), 1)[0]


CONTENTS: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[:-3],
    "one byte": lambda content: b"\1",
    "out of order": lambda content: content[8:16] + content[:8] + content[16:],
    "a word twice": lambda content: content[:8] * 2 + content[8:],
    "an unknown word": lambda content: content + once(4000),
    "a negative word": lambda content: once(-7) + content,
    "no count": lambda content: content[:4] + bytes(4) + content[8:],
    "a negative count": lambda content: content[:4] + b"\xff" * 4 + content[8:],
}  # fmt: skip


@pytest.mark.parametrize("name", CONTENTS)
def test_contents_that_are_damaged(store: DocumentStore, name: str) -> None:
    """What can be read is kept; the document is named."""
    before = documents(store)
    for key in ("d1", "d11"):
        set_content(store, key, CONTENTS[name](content_of(store, key)))
    suspects: list[str] = []
    result = store.check(on_suspect=suspects.append)
    assert "contents" in result.kinds
    assert sorted(suspects) == sorted(result.suspects) == ["d1", "d11"]
    assert result.n_suspects == 2
    assert find(store, repair=True).ok
    assert find(store) == CheckResult(store.totals().documents, store.totals().tokens)
    check_running_totals(store)
    found = documents(store)
    assert list(found) == list(before)
    assert found["d2"] == before["d2"]
    assert found["d1"] or name == "one byte"
    with open_store(store.url) as one_more:
        work_on(store, one_more)


@pytest.mark.parametrize("name", CONTENTS)
def test_contents_that_are_damaged_are_not_used(store: DocumentStore, name: str) -> None:
    """Neither read nor learned from nor grown: all say which document, and what to do."""
    store.append([Record("d1", WORDS)])
    before = everything(store)
    set_content(store, "d1", CONTENTS[name](content_of(store, "d1")))
    held_out = place_of(store, "d1") < 0
    n = store.totals().held_out if held_out else store.totals().training
    slots = np.arange(n)
    calls: list[Callable[[DocumentStore], object]] = [
        lambda store: store.read(["d2", "d1"]),
        lambda store: store.draw(n, np.random.default_rng(0), held_out=held_out),
        lambda store: store.read_slots(slots, held_out=held_out),
        lambda store: list(store.scan(5)),
        lambda store: store.newest(100),
        lambda store: store.append([Record("d2", ["w1"]), Record("d1", ["w1"])]),
        lambda store: store.append([Record("d1", ["w1"], replace=True)]),
        lambda store: store.delete(["d2", "d1"]),
    ]
    with open_store(store.url) as other:
        for call in calls:
            with pytest.raises(StoreError, match=r"words of document 'd1' are damaged.*--repair"):
                call(other)
            with pytest.raises(StoreError, match=r"words of document 'd1' are damaged.*--repair"):
                call(other)
        # The others can be used.
        assert len(other.read(["d2"]).keys) == 1
        assert other.delete(["d4"]) == 1
        assert find(other, repair=True).ok
        for call in calls[:5]:
            call(other)
    assert everything(store) != before


@pytest.mark.parametrize("content", [b"", b"\1" * 1023])
def test_a_block_that_is_cut(store: DocumentStore, content: bytes) -> None:
    execute(store, f"UPDATE block SET counts = {blob(store, content)}")
    with open_store(store.url) as other:
        with pytest.raises(
            StoreError, match=r"block 0 of the counts of words is damaged.*--repair"
        ):
            other.append([Record("d1", ["w1"])])
        assert find(other, repair=True).ok
        other.append([Record("d1", ["w1"])])
        check_running_totals(other)


def without_constraints(table: str) -> tuple[str, ...]:
    return (
        f"CREATE TABLE copied AS SELECT * FROM {table}",
        f"DROP TABLE {table}",
        f"ALTER TABLE copied RENAME TO {table}",
    )


# What no counting can put right.
LEFT: dict[str, tuple[tuple[str, ...], str]] = {
    "a key twice": (
        (*without_constraints("document"), "UPDATE document SET key = 'd1' WHERE key = 'd2'"),
        "repeated",
    ),
    "a number twice": (
        (*without_constraints("document"), "UPDATE document SET number = 5 WHERE number = 6"),
        "repeated",
    ),
    "a place twice": (
        (*without_constraints("document"), "UPDATE document SET place = 2 WHERE place = 3"),
        "repeated",
    ),
    "a word twice": (
        (*without_constraints("word"), "UPDATE word SET word = 'w1' WHERE word = 'w2'"),
        "repeated",
    ),
    "an append id twice": (
        (*without_constraints("seen"), "INSERT INTO seen (append_id) VALUES ('0/1')"),
        "repeated",
    ),
    "an empty key": (("UPDATE document SET key = '' WHERE key = 'd1'",), "keys"),
    "a negative number": (("UPDATE document SET number = -5 WHERE key = 'd1'",), "numbers"),
    "an infinite time": (("UPDATE document SET time = {infinite} WHERE key = 'd1'",), "times"),
    "an empty word": (("UPDATE word SET word = '' WHERE word = 'w1'",), "words"),
    "a number that no word gets": (
        ("UPDATE word SET number = 5000000 WHERE word = 'w1'",),
        "words",
    ),
    "a position before the start": (("UPDATE feed SET offset_ = -5",), "feeds"),
    "a position of a file without its fields": (
        ('UPDATE feed SET detail = \'{{"format": "jsonl", "line": 3}}\'',),
        "feeds",
    ),
    "a position of a file with other fields": (
        ('UPDATE feed SET detail = \'{{"format": "jsonl", "line": "x", "head": 7, "tail": 3}}\'',),
        "feeds",
    ),
    "an infinite time of an append id": (("UPDATE seen SET time = {infinite}",), "append ids"),
    "a model of zeros": (("UPDATE saved SET content = {zeros} WHERE name = 'lda'",), "saved"),
    "a model with another bit": (
        ("UPDATE saved SET content = {flipped} WHERE name = 'lda'",),
        "saved",
    ),
    "a negative keep_text": (("UPDATE settings SET keep_text = -1",), "settings"),
    "a huge keep_text": (("UPDATE settings SET keep_text = 1000000000000",), "settings"),
    "all are held out": (("UPDATE settings SET held_out = 1.5",), "settings"),
    "no documents for a word": (("UPDATE settings SET min_documents = 0",), "settings"),
    "negative words": (("UPDATE settings SET max_words = -3",), "settings"),
    "a tokeniser that cannot be read": (
        ('UPDATE settings SET tokeniser = \'{{"pattern": "("}}\'',),
        "settings",
    ),
    "a history without a name": (
        ("INSERT INTO history VALUES ('', 60, 1, 60, {zeros})",),
        "history",
    ),
    "a history of no width": (("INSERT INTO history VALUES ('m', -1, 1, 60, {zeros})",), "history"),
    "a history in another slot": (
        ("INSERT INTO history VALUES ('m', 60, 7, 60, {zeros})",),
        "history",
    ),
    "a history of no time": (
        ("INSERT INTO history VALUES ('m', 60, 1, {infinite}, {zeros})",),
        "history",
    ),
    "an empty append id": (("INSERT INTO seen (append_id) VALUES ('')",), "append ids"),
    "a position without detail": (("UPDATE feed SET detail = ''",), "feeds"),
    "a position with another detail": (("UPDATE feed SET detail = '[1]'",), "feeds"),
    "a feed without a name": (("UPDATE feed SET name = ''",), "feeds"),
    "a part is missing": (("DELETE FROM saved WHERE part = 1",), "saved"),
    "the first part is missing": (("DELETE FROM saved WHERE part = 0",), "saved"),
    "the version is missing": (("DELETE FROM saved_version",), "saved"),
    "a version that cannot be": (("UPDATE saved_version SET version = 0",), "saved"),
    "no counters": (("DELETE FROM state",), "state"),
    "counters twice": (("INSERT INTO state SELECT * FROM state",), "state"),
    "no settings": (("DELETE FROM settings",), "state"),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left(store: DocumentStore, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    statements, kind = LEFT[name]
    with monkeypatch.context() as patch:
        patch.setattr(saved_bytes, "_PART", 1 << 24)
        model = persist.to_bytes({"x": np.arange(100.0)}, {"name": "numbers"})
        store.save("lda", model)
        assert find(store).ok
    # The last number has another bit.
    flipped = model[:-3] + bytes([model[-3] ^ 4]) + model[-2:]
    values = {
        "infinite": "'Infinity'" if is_postgres(store) else "9e999",
        "zeros": blob(store, bytes(100)),
        "flipped": blob(store, flipped),
    }
    execute(store, *(statement.format(**values) for statement in statements))
    assert kind in find(store).kinds
    result = find(store, repair=True)
    assert not result.ok
    assert kind in {damage.kind for damage in result.damage if not damage.repaired}
    assert kind in find(store).kinds


def test_holes_and_a_place_twice(store: DocumentStore) -> None:
    """Documents are not moved while two are in one place; the counts are repaired."""
    execute(
        store,
        *without_constraints("document"),
        "UPDATE document SET place = 2 WHERE place = 3",
        "UPDATE state SET token_count = 0",
    )
    left = {damage.kind for damage in find(store, repair=True).damage if not damage.repaired}
    assert left == {"repeated", "places"}
    assert set(find(store).kinds) == left


def test_a_repair_that_fails_changes_nothing(store: DocumentStore) -> None:
    execute(store, "UPDATE state SET token_count = 0", "DELETE FROM block")
    set_content(store, "d1", b"\1")
    before = everything(store)

    def fail(key: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.check(repair=True, on_suspect=fail)
    assert everything(store) == before
    assert find(store, repair=True).ok


# --- SQLite, which takes anything


@pytest.fixture
def sqlite_store(file: Path) -> Iterator[DocumentStore]:
    with open_store(file, min_documents=1) as store:
        store.append([Record(f"d{i}", WORDS[i : i + 3], 1.0) for i in range(30)])
        yield store


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("UPDATE document SET content = 'text' WHERE key = 'd1'", "contents"),
        ("UPDATE document SET content = 7 WHERE key = 'd1'", "contents"),
        ("UPDATE block SET counts = 7", "counts"),
        ("UPDATE document SET time = 'noon' WHERE key = 'd1'", "times"),
        ("UPDATE document SET arrival = 7 WHERE key = 'd1'", "times"),
        ("UPDATE document SET arrival = 'x' WHERE key = 'd1'", "times"),
        ("UPDATE feed SET finished = 7", "feeds"),
        ("UPDATE seen SET time = 'soon'", "append ids"),
        ("UPDATE saved SET content = 'abc'", "saved"),
        ("UPDATE settings SET held_out = 'half'", "settings"),
        ("UPDATE settings SET fixed = 2", "settings"),
        ("UPDATE settings SET keep_order = 'yes'", "settings"),
        ("INSERT INTO lease VALUES ('model', 'x', NULL, 1, 7, 1, 30, 0)", "leases"),
        ("INSERT INTO history VALUES ('m', 60, 1, 'soon', X'00')", "history"),
        ("INSERT INTO history VALUES ('m', 60, 1, 60, 'text')", "history"),
        ("UPDATE document SET number = 'one' WHERE key = 'd1'", "numbers"),
        ("UPDATE document SET key = CAST(X'ff' AS TEXT) WHERE key = 'd1'", "keys"),
        ("UPDATE document SET key = X'01' WHERE key = 'd1'", "keys"),
        ("UPDATE word SET word = CAST(X'fffe' AS TEXT) WHERE word = 'w1'", "words"),
        ("UPDATE feed SET offset_ = 'far'", "feeds"),
        ("UPDATE feed SET detail = X'ff'", "feeds"),
        ("UPDATE state SET token_count = 'many'", "counters"),
        ("UPDATE block SET counts = 'many'", "counts"),
        ("UPDATE block SET sequence = 'last'", "none"),
        ("UPDATE \"column\" SET word = 'w1' WHERE number = 0", "columns"),
    ],
)
def test_values_of_another_type(sqlite_store: DocumentStore, statement: str, kind: str) -> None:
    sqlite_store.append([Record("d0", ["w0"], append_id="0")], Position("feed", 1))
    sqlite_store.save("model", b"abc")
    execute(sqlite_store, statement)
    result = find(sqlite_store)
    assert kind in result.kinds or kind == "none"
    find(sqlite_store, repair=True)
    left = set(find(sqlite_store).kinds)
    assert left <= {kind}
    assert not left or not KINDS[kind].repairable


def test_contents_that_are_text(sqlite_store: DocumentStore) -> None:
    execute(sqlite_store, "UPDATE document SET content = 'abcdefgh' WHERE key = 'd1'")
    with pytest.raises(
        StoreError, match=r"words of document 'd1' are damaged: they are of type str"
    ):
        sqlite_store.draw(30, np.random.default_rng(0))
    execute(sqlite_store, "UPDATE document SET content = 7 WHERE key = 'd1'")
    with pytest.raises(
        StoreError, match=r"words of document 'd1' are damaged: they are of type int"
    ):
        sqlite_store.draw(30, np.random.default_rng(0))


def test_a_damaged_page(file: Path) -> None:
    with open_store(file, min_documents=1) as store:
        store.append([Record(f"d{i}", WORDS[i % 30 : i % 30 + 3], 1.0) for i in range(300)])
        (page,) = execute(store, "SELECT rootpage FROM sqlite_master WHERE name='document_time'")[0]
    with sqlite3.connect(file) as database:
        (size,) = database.execute("PRAGMA page_size").fetchone()
    content = bytearray(file.read_bytes())
    # The index of times loses entries; the table keeps them.
    middle = (page - 1) * size + size // 2
    content[middle : middle + 200] = bytes(200)
    file.write_bytes(content)
    with open_store(file) as store:
        for repair in (False, True):
            result = find(store, repair=repair)
            assert result.kinds == ("database",)
            assert not result.ok
            assert ".recover" in str(result.damage[0])


def test_memory_does_not_grow_with_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it depend on what a damaged number says."""
    monkeypatch.setattr(recount, "_BYTES", 1 << 16)
    words = [f"w{i}" for i in range(500)]
    peaks = []
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        for part in range(4):
            store.append(Record(f"{part} {i}", words) for i in range(1000))
            if part in (0, 3):
                if part:
                    execute(
                        store,
                        "UPDATE state SET word_numbers = 1000000000000",
                        "INSERT INTO block SELECT 1000000000000, counts, 1 FROM block LIMIT 1",
                        "UPDATE word SET number = 1000000000000 WHERE number = 5",
                    )
                tracemalloc.start()
                store.check()
                peaks.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 2**20, peaks
    assert peaks[1] < 4 * 2**20 < 4000 * 500 * 8, peaks


def test_what_a_check_takes_is_documented(sqlite_store: DocumentStore) -> None:
    options: dict[str, Any] = {"repair": True, "on_suspect": None}
    assert sqlite_store.check(**options).ok
    sqlite_store.close()
    with pytest.raises(RuntimeError, match="was closed"):
        sqlite_store.check()
