"""The LDA estimator: what goes in, what comes out, what stays untouched."""

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from tests.helpers import Array, planted_lda
from trustream import LatentDirichletAllocation

FAST = {"n_components": 3, "max_iter": 2, "batch_size": 20, "random_state": 0}


@pytest.fixture(scope="module")
def counts():
    """100 documents of three topics over 12 words, each with four words of its own."""
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(3), np.full(4, 0.23)) + 0.01
    topics /= topics.sum(axis=1, keepdims=True)
    return rng.multinomial(30, rng.dirichlet([0.2] * 3, size=100) @ topics)


@pytest.fixture(scope="module")
def fitted(counts):
    return LatentDirichletAllocation(**FAST).fit(counts)


def snapshot(estimator):
    """Every number that an estimator holds, as bytes."""
    return pickle.dumps({k: v for k, v in vars(estimator).items() if k != "_model"})


def test_attributes(fitted, counts):
    assert fitted.components_.shape == (3, 12)
    assert (fitted.components_ > 0).all()
    assert fitted.doc_topic_prior_.shape == (3,)
    assert isinstance(fitted.topic_word_prior_, float)
    assert fitted.n_iter_ == 2
    assert fitted.n_batch_iter_ == 10  # 100 documents, 20 a batch, two passes
    assert fitted.n_features_in_ == 12


@pytest.mark.parametrize(
    "convert",
    [
        sp.csr_matrix,
        sp.csr_array,
        sp.csc_array,
        sp.coo_matrix,
        lambda x: x.astype(np.float32),
        lambda x: x.astype(np.uint16),
        lambda x: sp.csr_array(x.astype(np.uint16)),
        lambda x: pd.DataFrame(x, columns=[f"w{i}" for i in range(12)]),
        lambda x: pl.DataFrame(x, schema=[f"w{i}" for i in range(12)]),
        lambda x: x.tolist(),
    ],
)
def test_every_container_gives_the_same(fitted, counts, convert):
    other = LatentDirichletAllocation(**FAST).fit(convert(counts))
    assert np.array_equal(other.components_, fitted.components_)
    assert np.array_equal(other.transform(convert(counts)), fitted.transform(counts))


def test_int64_indices(fitted, counts):
    X = sp.csr_array(counts)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    other = LatentDirichletAllocation(**FAST).fit(X)
    assert np.array_equal(other.components_, fitted.components_)


