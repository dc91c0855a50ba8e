"""A recipe: every decision of how to learn, with all numbers filled in.

Estimators and trainers make one from their parameters by `for_topics` or `for_mixture`, which know
all defaults and the rules behind them. A recipe holds plain values only, so that a checkpoint can
keep it: a model goes on as it began, whatever the defaults are by then. How the numbers were
measured is described in docs/defaults.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from trustream.inference import schedules
from trustream.inference.schedules import Schedule
from trustream.inference.state import State
from trustream.learning import algorithms

# --- batches
# Tokens of a batch of documents, and for each topic. Smaller batches are too noisy for short
# documents and for many topics.
_BATCH_TOKENS, _BATCH_TOKENS_PER_TOPIC = 60_000, 600
# Fewer steps than these leave topics unused: batches are at most this share of the data, ...
_LEAST_STEPS_PER_PASS = 20
# ... and where there would be fewer steps in all, they shrink, down to a part of their size.
# After as many, a stream has found its topics, and they settle.
_LEAST_STEPS, _LEAST_PART = 100, 1 / 3

# --- effort of a step of LDA
_PAIRS = 2
# While topics come apart, in the first steps, longer local steps make better topics; after that
# they make no difference.
_FIRST_STEPS, _LOCAL_FIRST, _LOCAL_LATER = 30, 50, 15
# When the topics are found, after a third of the looks at each document, second pairs make no
# difference either.
_LATE_SHARE, _LATE_PAIRS, _LATE_LOCAL = 1 / 3, 1, 20
# From so many topics on, going on with a tenth of them saves time and loses nothing.
_MANY_TOPICS = 500
# Passes over the data, and so looks at each document, that LDA is given.
PASSES = 5

# Tokens of the population for each pair of topic and word: from 10 to 50 it hardly matters.
_TOKENS_PER_PAIR = 30.0

# Documents for each topic, in which all topics are equally frequent, that alpha is learned from
# beside those that there are. With fewer documents than topics a few topics get most of alpha, and
# keep it when there are many (docs/notes/streams.md).
_EQUAL_DOCUMENTS = 1.0

# Data points of the population of a mixture for each one that there is: from 3 to 10 it hardly
# matters where data are plenty, and less is better where they are few (docs/notes/defaults.md).
_MIXTURE_MULTIPLE = 3.0

# What differs on a stream.
STREAM: dict[str, Any] = {
    "learning_offset": 5.0,
    "learning_decay": 0.5,
    "cooldown": 0.0,
    "tol": 0.01,
}

# By the parameter `learn_priors`.
_LEARNED_PRIORS: dict[Any, tuple[str, ...]] = {
    True: ("alpha", "eta"),
    False: (),
    "alpha": ("alpha",),
    "eta": ("eta",),
    "per-word": ("alpha", "eta"),
}


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
            have too few steps.
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
        settling: steps after which the rate of a stream falls like 1/t (`streaming.clock`); None
            never.
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
    settling: float | None = None

    @property
    def has_population(self) -> bool:
        """Whether learning is for a population; without one it is as in the paper."""
        return self.population is not None or self.tokens_per_pair > 0 or self.data_multiple > 0

    def population_for(self, size: DataSize, n_components: int) -> float | None:
        """The population for so much data, None for the data themselves.

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

        >>> for_stream(100).passes_if_idle, for_stream(100, population=None).passes_if_idle
        (5, 2)
        """
        return self.max_iter if self.has_population else 2

    def check_population(self, n_documents: float) -> None:
        """Refuse a population that is smaller than the data, of which the number is known.

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

    def batch_size_for(self, size: DataSize) -> int:
        """Data points of a batch of so much data.

        >>> recipe = for_topics(100)
        >>> recipe.batch_size_for(DataSize(4_000, 400_000.0))
        200
        >>> recipe.batch_size_for(DataSize(40_000, 4e6))
        600
        """
        if self.batch_size is not None:
            return self.batch_size
        n_documents = size.n_documents
        wanted = self.batch_tokens * n_documents / max(size.n_tokens, 1.0)
        enough = max(self.batch_least_part * wanted, n_documents * self.max_iter / _LEAST_STEPS)
        return max(1, int(min(wanted, enough, n_documents / _LEAST_STEPS_PER_PASS)))

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


