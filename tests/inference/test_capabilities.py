"""Algorithms ask for what they need: a model without it is refused by name, and used without."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.conformance.poisson_mixture import PoissonMixture, PoissonPrior
from tests.helpers import snapshot
from trustream.inference import (
    adaptive,
    batch,
    empirical_bayes,
    memoized,
    natural_gradient,
    streaming_batch,
    streaming_vb,
    trust_region,
)
from trustream.inference.state import State
from trustream.models.capabilities import PosteriorAddition, require
from trustream.models.protocol import ConjugateModel

CONTRACT = [name for name in dir(ConjugateModel) if not name.startswith("_")]
DATA = np.random.default_rng(0).poisson(3.0, (60, 5)).astype(float)
RATE = {"rho": 0.5, "n_documents": 60.0, "n_local": 1}


class Plain:
    """A model with the contract's members and no capability."""

    def __init__(self) -> None:
        self.whole = PoissonMixture(3, 5, "float64")
        for name in CONTRACT:
            setattr(self, name, getattr(self.whole, name))


def start(model: Any) -> tuple[State, Any]:
    prior = PoissonPrior(1.0, 2.0, 0.5)
    state = State(model.initial(prior, np.random.default_rng(1)), prior)
    return state, model.batch(DATA, slice(0, 30))


def test_the_contract_is_small() -> None:
    assert len(CONTRACT) <= 15


@pytest.mark.parametrize("step", [trust_region.step, natural_gradient.step])
def test_the_contract_is_enough_for_stochastic_steps(step: Callable[..., Any]) -> None:
    """And gives the same bits as a model that can do more."""
    more = {"n_inner": 3, "tol": 0.0} if "n_inner" in inspect.signature(step).parameters else {}
    results = []
    for model in (Plain(), PoissonMixture(3, 5, "float64")):
        state, points = start(model)
        results.append(snapshot(step(model, state, points, **RATE, **more)))
    assert results[0] == results[1]


def take_adaptive(model: Any, state: State, points: Any, rng: Any) -> Any:
    return adaptive.step(model, state, points, inner=natural_gradient.step, **RATE)


def take_batch(model: Any, state: State, points: Any, rng: Any) -> Any:
    return batch.step(model, state, DATA, [slice(0, 60)], n_local=1)


def take_streaming_batch(model: Any, state: State, points: Any, rng: Any) -> Any:
    return streaming_batch.step(model, state, DATA, np.arange(60), n_inner=2, n_local=1, rng=rng)


def take_streaming_vb(model: Any, state: State, points: Any, rng: Any) -> Any:
    return streaming_vb.step(model, state, points, n_inner=2, n_local=1, rng=rng)


def take_memoized(model: Any, state: State, points: Any, rng: Any) -> Any:
    return memoized.init(model, state, 2)


def take_empirical_bayes(model: Any, state: State, points: Any, rng: Any) -> Any:
    return empirical_bayes.update(model, state, points, [None], rho=0.5, rng=rng)


@pytest.mark.parametrize(
    ("take", "words"),
    [
        (take_adaptive, "an adaptive learning rate .* GradientVector, Plain lacks gradient"),
        (take_batch, "batch variational Bayes .* WholeDataTotals, Plain lacks add_statistics"),
        (take_streaming_batch, "batch variational Bayes .* WholeDataTotals, Plain lacks"),
        (take_streaming_vb, "streaming variational Bayes .* PosteriorAddition, Plain lacks add"),
        (take_memoized, "memoized inference .* RunningTotals, Plain lacks exact_local, exchange"),
        (take_empirical_bayes, "empirical Bayes .* LearnablePriors, Plain lacks prior_evidence"),
    ],
)
def test_a_model_without_a_capability_is_refused(take: Callable[..., Any], words: str) -> None:
    """With algorithm, capability and model named, and the state as it was."""
    model = Plain()
    state, points = start(model)
    before = snapshot(state)
    with pytest.raises(TypeError, match=words):
        take(model, state, points, np.random.default_rng(2))
    assert snapshot(state) == before


def test_require_returns_the_model() -> None:
    model = PoissonMixture(3, 5)
    assert require(model, PosteriorAddition, "this test") is model


class RateEvidence:
    """Draws of a rate from Gamma(a, rate b) with a known: the likeliest b is a n / sum of draws."""

    def __init__(self, b: float, a: float, mean: float) -> None:
        self.b, self.a, self.mean = b, a, mean

    def improved(self, rho: float) -> Any:
        return np.array([(1 - rho) * self.b + rho * self.a / self.mean])


class Learning(PoissonMixture):
    """Poissons whose prior's rate b is learned: empirical Bayes without a Dirichlet."""

    def prior_evidence(
        self, lambda_: Any, prior: Any, batch: Any, locals_: Any, rng: Any, *options: float
    ) -> Any:
        rates = self.expected(lambda_, prior).rates
        return {"b": RateEvidence(prior.b, prior.a, float(rates.mean()))}

    def replace_prior(self, lambda_: Any, prior: Any, batch: Any, values: Any) -> Any:
        return lambda_, PoissonPrior(prior.alpha, prior.a, float(values["b"][0]))


def test_any_conjugate_prior_can_be_learned() -> None:
    """The mean rate of the data is 3, and the prior's a / b goes there."""
    model = Learning(3, 5, "float64")
    state, _ = start(model)
    beliefs = None
    for _ in range(30):
        state, info = batch.step(model, state, DATA, [slice(0, 60)], beliefs, n_local=1)
        beliefs = info.local
        state = empirical_bayes.update(
            model, state, None, info.local, rho=1.0, rng=None, learn=("b",)
        )
    assert state.prior.a / state.prior.b == pytest.approx(3.0, rel=0.1)
    kept = empirical_bayes.update(model, state, None, [], rho=1.0, rng=None, learn=("a",))
    assert kept is state
