"""Words by their numbers in a table: stored as the words themselves are."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trustream.store import CodedWords, DocumentStore, Record, RecordError, WordTable, open_store

WORDS = [f"w{i}" for i in range(400)]


def content(store: DocumentStore) -> dict[str, Any]:
    words = store.vocabulary().words
    found: dict[str, Any] = {"words": list(words), "totals": store.totals()}
    for block in store.scan():
        for row, key in enumerate(block.keys):
            part = slice(block.indptr[row], block.indptr[row + 1])
            found[key] = (block.indices[part].tolist(), block.counts[part].tolist())
    return found


def batches(rng: np.random.Generator, tables: list[WordTable]) -> list[list[Record]]:
    """Records with codes of several tables, repeated ids, and documents that grow."""
    found = []
    for _ in range(12):
        batch = []
        for i in range(int(rng.integers(1, 60))):
            table = tables[int(rng.integers(len(tables)))]
            codes = rng.integers(0, len(table), int(rng.integers(0, 40)))
            name = f"a{rng.integers(200)}" if i % 5 == 0 else None
            batch.append(Record(f"d{rng.integers(80)}", CodedWords(table, codes), 5.0, name))
        found.append(batch)
        tables[-1].extend([f"new{len(tables[-1])}", "w1"])
    return found


@pytest.mark.parametrize("settings", [{"min_documents": 3}, {"vocabulary": WORDS[5:90]}])
def test_as_words(tmp_path: Path, settings: dict[str, Any]) -> None:
    """The same documents, columns and totals; a word may have several codes."""
    rng = np.random.default_rng(0)
    tables = [WordTable(WORDS), WordTable(rng.permutation(WORDS + WORDS[:50]).tolist())]
    contents = []
    with open_store(tmp_path / "coded.db", **settings) as coded:
        with open_store(tmp_path / "plain.db", **settings) as plain:
            for batch in batches(rng, [*tables, WordTable(["a"])]):
                done = coded.append(batch)
                words = [
                    Record(record.key, list(record.words), record.time, record.append_id)
                    for record in batch
                ]
                assert plain.append(words) == done
                # Both kinds in one append.
                extra = [Record("mixed", ["x"], 5.0), batch[0], Record("mixed", {"y": 2}, 5.0)]
                coded.append(extra)
                plain.append([extra[0], words[0], extra[2]])
            contents = [content(coded), content(plain)]
            assert coded.check().ok
    assert contents[0] == contents[1]


def test_tables_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    """Another table may get the place in memory of one that is gone, and has other words."""
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        for i in range(25):
            table = WordTable([f"w{i}", f"v{i}"])
            store.append([Record(str(i), CodedWords(table, np.array([0, 1, 1])))])
            del table
            gc.collect()
        words = store.vocabulary().words
        for i in range(25):
            found = store.read([str(i)])
            counts = dict(zip([words[c] for c in found.indices], found.counts, strict=True))
            assert counts == {f"w{i}": 1, f"v{i}": 2}


def test_another_writer_in_between(tmp_path: Path) -> None:
    """What is known of a table is still so after a failed append and others' appends."""
    table = WordTable(["cat", "dog"])
    with open_store(tmp_path / "topics.db", min_documents=1) as one:
        with open_store(tmp_path / "topics.db") as two:
            one.append([Record("a", CodedWords(table, np.array([0])))])
            two.append([Record("b", ["bird", "dog"])])
            table.extend(["", "bird"])
            with pytest.raises(RecordError, match="has 0 characters"):
                one.append([Record("c", CodedWords(table, np.array([1, 2])))])
            one.append([Record("c", CodedWords(table, np.array([1, 3, 0])))])
            words = two.vocabulary().words
            assert sorted(words[c] for c in two.read(["c"]).indices) == ["bird", "cat", "dog"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.array([0, 2]),
        lambda: np.array([-1]),
        lambda: np.array([0.0, 1.0]),
        lambda: np.array([]),
        lambda: np.array([[0, 1]]),
        lambda: np.array(0),
        lambda: np.array(["cat"]),
    ],
)
def test_codes_of_no_word(tmp_path: Path, make: Callable[[], Any]) -> None:
    table = WordTable(["cat", "dog"])
    good = Record("a", CodedWords(table, np.array([0])))
    with open_store(tmp_path / "topics.db") as store:
        with pytest.raises(RecordError, match="not whole numbers from 0 to 1") as error:
            store.append([good, Record("b", CodedWords(table, make())), good])
        assert error.value.index == 1
        with pytest.raises(RecordError, match="not whole numbers from 0 to 1"):
            store.append([Record("b", CodedWords(table, make()))])
        assert store.totals().documents == 0


def test_whole_numbers_of_different_kinds(tmp_path: Path) -> None:
    """NumPy puts int64 and uint64 together as real numbers."""
    table = WordTable(["cat", "dog"])
    kinds = (np.int64, np.uint64, np.uint8)
    with open_store(tmp_path / "topics.db", min_documents=1) as store:
        store.append(
            Record(kind.__name__, CodedWords(table, np.array([1, 1], kind))) for kind in kinds
        )
        words = store.vocabulary().words
        for kind in kinds:
            found = store.read([kind.__name__])
            assert [words[c] for c in found.indices] == ["dog"] and found.counts.tolist() == [2]


def test_words_that_leave_and_come_back(tmp_path: Path) -> None:
    """By replacements, deletions and forgetting: with new numbers, whatever codes they have."""
    rng = np.random.default_rng(3)
    table = WordTable(WORDS[:60])
    with open_store(tmp_path / "coded.db", min_documents=2) as coded:
        with open_store(tmp_path / "plain.db", min_documents=2) as plain:
            for step in range(60):
                records = []
                for _ in range(int(rng.integers(1, 6))):
                    codes = rng.integers(0, len(table), int(rng.integers(0, 8)))
                    words = CodedWords(table, codes.astype(np.int32))
                    replace = bool(rng.random() < 0.6)
                    records.append(Record(f"d{rng.integers(12)}", words, 5.0, replace=replace))
                coded.append(records)
                plain.append(dataclasses.replace(r, words=list(r.words)) for r in records)
                if step % 7 == 0:
                    gone = [f"d{i}" for i in rng.integers(12, size=4)]
                    assert coded.delete(gone) == plain.delete(gone)
                assert content(coded) == content(plain)
            assert coded.check().ok and plain.check().ok
