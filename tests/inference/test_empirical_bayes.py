"""Empirical Bayes: right derivatives, safeguards that hold, and priors that go to the truth.

Where theta and beta are as good as observed, learned priors are maximum
likelihood estimates and land on the truth. Where topics have to be inferred, mean field is biased:
it is too sure of each document's few topics (alpha too small), and the noise of batches smooths
lambda (eta too large). There both starts must come much nearer to the truth, and to each other.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from scipy import sparse

from tests.helpers import BACKENDS, Array, planted_lda, random_counts
from trustream import kernels
from trustream.inference import driver, schedules, trust_region
from trustream.inference import empirical_bayes as eb
from trustream.inference.state import Info, State
from trustream.kernels.priors import reference
from trustream.models.dirichlet_evidence import LARGEST, SMALLEST, DirichletEvidence
from trustream.models.lda import LdaModel, LdaPrior
from trustream.models.lda import evidence as lda_evidence

FORMS = {
    "vector": DirichletEvidence(
        np.array([0.3, 1.7, 0.05, 4.0]), np.array([-2.5, -1.2, -9.0, -0.9]), 1.0, 0.0, 10.0
    ),
    "scalar": DirichletEvidence(np.array([0.2]), np.array([-9.0]), 500.0, 0.0, 20.0),
    "subset": DirichletEvidence(
        np.array([0.2, 0.4, 2.0]), np.array([-7.0, -3.0, -4.0]), 1.0, 35.0, 20.0
    ),
}


def evidence_value(evidence: DirichletEvidence, parameter: Array, module: Any = reference) -> float:
    _, mean_log, multiplicity, rest, *_ = evidence
    return float(module.dirichlet_evidence(parameter, mean_log, multiplicity, rest))


def derivatives(evidence: DirichletEvidence, a: Array) -> tuple[Array, Array]:
    """Gradient and Hessian of the evidence by central differences, relative step 1e-4."""
    steps = np.diag(1e-4 * a)

    def gradient(x: Array) -> Array:
        differences = [
            evidence_value(evidence, x + s) - evidence_value(evidence, x - s) for s in steps
        ]
        return np.array(differences) / (2 * np.diag(steps))

    rows = [
        (gradient(a + s) - gradient(a - s)) / (2 * step)
        for s, step in zip(steps, np.diag(steps), strict=True)
    ]
    return gradient(a), np.array(rows)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_direction_is_newtons(form: str, backend: str) -> None:
    """I(a)^-1 g, with gradient and Hessian from differences of the evidence itself (to 1e-3)."""
    evidence = FORMS[form]
    gradient, hessian = derivatives(evidence, evidence.parameter)
    assert (np.linalg.eigvalsh(hessian) < 0).all()
    expected = np.linalg.solve(-hessian, gradient)
    found = np.empty_like(expected)
    kernels.get("priors", backend).dirichlet_direction(*evidence[:4], found)
    np.testing.assert_allclose(found, expected, rtol=1e-3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("factor", [0.01, 100.0])
@pytest.mark.parametrize("backend", BACKENDS)
def test_steps_reach_the_maximum(form: str, factor: float, backend: str) -> None:
    """From a hundredth and from a hundredfold: the same place, with a gradient of zero."""
    evidence = FORMS[form]
    evidence = evidence._replace(parameter=factor * evidence.parameter)
    for _ in range(60):
        evidence = evidence._replace(parameter=evidence.improved(1.0), backend=backend)
    gradient, _ = derivatives(evidence, evidence.parameter)
    scale = evidence.multiplicity * np.abs(evidence.mean_log)
    assert (np.abs(gradient) < 1e-5 * scale).all()


numbers = st.one_of(
    st.floats(-1e6, 0.0), st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -1e300, 1e6])
)
parameters = st.one_of(st.floats(1e-6, 1e4), st.floats(1e-12, 1e12))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(
            arrays_of.arrays(np.float64, n, elements=parameters),
            arrays_of.arrays(np.float64, n, elements=numbers),
        )
    ),
    st.sampled_from([1.0, 50.0, 1e6]),
    st.sampled_from([0.0, 1e-3, 1e5]),
    st.floats(1e-6, 1.0),
    st.sampled_from([0.0, 1.0, 1e5]),
    st.sampled_from(BACKENDS),
)
def test_no_evidence_spoils_a_prior(
    arrays: tuple[Array, Array],
    multiplicity: float,
    rest: float,
    rho: float,
    n_draws: float,
    backend: str,
) -> None:
    """Whatever the evidence: positive, finite, changed by a factor of two at most, in bounds if it
    was in bounds, and never to a lower evidence.
    """
    old, mean_log = arrays
    evidence = DirichletEvidence(old, mean_log, multiplicity, rest, n_draws)
    before = old.copy()
    new = evidence._replace(backend=backend).improved(rho)
    np.testing.assert_array_equal(old, before)
    assert np.isfinite(new).all() and (new > 0).all()
    assert (new <= old * 2).all() and (new >= old / 2).all()
    inside = (old >= SMALLEST) & (old <= LARGEST)
    assert (new[inside] >= SMALLEST).all() and (new[inside] <= LARGEST).all()
    if (new != old).any():
        module = kernels.get("priors", backend)
        assert evidence_value(evidence, new, module) >= evidence_value(evidence, old, module)


@pytest.mark.parametrize(("n_topics", "n_words"), [(1, 10), (1, 1), (3, 1)])
@pytest.mark.parametrize("per_word", [False, True])
def test_nothing_to_learn_from(n_topics: int, n_words: int, per_word: bool) -> None:
    """One topic says nothing about alpha, one word nothing about eta: they stay."""
    counts = random_counts(np.random.default_rng(0), 6, n_words, 4)
    model = LdaModel(n_topics, n_words, eta_per_word=per_word)
    prior = LdaPrior.of(0.3, 0.2, n_topics, n_words)
    state = State(model.initial(prior, np.random.default_rng(1)), prior)
    batch = model.batch(counts, slice(None))
    state, info = trust_region.step(
        model, state, batch, rho=0.5, n_documents=6, n_inner=2, n_local=3
    )
    after = eb.update(model, state, batch, [info.local], rho=0.5, rng=np.random.default_rng(2))
    if n_topics == 1:
        np.testing.assert_array_equal(after.prior.alpha, 0.3)
    if n_words == 1:
        np.testing.assert_array_equal(after.prior.dense(), 0.2)


@pytest.mark.parametrize("per_word", [False, True])
def test_empty_documents_teach_nothing_about_alpha(per_word: bool) -> None:
    """Their gamma is alpha itself. eta may move with lambda, but not for want of words."""
    model = LdaModel(3, 10, "float64", eta_per_word=per_word)
    prior = LdaPrior.of([0.1, 0.5, 2.0], 0.2, 3, 10)
    state = State(model.initial(prior, np.random.default_rng(1)), prior)
    batch = model.batch(sparse.csr_matrix((4, 10)), slice(None))
    gamma = np.tile(prior.alpha, (4, 1))
    after = eb.update(model, state, batch, [gamma], rho=1.0, rng=None)
    np.testing.assert_allclose(after.prior.alpha, prior.alpha, rtol=1e-9)
    assert np.isfinite(after.prior.dense()).all()
    if per_word:
        np.testing.assert_array_equal(after.prior.dense(), 0.2)


def test_a_reference_model_runs_no_compiled_kernel() -> None:
    """Steps and learned priors of a model with backend "reference" load no compiled kernel; a
    model with backend "compiled" does, so that the test can tell.
    """
    code = """
