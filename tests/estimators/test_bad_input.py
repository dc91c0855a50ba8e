"""Wrong input: a clear ValueError, or the documented result, and a model left as it was."""

import copy
import itertools
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
    "words": (np.array([["a", "b", "c", "d", "e"]]), "strings in column .* pass counts"),
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


@pytest.mark.parametrize("case", sorted(set(BAD_DATA) - {"wrong width"}))
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
        ({"topic_word_prior": 1e-320}, "topic_word_prior goes from .* to .*, expected numbers"),
        ({"doc_topic_prior": [0.1, 1e300]}, r"doc_topic_prior goes from 0.1 to 1e\+300"),
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
    """Documents that stand for so many that a float does not hold their statistics."""
    fitted.set_params(total_samples=1e60)
    before = snapshot(fitted)
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="refused"):
        fitted.partial_fit(GOOD)
    assert snapshot(fitted) == before


READING = ["transform", "score", "perplexity", "elbo", "bound", "chib", "completion", "importance"]
TOO_MANY = {
    "one count": changed(1e30),
    "one count, float32": changed(1e38).astype(np.float32),
    "one count, whole": changed(2.0**62).astype(np.int64),
    "one count, uint64": changed(2.0**63).astype(np.uint64),
    "a sum": np.full((4, 5), 2.0**52),
    "a sum that overflows": np.full((4, 5), 1e308),
}


@pytest.mark.parametrize("method", ["fit", "partial_fit", *READING, "left_to_right"])
@pytest.mark.parametrize("case", TOO_MANY)
def test_more_tokens_than_numbers_hold(fitted, method, case):
    """The same limit everywhere: what can be fitted can be read."""
    before = snapshot(fitted)
    for X in (TOO_MANY[case], sp.csr_array(TOO_MANY[case])):
        with pytest.raises(ValueError, match=r"document \d of .* tokens, at most 2\^53"):
            getattr(fitted, method)(X)
    assert snapshot(fitted) == before


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("local", ["mean-field", "collapsed"])
@pytest.mark.parametrize("scale", [1e-300, 1e-40, 1e-10, 0.3, 1e9, 2.0**53 / 10])
def test_counts_of_any_size_below_give_finite_numbers(dtype, local, scale):
    """Up to the limit, and down to what float32 takes for zero or holds with few digits."""
    X = np.tile(GOOD, (8, 1)) * scale
    assert X.sum(axis=1).max() <= 2.0**53
    lda = LatentDirichletAllocation(3, max_iter=3, dtype=dtype, local=local, random_state=0).fit(X)
    assert np.isfinite(lda.components_).all() and (lda.components_ > 0).all()
    other = LatentDirichletAllocation(3, max_iter=3, dtype=dtype, local=local, random_state=0)
    for model in (lda, other.fit(GOOD)):
        theta = model.transform(X)
        assert np.isfinite(theta).all() and np.allclose(theta.sum(axis=1), 1, atol=1e-5)
        assert np.isfinite(model.score(X)) and np.isfinite(model.elbo(X))
        if scale >= 1e-10:
            assert 1 <= model.perplexity(X) < 1e10
            assert np.isfinite(model.bound(X).per_word)


@pytest.mark.parametrize("call", [
    lambda lda, X: lda.perplexity(X),
    lambda lda, X: lda.elbo(X, per="word"),
    lambda lda, X: lda.bound(X),
])  # fmt: skip
def test_no_mean_over_next_to_no_words(fitted, call):
    """The bound of a document is right to 15 digits: divided by 1e-40, nothing of it is left."""
    with pytest.raises(ValueError, match="too few to average over"):
        call(fitted, GOOD * 1e-40)


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


def in_parts(X, parts):
    """X with each entry in several, at the same place, and columns in no order."""
    X = sp.csr_array(X).astype(np.float64)
    indices, data = np.repeat(X.indices, len(parts)), (X.data[:, None] * parts).ravel()
    indptr = X.indptr * len(parts)
    for first, last in itertools.pairwise(indptr):
        order = np.random.default_rng(first).permutation(last - first)
        indices[first:last] = indices[first:last][order]
        data[first:last] = data[first:last][order]
    result = sp.csr_array(X.shape)
    result.data, result.indices, result.indptr = data, indices, indptr
    return result


@pytest.mark.parametrize("parts", [[1.0], [0.5, 0.5], [0.25, 0.75], [2.0, -1.0]])
def test_entries_in_parts_and_in_any_order(parts):
    """They count together, as everywhere in SciPy, and are left as they are."""
    X = in_parts(GOOD, parts)
    before = [X.data.copy(), X.indices.copy(), X.indptr.copy()]
    whole = LatentDirichletAllocation(2, dtype="float64", random_state=0).fit(GOOD)
    lda = LatentDirichletAllocation(2, dtype="float64", random_state=0).fit(X)
    np.testing.assert_array_equal(lda.components_, whole.components_)
    for method in ("transform", "score", "perplexity", "elbo"):
        one, other = getattr(lda, method)(X), getattr(whole, method)(GOOD)
        np.testing.assert_allclose(one, other, rtol=1e-6)
    assert lda.chib(X).per_word == whole.chib(GOOD).per_word
    after = [X.data, X.indices, X.indptr]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("dtype", ["float16", "longdouble", ">f8", ">i4", "uint8", "bool"])
def test_numbers_of_any_kind(dtype):
    X = GOOD.astype(dtype)
    expected = LatentDirichletAllocation(2, random_state=0).fit(X.astype(np.float64)).components_
    found = LatentDirichletAllocation(2, random_state=0).fit(X).components_
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    sparse = sp.csr_array(X.astype(np.float64))
    sparse.data = sparse.data.astype(dtype)
    found = LatentDirichletAllocation(2, random_state=0).fit(sparse).components_
    np.testing.assert_allclose(found, expected, rtol=1e-6)
