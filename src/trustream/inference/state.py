"""What passes from step to step, and what a step tells about itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trustream.array_types import Float64
from trustream.models.capabilities import Averaging, require
from trustream.models.protocol import Batch, ConjugateModel

# The logarithm of nothing left would say nothing of what comes after.
_MOST_WEIGHT = 1.0 - 1e-12
# Of a mean, what is left to be of no concern.
_LITTLE = 0.02
# A part of the mean that is younger is taken for so old: a few batches say little.
_YOUNGEST = 0.1


class LateParts(NamedTuple):
    """Parts of a mean that came after its beginning, such as rows of new words.

    A mean of which a part begins late, at nothing, has of it only the share of its weights that
    came since,

        A = 1 - prod_t (1 - w_t)  over the steps t since then,

    and A becomes one only after a window. So the part is divided by A when it is shown. Where the
    data points that brought the part come up before others, a step takes n_t of the W_t of them
    that wait: what the part has of them is 1 - prod_t (1 - n_t / W_t), and A grows by the larger of
    w_t and n_t / W_t.

    Attributes:
        places: (n,) where they are in lambda.
        log_kept: (n,) what the mean's `log_kept` was.
    """

    places: NDArray[np.int64]
    log_kept: Float64

    def gains(self, log_kept: float) -> Float64:
        """1 / A of each, (n,)."""
        return np.asarray(1.0 / np.maximum(_YOUNGEST, -np.expm1(log_kept - self.log_kept)))

    def changed(self, new: Sequence[int], gone: Sequence[int], log_kept: float) -> LateParts:
        """With those that come now, without those that go, and those that are old by now."""
        is_young = log_kept - self.log_kept > math.log(_LITTLE)
        kept = is_young & ~np.isin(self.places, np.array([*new, *gone], np.int64))
        return LateParts(
            np.concatenate([self.places[kept], np.array(new, np.int64)]),
            np.concatenate([self.log_kept[kept], np.full(len(new), log_kept)]),
        )


NONE_LATE = LateParts(np.empty(0, np.int64), np.empty(0))


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean beside lambda, which is what is shown (`inference.population`).

    Attributes:
        lambda_: shaped like lambda.
        weight: most of what the next step counts in the mean; never more than its rate.
        log_kept: logarithm of what a part that was there from the beginning lacks of its data,
            sum_t log(1 - max(w_t, n_t / W_t)).
        late: parts of lambda that came later, with the `log_kept` of that moment.
        new_share: n_t / W_t of the next step.
    """

    lambda_: Any
    weight: float = 1.0
    log_kept: float = 0.0
    late: LateParts = NONE_LATE
    new_share: float = 0.0


@dataclass(frozen=True, slots=True)
class State:
    """All that the next step needs.

    A step consumes the state that it is given (`lambda_` may be changed in place): go on with the
    one that it returns.

    Attributes:
        lambda_: global parameters, opaque to algorithms.
        prior: the model's prior, perhaps learned.
        n_steps: t, steps taken.
        n_seen: data points processed, counted once per visit.
        memory: what an algorithm keeps for itself beside lambda, a dataclass of its own module, or
            None. An algorithm that finds the memory of another one starts without it.
        population: the number of data points that lambda stands for, if it is not the number that
            there is (`inference.population`).
        share: the part of the population that there is, N / N_pop.
        smoothing: eta of what is shown, if it is not the prior's (`inference.population`).
        mean: what is shown in the place of lambda, if one is kept.
    """

    lambda_: Any
    prior: Any
    n_steps: int = 0
    n_seen: int = 0
    memory: Any = None
    population: float | None = None
    share: float = 1.0
    smoothing: float | None = None
    mean: Mean | None = None


@dataclass(frozen=True, slots=True)
class Info:
    """Diagnostics of one step.

    Attributes:
        n_steps: steps taken, this one included.
        rho: learning rate used.
        n_documents: N, the number of data points that the batch stood for.
        batch_size: B.
        n_inner: pairs of local step and blend done.
        local: the batch's beliefs at the end.
        objective: bound or penalised objective in nats after each pair, if it was asked for.
        memory: bytes that the algorithm keeps between steps, lambda not counted.
    """

    n_steps: int
    rho: float
    n_documents: float
    batch_size: int
    n_inner: int
    local: Any
    objective: tuple[float, ...] = ()
    memory: int = 0


def advance(model: ConjugateModel, state: State, batch: Batch, natural: Any, rho: float) -> State:
    """Store a step's result, unless it is not finite: then the state stays as it was.

    Raises:
        FloatingPointError: the update holds infinities or NaN; nothing was stored.
    """
    natural = model.materialise(natural)
    refuse_unless_finite(model, natural)
    mean = state.mean
    if mean is None:
        lambda_ = model.commit(state.lambda_, state.prior, batch, natural, rho)
    else:
        averaging = require(model, Averaging, "a mean of lambda")
        weight = min(rho, mean.weight)
        lambda_, table = averaging.commit_averaged(
            mean.lambda_, state.lambda_, state.prior, batch, natural, rho, weight
        )
        covered = min(max(weight, mean.new_share), _MOST_WEIGHT)
        mean = replace(mean, lambda_=table, log_kept=mean.log_kept + math.log1p(-covered))
    n_steps, n_seen = state.n_steps + 1, state.n_seen + batch.size
    return replace(state, lambda_=lambda_, n_steps=n_steps, n_seen=n_seen, mean=mean)


def refuse_unless_finite(model: ConjugateModel, value: Any) -> None:
    """Raise FloatingPointError if a lambda_ or a materialised Natural holds infinities or NaN."""
    if not model.is_finite(value):
        raise FloatingPointError(
            "the update is not finite and was refused; the model is as it was before this batch. "
            "Look for extreme values in the batch, or a wrong number of data points to scale by."
        )
