"""Documents of a store: the same numbers as from a matrix, also while its vocabulary changes."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from tests.pets_and_money import MONEY, PETS, records
from trustream import open_store
from trustream.store import DocumentStore, Record
from trustream.streaming.published import load_model
from trustream.text import count_matrix
from trustream.topics.documents import as_matrix
from trustream.topics.representatives import representative_documents
from trustream.topics.stored_documents import stored_batches
from trustream.topics.table import topic_info
from trustream.topics.topic_set import as_topics


def test_a_store_gives_the_numbers_of_a_matrix(trained_store: DocumentStore) -> None:
    topics = as_topics(load_model(trained_store))
    matrix = count_matrix([Counter(record.words) for record in records(200)], topics.words)
    keys = [f"d{i}" for i in range(200)]
    stored = topic_info(topics, stored_batches(trained_store, topics.words, block=33))
    given = topic_info(topics, matrix)
    for a, b in zip(stored, given, strict=True):
        assert a.share == pytest.approx(b.share, rel=1e-6)
        assert asdict(a) | {"share": 0} == asdict(b) | {"share": 0}
    assert stored.n_documents == 200
    pets = next(k for k in (0, 1) if topics.words[topics.weights[k].argmax()] in PETS)
    best = representative_documents(topics, pets, stored_batches(trained_store, topics.words))
    same = representative_documents(topics, pets, matrix, keys=keys)
    assert [d.key for d in best] == [d.key for d in same]
    assert all(int(d.key[1:]) % 2 == 0 for d in best)


def test_words_have_moved_since_the_model_was_made(tmp_path: Path) -> None:
    with open_store(tmp_path / "few.db", min_documents=1, max_words=4) as store:
        store.append([Record("a", ["cat", "dog"]), Record("b", ["bank"])])
        words = [word or "" for word in store.vocabulary().words]
        # More frequent words take the columns of rarer ones.
        store.append(Record(f"new {i}", ["tree", "leaf", "cat"]) for i in range(5))
        now = store.vocabulary().words
        assert "tree" in now and words != now[: len(words)]
        (batch,) = stored_batches(store, words)
        counts = as_matrix(batch.counts).toarray()
    cat = words.index("cat")
    assert counts.shape == (7, len(words)) and (counts[2:].sum(axis=1) == 1).all()
    assert counts[:, cat].tolist() == [1, 0, 1, 1, 1, 1, 1]
    assert counts.sum() == counts[:, cat].sum() + sum(
        counts[:, words.index(word)].sum() for word in words if word != "cat" and word in now
    )


def test_a_vocabulary_that_changes_under_a_scan(tmp_path: Path) -> None:
    with open_store(tmp_path / "few.db", min_documents=1, max_words=3) as store:
        store.append([Record(f"a{i}", ["cat", "dog", "bird"]) for i in range(4)])
        words = [word or "" for word in store.vocabulary().words]
        real = store.vocabulary
        taken = False

        def late_vocabulary() -> object:
            # Between the documents and the vocabulary, others push a word out.
            nonlocal taken
            if not taken:
                taken = True
                store.append(Record(f"b{i}", [*MONEY[:1], "dog", "bird"]) for i in range(9))
            return real()

        store.vocabulary = late_vocabulary  # type: ignore[method-assign]
        batches = list(stored_batches(store, words, block=4))
    counts = [as_matrix(batch.counts).toarray() for batch in batches]
    # The column that changed hands is left out; the others are right.
    kept = [words.index("dog"), words.index("bird")]
    assert (counts[0][:, kept] == 1).all() and counts[0][:, words.index("cat")].sum() == 0
    assert (np.concatenate(counts)[:, kept] == 1).all()
    assert np.concatenate(counts).sum() == 2 * 13
