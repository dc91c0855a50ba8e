"""Streaming variational Bayes (section 3.2 of the paper; Broderick et al. 2013).

The posterior of one batch is the prior of the next, equations 19 and 20:

    lambda_{n+1} = argmin_lambda KL( q_lambda || p(x_n | beta) q_{lambda_n} / Z ),   lambda_0 = eta,

and with the batch's local beliefs that is coordinate ascent on

    sum_i E[log p(x_i, z_i | beta) / q(z_i)] - KL(lambda, lambda_n),

whose steps are phi = argmax given lambda, and lambda = lambda_n + s(phi). Neither the number of
data points nor a learning rate enters. Each batch counts once and for ever: data that are shown
twice count twice.

Each batch starts from random beliefs (`random_start` of the model), since at lambda_0 = eta all
topics or components are equal, and equal ones stay so.

Not for single words. A document has to come as a whole, because mean field decouples its topic
proportions theta from its topic assignments z. After the first word, q(theta) q(z) takes the place
of p(theta) p(z | theta) in the next target,

    p~(theta, z) = q(theta) q(z) p(x | z),

where theta and z are independent already: the next word changes q(z), and q(theta) never again.
Given as documents of their own, words do not even share theta: every one has gamma = alpha + phi
with phi from lambda and alpha alone, and at lambda_0 = eta with equal alpha, phi is 1/K but for the
random start. `tests/inference/test_word_by_word.py` shows both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trustream._schema import Array
from trustream.array_types import Float64
from trustream.inference.algorithm import Algorithm, Start, StepOptions
from trustream.inference.memory_format import MemoryFormat
from trustream.inference.state import Info, State, advance
from trustream.models.capabilities import LearnablePriors, PosteriorAddition, has, require
from trustream.models.dirichlet_evidence import DirichletEvidence
from trustream.models.protocol import Batch, ConjugateModel

_NAME = "streaming variational Bayes"


@dataclass(frozen=True, slots=True)
class Draws:
    """What alpha is learned from: all draws of theta so far.

    Attributes:
        log_sum: (K,) sum of E[log theta_k] over documents, each as its batch left it.
        count: number of documents.
    """

    log_sum: Float64
    count: float


def _arrays(arrays: Mapping[str, Array], gradient: Sequence[str]) -> dict[str, Array]:
    """Of `Draws`."""
    return {
        "log_sum": Array(arrays["prior.alpha"].shapes),
        "count": Array([()], ("float64", "int64"), least=0.0),
    }


MEMORY = MemoryFormat(Draws, _arrays)


def init(model: ConjugateModel, prior: Any) -> State:
    """lambda_0 = eta: nothing seen yet.

    Raises:
        TypeError: the model has no `PosteriorAddition`.
    """
    model = require(model, PosteriorAddition, _NAME)
    return State(model.posterior(prior, model.zero_statistics()), prior)


def step(
    model: ConjugateModel,
    state: State,
    batch: Batch,
    *,
    n_inner: int,
    n_local: int,
    rng: np.random.Generator,
    local_tol: float = 0.0,
    tol: float | None = None,
    learn: bool = False,
    start: Any | None = None,
) -> tuple[State, Info]:
    """Iterate local and global step on one batch, and keep the result as the next prior.

    `info.objective` is the objective above after each pair, if `tol` is given; it never falls.

    Args:
        n_inner: most pairs of global and local step.
        n_local, local_tol: of a local step.
        rng: draws where the batch starts.
        tol: stop when a pair raises the objective by less than this many nats per data point; None
            does `n_inner` pairs and does not compute the objective, which takes its time.
        learn: whether alpha is learned (`learned`), if the model has `LearnablePriors`.
        start: a Natural for the first local step; None is the model's `random_start`.

    Raises:
        FloatingPointError: the new lambda is not finite; `state` is as it was.
        TypeError: the model has no `PosteriorAddition`.
    """
    model, prior = require(model, PosteriorAddition, _NAME), state.prior
    anchor = model.restrict(state.lambda_, prior, batch)
    natural = model.random_start(prior, batch, rng) if start is None else start
    local, _ = model.beliefs(prior, batch, None)
    # Its beliefs give the first lambda and are then dropped: a document that went on from them
    # would stay in the topics that the random start drew for it, and no planted topic is found.
    _, statistics = model.local_step(natural, prior, batch, local, n_local, local_tol)
    objective: list[float] = []
    n_done = 0
    while n_done < n_inner:
        natural = model.add(anchor, prior, batch, statistics)
        local, statistics = model.local_step(natural, prior, batch, local, n_local, local_tol)
        n_done += 1
        if tol is None:
            continue
        bound = float(model.local_bound(natural, prior, batch, local).sum())
        objective.append(bound - model.divergence(natural, prior, batch, anchor))
        if len(objective) > 1 and objective[-1] - objective[-2] < tol * batch.size:
            break
    natural = model.add(anchor, prior, batch, statistics)
    # Learning rate 0 where the batch is silent: lambda_n stays.
    state = advance(model, state, batch, natural, 0.0)
    if learn and has(model, LearnablePriors):
        state = learned(model, state, batch, local, rng)
    size = batch.size
    info = Info(state.n_steps, 1.0, size, size, n_done, local, tuple(objective))
    return state, info


def learned(
    model: ConjugateModel, state: State, batch: Batch, local: Any, rng: np.random.Generator
) -> State:
    """alpha after one safeguarded Newton step on the evidence of all documents so far.

    eta stays: after the first batch it is nowhere but in lambda.
    """
    model = require(model, LearnablePriors, f"learning alpha in {_NAME}")
    evidence = model.prior_evidence(state.lambda_, state.prior, batch, [local], rng)
    new = evidence.get("alpha")
    if not isinstance(new, DirichletEvidence):
        return state  # there is no Dirichlet alpha, so there are no draws from it
    log_sum, count = new.n_draws * new.mean_log, new.n_draws
    if isinstance(state.memory, Draws):
        log_sum, count = log_sum + state.memory.log_sum, count + state.memory.count
    mean_log = log_sum / max(count, 1.0)
    value = new._replace(mean_log=mean_log, n_draws=count).improved(rho=1.0)
    lambda_, prior = model.replace_prior(state.lambda_, state.prior, batch, {"alpha": value})
    return replace(state, lambda_=lambda_, prior=prior, memory=Draws(log_sum, count))


class StreamingVB(Algorithm):
    """Each batch once, in batches of 1,000 as in section 4.3 of the paper."""

    name, data = "streaming-vb", "arrivals"
    batch_size, n_inner = 1_000, 100
    memory = MEMORY

    def init(self, model: Any, prior: Any, rng: np.random.Generator, start: Start | None) -> State:
        """lambda_0 = eta, whatever the start: that is for the first batch."""
        return init(model, prior)

    def step(
        self, model: Any, state: State, batch: Any, options: StepOptions
    ) -> tuple[State, Info]:
        """Learn from a batch; the first starts where any fit would, at data points if need be."""
        first = None
        if state.n_seen == 0 and options.start is not None:
            lambda_ = options.start(state.prior, options.rng)
            first = model.restrict(lambda_, state.prior, batch)
        return step(
            model,
            state,
            batch,
            n_inner=options.n_inner,
            # A single pair is compared with nothing.
            tol=options.tol if options.n_inner > 1 else None,
            rng=options.rng,
            learn="alpha" in options.learn,
            start=first,
            **options.local,
        )

    def n_passes(self, n_documents: int, batch_size: int, wanted: int) -> int:
        """One: what is seen twice counts twice."""
        return 1
