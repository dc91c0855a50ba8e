"""Trust-region step (Algorithm 1 of the paper).

The batch's subproblem, equation 11,

    lambda_{t+1} = argmax_lambda { L_n(lambda) - xi KL(lambda, lambda_t) },   rho = 1 / (1 + xi),

is solved by coordinate ascent from beliefs that owe nothing to lambda_t (uniform ones): blend,
then `n_inner` pairs of local step and blend. That start is what lets a step leave a local optimum.

At rho = 1 nothing of lambda_t is left in the first blend. With uniform beliefs all topics or
components would be equal, and they would stay so: equal ones are a fixed point. There the pairs
start from lambda_t itself.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from trustream.inference.algorithm import Algorithm, StepOptions
from trustream.inference.driver import Step
from trustream.inference.state import Info, State, advance
from trustream.inference.stochastic import StochasticAlgorithm
from trustream.models.protocol import Batch, ConjugateModel


class Solution(NamedTuple):
    """Where coordinate ascent on a batch's subproblem has come to.

    Attributes:
        natural: the Natural of the new lambda.
        local, statistics: beliefs of the batch, and what `natural` was last blended with.
        n_inner: pairs of local step and blend done.
        objective: penalised objective after each pair, if it was asked for.
    """

    natural: Any
    local: Any
    statistics: Any
    n_inner: int
    objective: tuple[float, ...]


def step(
    model: ConjugateModel,
    state: State,
    batch: Batch,
    *,
    rho: float,
    n_documents: float,
    n_inner: int,
    n_local: int,
    local_tol: float = 0.0,
    tol: float | None = None,
    phi: Any | None = None,
    blend_first: bool = True,
) -> tuple[State, Info]:
    """One trust-region step: `solve`, and store the result.

    Args:
        model: any model.
        state: consumed; go on with the returned one.
        batch, rho, n_documents and the rest: see `solve`.
    """
    anchor = model.restrict(state.lambda_, state.prior, batch)
    found = solve(
        model, anchor, state.prior, batch, rho=rho, n_documents=n_documents, n_inner=n_inner,
        n_local=n_local, local_tol=local_tol, tol=tol, phi=phi, blend_first=blend_first,
    )  # fmt: skip
    state = advance(model, state, batch, found.natural, rho)
    return state, Info(
        state.n_steps, rho, n_documents, batch.size, found.n_inner, found.local, found.objective
    )


def solve(
    model: ConjugateModel,
    anchor: Any,
    prior: Any,
    batch: Batch,
    *,
    rho: float,
    n_documents: float,
    n_inner: int,
    n_local: int,
    local_tol: float = 0.0,
    tol: float | None = None,
    phi: Any | None = None,
    blend_first: bool = True,
) -> Solution:
    """Coordinate ascent on the subproblem of a batch.

    Args:
        model: any model.
        anchor: the Natural of lambda_t.
        prior: of the model.
        batch: B data points, as the model prepared them.
        rho: learning rate in (0, 1].
        n_documents: N, the number of data points that the batch stands for.
        n_inner: most pairs of local step and blend (m in the paper).
        n_local: most iterations of a local step (M in the paper).
        local_tol: a local step stops for a data point whose beliefs change by less.
        tol: stop when a pair raises the penalised objective by less than this many nats per data
            point; None does `n_inner` pairs and does not compute the objective.
        phi: beliefs to start from, as the model's `beliefs` takes them; None is uniform.
        blend_first: whether lambda is first blended with the starting beliefs (never with uniform
            ones at rho = 1). Without it, one pair is the natural-gradient step.
    """
    scale = n_documents / batch.size
    local, statistics = model.beliefs(prior, batch, phi)
    natural = anchor
    if blend_first and (rho < 1 or phi is not None):
        natural = model.blend(anchor, prior, batch, statistics, rho, scale)
    objective: list[float] = []
    n_done = 0
    while n_done < n_inner:
        local, statistics = model.local_step(natural, prior, batch, local, n_local, local_tol)
        # At lambda_t itself the words that the batch lacks have not decayed: another constant.
        if tol is not None and natural is not anchor:
            objective.append(
                penalised_objective(model, prior, batch, anchor, natural, local, rho, scale)
            )
        natural = model.blend(anchor, prior, batch, statistics, rho, scale)
        n_done += 1
        if len(objective) > 1 and objective[-1] - objective[-2] < (tol or 0.0) * n_documents:
            break
    return Solution(natural, local, statistics, n_done, tuple(objective))


def penalised_objective(
    model: ConjugateModel,
    prior: Any,
    batch: Batch,
    anchor: Any,
    natural: Any,
    local: Any,
    rho: float,
    scale: float,
) -> float:
    """L_n(lambda, phi) - xi KL(lambda, lambda_t) in nats, up to a constant of this step.

    L_n = (N/B) sum_n E[log p(x_n, z_n | beta) / q(z_n)] - KL(lambda, eta), with phi the optimum
    given lambda and the local beliefs.
    """
    xi = 1 / rho - 1
    value = scale * float(model.local_bound(natural, prior, batch, local).sum())
    value -= model.divergence(natural, prior, batch, None)
    if xi > 0:
        value -= xi * model.divergence(natural, prior, batch, anchor)
    return value


class TrustRegion(StochasticAlgorithm):
    """Algorithm 1 of the paper."""

    name = "trust-region"
    gains_from_small_batches = True
    later_steps_need_less = True

    def update(self, options: StepOptions) -> Step:
        """`step` with its settings filled in."""
        return partial(step, n_inner=options.n_inner, **options.local)

    def divided(self) -> Algorithm:
        """Each part solves its own subproblem."""
        # Not at the top: it is made of what stands here.
        from trustream.inference.divided import DividedTrustRegion

        return DividedTrustRegion()
