"""Hidden Markov models: subchains and their scales, starts, samples, memory."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.helpers import snapshot
from tests.models.hmms import KINDS, setting
from trustream.inference import natural_gradient
from trustream.inference.state import State
from trustream.models.hmm import CategoricalHmmPrior, HmmModel, Sequences
from trustream.models.hmm import batch as hmm_batch
from trustream.models.hmm.computation import stationary
from trustream.models.hmm.sequences import extent

each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.parametrize("buffer", [0, 1, 5])
@pytest.mark.parametrize("length", [1, 3, 10])
def test_subchains_have_everything_once(length: int, buffer: int) -> None:
    lengths = [7, 1, 10, 23]
    whole = Sequences.of(np.arange(41), lengths, 41)
    cut = whole.cut(length, buffer)
    assert cut.is_cut and cut.observations().tolist() == list(range(41))
    assert ((cut.chains[:, 2] - cut.chains[:, 1]) <= length).all()
    sequence = np.repeat(np.arange(4), lengths)
    for first, start, stop, last, begins in cut.chains:
        assert first <= start < stop <= last
        assert sequence[first] == sequence[last - 1]
        assert start - first <= buffer and last - stop <= buffer
        assert begins == (first == 0 or sequence[first] != sequence[first - 1])
    n_transitions = whole.extent.transitions
    if buffer == 0:  # those between subchains belong to none
        n_transitions -= cut.shape[0] - whole.shape[0]
    assert cut.extent == (4, n_transitions, 41)
    assert not whole.cut(23, buffer).is_cut


@each_kind
def test_subchains_whose_buffers_have_all_add_up_to_the_whole(kind: str) -> None:
    """Statistics and bounds are then those of the sequences."""
    model, prior, lambda_, data = setting(kind, [11, 1, 6])
    whole, cut = (
        model.local_step(lambda_, prior, model.batch(chosen, slice(None)))
        for chosen in (data, data.cut(4, 100))
    )
    for found, expected in zip(cut[1], whole[1], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    total = cut[0].log_evidence.sum()
    np.testing.assert_allclose(total, whole[0].log_evidence.sum(), rtol=1e-12)


def test_longer_buffers_forget_more() -> None:
    """The error of the statistics of a long sequence falls like a geometric series."""
    model, prior, lambda_, data = setting("categorical", [3000])
    _, exact = model.local_step(lambda_, prior, model.batch(data, slice(None)))
    errors = []
    for buffer in (1, 4, 8, 16, 32):
        cut = model.batch(data.cut(50, buffer), slice(None))
        _, found = model.local_step(lambda_, prior, cut)
        errors.append(float(np.abs(found.transitions - exact.transitions).max()))
    assert (np.divide(errors[1:], errors[:-1]) < 0.5).all()
    assert errors[-1] < 1e-6 * len(data.x)


def test_each_kind_of_statistics_has_its_scale() -> None:
    """N_t / B_t for transitions, N_o / B_o for emissions; start stays without a first subchain."""
    model, prior, lambda_, data = setting("categorical", [95])
    cut = data.cut(10, 0)  # ten subchains, the last one of five
    assert cut.extent == (1, 85, 95)
    for rows, scales in (
        (np.array([3, 9]), (None, 85 / (9 + 4), 95 / 15)),
        (np.array([0, 1]), (1.0, 85 / 18, 95 / 20)),
    ):
        batch = model.batch(cut, rows)
        scale, rho = cut.shape[0] / batch.size, 0.25
        _, s = model.local_step(lambda_, prior, batch)
        new = model.blend(lambda_, prior, batch, s, rho, scale)
        eta = model.eta(prior)
        for i, factor in enumerate(scales):
            expected = lambda_[i]
            if factor is not None:
                expected = (1 - rho) * lambda_[i] + rho * (eta[i] + factor * s[i])
            np.testing.assert_allclose(new[i], expected, rtol=1e-13)
        gradient = model.gradient(lambda_, prior, batch, s, scale)
        step = np.concatenate([((a - b) / rho).ravel() for a, b in zip(new, lambda_, strict=True)])
        np.testing.assert_allclose(gradient, step, rtol=1e-9, atol=1e-9)


def test_scaled_statistics_of_subchains_are_those_of_the_sequence_on_average() -> None:
    """Every subchain alone, scaled: their mean is near what the whole sequence says."""
    model, prior, lambda_, data = setting("categorical", [2000])
    cut = data.cut(20, 30)
    _, exact = model.local_step(lambda_, prior, model.batch(data, slice(None)))
    total = model.zero_statistics()
    eta = model.eta(prior)
    for i in range(cut.shape[0]):
        batch = model.batch(cut, np.array([i]))
        _, s = model.local_step(lambda_, prior, batch)
        new = model.blend(lambda_, prior, batch, s, 1.0, float(cut.shape[0]))
        said = type(new)(*(a - b for a, b in zip(new, eta, strict=True)))
        total = model.add_statistics(total, batch, said)
    np.testing.assert_allclose(total.transitions / cut.shape[0], exact.transitions, rtol=3e-3)
    np.testing.assert_allclose(total.emissions / cut.shape[0], exact.emissions, rtol=3e-3, atol=0.1)


def test_start_stays_while_no_sequence_begins() -> None:
    """A natural-gradient step on later subchains changes all but the start probabilities."""
    model, prior, lambda_, data = setting("categorical", [300])
    cut = data.cut(20, 5)
    state = State(lambda_, prior)
    for rows in (np.array([4, 7]), np.array([9])):
        state, _ = natural_gradient.step(
            model, state, model.batch(cut, rows), rho=0.5, n_documents=15, n_local=1
        )
    np.testing.assert_array_equal(state.lambda_.start, lambda_.start)
    assert (state.lambda_.transitions != lambda_.transitions).all()


@each_kind
def test_groups_and_parts_make_no_difference(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, prior, lambda_, data = setting(kind, [5, 1, 30, 12, 2, 2])
    data = data.cut(9, 3)
    results = []
    for size in (10**6, 8):
        monkeypatch.setattr(hmm_batch, "_GROUP", size)
        monkeypatch.setattr(hmm_batch, "_PART", size // 2)
        batch = model.batch(data, slice(None))
        assert (len(batch.groups) > 1) == (size == 8)
        beliefs, statistics = model.local_step(lambda_, prior, batch)
        results.append([beliefs.log_evidence, *statistics, model.marginals(lambda_, prior, batch)])
        results[-1] += [model.beliefs(prior, batch, None)[1].transitions]
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


@each_kind
def test_given_beliefs_of_subchains(kind: str) -> None:
    """Independent states: uniform ones are 1/K for observations and 1/K^2 for pairs."""
    model, prior, _, data = setting(kind, [9, 4])
    batch = model.batch(data.cut(3, 2), slice(None))
    assert extent(batch.groups[0].chains) == (2, 11, 13)
    _, uniform = model.beliefs(prior, batch, None)
    _, given = model.beliefs(prior, batch, np.full((13, 3), 1 / 3))
    for a, b in zip(uniform, given, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    np.testing.assert_allclose(uniform.transitions, 11 / 9)
    with pytest.raises(ValueError, match=r"phi must have shape \(13, 3\), got \(12, 3\)"):
        model.beliefs(prior, batch, np.ones((12, 3)))


def test_the_stationary_distribution() -> None:
    transitions = np.random.default_rng(0).dirichlet(np.ones(6), 6)
    p = stationary(transitions)
    np.testing.assert_allclose(p @ transitions, p, rtol=1e-12)
    np.testing.assert_allclose(p.sum(), 1, rtol=1e-12)


def test_samples_follow_the_parameters() -> None:
    model, prior, lambda_, _ = setting("categorical", [2])
    expected = model.expected(lambda_, prior)
    x, z = model.sample(expected, 60_000, np.random.default_rng(0))
    assert x.shape == (60_000, 1) and z.shape == (60_000,)
    moves = np.zeros((3, 3))
    np.add.at(moves, (z[:-1], z[1:]), 1)
    np.testing.assert_allclose(moves / moves.sum(1, keepdims=True), expected.transitions, atol=0.01)
    for k in range(3):
        shares = np.bincount(x[z == k, 0], minlength=4) / (z == k).sum()
        np.testing.assert_allclose(shares, expected.emissions[k], atol=0.015)


@each_kind
def test_pickled_models_and_batches_are_the_same(kind: str) -> None:
    model, prior, lambda_, data = setting(kind, [5, 3])
    batch = model.batch(data, slice(None))
    found = [
        m.local_step(lambda_, p, b)[1]
        for m, p, b in ((model, prior, batch), pickle.loads(pickle.dumps((model, prior, batch))))
    ]
    assert snapshot(found[0]) == snapshot(found[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components must be at least 1, got 0"),
        ({"emissions": "poisson"}, "emissions must be one of .*, got 'poisson'"),
        ({"dtype": "float16"}, "dtype must be 'float32' or 'float64'"),
        ({"backend": "fast"}, "backend must be one of"),
    ],
)
def test_wrong_models(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HmmModel(**{"n_components": 2, "n_features": 3, **options})


def test_wrong_priors_and_batches() -> None:
    with pytest.raises(ValueError, match=r"shapes \(K,\) and \(K, K\), got \(2,\) and \(3, 3\)"):
        CategoricalHmmPrior(np.ones(2), np.ones((3, 3)))
    with pytest.raises(ValueError, match="start must be positive"):
        CategoricalHmmPrior(np.zeros(2), np.ones((2, 2)))
    model, prior, _, data = setting("categorical", [5, 3])
    with pytest.raises(ValueError, match="the prior is for 3 states, the model has 2"):
        HmmModel(n_components=2, n_features=4).initial(prior, np.random.default_rng(0))
    with pytest.raises(ValueError, match="a batch needs at least one data point"):
        model.batch(data, np.empty(0, np.int64))
