"""A population: more data points than there are, for which a batch's statistics stand.

With few documents the bound itself prefers few topics: it charges for K V parameters, and a few
hundred documents do not pay for a hundred topics. Topics that die then do not come back when more
documents arrive. A step whose statistics stand for N_pop > N data points,

    lambda = (1 - rho) lambda_t + rho (eta + N_pop/B s),

has the fixed points of the sum of local bounds minus (N / N_pop) KL(q || p), a cold posterior, in
which parameters cost less; McInerney et al. (2015) call N_pop the population. But a posterior that
claims to have seen N_pop data points smooths too little. What is shown is the posterior for the
data that there are,

    eta + (N / N_pop) (lambda - eta),

and eta is learned from that. When N_pop changes, lambda is rescaled in the same way, so that it
never mixes two scales.

Where a learning rate does not fall to zero, lambda keeps the noise of the batches it saw last. A
mean beside it, fed the same statistics with smaller weights w,

    mu <- (1 - w) mu + w (eta + N_pop/B s),

does not, and is what is shown (`State.mean`). What lambda learns from is not changed by it. Parts
of lambda that came after the mean's beginning, rows of new words, are shown as the mean since then
(`LateParts`).

The eta that makes topics likely is not the one by which they predict best. Where a model can tell
(`Smoothing`), what is shown has an eta of its own, `State.smoothing`, found by leaving training
documents out.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from trustream.array_types import Float64
from trustream.inference.state import Mean, State
from trustream.models.capabilities import (
    Averaging,
    LateGains,
    Rescaling,
    Seeding,
    Smoothing,
    has,
    require,
)


def scaled_to(model: Any, state: State, population: float, n_documents: float) -> State:
    """The state with a lambda that stands for `population` data points, of which n_documents exist.

    A lambda that stands for nothing yet, a random start, stays as it is; one that was learned
    without a population stands for n_documents.
    """
    share = n_documents / population
    before = state.population
    if before is None:
        before = n_documents if state.n_steps else population
    if before != population:
        model = require(model, Rescaling, "a population that changes")
        factor, mean = population / before, state.mean
        if mean is not None:
            mean = replace(mean, lambda_=model.rescaled(mean.lambda_, state.prior, factor))
        lambda_ = model.rescaled(state.lambda_, state.prior, factor)
        return replace(state, lambda_=lambda_, mean=mean, population=population, share=share)
    if state.population == population and state.share == share:
        return state
    return replace(state, population=population, share=share)


def for_data(model: Any, state: State) -> State:
    """The state for the data that there are, with the mean in the place of lambda if there is one.

    Its lambda may share memory with that of the state.
    """
    mean = state.mean
    if mean is not None:
        table = mean.lambda_
        if mean.late.places.size:
            late = require(model, LateGains, "a mean with late parts")
            table = late.with_gains(table, mean.late.places, mean.late.gains(mean.log_kept))
        state = replace(state, lambda_=table, mean=None)
    if state.share == 1.0 and state.population is None:
        return state
    lambda_ = lambda_for_data(model, state)
    return replace(state, lambda_=lambda_, population=None, share=1.0)


def lambda_for_data(model: Any, state: State) -> Any:
    """lambda for the data that there are, whether there is a mean or not.

    It may share memory with that of the state.
    """
    if state.share == 1.0:
        return state.lambda_
    model = require(model, Rescaling, "a population")
    return model.rescaled(state.lambda_, state.prior, state.share)


def published(model: Any, state: State) -> State:
    """The state that is shown, scored and used: for the data that there are, and well smoothed.

    Its lambda may share memory with that of the state.
    """
    state = for_data(model, state)
    if has(model, Seeding):
        # They have been learned from; documents that are looked at have no more tokens than theirs.
        state = replace(state, prior=model.unseeded(state.prior))
    if state.smoothing is None:
        return state
    model = require(model, Smoothing, "smoothing")
    lambda_, prior = model.smoothed(state.lambda_, state.prior, state.smoothing)
    return replace(state, lambda_=lambda_, prior=prior, smoothing=None)


def with_mean(model: Any, state: State, weight: float | None, new_share: float = 0.0) -> State:
    """The state with a mean that counts the next step by so much; None keeps none.

    A mean begins as a copy of lambda. The next step looks at `new_share` of the data points that
    were never looked at.
    """
    if weight is None or not has(model, Averaging) or not model.can_average:
        return state if state.mean is None else replace(state, mean=None)
    mean = state.mean or Mean(copy.deepcopy(state.lambda_))
    return replace(state, mean=replace(mean, weight=weight, new_share=new_share))


def with_smoothing(
    model: Any, state: State, data: Any, weight: float | Float64, rng: np.random.Generator
) -> State:
    """The state with the smoothing that training data ask for; the same if the model has none.

    Args:
        data: validated rows.
        weight: how often each of them stands in what is shown, one number or one for each row.
        rng: draws those that are left out.
    """
    if not has(model, Smoothing):
        return state
    shown = for_data(model, state)
    found = model.smoothing(shown.lambda_, shown.prior, data, weight, state.smoothing, rng)
    return replace(state, smoothing=found)