import sys
import numpy as np
from scipy import sparse
from trustream.inference import empirical_bayes, streaming_vb, trust_region
from trustream.inference.state import State
from trustream.models.lda import LdaModel, LdaPrior

def learn(backend):
    rng = np.random.default_rng(0)
    model, prior = LdaModel(3, 10, backend=backend), LdaPrior.of(0.3, 0.2, 3, 10)
    batch = model.batch(sparse.csr_matrix(rng.poisson(1.0, (6, 10)).astype(float)), slice(None))
    state = State(model.initial(prior, rng), prior)
    state, info = trust_region.step(
        model, state, batch, rho=0.5, n_documents=6, n_inner=2, n_local=3
    )
    after = empirical_bayes.update(model, state, batch, [info.local], rho=0.5, rng=None)
    assert (after.prior.alpha != 0.3).all() and after.prior.eta != 0.2
    stream = streaming_vb.init(model, LdaPrior.of(0.3, 0.2, 3, 10))
    options = {"n_inner": 2, "n_local": 3, "rng": rng, "learn": True}
    stream, _ = streaming_vb.step(model, stream, batch, **options)
    assert (stream.prior.alpha != 0.3).all()
    kernels = [name for name in sys.modules if name.startswith("trustream.kernels.")]
    print([name for name in kernels if "compiled" in name])

