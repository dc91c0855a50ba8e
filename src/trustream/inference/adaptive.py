"""The adaptive learning rate of Ranganath et al. (2013), for any stochastic step.

With g_t = eta + N/B s(phi*) - lambda_t the noisy natural gradient, running averages over a window
of about tau_t steps give the rate that brings lambda closest to where the noiseless step goes:

    g <- (1 - 1/tau) g + g_t / tau,   h <- (1 - 1/tau) h + g_t' g_t / tau,
    rho = g' g / h,   tau <- (1 - rho) tau + 1.

A steady gradient gives a rate near 1 and a short window, noise alone about 1/tau and a long one.

Two safeguards are ours. At tau = 1 the mean is the last gradient alone, so that rho = 1 whatever
the noise, tau = 1 again, and lambda follows the last batch for ever: tau is held at 2 or more. And
at the first step rho would be 1 as well, which forgets the start: the averages are plain means of
the first `N_FIRST` gradients, and the schedule's rate is used until then.

g_t is the gradient at lambda_t, also for the trust-region step, whose own direction depends on the
rate. It costs one local step more (a natural-gradient step takes twice the time) and, for LDA,
a pass over all V K numbers of lambda, in and outside the batch, with a float64 table g as large:
words that the batch lacks have a gradient as well, eta - lambda. Steps with a schedule know nothing
of this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trustream._schema import Array
from trustream.array_types import Float64
from trustream.inference.driver import Step
from trustream.inference.memory_format import MemoryFormat
from trustream.inference.state import Info, State
from trustream.models.capabilities import GradientVector, require
from trustream.models.protocol import Batch, ConjugateModel

# Gradients that the first averages are made of, and the shortest window after that.
N_FIRST, SHORTEST = 10, 2.0


@dataclass(frozen=True, slots=True)
class Averages:
    """The window: mean gradient g, as one vector, mean square h, and tau."""

    gradient: Float64
    square: float
    tau: float
    count: int


def _arrays(arrays: Mapping[str, Array], gradient: Sequence[str]) -> dict[str, Array]:
    """Of `Averages`."""
    shapes = [arrays[f"lambda.{name}"].shapes for name in gradient]
    n_numbers = sum(math.prod(shape) for some in shapes for shape in some or ())
    return {
        "gradient": Array([(n_numbers,)]),
        "square": Array([()], least=0.0),
        "tau": Array([()], least=SHORTEST),
        "count": Array([()], ("int64",), least=1.0),
    }


MEMORY = MemoryFormat(Averages, _arrays)


def averaged(memory: Any, gradient: Float64) -> tuple[float, Averages]:
    """(rho, averages for the next step) with one more gradient.

    >>> rho, window = averaged(None, np.array([3.0, 4.0]))
    >>> rho, window.square, window.tau
    (1.0, 25.0, 2.0)
    """
    square = float(gradient @ gradient)
    if not isinstance(memory, Averages) or memory.gradient.size != gradient.size:
        return 1.0, Averages(gradient, square, 2.0, 1)
    share = 1 / memory.tau
    mean = (1 - share) * memory.gradient + share * gradient
    h = (1 - share) * memory.square + share * square
    # h = 0 is a fixed point: any rate stays there.
    rho = min(1.0, float(mean @ mean) / h) if h > 0 else 1.0
    count = memory.count + 1
    grown = memory.tau if count <= N_FIRST else (1 - rho) * memory.tau
    return rho, Averages(mean, h, max(grown + 1, SHORTEST), count)


def step(
    model: ConjugateModel,
    state: State,
    batch: Batch,
    *,
    rho: float,
    n_documents: float,
    inner: Step,
    n_local: int,
    local_tol: float = 0.0,
) -> tuple[State, Info]:
    """`inner` at the adaptive rate; `rho` is used for the first `N_FIRST` steps.

    Args:
        inner: trust-region or natural-gradient step with its settings filled in.
        n_local, local_tol: of the local step that the gradient needs.

    Raises:
        TypeError: the model is no `GradientVector`.
    """
    model = require(model, GradientVector, "an adaptive learning rate")
    prior = state.prior
    natural = model.restrict(state.lambda_, prior, batch)
    local, _ = model.beliefs(prior, batch, None)
    _, statistics = model.local_step(natural, prior, batch, local, n_local, local_tol)
    scale = n_documents / batch.size
    found, memory = averaged(
        state.memory, model.gradient(state.lambda_, prior, batch, statistics, scale)
    )
    rate = rho if memory.count <= N_FIRST else found
    state, info = inner(model, state, batch, rho=rate, n_documents=n_documents)
    kept = np.asarray(memory.gradient).nbytes
    return replace(state, memory=memory), replace(info, memory=kept)
