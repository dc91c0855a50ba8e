"""What only some algorithms ask of a model: capabilities that it may have.

Every algorithm relies on `ConjugateModel` (`models.protocol`). A capability is a protocol of its
own, and an algorithm refuses a model that lacks the capability that it needs:

=================== ==================================================== ========================
capability          what it computes                                     algorithms
=================== ==================================================== ========================
`WholeDataTotals`   eta + sum of s over all data                         batch VB, streaming batch
`PosteriorAddition` lambda_t + s                                         streaming VB
`RunningTotals`     total - old s + new s, and its share of the bound    memoized
`GradientVector`    eta + (N/B) s - lambda                               adaptive learning rate
`Rescaling`         eta + factor (lambda - eta)                          population
`LearnablePriors`   what eta can be learned from                         empirical Bayes
`Averaging`         a slower mean of what lambda is drawn towards        what is shown
`LateGains`         more weight for parts of a mean that came late       what is shown
`Smoothing`         the eta that predicts documents which are left out   what is shown
`Dividing`          s as a sum over parts of a batch                     steps in parts
`Seeding`           the prior without its seeds                          what is shown
=================== ==================================================== ========================

All but learnable priors, late gains, smoothing, dividing and seeding follow from eta and the family
where a Natural is all of lambda: `DenseModel` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import numpy as np

from trustream.array_types import Float64
from trustream.models.protocol import ConjugateModel

CapabilityT = TypeVar("CapabilityT")


@runtime_checkable
class WholeDataTotals(ConjugateModel, Protocol):
    """Batch VB sums the statistics of all data, block by block: lambda = eta + sum_b s_b."""

    def zero_statistics(self) -> Any:
        """A total of nothing, over all of lambda_."""

    def add_statistics(self, total: Any, batch: Any, statistics: Any) -> Any:
        """total + statistics of a batch; `total` is consumed."""

    def posterior(self, prior: Any, total: Any) -> Any:
        """lambda_ = eta + total; `total` is consumed."""


@runtime_checkable
class PosteriorAddition(WholeDataTotals, Protocol):
    """Streaming VB adds to the posterior, the next batch's prior: lambda_t + s, lambda_0 = eta."""

    def add(self, anchor: Any, prior: Any, batch: Any, statistics: Any) -> Any:
        """lambda_t + s on Naturals: lambda_t is the prior of this batch."""

    def random_start(self, prior: Any, batch: Any, rng: np.random.Generator) -> Any:
        """A random Natural for the first local step on a batch.

        Drawn as `initial` draws, of what the batch touches: equal components would stay equal.
        """


@runtime_checkable
class RunningTotals(ConjugateModel, Protocol):
    """Memoized inference exchanges a batch's old statistics for new ones in a running total:

        total <- total - s_b(old) + s_b(new),   lambda = eta + total.

    Totals are float64, so that taking parts out and putting others in leaves no trace of rounding.
    lambda enters the bound of all data through <E_q[t(beta)], total>, so that the bound is known
    after each exchange without another look at the data (`inference.memoized`).
    """

    @property
    def exact_local(self) -> bool:
        """Whether a local step finds the best beliefs wherever it starts.

        If not, beliefs have to be kept from visit to visit.
        """

    def running_total(self) -> Any:
        """A Total of nothing, over all of lambda_, as a tuple of arrays."""

    def exchange(self, total: Any, batch: Any, old: Any | None, new: Any) -> Any:
        """total - old + new for a batch seen before (`old`) or not (None); `total` is consumed."""

    def restrict_total(self, total: Any, prior: Any, batch: Any) -> Any:
        """The Natural of eta + total for what the batch touches."""

    def lambda_of_total(self, total: Any, prior: Any) -> Any:
        """lambda_ = eta + total; `total` stays."""

    def inner(self, natural: Any, batch: Any, statistics: Any) -> float:
        """<E_q[t(beta)], s>: the part of a batch's bound through which lambda enters, in nats."""

    def inner_total(self, lambda_: Any, prior: Any, total: Any) -> float:
        """<E_q[t(beta)], total> over all of lambda_, in nats."""


@runtime_checkable
class GradientVector(ConjugateModel, Protocol):
    """An adaptive learning rate looks at direction and length of the natural gradient of L_n."""

    def gradient(
        self, lambda_: Any, prior: Any, batch: Any, statistics: Any, scale: float
    ) -> Float64:
        """eta + scale s - lambda, all of it as one vector."""


@runtime_checkable
class Rescaling(ConjugateModel, Protocol):
    """A lambda that can stand for more or fewer data points than it was learned with."""

    def rescaled(self, lambda_: Any, prior: Any, factor: float) -> Any:
        """eta + factor (lambda - eta): what lambda would be with so many times the data.

        It may share memory with lambda_.
        """


@runtime_checkable
class Seeding(ConjugateModel, Protocol):
    """A prior with seeds, which count in learning only."""

    def unseeded(self, prior: Any) -> Any:
        """The prior without seeds."""


@runtime_checkable
class Averaging(ConjugateModel, Protocol):
    """A mean beside lambda, without the noise that a learning rate leaves in lambda."""

    @property
    def can_average(self) -> bool:
        """Whether a mean can be kept with the model's settings."""

    def commit_averaged(
        self,
        mean: Any,
        lambda_: Any,
        prior: Any,
        batch: Any,
        natural: Any,
        rho: float,
        weight: float,
    ) -> tuple[Any, Any]:
        """What `commit` returns, and (1 - w) mean + w (eta + scale s), shaped like lambda_.

        `natural` is (1 - rho) lambda + rho (eta + scale s) for what the batch touches, and w at
        most rho. lambda_, the mean and `natural` are consumed.
        """


