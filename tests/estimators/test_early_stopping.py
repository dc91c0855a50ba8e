"""`evaluate_every` ends a fit when the perplexity has settled, and otherwise changes nothing."""

import numpy as np
import pytest
from scipy import sparse

import trustream
from tests.helpers import planted_lda
from trustream import LatentDirichletAllocation
from trustream.estimators import compilation

K = 4
COUNTS = planted_lda(np.random.default_rng(0), K, 40, 200, 60.0, 0.2, 0.1)[0]
SETTINGS = {"n_components": K, "random_state": 0}
METHODS = ["trust-region", "natural-gradient", "batch", "memoized"]


@pytest.mark.parametrize("method", METHODS)
def test_looking_changes_nothing(method):
    settings = {**SETTINGS, "max_iter": 4, "learning_method": method}
    without = LatentDirichletAllocation(**settings).fit(COUNTS)
    looked = LatentDirichletAllocation(**settings, evaluate_every=1, perp_tol=0.0).fit(COUNTS)
    assert np.array_equal(looked.components_, without.components_)
    assert looked.n_iter_ == without.n_iter_
    assert looked.bound_ == looked.perplexity(COUNTS)


@pytest.mark.parametrize("method", METHODS)
def test_a_fit_that_has_settled_ends(method):
    settings = {**SETTINGS, "max_iter": 40, "tol": 0.0, "learning_method": method}
    longest = LatentDirichletAllocation(**settings).fit(COUNTS)
    lda = LatentDirichletAllocation(**settings, evaluate_every=1, perp_tol=0.1).fit(COUNTS)
    assert 2 <= lda.n_iter_ < 30 <= longest.n_iter_
    assert lda.perplexity(COUNTS) == pytest.approx(longest.perplexity(COUNTS), rel=0.02)


def test_it_ends_where_the_perplexity_changes_by_less():
    """By hand, for passes over all data, which need no cooling."""
    seen = []
    settings = {**SETTINGS, "learning_method": "batch", "max_iter": 30, "tol": 0.0}
    by_hand = LatentDirichletAllocation(**settings)
    by_hand.n_features_in_ = COUNTS.shape[1]  # of a fit that has not ended yet
    by_hand.callback = lambda state, info: seen.append(by_hand._perplexity(state, COUNTS))
    by_hand.fit(COUNTS)
    for every, tol in [(1, 0.2), (1, 0.02), (3, 0.2)]:
        looks = seen[every - 1 :: every]
        expected = next(i for i in range(1, len(looks)) if abs(looks[i] - looks[i - 1]) < tol)
        lda = LatentDirichletAllocation(**settings, evaluate_every=every, perp_tol=tol)
        assert lda.fit(COUNTS).n_iter_ == (expected + 1) * every < 30


def test_the_rate_falls_before_the_end():
    rates = []
    lda = LatentDirichletAllocation(
        **SETTINGS, max_iter=40, evaluate_every=1, perp_tol=0.5,
        callback=lambda state, info: rates.append(info.rho),
    ).fit(COUNTS)  # fmt: skip
    n = len(rates)
    assert n == lda.n_batch_iter_
    assert lda.n_iter_ % 2 == 0  # the default cooldown is half of the passes
    usual = (1.0 + np.arange(1, n + 1)) ** -0.5
    np.testing.assert_allclose(rates[: n // 2], usual[: n // 2])
    left = np.arange(n // 2, 0, -1) / (n // 2)
    np.testing.assert_allclose(rates[n // 2 :], usual[n // 2 :] * left)


def test_documents_that_are_set_aside_are_not_learned_from():
    lda = LatentDirichletAllocation(
        **SETTINGS, learning_method="batch", population=None, learn_priors=False,
        dtype="float64", evaluate_every=2, validation_fraction=0.25,
    ).fit(COUNTS)  # fmt: skip
    assert lda._n_samples_seen == 150
    learned = lda.components_.sum() - 0.1 * K * COUNTS.shape[1]
    lengths = np.asarray(COUNTS.sum(axis=1)).ravel()
    assert learned < lengths.sum() - 0.15 * lengths.sum()
    # Their words: the difference, column by column, of which the perplexity is not that of all.
    words = np.asarray(COUNTS.sum(axis=0)).ravel() - (lda.components_ - 0.1).sum(axis=0)
    np.testing.assert_allclose(words, words.round(), atol=1e-6)
    assert words.min() > -0.5
    assert lda.bound_ != lda.perplexity(COUNTS)
    again = LatentDirichletAllocation(**lda.get_params()).fit(COUNTS)
    assert again.bound_ == lda.bound_


def test_what_is_set_aside_does_not_disturb_compilation(monkeypatch):
    monkeypatch.setattr(compilation, "_warm", set())
    lda = LatentDirichletAllocation(**SETTINGS, max_iter=1, evaluate_every=1)
    assert lda.set_params(validation_fraction=0.6).fit(COUNTS)._n_samples_seen == 80


def test_setting_all_or_only_empty_documents_aside_is_refused():
    lda = LatentDirichletAllocation(2, evaluate_every=1, validation_fraction=0.9)
    with pytest.raises(ValueError, match=r"validation_fraction=0.9 of 2 documents leaves none"):
        lda.fit([[1, 2], [2, 1]])
    lda.set_params(validation_fraction=0.5)
    with pytest.raises(ValueError, match="have no words"):
        lda.fit(np.zeros((6, 2)))
    # Without evaluation nothing is set aside.
    lda.set_params(evaluate_every=0, validation_fraction=0.9).fit([[1, 2], [2, 1]])
    assert lda._n_samples_seen == 2


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"evaluate_every": 1.5}, "evaluate_every"),
        ({"perp_tol": -0.1}, "perp_tol"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"n_init": "many"}, "n_init"),
    ],
)
def test_bad_parameters(parameters, name):
    with pytest.raises(ValueError, match=name):
        LatentDirichletAllocation(2, **parameters).fit(COUNTS)


