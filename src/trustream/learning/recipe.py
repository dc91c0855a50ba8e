"""A recipe: every decision of how to learn, with all numbers filled in.

Estimators and trainers make one from their parameters by `learning.defaults`, which knows all
defaults and the rules behind them. A recipe holds plain values only, so that a checkpoint can keep
it: a model goes on as it began, whatever the defaults are by then.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import NamedTuple

from trustream.inference import schedules
from trustream.inference.schedules import Schedule
from trustream.inference.state import State

# Fewer steps than these leave topics unused: batches are at most this share of the data, ...
LEAST_STEPS_PER_PASS = 20
# ... and where there would be fewer steps in all, they shrink, down to a part of their size, unless
# a recipe says otherwise. After as many, a stream has found its topics, and they settle.
LEAST_STEPS = 100
# Of this many times the data and more, topics were seen to stay alike (docs/notes/streams.md).
LARGEST_MULTIPLE = 1000


class DataSize(NamedTuple):
    """How much there is to learn from.

    Attributes:
        n_documents: N, data points; not a whole number where users say what batches stand for.
        n_tokens: of all of them; data points, where these have no tokens.
        n_words: different words that occur.
    """

    n_documents: float
    n_tokens: float
    n_words: int = 0


@dataclass(frozen=True)
class Effort:
    """Most iterations of a step.

    Attributes:
        n_inner: pairs of local and global update in a trust-region step; pairs or passes on a
            batch of the streaming algorithms.
        n_local: iterations of a local step.
    """

    n_inner: int
    n_local: int


@dataclass(frozen=True)
class Recipe:
    """How to learn, with every default filled in.

    Attributes:
        method: name of the algorithm (`learning.algorithms`).
        adaptive: whether the learning rate is found from the gradients.
        tau, kappa: of the schedule rho = (tau + t)^-kappa.
        cooldown: share of a fit's steps, at its end, over which the rate falls to zero.
        batch_size: B, or None for a batch of about `batch_tokens`.
        batch_tokens: tokens of a batch; data points, where these have no tokens.
        batch_least_part: batches may shrink to this part of their size if a fit would otherwise
            have fewer than `least_steps`.
        max_iter: passes over the data, or looks at each document, that learning is made for.
        effort: of a step.
        first: (n, effort) of a model's first n steps, if it is another.
        late: (looks, effort) once each data point was looked at so often in a fit or a stream, if
            it is another.
        local_tol: a local step ends for a data point whose beliefs change by less.
        tol: what runs until it converges stops when it gains less, in nats per data point.
        learn: names of the priors that empirical Bayes changes.
        max_doc_topics: a local step of LDA goes on with at most so many topics of a document;
            None with all.
        population: least number of data points that lambda stands for while learning; None is N.
        tokens_per_pair: the population has so many tokens for each pair of topic and word.
        data_multiple: the population is so many times the data.
        equal_documents: the prior of local parameters is learned as if there were so many more data
            points for each component, in which all components are equally frequent.
        least_separation: a step whose data points tell components apart by less, from 0 to 1,
            leaves the prior of local parameters as it is; 0 learns it from any.
        least_steps_per_pass: a batch is at most so small a part of all data.
        least_steps: of a fit, for which batches may shrink, ...
        least_documents: ... but not to fewer data points.
        settling: steps after which the rate of a stream falls like 1/t (`streaming.clock`); None
            never.
        n_parts: P, parts of a batch whose statistics are added up (`inference.divided`). The same
            P gives the same numbers in one process and on any number of workers.
        exact_steps: steps of a model after which each part solves its own subproblem; None never.
    """

    method: str
    adaptive: bool
    tau: float
    kappa: float
    cooldown: float
    batch_size: int | None
    batch_tokens: float
    batch_least_part: float
    max_iter: int
    effort: Effort
    local_tol: float
    tol: float
    learn: tuple[str, ...]
    first: tuple[int, Effort] | None = None
    late: tuple[float, Effort] | None = None
    max_doc_topics: int | None = None
    population: float | None = None
    tokens_per_pair: float = 0.0
    data_multiple: float = 0.0
    equal_documents: float = 0.0
    least_separation: float = 0.0
    settling: float | None = None
    n_parts: int = 1
    exact_steps: int | None = None
    least_steps_per_pass: int = LEAST_STEPS_PER_PASS
    least_steps: int = LEAST_STEPS
    least_documents: int = 1

    @property
    def has_population(self) -> bool:
        """Whether learning is for a population; without one it is as in the paper."""
        return self.population is not None or self.tokens_per_pair > 0 or self.data_multiple > 0

    def population_for(self, size: DataSize, n_components: int) -> float | None:
        """The population for so much data, None for the data themselves.

        >>> from trustream.learning.defaults import for_topics
        >>> for_topics(100).population_for(DataSize(1_000, 100_000.0, 5_000), 100)
        150000.0
        """
        if not self.has_population:
            return None
        pairs = float(n_components) * size.n_words
        wanted = self.tokens_per_pair * pairs * size.n_documents / max(size.n_tokens, 1.0)
        multiple = max(1.0, self.data_multiple) * size.n_documents
        return max(multiple, self.population or 0.0, wanted)

    @property
    def passes_if_idle(self) -> int:
        """Looks at each document of a store in which nothing arrives, until there is no more to do.

        >>> from trustream.learning.defaults import for_stream
        >>> for_stream(100).passes_if_idle, for_stream(100, population=None).passes_if_idle
        (5, 2)
        """
        return self.max_iter if self.has_population else 2

    def check_population(self, n_documents: float) -> None:
        """Refuse a population that is smaller than the data, of which the number is known.

        Warns of one that is so much larger that the first batch would drown the random start, by
        which components begin to differ.

        >>> from trustream.learning.defaults import for_topics
        >>> for_topics(10, population=50).check_population(100)
        Traceback (most recent call last):
        ...
        ValueError: population is 50, and there are 100 documents: give at least as many, "auto", \
