"""Why streaming VB needs whole documents (end of section 4.3 of the paper).

One document of M words over K = 2 topics with beta known, so that all that happens is about
q(theta) q(z). Everything is written out on a grid of theta and over all 2^M assignments z.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy import special

from tests.helpers import counts_of
from trustream.inference import streaming_vb
from trustream.inference.state import State
from trustream.models.lda import LazyRows, LdaModel, LdaPrior

ALPHA = np.array([0.6, 0.9])
# beta[k, x]: word 0 speaks for topic 0, word 1 for topic 1, word 2 for neither.
BETA = np.array([[0.6, 0.1, 0.3], [0.1, 0.6, 0.3]])
WORDS = [0, 0, 2, 1, 0]
GRID = (np.arange(4000) + 0.5) / 4000
Z = np.array(list(itertools.product(range(2), repeat=len(WORDS))))


def log_dirichlet(gamma: np.ndarray) -> np.ndarray:
    """log Dir(theta | gamma) on the grid of theta_0."""
    logs = (gamma[0] - 1) * np.log(GRID) + (gamma[1] - 1) * np.log1p(-GRID)
    return logs - special.betaln(gamma[0], gamma[1])


def likelihood(m: int) -> np.ndarray:
    """log p(x_m | z_m) for each z, (2^M,)."""
    return np.log(BETA[Z[:, m], WORDS[m]])


def prior_of_assignments() -> np.ndarray:
    """log p(z | theta), (grid, 2^M): all words of the document are there, most of them unseen."""
    ones = Z.sum(axis=1)
    return np.log(GRID)[:, None] * (len(WORDS) - ones) + np.log1p(-GRID)[:, None] * ones


def mean_field(log_target: np.ndarray, n_iterations: int) -> tuple[np.ndarray, np.ndarray]:
    """q(theta) on the grid and q(z_m = k) (M, 2) by coordinate ascent on KL(q || target).

    log_target (grid, 2^M) is log p~(theta, z). Each factor is proportional to exp of the expected
    log target under the others: no closed form is used.
    """
    q_theta = np.full(GRID.size, 1 / GRID.size)
    phi = np.full((len(WORDS), 2), 0.5)
    for _ in range(n_iterations):
        for m in range(len(WORDS)):
            others = np.prod([phi[j, Z[:, j]] for j in range(len(WORDS)) if j != m], axis=0)
            expected = q_theta @ log_target
            logs = np.array([(others * expected)[Z[:, m] == k].sum() for k in range(2)])
            phi[m] = special.softmax(logs)
        q_z = np.prod([phi[j, Z[:, j]] for j in range(len(WORDS))], axis=0)
        q_theta = special.softmax(log_target @ q_z)
    return q_theta, phi


def stream(n_words: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """(q(theta), phi) after each word: the approximate posterior is the prior of the next word."""
    target = log_dirichlet(ALPHA)[:, None] + prior_of_assignments()
    results = []
    for m in range(n_words):
        q_theta, phi = mean_field(target + likelihood(m), 200 if m == 0 else 3)
        results.append((q_theta, phi.copy()))
        log_q_z = np.log([phi[j, Z[:, j]] for j in range(len(WORDS))]).sum(axis=0)
        target = np.log(q_theta)[:, None] + log_q_z
    return results


def test_theta_is_updated_once_and_never_again() -> None:
    """The first word moves q(theta); each of the next moves its own q(z_m), and that is all."""
    start = special.softmax(log_dirichlet(ALPHA))
    results = stream(len(WORDS))
    first, first_phi = results[0]
    assert np.abs(first - start).sum() > 0.1
    for m in range(1, len(WORDS)):
        q_theta, phi = results[m]
        np.testing.assert_allclose(q_theta, first, rtol=1e-8, atol=1e-14)
        before = results[m - 1][1]
        unchanged = [j for j in range(len(WORDS)) if j != m]
        np.testing.assert_allclose(phi[unchanged], before[unchanged], rtol=1e-8)
        likelihoods = BETA[:, WORDS[m]]
        expected = before[m] * likelihoods / (before[m] @ likelihoods)
        np.testing.assert_allclose(phi[m], expected, rtol=1e-8)
    # The later words' beliefs owe nothing to one another: word 2, which speaks for neither topic,
    # has the belief that it had before any but the first word came.
    np.testing.assert_allclose(results[-1][1][2], first_phi[2], rtol=1e-8)


def test_the_posterior_does_change() -> None:
    """The negative control: exact q(theta), and mean field on all words at once, go on moving."""
    joint = log_dirichlet(ALPHA)[:, None] + prior_of_assignments()
    exact, at_once = [], []
    for n_words in (1, len(WORDS)):
        target = joint + sum(likelihood(m) for m in range(n_words))
        exact.append(special.softmax(special.logsumexp(target, axis=1)))
        at_once.append(mean_field(target, 200)[0])
    assert np.abs(exact[1] - exact[0]).sum() > 0.1
    assert np.abs(at_once[1] - at_once[0]).sum() > 0.1


def test_words_as_documents_of_their_own() -> None:
    """gamma = alpha + phi for each word, and a word's neighbours say nothing about it.

    Word 2 is as likely in both topics. Among words 0 of its document it belongs to topic 0; as a
    document of its own it is undecided. lambda is large, so that the topics stay what they are.
    """
    lambda_ = 1e6 * np.ascontiguousarray(BETA.T)
    gammas = {}
    for name, documents in {"whole": [[0, 0, 0, 2]], "words": [[0], [0], [0], [2]]}.items():
        model, prior = LdaModel(2, 3, "float64"), LdaPrior.of(1.0, 0.1, 2, 3)
        state = State(LazyRows.of(lambda_.copy()), prior)
        counts, gammas[name] = counts_of(documents, 3), []
        for d in range(len(documents)):
            state, info = streaming_vb.step(
                model,
                state,
                model.batch(counts, slice(d, d + 1)),
                n_inner=5,
                n_local=200,
                rng=np.random.default_rng(d),
            )
            gammas[name].append(info.local[0])
    whole, words = gammas["whole"][0], gammas["words"]
    np.testing.assert_allclose(whole.sum(), 2 + 4)
    # As likely in both topics: its belief is that of theta.
    assert special.softmax(special.digamma(whole))[0] > 0.8
    for gamma in words:
        np.testing.assert_allclose(gamma.sum(), 2 + 1)
    np.testing.assert_allclose(words[0], words[1], rtol=1e-5)
    assert words[0][0] > 1.8
    np.testing.assert_allclose(words[3], [1.5, 1.5], rtol=1e-5)


def test_equal_topics_learn_nothing_from_words() -> None:
    """At lambda_0 = eta a one-word document's beliefs hardly leave 1/K, whatever the word."""
    model, prior = LdaModel(2, 3, "float64"), LdaPrior.of(1.0, 0.5, 2, 3)
    batch = model.batch(counts_of([[0], [1]], 3), slice(None))
    natural = model.restrict(streaming_vb.init(model, prior).lambda_, prior, batch)
    local, _ = model.beliefs(prior, batch, None)
    local, _ = model.local_step(natural, prior, batch, local, 100, 0.0)
    np.testing.assert_allclose(local, 1.5, rtol=1e-12)
