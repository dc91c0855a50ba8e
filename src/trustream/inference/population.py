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
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from trustream.inference.state import State
from trustream.models.protocol import Rescaling, require


def scaled_to(model: Any, state: State, population: float, n_documents: float) -> State:
    """The state with a lambda that stands for `population` data points, of which n_documents exist.

    A lambda that stands for nothing yet, a random start, stays as it is.
    """
    share = n_documents / population
    if state.population is None or state.population == population:
        return replace(state, population=population, share=share)
    model = require(model, Rescaling, "a population that changes")
    factor = population / state.population
    lambda_ = model.rescaled(state.lambda_, state.prior, factor)
    return replace(state, lambda_=lambda_, population=population, share=share)


def published(model: Any, state: State) -> State:
    """The state for the data that there are: what is shown, scored and used.

    Its lambda may share memory with that of the state.
    """
    if state.population is None or state.share == 1.0:
        return replace(state, population=None, share=1.0)
    model = require(model, Rescaling, "a population")
    lambda_ = model.rescaled(state.lambda_, state.prior, state.share)
    return replace(state, lambda_=lambda_, population=None, share=1.0)
