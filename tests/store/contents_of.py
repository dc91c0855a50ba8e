"""All that a store holds, as plain values that can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np

from trustream.store import Documents, DocumentStore, VocabularyChanges
from trustream.store.document_encoding import unpack
from trustream.store.document_frequencies import DocumentFrequencies

Counts = dict[str, int]


def rows(found: Documents, words: list[str | None]) -> Iterator[Counts]:
    """The words of each document with their counts."""
    for start, stop in pairwise(found.indptr.tolist()):
        columns, counts = found.indices[start:stop].tolist(), found.counts[start:stop].tolist()
        row = {str(words[column]): int(n) for column, n in zip(columns, counts, strict=True)}
        assert len(row) == stop - start, "a column is there twice"
        yield row


def follow(words: list[str | None], changes: VocabularyChanges) -> int:
    """Change the words by column as the vocabulary has changed; its version."""
    for column, word in zip(changes.columns.tolist(), changes.words, strict=True):
        words += [None] * (column + 1 - len(words))
        words[column] = word
    return changes.version


def documents(store: DocumentStore) -> dict[str, Counts]:
    """Active words, by the public interface, in the order of arrival."""
    found: dict[str, Counts] = {}
    words = store.vocabulary().words
    for block in store.scan(block=3):
        found.update(zip(block.keys, rows(block, words), strict=True))
    return found


def times(store: DocumentStore) -> list[float]:
    """Times of documents in the order of arrival, as every way of reading gives them."""
    found: dict[str, float] = {}
    for block in store.scan(block=3):
        assert block.times is not None
        found.update(zip(block.keys, block.times.tolist(), strict=True))
    read = store.read(list(found)).times
    assert read is not None and read.tolist() == list(found.values())
    drawn, arrived = store.draw(len(found), np.random.default_rng(0), times=True), -1
    assert drawn.times is not None
    assert [found[key] for key in drawn.keys] == drawn.times.tolist()
    assert store.draw(1, np.random.default_rng(0)).times is None
    while (some := store.arrivals(arrived, 2))[1] != arrived:
        assert some[0].times is not None
        assert [found[key] for key in some[0].keys] == some[0].times.tolist()
        arrived = some[1]
    return list(found.values())


def all_words(store: DocumentStore) -> dict[str, Counter[str]]:
    """Documents with all their words, active or not."""
    database = store._database

    def work() -> dict[str, Counter[str]]:
        names = dict(database.stream("SELECT number, word FROM word"))
        rows = database.after(-1, 10**9)
        indptr, words, counts = unpack([row.content for row in rows])
        # A word that is gone though a document has it shows as what nobody has written.
        found = [names.get(number, f"the word numbered {number}") for number in words.tolist()]
        pairs = list(zip(found, counts.tolist(), strict=True))
        starts = indptr.tolist()
        return {
            row.key: Counter(dict(pairs[start:stop]))
            for row, start, stop in zip(rows, starts, starts[1:], strict=False)
        }

    return database.run(work, write=False)


def known_words(store: DocumentStore) -> set[str]:
    """The words that the store has the names of."""
    database = store._database
    found = database.run(lambda: list(database.stream("SELECT word FROM word")), write=False)
    return {word for (word,) in found}


def everything(store: DocumentStore) -> dict[str, Any]:
    """All tables, words that are not active included."""
    database = store._database

    def work() -> dict[str, Any]:
        state = database.counters(write=False)
        rows = database.after(-1, 10**9)
        counts = DocumentFrequencies()
        counts.refresh(database.blocks_since(-1), state.sequence)
        return {
            "state": asdict(state),
            "documents": [row._asdict() for row in rows],
            "counts": np.trim_zeros(counts.values, "b").tolist(),
            "columns": sorted(database.columns_since(-1)),
        }

    return database.run(work, write=False)


def check_running_totals(store: DocumentStore) -> None:
    """Every counter is what counting the documents gives, and slots have no holes."""
    found = everything(store)
    state = found["state"]
    places = sorted(row["place"] for row in found["documents"])
    assert places == list(range(-state["held_out"], state["training"]))
    _, words, counts = unpack([row["content"] for row in found["documents"]])
    assert counts.sum() == state["tokens"]
    recounted = np.bincount(words, minlength=1) if len(words) else np.zeros(0, int)
    assert found["counts"] == recounted.tolist()
    active = [word for _, word in found["columns"] if word is not None]
    assert len(set(active)) == len(active) == state["words"]
