"""save and load: a loaded model goes on exactly as the saved one would have."""

import numpy as np
import pandas as pd
import pytest

import trustream
from trustream import LatentDirichletAllocation

SETTINGS = [
    {},
    {"dtype": "float64"},
    {"dtype": np.float32},
    {"learning_method": "online"},
    {"learn_priors": "per-word"},
    {"learning_method": "streaming-vb"},
    {"learning_method": "streaming-batch"},
    {"learning_rate": "adaptive"},
    {"learning_method": "online", "learning_rate": "adaptive", "dtype": "float64"},
    {"learn_priors": False, "doc_topic_prior": [0.1, 0.2, 0.3]},
    {"topic_word_prior": np.linspace(0.01, 0.3, 36).reshape(3, 12)},
    {"topic_word_prior": np.linspace(0.01, 0.3, 12), "total_samples": 500},
    {"random_state": np.random.RandomState(3)},
    {"random_state": np.random.Generator(np.random.MT19937(3))},
]


@pytest.fixture(scope="module")
def counts():
    return np.random.default_rng(0).poisson(1.0, size=(60, 12))


@pytest.mark.parametrize("settings", SETTINGS)
def test_lda_continues_exactly(tmp_path, counts, settings):
    lda = LatentDirichletAllocation(**{"n_components": 3, "random_state": 0, **settings})
    for start in range(0, 40, 10):
        lda.partial_fit(counts[start : start + 10])
    lda.save(tmp_path / "model.safetensors")
    loaded = trustream.load(tmp_path / "model.safetensors")
    assert type(loaded) is LatentDirichletAllocation
    assert np.array_equal(loaded.transform(counts), lda.transform(counts))
    for start in (40, 50):
        lda.partial_fit(counts[start : start + 10])
        loaded.partial_fit(counts[start : start + 10])
        assert np.array_equal(loaded.components_, lda.components_)
        assert np.array_equal(loaded.doc_topic_prior_, lda.doc_topic_prior_)
        assert np.array_equal(loaded.topic_word_prior_, lda.topic_word_prior_)
    assert loaded.n_batch_iter_ == lda.n_batch_iter_ == 6


def test_vocabulary_is_kept(tmp_path, counts):
    words = [f"słowo{i}" for i in range(12)]
    lda = LatentDirichletAllocation(3, random_state=0).fit(pd.DataFrame(counts, columns=words))
    lda.save(tmp_path / "model")
    loaded = trustream.load(tmp_path / "model")
    assert loaded.top_words(5) == lda.top_words(5)
    assert loaded.feature_names_in_.tolist() == words


def test_warm_start_after_loading(tmp_path, counts):
    lda = LatentDirichletAllocation(3, warm_start=True, max_iter=2, random_state=0).fit(counts)
    lda.save(tmp_path / "model")
    loaded = trustream.load(tmp_path / "model")
    assert np.array_equal(loaded.fit(counts).components_, lda.fit(counts).components_)


def test_unfitted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        LatentDirichletAllocation(3).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_callback_is_left_out(tmp_path, counts):
    lda = LatentDirichletAllocation(3, callback=lambda state, info: False).fit(counts)
    lda.save(tmp_path / "model")
    assert trustream.load(tmp_path / "model").callback is None