def for_topics(
    n_components: int,
    *,
    method: str = "trust-region",
    adaptive: bool = False,
    learning_offset: float = 1.0,
    learning_decay: float = 0.5,
    cooldown: float = 0.5,
    batch_size: int | None = None,
    max_iter: int = PASSES,
    inner_iter: int | None = None,
    max_doc_update_iter: int | None = None,
    max_doc_topics: int | str | None = "auto",
    mean_change_tol: float = 1e-4,
    tol: float = 1e-3,
    learn_priors: bool | str = True,
    collapsed: bool = False,
    population: float | str | None = "auto",
) -> Recipe:
    """The recipe of LDA; arguments as in `trustream.LatentDirichletAllocation`.

    `population` is a number of documents, "auto" for as many as give each pair of topic and word
    enough tokens, or None for the documents that there are.

    >>> recipe = for_topics(100)
    >>> recipe.effort_at(0, 0.0), recipe.effort_at(50, 0.5), recipe.effort_at(50, 2.0)
    (Effort(n_inner=2, n_local=50), Effort(n_inner=2, n_local=15), Effort(n_inner=1, n_local=20))
    """
    algorithm = algorithms.get(method)
    n_inner = inner_iter or algorithm.n_inner or _PAIRS
    first = late = None
    if max_doc_update_iter is not None:
        effort = Effort(n_inner, max_doc_update_iter)
    elif algorithm.name != "trust-region":
        effort = Effort(n_inner, _LOCAL_FIRST)
    else:
        effort = Effort(n_inner, _LOCAL_LATER)
        first = (_FIRST_STEPS, Effort(n_inner, _LOCAL_FIRST))
        # Expected counts take what the uniform blend gives each topic for evidence of larger
        # priors: the collapsed local step keeps its second pair.
        if inner_iter is None and not collapsed:
            late = (_LATE_SHARE * max_iter, Effort(_LATE_PAIRS, _LATE_LOCAL))
    if max_doc_topics == "auto":
        max_doc_topics = n_components // 10 if n_components >= _MANY_TOPICS else n_components
    return Recipe(
        method=algorithm.name,
        adaptive=adaptive,
        tau=learning_offset,
        kappa=learning_decay,
        cooldown=cooldown,
        batch_size=batch_size or algorithm.batch_size,
        batch_tokens=max(_BATCH_TOKENS, _BATCH_TOKENS_PER_TOPIC * n_components),
        batch_least_part=_LEAST_PART,
        max_iter=max_iter,
        effort=effort,
        first=first,
        late=late,
        local_tol=mean_change_tol,
        tol=tol,
        learn=_LEARNED_PRIORS[learn_priors],
        max_doc_topics=max_doc_topics if algorithm.has_rate else None,  # type: ignore[arg-type]
        population=_number(population),
        tokens_per_pair=_TOKENS_PER_PAIR if population == "auto" else 0.0,
        equal_documents=0.0 if population is None else _EQUAL_DOCUMENTS,
    )


def for_stream(n_components: int, **options: Any) -> Recipe:
    """The recipe of LDA on a stream; options as in `for_topics`, None where the default will do.

    A stream has no end towards which its rate could cool down: `streaming.clock` says what the
    rate depends on. What runs until it converges may stop sooner, since more will come.

    >>> for_stream(100).tau, for_stream(100, learning_offset=10.0).tau
    (5.0, 10.0)
    """
    optional = ("population", "max_doc_topics")
    given = {name: v for name, v in options.items() if v is not None or name in optional}
    recipe = for_topics(n_components, **{**STREAM, **given})
    return replace(recipe, settling=_LEAST_STEPS) if recipe.has_population else recipe


def for_mixture(
    *,
    method: str,
    adaptive: bool,
    learning_offset: float,
    learning_decay: float,
    cooldown: float,
    batch_size: int | None,
    most_in_batch: int,
    max_iter: int,
    inner_iter: int | None,
    n_inner: int,
    tol: float,
    population: float | str | None = None,
) -> Recipe:
    """The recipe of a mixture, whose local steps are exact and whose priors stay as they are.

    Args:
        population: a number of data points, "auto" for three times as many as there are, or None
            for those that there are.
        most_in_batch: data points of a batch, unless `batch_size` says otherwise.
        n_inner: pairs of a trust-region step, unless `inner_iter` says otherwise.
    """
    algorithm = algorithms.get(method)
    return Recipe(
        method=algorithm.name,
        adaptive=adaptive,
        tau=learning_offset,
        kappa=learning_decay,
        cooldown=cooldown,
        batch_size=batch_size or algorithm.batch_size,
        batch_tokens=most_in_batch,
        batch_least_part=1.0,
        max_iter=max_iter,
        effort=Effort(inner_iter or algorithm.n_inner or n_inner, 1),
        local_tol=0.0,
        tol=tol,
        learn=(),
        population=_number(population),
        data_multiple=_MIXTURE_MULTIPLE if population == "auto" else 0.0,
    )


def _number(population: float | str | None) -> float | None:
    return None if population is None or population == "auto" else float(population)
