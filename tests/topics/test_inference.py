"""The topics of new documents: as `transform` has them, whatever the documents come as."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tests.helpers import snapshot
from tests.pets_and_money import MONEY, PETS, records
from trustream import LatentDirichletAllocation
from trustream.store import DocumentStore, Record
from trustream.streaming.published import MissingModelError, load_model
from trustream.topics import inference
from trustream.topics.inference import TopicProportion, infer


@pytest.fixture
def model(trained_store: DocumentStore) -> Any:
    return load_model(trained_store)


def matrix_of(model: Any, documents: list[Any]) -> sparse.csr_array:
    columns = {word: column for column, word in enumerate(model.feature_names_in_)}
    counts = np.zeros((len(documents), len(columns)), int)
    for row, words in enumerate(documents):
        for word in words:
            counts[row, columns[word]] += 1
    return sparse.csr_array(counts)


def thetas(model: Any, documents: Any) -> np.ndarray:
    return np.array([document.proportions for document in infer(model, documents)])


def test_all_kinds_of_documents_have_the_topics_of_transform(model: Any) -> None:
    new = list(records(50, first=500))
    words = [list(record.words) for record in new]
    matrix = matrix_of(model, words)
    names = model.feature_names_in_
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no warning that a matrix has no names
        expected = thetas(model, matrix)
        for documents in (new, words, [Counter(document) for document in words], matrix.toarray()):
            np.testing.assert_array_equal(thetas(model, documents), expected)
    assert model.feature_names_in_ is names
    del model.feature_names_in_
    np.testing.assert_array_equal(expected, model.transform(matrix))


def test_chunks_do_not_matter(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    new = list(records(23, first=500))
    whole = list(infer(model, new))
    monkeypatch.setattr(inference, "_CHUNK", 5)
    assert list(infer(model, iter(new))) == whole
    assert [document.row for document in whole] == [*range(23)]
    assert [document.id for document in whole] == [record.key for record in new]
    matrix = matrix_of(model, [record.words for record in new])
    for counts in (matrix, matrix.toarray(), matrix.tocoo()):
        rows = list(infer(model, counts, name="new.npz"))
        assert [replace(row, id=key.id) for row, key in zip(rows, whole, strict=True)] == whole
        assert [row.id for row in rows] == [f"new.npz:{i}" for i in range(1, 24)]


def test_long_streams_are_consumed_as_needed(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "_CHUNK", 2)
    taken = 0

    def endless() -> Iterator[list[str]]:
        nonlocal taken
        while True:
            taken += 1
            yield ["cat"]

    stream = infer(model, endless())
    assert [next(stream).row for _ in range(3)] == [0, 1, 2] and taken == 4


def test_a_model_that_learns_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, and neither gives wrong topics nor spoils the model."""
    monkeypatch.setattr(inference, "_CHUNK", 2)
    frame = pd.DataFrame(np.eye(4) + 1, columns=["cat", "dog", "bank", "rate"])
    model, alone = (LatentDirichletAllocation(2, random_state=0).fit(frame) for _ in range(2))
    found = infer(model, [["cat", "dog"]] * 10)
    next(found)
    for learning in (model, alone):
        learning.partial_fit(frame)
    with pytest.raises(RuntimeError, match="has learned since this was taken"):
        list(found)
    assert snapshot(model._state) == snapshot(alone._state)


def test_the_largest_topics_come_first(model: Any) -> None:
    pets, money = infer(model, [["cat", "dog", "bird"], {"bank": 3, "rate": 1}], top=1)
    assert len(pets.topics) == 1 and pets.topics[0].topic != money.topics[0].topic
    assert pets.topics[0].proportion == max(pets.proportions) > 0.8
    (both,) = infer(model, [["cat", "cat", "bank"]], top=9)
    assert [entry.proportion for entry in both.topics] == sorted(both.proportions, reverse=True)
    assert both.topics[0] == TopicProportion(pets.topics[0].topic, max(both.proportions))
    assert sum(both.proportions) == pytest.approx(1)
    assert json.loads(json.dumps(asdict(both)))["topics"][0]["topic"] == both.topics[0].topic


def test_unknown_words_and_documents_without_words(model: Any) -> None:
    prior = model.doc_topic_prior_ / model.doc_topic_prior_.sum()
    for document in infer(model, [[], ["nothing", "known"], {}, Record("e", []), {"no": 2}]):
        np.testing.assert_allclose(document.proportions, prior, rtol=1e-5)
        assert document.n_known == 0 and document.topics == []
        assert document.n_tokens == (2 if document.row in (1, 4) else 0)
    assert list(infer(model, [])) == []
    (half,), (whole,) = infer(model, [["cat", "?"]]), infer(model, [["cat"]])
    assert (half.n_tokens, half.n_known) == (2, 1) and replace(half, n_tokens=1) == whole


def test_columns_that_lost_their_words_are_not_used(model: Any) -> None:
    words = [str(word) for word in model.feature_names_in_]
    gone = [word if word != "cat" else "" for word in words]
    (found,) = infer(model, [["cat", ""]], vocabulary=gone)
    assert replace(found, n_tokens=0) == next(infer(model, [[]]))
    assert (found.n_tokens, found.n_known) == (2, 0)


def test_models_without_names_need_a_vocabulary() -> None:
    lda = LatentDirichletAllocation(2, random_state=0).fit(np.eye(4, dtype=int))
    with pytest.raises(ValueError, match="give a vocabulary, or a matrix"):
        infer(lda, [["cat"]])
    assert len(list(infer(lda, np.eye(4, dtype=int)))) == 4
    (found,) = infer(lda, [["cat", "cat"]], vocabulary=["cat", "dog", "bank", "rate"])
    assert found == next(infer(lda, np.array([[2, 0, 0, 0]])))


@pytest.mark.parametrize("document", ["cat dog", b"cat", 7, None])
def test_documents_that_are_not_lists_of_words(model: Any, document: object) -> None:
    with pytest.raises(ValueError, match="document 1 is of type"):
        list(infer(model, [["cat"], document]))


def test_counts_that_are_not_whole_or_are_negative(model: Any) -> None:
    column = model.feature_names_in_.tolist().index("cat")
    weights = np.zeros((1, 10))
    weights[0, column] = 0.5
    assert list(infer(model, [{"cat": 0.5}])) == list(infer(model, weights))
    for count in (-1, float("nan"), "x"):
        with pytest.raises(ValueError):
            list(infer(model, [{"cat": count}]))


def test_invalid_arguments(model: Any) -> None:
    with pytest.raises(ValueError, match="top is 0"):
        infer(model, [["cat"]], top=0)
    with pytest.raises(ValueError, match="features"):
        list(infer(model, np.ones((2, 3))))
    with pytest.raises(ValueError, match="2D array"):
        list(infer(model, np.array(3.0)))
    with pytest.raises(ValueError, match="not fitted"):
        list(infer(LatentDirichletAllocation(2), np.ones((2, 3))))


def test_stores_without_the_model(empty_store: DocumentStore, trained_store: DocumentStore) -> None:
    with pytest.raises(MissingModelError, match="holds no model 'model' yet"):
        infer(load_model(empty_store), [PETS])
    with pytest.raises(MissingModelError, match="holds no model 'other' yet"):
        infer(load_model(trained_store, "other"), [MONEY])