@pytest.mark.parametrize("method", ["trust-region", "natural-gradient", "batch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_change_nothing(counts, method, dtype):
    results = [
        LatentDirichletAllocation(**FAST, learning_method=method, dtype=dtype, n_jobs=n_jobs).fit(
            counts
        )
        for n_jobs in (1, 2, 5)
    ]
    for other in results[1:]:
        assert np.array_equal(other.components_, results[0].components_)
        assert np.array_equal(other.doc_topic_prior_, results[0].doc_topic_prior_)
        assert other.elbo(counts) == results[0].elbo(counts)


def test_online_is_the_natural_gradient(counts):
    a = LatentDirichletAllocation(**FAST, learning_method="online").fit(counts)
    b = LatentDirichletAllocation(**FAST, learning_method="natural-gradient").fit(counts)
    assert np.array_equal(a.components_, b.components_)


def test_reading_never_writes(fitted, counts):
    before = snapshot(fitted)
    fitted.transform(counts)
    fitted.score(counts)
    fitted.perplexity(counts)
    fitted.elbo(counts)
    fitted.elbo(counts, per="word", total_samples=1000)
    fitted.top_words(3)
    assert fitted.components_ is not None
    assert snapshot(fitted) == before


def test_changing_what_is_returned_changes_nothing(fitted):
    before = snapshot(fitted)
    fitted.components_[:] = 0
    fitted.doc_topic_prior_[:] = 0
    assert snapshot(fitted) == before


def test_transform_rows_sum_to_one_and_do_not_depend_on_company(fitted, counts):
    theta = fitted.transform(counts)
    assert np.allclose(theta.sum(axis=1), 1, atol=1e-6)
    assert np.array_equal(fitted.transform(counts[7:8])[0], theta[7])


def test_empty_document_has_the_prior_proportions(fitted):
    theta = fitted.transform(np.zeros((1, 12)))
    alpha = fitted.doc_topic_prior_
    assert np.allclose(theta[0], alpha / alpha.sum(), rtol=1e-5)


def test_partial_fit_counts_what_it_has_seen(counts):
    seen = []
    lda = LatentDirichletAllocation(
        n_components=3,
        random_state=0,
        population=None,
        callback=lambda state, info: seen.append(info.n_documents),
    )
    for rows in (counts[:10], counts[10:40], counts[40:41]):
        lda.partial_fit(rows)
    assert seen == [10, 40, 41]
    assert lda.n_batch_iter_ == 3


def test_partial_fit_after_fit_goes_on_counting(counts):
    seen = []
    lda = LatentDirichletAllocation(**FAST).fit(counts)
    lda.set_params(callback=lambda state, info: seen.append((info.n_documents, info.n_steps)))
    lda.partial_fit(counts[:5])
    assert seen == [(105, 11)]


def test_total_samples_is_used_as_told(counts):
    scales = []
    lda = LatentDirichletAllocation(
        n_components=3,
        total_samples=5000,
        random_state=0,
        callback=lambda state, info: scales.append(info.n_documents),
    )
    lda.partial_fit(counts[:10]).partial_fit(counts[10:20])
    assert scales == [5000, 5000]
    # Statistics stand for 5000 documents of 30 words; two steps have not forgotten the start.
    assert 10_000 < lda.components_.sum() < 150_000


def test_one_partial_fit_is_one_step_of_fit(counts):
    """A fit whose only batch is all the data is one partial_fit on the same rows."""
    options = {"n_components": 3, "population": None, "random_state": 0}
    whole = LatentDirichletAllocation(max_iter=1, batch_size=100, **options)
    step = LatentDirichletAllocation(**options)
    whole.fit(counts)
    step.partial_fit(counts)
    assert np.allclose(whole.components_, step.components_, rtol=1e-6)


def test_warm_start_goes_on(counts):
    lda = LatentDirichletAllocation(**FAST, warm_start=True).fit(counts)
    first = lda.components_
    lda.fit(counts)
    assert lda.n_batch_iter_ == 20
    assert not np.array_equal(first, lda.components_)
    fresh = LatentDirichletAllocation(**FAST).fit(counts).fit(counts)
    assert fresh.n_batch_iter_ == 10
    assert np.array_equal(first, fresh.components_)


def test_n_init_keeps_the_best_start(counts):
    """The winner of three starts has the bound of the best of them."""
    bounds = []
    rng = np.random.default_rng(5)
    settings = FAST | {"random_state": rng}
    for _ in range(3):  # the generator is used as it is, so these are the three starts
        bounds.append(LatentDirichletAllocation(**settings).fit(counts).elbo(counts))
    best = LatentDirichletAllocation(
        **FAST | {"random_state": np.random.default_rng(5), "n_init": 3}
    ).fit(counts)
    assert len(set(bounds)) == 3
    assert best.elbo(counts) == max(bounds)


def test_callback_stops_the_fit(counts):
    lda = LatentDirichletAllocation(**FAST, callback=lambda state, info: info.n_steps == 3)
    assert lda.fit(counts).n_batch_iter_ == 3
    assert lda.n_iter_ == 1


def test_a_callback_that_fails_leaves_the_old_model(fitted, counts):
    lda = copy.deepcopy(fitted)
    before = snapshot(lda)

    def fail(state, info):
        raise KeyError("enough")

    lda.callback = fail
    with pytest.raises(KeyError):
        lda.fit(counts * 2)
    lda.callback = None
    assert snapshot(lda) == before


def test_batch_learning_stops_by_tolerance(counts):
    lda = LatentDirichletAllocation(3, learning_method="batch", max_iter=500, tol=1e-2)
    assert 2 < lda.fit(counts).n_iter_ < 500


def test_seeded_topics_stay_where_they_were_put(counts):
    eta = np.full((3, 12), 0.01)
    for topic in range(3):
        eta[topic, 4 * (2 - topic)] = 5.0  # reversed on purpose
    lda = LatentDirichletAllocation(3, topic_word_prior=eta, random_state=0).fit(counts)
    assert np.array_equal(lda.topic_word_prior_, eta)
    strongest = [topic.reshape(3, 4).sum(axis=1).argmax() for topic in lda.components_]
    assert strongest == [2, 1, 0]


def test_prior_per_word_can_be_given_and_learned(counts):
    eta = np.linspace(0.01, 0.2, 12)
    given = LatentDirichletAllocation(**FAST, topic_word_prior=eta, learn_priors=False).fit(counts)
    assert np.allclose(given.topic_word_prior_, eta)
    learned = LatentDirichletAllocation(**FAST, learn_priors="per-word").fit(counts)
    assert learned.topic_word_prior_.shape == (12,)
    assert np.unique(learned.topic_word_prior_).size == 12
    assert np.isclose(learned.components_.sum(), learned._state.lambda_.totals.sum(), rtol=1e-5)


@pytest.mark.parametrize(
    ("learn", "alpha_moves", "eta_moves"),
    [(True, True, True), (False, False, False), ("alpha", True, False), ("eta", False, True)],
)
def test_which_priors_are_learned(counts, learn, alpha_moves, eta_moves):
    lda = LatentDirichletAllocation(**FAST, learn_priors=learn).fit(counts)
    assert (not np.allclose(lda.doc_topic_prior_, 0.1)) == alpha_moves
    assert (not np.isclose(lda.topic_word_prior_, 0.1)) == eta_moves


def test_top_words(fitted, counts):
    words = [f"w{i}" for i in range(12)]
    tops = fitted.top_words(4, words)
    assert {frozenset(top) for top in tops} == {frozenset(words[i : i + 4]) for i in (0, 4, 8)}
    frame = LatentDirichletAllocation(**FAST).fit(pd.DataFrame(counts, columns=words))
    assert frame.top_words(4) == tops
    assert len(fitted.top_words(99)[0]) == 12
    with pytest.raises(ValueError, match="feature_names has 2 words"):
        fitted.top_words(3, ["a", "b"])


def test_elbo_and_perplexity_are_what_they_say(fitted, counts):
    n_words = counts.sum()
    per_document, per_word = fitted.elbo(counts), fitted.elbo(counts, per="word")
    assert np.isclose(per_document * 100, per_word * n_words)
    # The stochastic bound of the whole data is the bound itself.
    assert np.isclose(fitted.elbo(counts, total_samples=100), per_document)
    # Ten times the data: the local part grows, the topics' part does not.
    local, topics = fitted.score(counts), 100 * (per_document - fitted.score(counts))
    assert topics < 0
    assert np.isclose(fitted.elbo(counts, total_samples=1000), local + topics / 1000)
    assert np.isclose(fitted.perplexity(counts), np.exp(-local * 100 / n_words))
    # No topics do worse than one for all words, and twelve words allow for 12 at the most.
    assert 1 < fitted.perplexity(counts) < 12


def test_fit_improves_on_one_topic(fitted, counts):
    one = LatentDirichletAllocation(**FAST | {"n_components": 1}).fit(counts)
    assert fitted.perplexity(counts) < one.perplexity(counts) - 1


def test_names_and_frames_out(fitted, counts):
    names = [f"latentdirichletallocation{i}" for i in range(3)]
    assert fitted.get_feature_names_out().tolist() == names
    lda = LatentDirichletAllocation(**FAST).set_output(transform="pandas")
    frame = lda.fit_transform(counts)
    assert frame.columns.tolist() == names
    assert np.array_equal(frame.to_numpy(), fitted.transform(counts))


def test_verbose_lines(counts, capsys):
    LatentDirichletAllocation(**FAST, verbose=1).fit(counts)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and "step 10 of 10" in lines[1]


@pytest.mark.parametrize("local", ["mean-field", "collapsed"])
def test_topics_that_documents_do_not_use_are_left_alone(local: str) -> None:
    """Topics come out as good, and what a model says about documents hardly changes."""
    counts, _ = planted_lda(np.random.default_rng(6), 30, 300, 600, 50, 0.05, 0.05)
    fits = {}
    for most in (None, 16, "auto"):
        lda = LatentDirichletAllocation(
            40, local=local, max_doc_topics=most, max_iter=3, random_state=0
        )
        fits[most] = lda.fit(counts)
    scores = {most: lda.completion(counts, random_state=0).per_word for most, lda in fits.items()}
    assert scores["auto"] > scores[None] - 0.02 and scores[16] > scores[None] - 0.05
    for most in (16, "auto"):
        assert (fits[most].components_ != fits[None].components_).any()
    some = fits["auto"].transform(counts)
    everything = copy.deepcopy(fits["auto"]).set_params(max_doc_topics=None).transform(counts)
    assert (some != everything).any() == (local == "mean-field")
    assert np.abs(some - everything).sum(axis=1).mean() < 0.01
    # How few topics a step goes on with is of no concern here.
    narrow = copy.deepcopy(fits["auto"]).set_params(max_doc_topics=1)
    np.testing.assert_array_equal(narrow.transform(counts), some)
    assert narrow.score(counts) == fits["auto"].score(counts)


def test_many_topics_are_narrowed_down() -> None:
    """From 500 topics on a step goes on with a tenth of them."""
    for n_components, most in ((499, 499), (500, 50), (1000, 100)):
        assert LatentDirichletAllocation(n_components)._build_model(7).max_doc_topics == most
    assert LatentDirichletAllocation(9, max_doc_topics=None)._build_model(7).max_doc_topics is None
    batch = LatentDirichletAllocation(9, learning_method="batch")._build_model(7)
    assert batch.max_doc_topics is None


@pytest.mark.parametrize("most", [0, "some", 2.5])
def test_max_doc_topics_is_checked(most: object) -> None:
    with pytest.raises(ValueError, match="max_doc_topics"):
        LatentDirichletAllocation(3, max_doc_topics=most).fit(np.eye(3))


@pytest.mark.parametrize(("n_components", "alpha"), [(2, 0.1), (100, 0.1), (400, 0.025)])
def test_alpha_starts_with_a_sum_of_ten_at_most(n_components: int, alpha: float) -> None:
    """Unless it is given."""
    for given, expected in ((None, alpha), (0.3, 0.3)):
        lda = LatentDirichletAllocation(n_components, doc_topic_prior=given)
        np.testing.assert_allclose(
            lda._build_prior(np.eye(3)).alpha, np.full(n_components, expected)
        )


def test_batches_suit_topics_and_passes() -> None:
    """Enough tokens for each topic, at least 20 steps a pass, and more if they can be had."""

    def size(n_documents: int, n_components: int, max_iter: int = 5, **options: Any) -> int:
        counts = sp.csr_matrix(np.full((n_documents, 10), 10.0))
        lda = LatentDirichletAllocation(n_components, max_iter=max_iter, **options)
        return lda._recipe().batch_size_for(lda._size(counts))

    # 20,000 tokens are 200 documents, 600 tokens for each of 100 topics are 600; a pass has 60
    # steps, if 50 tokens for each topic are enough for them.
    assert [size(40_000, k) for k in (10, 100, 140, 2000)] == [200, 600, 666, 1000]
    # From 142 topics on 12 million tokens are divided by their number, and 75 for each are enough.
    assert [size(400_000, k) for k in (141, 200, 400, 1000)] == [846, 600, 300, 750]
    assert [size(n, 100) for n in (10_000, 4_000, 1_000, 500)] == [166, 66, 50, 25]
    # No fewer than 30 documents, but a twentieth of them.
    assert [size(n, 10) for n in (4_000, 1_000, 500)] == [66, 30, 25]
    # 100 steps of a single pass.
    assert [size(40_000, 100, passes) for passes in (1, 2)] == [400, 600]
    # Where words of a topic must be there from the first batch on, and for natural gradient,
    # batches have 60,000 tokens, or a third of that if a fit would have less than 100 steps.
    words = {"words": list("abcdefghij"), "seed_words": [["a", "b"]]}
    for options in (words, {"learning_method": "natural-gradient"}):
        assert [size(40_000, k, **options) for k in (10, 100, 200, 900)] == [600, 600, 1200, 2000]
        assert [size(n, 100, 1, **options) for n in (10_000, 4_000, 1_000)] == [200, 200, 50]


@pytest.mark.parametrize("kind", ["longdouble", ">f8", ">i4", "uint16", "bool", "int64"])
def test_counts_of_any_kind(kind: str) -> None:
    """Sparse counts are numbers, however they are stored."""
    counts, _ = planted_lda(np.random.default_rng(5), 3, 30, 60, 20, 0.1, 0.05)
    counts.data = np.minimum(counts.data, 1)
    other = counts.copy()
    other.data = counts.data.astype(kind)
    other.indices, other.indptr = counts.indices.astype(np.int64), counts.indptr.astype(np.int64)
    lda = LatentDirichletAllocation(3, n_init=2, max_iter=2, random_state=0)
    fits = [clone(lda).fit(X) for X in (counts, other)]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)
    np.testing.assert_array_equal(fits[0].transform(counts), fits[1].transform(other))


def test_local_steps_are_longer_while_topics_come_apart() -> None:
    """By default 50 iterations in each of the first 30 trust-region steps, then 15."""
    counts, _ = planted_lda(np.random.default_rng(5), 8, 200, 400, 60, 0.1, 0.05)
    after = {
        n_local: _topics_after_each_step(counts, max_doc_update_iter=n_local)
        for n_local in (None, 50, 15)
    }
    assert len(after[None]) == 40
    np.testing.assert_array_equal(after[None][:30], after[50][:30])
    assert (after[None][30] != after[50][30]).any()
    assert (after[None][0] != after[15][0]).any()
    with_gradient = [
        _topics_after_each_step(counts, max_doc_update_iter=n, learning_method="natural-gradient")
        for n in (None, 50)
    ]
    np.testing.assert_array_equal(*with_gradient)


def test_late_steps_take_one_pair() -> None:
    """Two pairs in the first 30 steps of a model and the first third of a fit, then one."""
    counts, _ = planted_lda(np.random.default_rng(5), 8, 200, 400, 60, 0.1, 0.05)

    def pairs(batch_size: int, *, fits: int = 1, **options: Any) -> list[int]:
        seen: list[int] = []
        lda = LatentDirichletAllocation(
            8,
            max_iter=1,
            batch_size=batch_size,
            random_state=0,
            warm_start=True,
            callback=lambda state, info: seen.append(info.n_inner),
            **options,
        )
        for _ in range(fits):
            lda.fit(counts)
        if not fits:
            for _ in range(40):
                lda.partial_fit(counts[:2])
        return seen

    assert pairs(10) == [2] * 30 + [1] * 10
    assert pairs(4) == [2] * 34 + [1] * 66
    assert pairs(10, fits=2) == [2] * 30 + [1] * 10 + [2] * 14 + [1] * 26
    assert pairs(10, fits=0) == [2] * 40
    assert pairs(10, inner_iter=2) == [2] * 40
    assert pairs(10, max_doc_update_iter=15) == [2] * 40
    assert pairs(10, local="collapsed") == [2] * 40


def _topics_after_each_step(counts: Any, **options: Any) -> Array:
    seen = []
    LatentDirichletAllocation(
        8,
        max_iter=1,
        batch_size=10,
        mean_change_tol=0.0,
        random_state=0,
        callback=lambda state, info: seen.append(info.local.copy()),
        **options,
    ).fit(counts)
    return np.array(seen)