learn("reference")
learn("compiled")
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    reference_only, both = result.stdout.splitlines()
    assert reference_only == "[]"
    assert "'trustream.kernels.priors.compiled'" in both


# --- theta and beta as good as observed

K, V = 12, 80
ALPHA = np.array([0.05, 1.0] + [0.3] * (K - 2))
ETA = np.where(np.arange(V) < 40, 0.1, 0.6)


class Observed:
    """1000 documents and 12 topics with 10,000 tokens each, whose topics are known.

    Drawn with ALPHA, and with ETA per word or 0.25 for all.
    """

    def __init__(self, alpha: Any, eta: Any, per_word: bool = False) -> None:
        rng = np.random.default_rng(0)
        theta = rng.dirichlet(ALPHA, 1000)
        beta = rng.dirichlet(ETA if per_word else np.full(V, 0.25), K)
        self.by_document = rng.multinomial(10_000, theta).astype(float)
        self.by_word = rng.multinomial(10_000, beta).T.astype(float)
        self.model = LdaModel(K, V, "float64", eta_per_word=per_word)
        self.prior = LdaPrior.of(alpha, eta, K, V)

    def learn(self, n_steps: int, names: tuple[str, ...]) -> LdaPrior:
        """The exact posterior and a step on the prior, in turn."""
        for _ in range(n_steps):
            gamma = self.prior.alpha + self.by_document
            state = State(self.model.posterior(self.prior, self.by_word.copy()), self.prior)
            before = state.lambda_.dense(state.prior.pattern)
            state = eb.update(self.model, state, None, [gamma], rho=1.0, rng=None, learn=names)
            np.testing.assert_allclose(state.lambda_.dense(state.prior.pattern), before, rtol=1e-12)
            self.prior = state.prior
        return self.prior


def test_only_what_is_asked_for_is_learned() -> None:
    for names in ((), ("alpha",), ("eta",), ("alpha", "eta")):
        prior = Observed(0.5, 0.5).learn(1, names)
        assert (prior.alpha == 0.5).all() == ("alpha" not in names)
        assert (prior.eta == 0.5) == ("eta" not in names)


@pytest.mark.parametrize("factor", [0.02, 50.0])
def test_observed_alpha_is_found(factor: float) -> None:
    """Within 12 %, three standard errors of 1000 documents, from far below and far above."""
    prior = Observed(ALPHA.mean() * factor, 0.25).learn(60, ("alpha",))
    np.testing.assert_allclose(prior.alpha, ALPHA, rtol=0.12)


@pytest.mark.parametrize("factor", [0.02, 50.0])
def test_observed_eta_is_found(factor: float) -> None:
    """Within 12 %: 12 topics with 80 words each are 960 numbers."""
    prior = Observed(0.3, 0.25 * factor).learn(60, ("eta",))
    np.testing.assert_allclose(prior.eta, 0.25, rtol=0.12)


@pytest.mark.parametrize("factor", [0.02, 50.0])
def test_observed_eta_per_word_is_found(factor: float) -> None:
    """Each word has 12 numbers to learn from; medians of 40 words are right within 25 %."""
    eta = Observed(0.3, 0.25 * factor, per_word=True).learn(60, ("eta",)).dense()
    np.testing.assert_allclose(np.median(eta[:40]), 0.1, rtol=0.25)
    np.testing.assert_allclose(np.median(eta[40:]), 0.6, rtol=0.25)