@runtime_checkable
class LateGains(ConjugateModel, Protocol):
    """Parts of a mean that began later than the rest are shown for their age."""

    def with_gains(self, lambda_: Any, places: Any, gains: Float64) -> Any:
        """So many times what the data have put into some parts, in memory of its own."""


@runtime_checkable
class Smoothing(ConjugateModel, Protocol):
    """What is shown has an eta of its own, by which data that were left out are predicted best."""

    def smoothing(
        self,
        lambda_: Any,
        prior: Any,
        data: Any,
        weight: float | Float64,
        before: float | None,
        rng: np.random.Generator,
    ) -> float | None:
        """The parameter with which data points that are left out are predicted best.

        lambda_ is that of the data that there are, in which each row of `data` stands `weight`
        times (one number, or one for each row); a sample of them is drawn with `rng`. Few data
        move the parameter a little way only from what was found `before`. None leaves the prior as
        it is.
        """

    def smoothing_batches(self, data: Any) -> int:
        """How many batches like these data are enough for a steady parameter."""

    def smoothed(self, lambda_: Any, prior: Any, eta: float) -> tuple[Any, Any]:
        """lambda_ and prior with that parameter, lambda - eta being the same.

        They may share memory with those given.
        """


@runtime_checkable
class Dividing(ConjugateModel, Protocol):
    """Batches in parts, which add up to the batch whoever computes them (`inference.divided`)."""

    def outline(self, batch: Any) -> Any:
        """What is to be known of a part for the batch to be `joined`; small."""

    def joined(self, outlines: Sequence[Any]) -> Any:
        """A batch of parts, given in their order, without its data points.

        Of use for all methods but `local_step` and `local_bound`; `beliefs` has no Local for it.
        """

    def excerpt(self, natural: Any, prior: Any, batch: Any) -> Any:
        """What the parts of a joined batch are computed with, at a Natural of the batch.

        It has a `lambda_` and a `prior` for what the batch touches alone, and `part(batch)` makes
        a batch for them of a part.
        """

    def contribution(self, prior: Any, batch: Any, local: Any, statistics: Any) -> Any:
        """What a part adds to its batch; small beside its data."""

    def summed(self, batch: Any, contributions: Sequence[Any]) -> tuple[Any, Any]:
        """(Local, Statistics) of a joined batch, added in the order of parts.

        The Local is what `prior_evidence` takes in the place of beliefs.
        """


class PriorEvidence(Protocol):
    """What a prior's parameter can be learned from: E_q of the prior's sufficient statistics.

    The part of the bound that depends on the parameter eta of a conjugate prior is
    sum_i E_q[log p(beta_i | eta)], the evidence, whatever the family.
    """

    def improved(self, rho: float) -> Float64:
        """The parameter after a step of size rho in (0, 1] that does not lower the evidence."""


@runtime_checkable
class LearnablePriors(ConjugateModel, Protocol):
    """Empirical Bayes moves a prior's parameters to where the posterior is likelier (section 3.1).

    Only `replace_prior` may reuse the memory of lambda_ and prior.
    """

    def prior_evidence(
        self,
        lambda_: Any,
        prior: Any,
        batch: Any | None,
        locals_: list[Any],
        rng: np.random.Generator | None,
        equal: float = 0.0,
        least_separation: float = 0.0,
    ) -> Mapping[str, PriorEvidence]:
        """The `PriorEvidence` of each learnable prior, by name; empty if there is none.

        `locals_` are beliefs of `batch`, or of all data where batch is None. With `rng` a sample
        of what is too much to look at in every step, without it all of it. A part `equal` of the
        evidence of local parameters is that of data points in which all components are equally
        frequent. Where the local parameters tell components apart by less than `least_separation`,
        from 0 to 1, they are no evidence at all.
        """

    def replace_prior(
        self, lambda_: Any, prior: Any, batch: Any | None, values: dict[str, Float64]
    ) -> tuple[Any, Any]:
        """(lambda_, prior) with new values for what `prior_evidence` of the same batch offered.

        The lambda that lambda_ stands for is unchanged; lambda_ and prior are consumed.
        """


@cache
def _members(capability: Any) -> list[str]:
    return [name for name in dir(capability) if not name.startswith("_")]


@cache
def _class_has(model_class: type[Any], capability: Any) -> bool:
    fields = getattr(model_class, "__dataclass_fields__", ())
    return all(name in fields or hasattr(model_class, name) for name in _members(capability))


def has(model: object, capability: Any) -> bool:
    """Whether a model, or what stands for one, has all members of a capability.

    >>> has(object(), LearnablePriors)
    False
    """
    model_class: Any = type(model)
    # Asked several times in each step: most often the class tells.
    return _class_has(model_class, capability) or all(
        hasattr(model, name) for name in _members(capability)
    )


def require(
    model: ConjugateModel, capability: Callable[..., CapabilityT], algorithm: str
) -> CapabilityT:
    """`model`, if it has the capability that an algorithm needs.

    Raises:
        TypeError: names the algorithm, the capability, the model and what it lacks.

    >>> require(object(), GradientVector, "an adaptive learning rate")
    Traceback (most recent call last):
        ...
    TypeError: an adaptive learning rate needs a model with GradientVector, object lacks batch, ...
    """
    if has(model, capability):
        return cast(CapabilityT, model)
    missing = ", ".join(name for name in _members(capability) if not hasattr(model, name))
    name = getattr(capability, "__name__", repr(capability))
    raise TypeError(
        f"{algorithm} needs a model with {name}, {type(model).__name__} lacks {missing}"
    )