or None for the documents that there are
        """
        if self.population is not None and self.population < n_documents:
            raise ValueError(
                f"population is {self.population:g}, and there are {n_documents:g} documents: give "
                'at least as many, "auto", or None for the documents that there are'
            )
        if self.population is not None and self.population > LARGEST_MULTIPLE * n_documents:
            warnings.warn(
                f"population is {self.population:g}, and there are {n_documents:g} documents: "
                f"components may not come apart. Use at most {LARGEST_MULTIPLE:,} times the "
                'documents, or "auto"',
                UserWarning,
                stacklevel=2,
            )

    def batch_size_for(self, size: DataSize) -> int:
        """Data points of a batch of so much data.

        >>> from trustream.learning.defaults import for_topics
        >>> recipe = for_topics(100)
        >>> [recipe.batch_size_for(DataSize(n, 100.0 * n)) for n in (500, 4_000, 40_000)]
        [25, 66, 600]
        """
        if self.batch_size is not None:
            return self.batch_size
        n_documents = size.n_documents
        wanted = self.batch_tokens * n_documents / max(size.n_tokens, 1.0)
        least = max(self.batch_least_part * wanted, self.least_documents)
        enough = max(least, n_documents * self.max_iter / self.least_steps)
        return max(1, int(min(wanted, enough, n_documents / self.least_steps_per_pass)))

    def effort_at(self, n_steps: int, looks: float) -> Effort:
        """The effort of a step.

        Args:
            n_steps: steps that the model has taken.
            looks: at each data point so far, in this fit or stream.
        """
        if self.first is not None and n_steps < self.first[0]:
            return self.first[1]
        if self.late is not None and looks >= self.late[0]:
            return self.late[1]
        return self.effort

    @property
    def schedule(self) -> Schedule:
        """The learning rate of data that go on for ever."""
        return schedules.decaying(self.tau, self.kappa)

    def fit_schedule(self, state: State, n_steps: int) -> Schedule:
        """The learning rate of a fit of so many steps that starts from `state`."""
        last = state.n_steps + n_steps
        return schedules.cooling(self.schedule, state.n_steps, last, self.cooldown)