def test_sampled_words_agree_with_all_words() -> None:
    """eta's evidence from 256 sampled words has the mean of that from all 2000: within three
    standard errors of 400 samples, and a spread that is not zero.
    """
    rng = np.random.default_rng(1)
    model = LdaModel(3, 2000, "float64")
    prior = LdaPrior.of(0.1, 0.2, 3, 2000)
    lambda_ = model.posterior(prior, rng.gamma(0.1, 20.0, (2000, 3)))

    def mean_log(rng: np.random.Generator | None) -> float:
        gammas = [np.ones((1, 3))]
        return float(model.prior_evidence(lambda_, prior, None, gammas, rng)["eta"].mean_log[0])

    samples = np.array([mean_log(rng) for _ in range(400)])
    error = samples.std() / np.sqrt(samples.size)
    assert 0 < error < 0.05
    assert abs(samples.mean() - mean_log(None)) < 3 * error


# --- topics inferred


def learn_from(counts: Any, alpha: float, eta: float, per_word: bool = False) -> LdaPrior:
    """The prior after eight passes of trust-region steps on 4 topics, learned all along."""
    n_documents, n_words = counts.shape
    rng = np.random.default_rng(1)
    model = LdaModel(4, n_words, eta_per_word=per_word)
    prior = LdaPrior.of(alpha, eta, 4, n_words)
    state = State(model.initial(prior, rng), prior)

    def learn(model: Any, state: State, batch: Any, info: Info) -> State:
        return eb.update(model, state, batch, [info.local], rho=info.rho, rng=rng)

    for _ in range(8):
        batches = driver.shuffled(n_documents, 25, rng)
        step = partial(trust_region.step, n_inner=3, n_local=8)
        schedule = schedules.decaying(5.0, 0.6)
        options = {"step": step, "schedule": schedule, "n_documents": n_documents, "learn": learn}
        *_, (state, _) = driver.run(model, state, counts, batches, **options)
    return state.prior


def distance(value: Any, truth: float) -> float:
    """|log ratio| of the geometric mean to the truth."""
    return float(abs(np.log(value).mean() - np.log(truth)))


@pytest.mark.parametrize("seed", range(3))
def test_learned_priors_move_to_the_truth(seed: int) -> None:
    """alpha = 0.2 and eta = 0.1 in the data; starts are five times too small and too large.

    The distance to the truth, as a ratio, falls from 5 to less than 2 (measured: alpha 1.55 below,
    eta 1.65 above), and the two starts end within 5 % of each other.
    """
    counts, _ = planted_lda(np.random.default_rng(seed), 4, 200, 600, 300, 0.2, 0.1)
    ends = [learn_from(counts, 0.2 * factor, 0.1 * factor) for factor in (0.2, 5.0)]
    for prior in ends:
        assert distance(prior.alpha, 0.2) < np.log(2)
        assert distance(prior.eta, 0.1) < np.log(2)
    assert distance(ends[0].alpha.mean(), ends[1].alpha.mean()) < 0.05
    assert distance(ends[0].eta, ends[1].eta) < 0.05


def test_learned_eta_per_word_moves_to_the_truth() -> None:
    """Words with eta = 0.2 and 1.0 in the data, starts at 0.04 and 5: groups within a factor of 2
    of their truth (measured: 1.4 above), told apart, and the starts within 5 % of each other.
    """
    rng = np.random.default_rng(0)
    eta = np.where(np.arange(200) < 100, 0.2, 1.0)
    topics, theta = rng.dirichlet(eta, 4), rng.dirichlet(np.full(4, 0.2), 600)
    rows = [rng.multinomial(300, p / p.sum()) for p in theta @ topics]
    counts = sparse.csr_matrix(np.array(rows, dtype=float))
    ends = [learn_from(counts, 0.2, start, per_word=True).dense() for start in (0.04, 5.0)]
    for learned in ends:
        assert distance(np.median(learned[:100]), 0.2) < np.log(2)
        assert distance(np.median(learned[100:]), 1.0) < np.log(2)
        assert np.median(learned[100:]) > 3 * np.median(learned[:100])
    assert distance(ends[0].mean(), ends[1].mean()) < 0.05


def observed_theta(theta: Array, n_tokens: float = 1e6) -> list[Array]:
    """gamma of documents so long that theta is as good as observed."""
    return [np.ascontiguousarray(n_tokens * theta)]


