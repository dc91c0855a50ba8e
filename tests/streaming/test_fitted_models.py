"""Models from files and from stores, and from a store to a file."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import trustream
from tests.pets_and_money import MONEY, PETS
from trustream.store import DocumentStore, StoreError
from trustream.streaming.fitted_models import (
    ExportedModel,
    column_words,
    export_model,
    load_fitted,
    without_column_names,
)
from trustream.streaming.published import MissingModelError, load_model
from trustream.text import Tokeniser


def test_export_and_load(trained_store: DocumentStore, tmp_path: Path) -> None:
    path = tmp_path / "topics.safetensors"
    assert export_model(trained_store, path) == ExportedModel(str(path), 2, 10)
    of_file, of_store = load_fitted(path), load_fitted(trained_store.name)
    assert (of_file.title, of_store.title) == ("topics.safetensors", "topics.db")
    assert of_file.tokeniser is None is of_store.tokeniser  # its words never were texts
    trained_store.set_tokeniser(Tokeniser(lower=False))
    export_model(trained_store, path)
    assert (
        load_fitted(path).tokeniser
        == Tokeniser(lower=False)
        == load_model(trained_store).tokeniser_
    )
    assert load_fitted(trained_store.name).tokeniser == trustream.load(path).tokeniser_
    assert of_file.words == of_store.words and sorted(of_file.words or []) == sorted(PETS + MONEY)
    counts = np.eye(10, dtype=int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theta = of_file.estimator.transform(counts)
    np.testing.assert_array_equal(theta, of_store.estimator.transform(counts))


def test_addresses_of_stores(
    trained_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOPIC_STORE", str(trained_path))
    (tmp_path / "address").write_text(f"{trained_path}\n")
    for address in ("env:TOPIC_STORE", f"@{tmp_path / 'address'}"):
        found = load_fitted(address)
        assert (found.title, found.estimator.n_components) == (str(trained_path), 2)


def test_without_a_model(empty_store: DocumentStore, trained_path: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingModelError, match="holds no model 'model' yet"):
        export_model(empty_store, tmp_path / "model")
    with pytest.raises(MissingModelError, match="holds no model 'model' yet"):
        load_fitted(empty_store.name)
    with pytest.raises(MissingModelError, match="holds no model 'other' yet"):
        load_fitted(trained_path, "other")
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        load_fitted(tmp_path / "none")
    with pytest.raises(ValueError, match="names such as 'other' are for the models of a store"):
        load_fitted(tmp_path / "none", "other")
    with pytest.raises(StoreError, match="NOTHING"):
        load_fitted("env:NOTHING")
    assert sorted(path.name for path in tmp_path.iterdir() if "model" in path.name) == []


def test_words_of_a_model_without_names(tmp_path: Path) -> None:
    lda = trustream.LatentDirichletAllocation(2, random_state=0).fit(np.eye(3, dtype=int))
    lda.save(tmp_path / "model")
    model = load_fitted(tmp_path / "model")
    assert model.words is None
    assert model.with_words(["a", "b", "c"]).words == ["a", "b", "c"]
    with pytest.raises(ValueError, match="the vocabulary has 2 words, the model has 3"):
        model.with_words(["a", "b"])


def test_a_model_without_names_of_columns_shares_the_rest(trained_store: DocumentStore) -> None:
    model = load_model(trained_store)
    unnamed = without_column_names(model)
    assert not hasattr(unnamed, "feature_names_in_") and column_words(unnamed) is None
    assert unnamed._state is model._state and without_column_names(unnamed) is unnamed
    assert len(column_words(model) or []) == model.n_features_in_ == 10
    np.testing.assert_array_equal(unnamed.components_, model.components_)
