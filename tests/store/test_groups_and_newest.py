"""Several appends in one transaction, the last documents, and histories; on both databases."""

from __future__ import annotations

import numpy as np
import pytest

from trustream.store import Record, RecordError, open_store
from trustream.store.document_store import DocumentStore


def contents(store: DocumentStore) -> dict[str, dict[str, float]]:
    words = store.vocabulary().words
    found: dict[str, dict[str, float]] = {}
    for documents in store.scan():
        for i, key in enumerate(documents.keys):
            some = slice(documents.indptr[i], documents.indptr[i + 1])
            columns, counts = documents.indices[some], documents.counts[some]
            found[key] = {str(words[c]): n for c, n in zip(columns, counts, strict=True)}
    return found


def groups(rng: np.random.Generator) -> list[list[Record]]:
    """Groups that share documents, words, append ids and replacements."""
    names = [f"w{i}" for i in range(40)]
    return [
        [
            Record(
                f"d{rng.integers(12)}",
                rng.choice(names, rng.integers(0, 9)).tolist(),
                float(rng.integers(100)),
                append_id=None if rng.random() < 0.5 else f"a{rng.integers(15)}",
                replace=bool(rng.random() < 0.2),
            )
            for _ in range(rng.integers(0, 8))
        ]
        for _ in range(6)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_groups_do_what_appends_do(new_address: object, seed: int) -> None:
    """Stores that are filled in one transaction and one by one hold the same."""
    given = groups(np.random.default_rng(seed))
    with (
        open_store(new_address(), min_documents=2, max_words=20) as one,  # type: ignore[operator]
        open_store(new_address(), min_documents=2, max_words=20) as other,  # type: ignore[operator]
    ):
        for _ in range(2):
            together = one.append_groups(given)
            apart = [other.append(group) for group in given]
            assert together == apart
        assert one.totals() == other.totals()
        assert contents(one) == contents(other)
        assert one.check().ok
        assert one.append_groups([]) == []


def test_a_wrong_record_refuses_all_groups(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        with pytest.raises(RecordError):
            store.append_groups([[Record("a", ["x"])], [Record("b", ["x", ""])]])
        assert store.totals().documents == 0
        store.append_groups([[Record("a", ["x"])], [Record("b", ["x"])]])
        assert contents(store) == {"a": {"x": 1}, "b": {"x": 1}} and store.check().ok


def test_the_newest_documents(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        assert store.newest(3)[1] == []
        store.append(Record(f"d{i}", ["x"] * (i + 1), float(-i)) for i in range(10))
        store.delete(["d8", "d3"])
        found, numbers = store.newest(4)
        assert found.keys == ["d9", "d7", "d6", "d5"] and numbers == [9, 7, 6, 5]
        assert found.counts.tolist() == [10, 8, 7, 6]
        rest, numbers = store.newest(100, before=numbers[-1])
        assert rest.keys == ["d4", "d2", "d1", "d0"]
        assert store.newest(5, before=0)[1] == []
        with pytest.raises(ValueError, match="1 or more"):
            store.newest(0)


def test_history(address: str) -> None:
    with open_store(address) as store, open_store(address) as other:
        assert store.note_history("model", b"a", 100.0, every=(10, 60)) == 2
        # Another process in the same slot comes too late; in the next it does not.
        assert other.note_history("model", b"b", 109.9, every=(10, 60)) == 0
        assert other.note_history("model", b"c", 110.0, every=(10, 60)) == 1
        assert other.note_history("else", b"d", 110.0, every=(10,)) == 1
        assert store.history("model", 10) == [(100.0, b"a"), (110.0, b"c")]
        assert store.history("model", 60) == [(100.0, b"a")]
        assert store.history("model", 10, since=100.1) == [(110.0, b"c")]
        assert store.history("model", 10, until=100.0) == [(100.0, b"a")]
        assert store.history("none", 10) == []
        assert store.expire_history("model", 10, 110.0) == 1
        assert store.history("model", 10) == [(110.0, b"c")]
        assert store.history("model", 60) == [(100.0, b"a")]
        for wrong in ({"time": float("nan")}, {"every": (0.5,)}, {"name": ""}):
            with pytest.raises(ValueError):
                values = {"name": "model", "content": b"", "time": 1.0, "every": (10,), **wrong}
                store.note_history(**values)


def test_blocks_are_those_of_a_scan(empty_store: DocumentStore) -> None:
    store = empty_store
    assert store.block_ends(3) == []
    store.append(Record(f"d{i}", ["cat"]) for i in range(10))
    store.delete(["d1", "d9"])
    blocks = [block.keys for block in store.scan(3)]
    ends = store.block_ends(3)
    assert len(ends) == len(blocks) == 3
    starts = [-1, *ends[:-1]]
    for after, until, keys in zip(starts, ends, blocks, strict=True):
        assert [block.keys for block in store.scan(3, after=after, until=until)] == [keys]
    # What goes meanwhile does not move documents from one block to another; what comes is in none.
    store.delete(["d2"])
    store.append([Record("new", ["dog"])])
    found = [
        [key for block in store.scan(3, after=after, until=until) for key in block.keys]
        for after, until in zip(starts, ends, strict=True)
    ]
    assert found == [[key for key in keys if key != "d2"] for keys in blocks]
    assert store.block_ends(4) == [5, 10]


def test_blocks_of_no_documents(empty_store: DocumentStore) -> None:
    with pytest.raises(ValueError, match="block is 0"):
        empty_store.block_ends(0)
