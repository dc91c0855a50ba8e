"""Tiny hidden Markov models against sums over all paths of hidden states."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.helpers import BACKENDS
from tests.models.hmms import KINDS, Setting, setting
from trustream.families import dirichlet
from trustream.inference import batch as batch_vb
from trustream.inference.state import State
from trustream.models.hmm import CategoricalHmmPrior, HmmModel, Sequences

LENGTHS = [4, 1, 5]
each_kind = pytest.mark.parametrize("kind", KINDS)
each_backend = pytest.mark.parametrize("backend", BACKENDS)


def sequences_of(data: Sequences) -> list[slice]:
    return [slice(int(row[0]), int(row[3])) for row in data.chains]


def scores_of(case: Setting, predictive: bool = False) -> np.ndarray:
    """E[log p(x_t | beta_k)], or log E[p(x_t | beta_k)], of all observations, (T, K)."""
    kind = case.model.kind
    observations = kind.prepare(case.data.x, slice(None))
    compute = kind.log_density if predictive else kind.scores
    table = compute(tuple(case.lambda_[2:]), case.prior, observations)
    return table[kind.places(observations)]


def weights_of(start: np.ndarray, transitions: np.ndarray, x: np.ndarray) -> dict[Any, float]:
    """The logarithm of the weight of each path."""
    found = {}
    for path in itertools.product(range(len(start)), repeat=len(x)):
        steps = sum(transitions[i, j] for i, j in itertools.pairwise(path))
        found[path] = start[path[0]] + steps + sum(x[t, k] for t, k in enumerate(path))
    return found


def enumerated(start: np.ndarray, transitions: np.ndarray, x: np.ndarray) -> tuple[Any, ...]:
    """log sum of weights, q(z_t) (T, K), sum_t q(z_{t-1}, z_t) (K, K), and the likeliest path."""
    k = len(start)
    weights = weights_of(start, transitions, x)
    total = special.logsumexp(list(weights.values()))
    phi, pairs = np.zeros((len(x), k)), np.zeros((k, k))
    for path, weight in weights.items():
        q = np.exp(weight - total)
        phi[range(len(x)), path] += q
        for i, j in itertools.pairwise(path):
            pairs[i, j] += q
    return total, phi, pairs, max(weights, key=lambda path: weights[path])


@each_kind
@each_backend
@pytest.mark.parametrize("tiny_prior", [False, True])
def test_local_step_is_the_sum_over_all_paths(kind: str, backend: str, tiny_prior: bool) -> None:
    """Bounds, beliefs, statistics and likeliest paths; also where exp E[log A] underflows."""
    case = setting(kind, LENGTHS, backend=backend)
    if tiny_prior:
        transitions = case.lambda_.transitions * np.array([[1, 1e-4, 1], [1, 1, 1e-5], [1, 1, 1]])
        case = case._replace(lambda_=case.lambda_._replace(transitions=transitions))
    model, prior, lambda_, data = case
    start, transitions = (dirichlet.expected_log(part) for part in lambda_[:2])
    assert (transitions.min() < -1000) == tiny_prior
    x = scores_of(case)
    exact = [enumerated(start, transitions, x[rows]) for rows in sequences_of(data)]
    batch = model.batch(data, slice(None))
    beliefs, statistics = model.local_step(lambda_, prior, batch)
    bounds = np.array([part[0] for part in exact])
    np.testing.assert_allclose(beliefs.log_evidence, bounds, rtol=1e-12)
    np.testing.assert_allclose(model.local_bound(lambda_, prior, batch), bounds, rtol=1e-12)
    phi = np.concatenate([part[1] for part in exact])
    np.testing.assert_allclose(model.marginals(lambda_, prior, batch), phi, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(statistics.start, sum(part[1][0] for part in exact), rtol=1e-10)
    pairs = sum(part[2] for part in exact)
    np.testing.assert_allclose(statistics.transitions, pairs, rtol=1e-10, atol=1e-15)
    _, given = model.beliefs(prior, batch, phi)
    for found, expected in zip(statistics[2:], given[2:], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    paths = np.concatenate([part[3] for part in exact])
    np.testing.assert_array_equal(model.paths(lambda_, prior, batch), paths)


@each_kind
@each_backend
def test_the_predictive_density_is_that_of_expected_parameters(kind: str, backend: str) -> None:
    case = setting(kind, LENGTHS, backend=backend)
    model, prior, lambda_, data = case
    start, transitions = (np.log(dirichlet.mean(part)) for part in lambda_[:2])
    x = scores_of(case, predictive=True)
    found = model.predictive_log_density(lambda_, prior, model.batch(data, slice(None)))
    for rows in sequences_of(data):
        log_densities = [
            special.logsumexp(list(weights_of(start, transitions, x[rows][:t]).values()))
            for t in range(1, rows.stop - rows.start + 1)
        ]
        np.testing.assert_allclose(np.cumsum(found[rows]), log_densities, rtol=1e-11)


def test_densities_of_all_symbol_sequences_sum_to_one() -> None:
    words = np.array(list(itertools.product(range(4), repeat=3)))
    case = setting("categorical", [3] * len(words))
    data = Sequences.of(words.ravel(), [3] * len(words), 4)
    batch = case.model.batch(data, slice(None))
    found = case.model.predictive_log_density(case.lambda_, case.prior, batch)
    total = np.exp(found.reshape(-1, 3).sum(axis=1)).sum()
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)


def log_dirichlet_multinomial(a: np.ndarray, counts: np.ndarray) -> float:
    return float((dirichlet.log_normalizer(a + counts) - dirichlet.log_normalizer(a)).sum())


@pytest.mark.parametrize("k", [1, 2])
def test_the_bound_is_below_the_evidence(k: int) -> None:
    """The evidence with all parameters integrated out, as a sum over all paths; equal for K = 1."""
    x, lengths = np.array([0, 0, 2, 1, 2, 2, 0, 1, 1]), [4, 5]
    prior = CategoricalHmmPrior(np.full(k, 0.8), np.full((k, k), 0.6), np.full(3, 0.5))
    model = HmmModel(n_components=k, n_features=3, backend="reference")
    terms = []
    for z in itertools.product(range(k), repeat=9):
        path = np.array(z)
        start, pairs, symbols = np.zeros(k), np.zeros((k, k)), np.zeros((k, 3))
        np.add.at(start, path[[0, 4]], 1)
        moves = np.delete(np.stack([path[:-1], path[1:]]), 3, axis=1)
        np.add.at(pairs, (moves[0], moves[1]), 1)
        np.add.at(symbols, (path, x), 1)
        parts = (prior.start, start), (prior.transitions, pairs), (np.full((k, 3), 0.5), symbols)
        terms.append(sum(log_dirichlet_multinomial(a, n) for a, n in parts))
    evidence = special.logsumexp(terms)
    data = Sequences.of(x, lengths, 3)
    state = State(model.initial(prior, np.random.default_rng(0)), prior)
    for _ in range(30):
        state, info = batch_vb.step(model, state, data, [slice(0, 1), slice(1, 2)], n_local=1)
    gap = evidence - info.objective[0]
    assert abs(gap) < 1e-9 if k == 1 else 0 < gap < 3