def test_the_perplexity_is_kept_and_goes_with_the_fit(tmp_path):
    lda = LatentDirichletAllocation(**SETTINGS, max_iter=1)
    assert not hasattr(lda, "bound_")
    lda.fit(COUNTS)
    with pytest.raises(AttributeError, match="evaluate_every is above 0"):
        lda.bound_  # noqa: B018
    lda.set_params(evaluate_every=1).fit(COUNTS).save(tmp_path / "topics")
    assert trustream.load(tmp_path / "topics").bound_ == lda.bound_
    lda.set_params(evaluate_every=0).fit(COUNTS)
    assert not hasattr(lda, "bound_")


def test_progress_shows_it(capsys):
    LatentDirichletAllocation(**SETTINGS, max_iter=3, evaluate_every=2, verbose=1).fit(COUNTS)
    lines = capsys.readouterr().err.splitlines()
    assert ["perplexity" in line for line in lines] == [False, True, False]
    settings = {**SETTINGS, "max_iter": 9, "evaluate_every": 1, "perp_tol": 100.0, "n_init": 2}
    LatentDirichletAllocation(**settings, verbose=1).fit(COUNTS)
    names = [line.partition(":")[0] for line in capsys.readouterr().err.splitlines()]
    start = "LatentDirichletAllocation, start {} of 2"
    both = [[start.format(i)] * 2 + [start.format(i) + ", settled"] * 2 for i in (1, 2)]
    assert names == both[0] + both[1]


# --- the rest of scikit-learn's LDA


def test_gamma_sub_sampling_and_exp_dirichlet():
    lda = LatentDirichletAllocation(**SETTINGS, max_iter=2, dtype="float64").fit(COUNTS)
    gamma = lda.transform(COUNTS, normalize=False)
    lengths = np.asarray(COUNTS.sum(axis=1)).ravel()
    np.testing.assert_allclose(gamma.sum(axis=1), lengths + lda.doc_topic_prior_.sum(), rtol=1e-3)
    np.testing.assert_array_equal(lda.transform(COUNTS), gamma / gamma.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(
        LatentDirichletAllocation(**lda.get_params()).fit_transform(COUNTS, normalize=False), gamma
    )
    assert lda.perplexity(COUNTS, sub_sampling=True) == lda.perplexity(COUNTS)
    # E[log beta] of a Dirichlet distribution, by draws.
    draws = np.random.default_rng(0).dirichlet(lda.components_[0], size=20_000)
    common = lda.components_[0] > 20
    logs = np.log(draws[:, common]).mean(axis=0)
    np.testing.assert_allclose(np.log(lda.exp_dirichlet_component_[0, common]), logs, atol=0.01)


@pytest.mark.parametrize("method", ["fit_transform", "transform"])
def test_topics_of_documents_as_a_frame(method):
    lda = LatentDirichletAllocation(**SETTINGS, max_iter=1).fit(COUNTS)
    frame = getattr(lda.set_output(transform="pandas"), method)(COUNTS)
    assert list(frame.columns) == list(lda.get_feature_names_out())
    assert np.array_equal(frame.to_numpy(), lda.set_output(transform="default").transform(COUNTS))


# --- starts

NINE = sparse.csr_array(sparse.block_diag([np.full((3, 3), 3)] * 3))
GROUPS = {(0, 1, 2), (3, 4, 5), (6, 7, 8)}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    ("method", "calls"),
    [("trust-region", 3), ("trust-region", 1), ("trust-region", 0), ("batch", 0), ("memoized", 0)],
)
def test_three_topics_of_three_words_in_nine_documents(seed, method, calls):
    lda = LatentDirichletAllocation(3, learning_method=method, random_state=seed)
    for _ in range(calls):
        lda.set_params(learning_offset=10.0, total_samples=100).partial_fit(NINE)
    if not calls:
        lda.fit(NINE)
    assert {tuple(sorted(row.argsort()[-3:].tolist())) for row in lda.components_} == GROUPS


def test_the_best_of_several_starts_of_partial_fit_is_kept():
    few, rng = COUNTS[:30], np.random.default_rng(0)
    options = {"n_components": K, "total_samples": 100}
    single = [
        LatentDirichletAllocation(**options, n_init=1, random_state=rng).partial_fit(few)
        for _ in range(4)
    ]
    bounds = [lda.elbo(few, total_samples=100) for lda in single]
    assert np.argmax(bounds) > 0
    several = LatentDirichletAllocation(**options, n_init=4, random_state=0).partial_fit(few)
    np.testing.assert_array_equal(several.components_, single[np.argmax(bounds)].components_)
    # Later calls go on from there.
    assert several.partial_fit(few).n_batch_iter_ == 2


def test_ordinary_data_have_one_start():
    assert COUNTS.sum() > 500
    for data in (COUNTS, COUNTS[:0:-1]):
        auto = LatentDirichletAllocation(**SETTINGS, max_iter=1).fit(data)
        one = LatentDirichletAllocation(**SETTINGS, max_iter=1, n_init=1).fit(data)
        np.testing.assert_array_equal(auto.components_, one.components_)