def test_documents_with_equal_topics_are_added_to_the_evidence_of_alpha() -> None:
    """A part w of it is that of a document with the mean log-proportions in every topic.

    Such documents, added by hand as gammas, give the same evidence.
    """
    rng, model = np.random.default_rng(0), LdaModel(4, 6, "float64")
    theta = rng.dirichlet([9.0, 4.0, 3.0, 2.0], 30)
    prior = LdaPrior.of(0.5, 0.1, 4, 6)
    lambda_, gammas = model.initial(prior, rng), observed_theta(theta)
    found = model.prior_evidence(lambda_, prior, None, gammas, None)["alpha"].mean_log
    added = model.prior_evidence(lambda_, prior, None, gammas, None, 0.25)["alpha"].mean_log
    np.testing.assert_allclose(found, np.log(theta).mean(axis=0), atol=1e-4)
    by_hand = np.concatenate([np.log(theta), np.full((10, 4), np.log(theta).mean())])
    np.testing.assert_allclose(added, by_hand.mean(axis=0), atol=1e-4)


@pytest.mark.parametrize(("n_documents", "part"), [(12, 4 / 16), (400, 4 / 404)])
def test_how_many_are_added_depends_on_the_documents_that_there_are(
    n_documents: int, part: float
) -> None:
    """One for each of four topics, whatever the population; none without one."""
    rng, model = np.random.default_rng(1), LdaModel(4, 6, "float64")
    gammas = observed_theta(rng.dirichlet([4.0, 3.0, 3.0, 2.0], n_documents))
    prior = LdaPrior.of(2.0, 0.1, 4, 6)
    population = 10.0 * n_documents
    state = State(model.initial(prior, rng), prior, 1, population=population, share=0.1)

    def alpha(state: State, **options: Any) -> Array:
        new = eb.update(model, state, None, gammas, rho=0.1, rng=None, learn=("alpha",), **options)
        return np.asarray(new.prior.alpha)

    evidence = model.prior_evidence(state.lambda_, prior, None, gammas, None, part)["alpha"]
    np.testing.assert_array_equal(alpha(state, equal_documents=1.0), evidence.improved(0.1))
    plain = model.prior_evidence(state.lambda_, prior, None, gammas, None)["alpha"].improved(0.1)
    np.testing.assert_array_equal(alpha(state), plain)
    without = State(state.lambda_, prior, 1)
    np.testing.assert_array_equal(alpha(without, equal_documents=1.0), plain)
    assert np.ptp(alpha(state, equal_documents=1.0)) < np.ptp(plain)


@pytest.mark.parametrize("n_topics", [2, 400])
def test_alpha_stays_while_topics_are_alike(n_topics: int) -> None:
    """Equal proportions in all documents would speak for a large alpha, and never end."""
    rng, model = np.random.default_rng(0), LdaModel(n_topics, 6, "float64")
    prior = LdaPrior.of(1 / n_topics, 0.1, n_topics, 6)
    state = State(model.initial(prior, rng), prior, 1, population=9.0)
    alike = np.full((9, n_topics), 1 / n_topics + 50.0 / n_topics)
    apart = alike + np.where(np.arange(n_topics) == np.arange(9)[:, np.newaxis] % 2, 2.0, 0.0)

    def alpha(gamma: Array, least: float = 0.01) -> Array:
        new = eb.update(model, state, None, [gamma], rho=0.5, rng=None, least_separation=least)
        return np.asarray(new.prior.alpha)

    alike *= 1 + 1e-4 * rng.random(alike.shape)
    np.testing.assert_array_equal(alpha(alike), prior.alpha)
    assert not np.array_equal(alpha(apart), prior.alpha)
    # As in the paper, nothing is asked of the documents, with or without equal ones.
    assert not np.array_equal(alpha(alike, 0.0), prior.alpha)
    draws = lda_evidence.theta_sums(model.computation, prior, alike)
    plain = lda_evidence.of_alpha(model.computation, prior, draws).improved(0.5)
    assert plain.sum() > 1.4 * prior.alpha.sum()  # and more with every step
