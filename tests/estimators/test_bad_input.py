"""Wrong input: a clear ValueError, or the documented result, and a model left as it was."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from trustream import LatentDirichletAllocation

GOOD = np.array([[3, 1, 0, 0, 2], [0, 0, 4, 2, 0], [1, 1, 1, 1, 1], [5, 0, 0, 0, 1]])


def changed(value):
    X = GOOD.astype(float)
    X[1, 2] = value
    return X


def snapshot(estimator):
    return pickle.dumps({k: v for k, v in vars(estimator).items() if k != "_model"})


@pytest.fixture
def fitted():
    return LatentDirichletAllocation(2, max_iter=2, random_state=0).fit(GOOD)


BAD_DATA = {
    "negative": (changed(-1.0), "[Nn]egative"),
    "nan": (changed(np.nan), "NaN"),
    "infinite": (changed(np.inf), "infinity"),
    "sparse negative": (sp.csr_array(changed(-1.0)), "[Nn]egative"),
    "sparse nan": (sp.csr_array(changed(np.nan)), "NaN"),
    "wrong width": (GOOD[:, :3], "3 features"),
    "no rows": (GOOD[:0], "0 sample"),
    "one dimension": (GOOD[0], "1D"),
    "words": (np.array([["a", "b", "c", "d", "e"]]), "numeric|convert"),
    "complex": (GOOD + 1j, "[Cc]omplex"),
}


@pytest.mark.parametrize("method", ["partial_fit", "transform", "score", "perplexity", "elbo"])
@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_is_refused_and_changes_nothing(fitted, method, case):
    X, message = BAD_DATA[case]
    before = snapshot(fitted)
    with pytest.raises(ValueError, match=message):
        getattr(fitted, method)(X)
    assert snapshot(fitted) == before


@pytest.mark.parametrize("case", set(BAD_DATA) - {"wrong width"})
def test_a_bad_fit_leaves_the_old_model(fitted, case):
    X, message = BAD_DATA[case]
    before = snapshot(fitted)
    with pytest.raises(ValueError, match=message):
        fitted.fit(X)
    assert snapshot(fitted) == before


def test_a_bad_first_fit_leaves_nothing_behind():
    lda = LatentDirichletAllocation(2)
    before = dict(vars(lda))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        lda.fit(changed(-1.0))
    assert vars(lda) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"learning_method": "gibbs"}, "learning_method"),
        ({"learning_decay": 1.5}, "learning_decay"),
        ({"learning_offset": 0.0}, "learning_offset"),
        ({"batch_size": 0}, "batch_size"),
        ({"inner_iter": 0}, "inner_iter"),
        ({"total_samples": 0}, "total_samples"),
        ({"dtype": "float16"}, "dtype"),
        ({"dtype": None}, "dtype"),
        ({"dtype": "no such type"}, "dtype"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"learn_priors": "beta"}, "learn_priors"),
        ({"doc_topic_prior": -1.0}, "doc_topic_prior"),
        ({"doc_topic_prior": np.nan}, "doc_topic_prior"),
        ({"doc_topic_prior": [0.1, np.nan]}, "doc_topic_prior"),
        ({"doc_topic_prior": [0.1, 0.1, 0.1]}, "doc_topic_prior has shape"),
        ({"topic_word_prior": np.full((2, 5), np.nan)}, "topic_word_prior"),
        ({"topic_word_prior": np.zeros(5)}, "topic_word_prior"),
        ({"topic_word_prior": np.ones((5, 2))}, "topic_word_prior has shape"),
        ({"callback": 3}, "callback"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_parameters(parameters, message, method):
    lda = LatentDirichletAllocation(**{"n_components": 2, **parameters})
    with pytest.raises(ValueError, match=message):
        getattr(lda, method)(GOOD)
    assert not hasattr(lda, "_state")


def test_not_fitted_yet():
    for method in ("transform", "score", "perplexity", "elbo"):
        with pytest.raises(ValueError, match="not fitted"):
            getattr(LatentDirichletAllocation(2), method)(GOOD)
    assert not hasattr(LatentDirichletAllocation(2), "components_")


def test_an_update_that_is_not_finite_is_refused(fitted):
    """Counts that a float holds, but whose statistics it does not."""
    before = snapshot(fitted)
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="refused"):
        fitted.partial_fit(np.full((3, 5), 1e38))
    assert snapshot(fitted) == before


def test_no_words_at_all():
    lda = LatentDirichletAllocation(2, random_state=0).fit(np.zeros((4, 5)))
    assert np.isfinite(lda.components_).all() and (lda.components_ > 0).all()
    assert np.allclose(
        lda.transform(np.zeros((1, 5))), lda.doc_topic_prior_ / lda.doc_topic_prior_.sum()
    )
    with pytest.raises(ValueError, match="not a single word"):
        lda.perplexity(np.zeros((4, 5)))


def test_documents_of_one_word_and_none(fitted):
    X = np.vstack([np.eye(5), np.zeros((2, 5))])
    theta = fitted.transform(X)
    assert np.isfinite(theta).all() and np.allclose(theta.sum(axis=1), 1, atol=1e-6)
    assert np.isfinite(fitted.partial_fit(X).components_).all()


def test_one_topic():
    lda = LatentDirichletAllocation(1, random_state=0).fit(GOOD)
    assert np.allclose(lda.transform(GOOD), 1)
    assert np.allclose(lda.doc_topic_prior_, 0.1)  # nothing to learn it from
    share = lda.components_[0] / lda.components_.sum()
    assert np.abs(share - GOOD.sum(axis=0) / GOOD.sum()).max() < 0.1


def test_one_word_vocabulary():
    lda = LatentDirichletAllocation(2, random_state=0).fit(np.array([[3], [1]]))
    assert np.isfinite(lda.components_).all()
    assert np.isclose(lda.topic_word_prior_, 0.1)


def test_a_word_never_seen():
    X = np.column_stack([GOOD, np.zeros(4)])
    lda = LatentDirichletAllocation(2, random_state=0, max_iter=30).fit(X)
    beta = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    assert (beta[:, 5] > 0).all() and (beta[:, 5] < 0.1).all()
    theta = lda.transform(np.eye(6)[5:])
    assert np.isfinite(theta).all()


def test_a_batch_larger_than_the_data():
    lda = LatentDirichletAllocation(2, batch_size=1000, max_iter=3, random_state=0).fit(GOOD)
    assert lda.n_batch_iter_ == 3


def test_real_weights_are_fine():
    lda = LatentDirichletAllocation(2, random_state=0).fit(GOOD * 0.37)
    assert np.isfinite(lda.components_).all()


def test_input_is_not_changed():
    X = sp.csr_array(GOOD)
    copied = copy.deepcopy(X)
    LatentDirichletAllocation(2).fit(X).transform(X)
    assert (X != copied).nnz == 0 and X.dtype == copied.dtype
