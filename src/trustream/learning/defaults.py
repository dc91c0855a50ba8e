"""The defaults of learning: what a recipe is if users say nothing, and the rules behind it.

`for_topics`, `for_stream`, `for_mixture`, `for_factorization` and `for_regression` turn the
parameters of estimators and trainers into a `Recipe`. How the numbers were measured is described in
docs/defaults.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from trustream.learning import algorithms
from trustream.learning.recipe import LEAST_STEPS, Effort, Recipe

# --- batches
# Tokens of a batch for each topic, and the least number of them. Smaller batches are too noisy for
# short documents and for many topics.
_BATCH_TOKENS_PER_TOPIC, _BATCH_TOKENS = 600, 60_000
# Where a fit would have few steps, batches shrink down to this part of their size.
_LEAST_PART = 1 / 3
# Trust-region steps gain from smaller batches, in which natural gradient loses topics. From 142
# topics on, batches are smaller the more topics there are (these come apart by what differs between
# batches), but not below so many tokens for each topic. Where a pass would have fewer steps than
# these, batches shrink further, to so many tokens for each topic and so many documents
# (docs/notes/defaults.md).
_SMALL_BATCH_TOKENS, _TOKENS_TIMES_TOPICS, _MANY_TOPICS_TOKENS = 20_000, 12_000_000, 75
_STEPS_PER_PASS = 60
_LEAST_TOKENS_PER_TOPIC, _LEAST_DOCUMENTS = 50, 30

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

# Most iterations of a local step that does not learn, which gains nothing from stopping early,
# and the change that ends it where users say nothing.
READING_STEPS, READING_TOL = 100, 1e-4

# Tokens of the population for each pair of topic and word: from 10 to 50 it hardly matters.
_TOKENS_PER_PAIR = 30.0

# Where the priors start. All alphas together are at most so much: with many topics it would take
# most of a fit until alpha has come down to what documents say (docs/notes/defaults.md).
START_OF_ETA = 0.1
_LARGEST_ALPHA, _LARGEST_SUM_OF_ALPHA = 0.1, 10.0

# Documents for each topic, in which all topics are equally frequent, that alpha is learned from
# beside those that there are. With fewer documents than topics a few topics get most of alpha, and
# keep it when there are many (docs/notes/streams.md).
_EQUAL_DOCUMENTS = 1.0

# While topics are alike, equal proportions in all documents would speak for a large alpha, under
# which topics stay alike (docs/notes/streams.md).
LEAST_SEPARATION = 0.01

# Steps of a model in which the parts of a batch share every iteration, where they take steps of
# their own afterwards: while topics come apart, those of two parts need not be the same.
EXACT_STEPS = 30

# Data points of the population of a mixture for each one that there is: from 3 to 10 it hardly
# matters where data are plenty, and less is better where they are few (docs/notes/defaults.md).
_MIXTURE_MULTIPLE = 3.0

# The same of Poisson factorisation, and its steps in a pass: planted components were all found in
# batches of a fiftieth of the users, and not in twice as large ones (docs/notes/defaults.md).
_FACTORS_MULTIPLE = 3.0
_FACTORS_STEPS_PER_PASS = 50

# --- regressions
# Passes of what runs until it converges, at most, and of the others; pairs of a trust-region step.
_PASSES_UNTIL_LEVEL, _PASSES_OF_REGRESSION, _PAIRS_OF_REGRESSION = 1000, 20, 5
# Sweeps over the rows of a group of a probit, and the change of a latent response that ends them.
_SWEEPS, _SWEEP_TOL = 50, 1e-5

# Tau of a stream, for at most so many topics: the more topics there are, the smaller the first
# rates have to be, or topics fall out of use whenever the rate begins anew.
_STREAM_OFFSET, _FEW_TOPICS = 5.0, 100
# What else differs on a stream.
STREAM: dict[str, Any] = {
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


def start_of_alpha(n_components: int) -> float:
    """The alpha of each topic that learning starts from, unless users say otherwise.

    >>> [start_of_alpha(n) for n in (2, 100, 400)]
    [0.1, 0.1, 0.025]
    """
    return min(_LARGEST_ALPHA, _LARGEST_SUM_OF_ALPHA / n_components)


def stream_offset(n_components: int) -> float:
    """Where the learning rate of a stream begins, tau of rho = (tau + t)^-kappa.

    >>> [stream_offset(n) for n in (2, 100, 400)]
    [5.0, 5.0, 20.0]
    """
    return _STREAM_OFFSET * max(1.0, n_components / _FEW_TOPICS)


def small_batch_tokens(n_components: int) -> float:
    """Tokens of a batch for a trust-region step, if there are enough documents.

    >>> [round(small_batch_tokens(n)) for n in (10, 50, 100, 200, 400, 1000)]
    [20000, 30000, 60000, 60000, 30000, 75000]
    """
    return max(
        _SMALL_BATCH_TOKENS,
        min(_BATCH_TOKENS_PER_TOPIC * n_components, _TOKENS_TIMES_TOPICS / n_components),
        _MANY_TOPICS_TOKENS * n_components,
    )


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
    is_seeded: bool = False,
) -> Recipe:
    """The recipe of LDA; arguments as in `trustream.LatentDirichletAllocation`.

    `population` is a number of documents, "auto" for as many as give each pair of topic and word
    enough tokens, or None for the documents that there are. `is_seeded` says that some topics are
    meant for some words: these have to occur in the first batches, or others take their topics, so
    that batches are larger.

    >>> recipe = for_topics(100)
    >>> recipe.effort_at(0, 0.0), recipe.effort_at(50, 0.5), recipe.effort_at(50, 2.0)
    (Effort(n_inner=2, n_local=50), Effort(n_inner=2, n_local=15), Effort(n_inner=1, n_local=20))
    """
    algorithm = algorithms.get(method)
    n_inner = inner_iter or algorithm.n_inner or _PAIRS
    first = late = None
    if max_doc_update_iter is not None:
        effort = Effort(n_inner, max_doc_update_iter)
    elif not algorithm.later_steps_need_less:
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
    batch_tokens: float = max(_BATCH_TOKENS, _BATCH_TOKENS_PER_TOPIC * n_components)
    least_part, least_steps, least_documents = _LEAST_PART, LEAST_STEPS, 1
    if algorithm.gains_from_small_batches and not is_seeded:
        batch_tokens = small_batch_tokens(n_components)
        least_part = _LEAST_TOKENS_PER_TOPIC * n_components / batch_tokens
        least_steps = max(LEAST_STEPS, _STEPS_PER_PASS * max_iter)
        least_documents = _LEAST_DOCUMENTS
    return Recipe(
        method=algorithm.name,
        adaptive=adaptive,
        tau=learning_offset,
        kappa=learning_decay,
        cooldown=cooldown,
        batch_size=batch_size or algorithm.batch_size,
        batch_tokens=batch_tokens,
        batch_least_part=least_part,
        least_steps=least_steps,
        least_documents=least_documents,
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
        least_separation=0.0 if population is None else LEAST_SEPARATION,
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
    usual = {"learning_offset": stream_offset(n_components), **STREAM}
    recipe = for_topics(n_components, **{**usual, **given})
    return replace(recipe, settling=LEAST_STEPS) if recipe.has_population else recipe


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


def for_regression(
    *,
    method: str,
    adaptive: bool,
    learning_offset: float,
    learning_decay: float,
    cooldown: float,
    batch_size: int | None,
    most_in_batch: int,
    max_iter: int | None,
    inner_iter: int | None,
    tol: float,
) -> Recipe:
    """The recipe of a regression, whose priors stay as they are.

    `max_iter` None is enough passes for what runs until it converges, and 20 for the others.

    >>> options = dict(adaptive=False, learning_offset=1.0, learning_decay=0.5, cooldown=0.5)
    >>> options |= dict(batch_size=None, most_in_batch=500, max_iter=None, inner_iter=None, tol=0.0)
    >>> [for_regression(method=m, **options).max_iter for m in ("batch", "trust-region")]
    [1000, 20]
    """
    algorithm = algorithms.get(method)
    passes = _PASSES_UNTIL_LEVEL if algorithm.data == "all" else _PASSES_OF_REGRESSION
    return Recipe(
        method=algorithm.name,
        adaptive=adaptive,
        tau=learning_offset,
        kappa=learning_decay,
        cooldown=cooldown,
        batch_size=batch_size or algorithm.batch_size,
        batch_tokens=most_in_batch,
        batch_least_part=1.0,
        max_iter=max_iter or passes,
        effort=Effort(inner_iter or algorithm.n_inner or _PAIRS_OF_REGRESSION, _SWEEPS),
        local_tol=_SWEEP_TOL,
        tol=tol,
        learn=(),
    )


def for_factorization(
    n_components: int,
    *,
    method: str,
    adaptive: bool,
    learning_offset: float,
    learning_decay: float,
    cooldown: float,
    batch_size: int | None,
    max_iter: int,
    inner_iter: int | None,
    tol: float,
    n_local: int,
    local_tol: float,
    learn_priors: bool | str,
    population: float | str | None,
) -> Recipe:
    """The recipe of Poisson factorisation; arguments as in `trustream.PoissonFactorization`.

    Batches have as many counts as those of LDA have tokens, or a fiftieth of the users.
    """
    algorithm = algorithms.get(method)
    both = ("item_rate", "activity_rate")
    return Recipe(
        method=algorithm.name,
        adaptive=adaptive,
        tau=learning_offset,
        kappa=learning_decay,
        cooldown=cooldown,
        batch_size=batch_size or algorithm.batch_size,
        batch_tokens=max(_BATCH_TOKENS, _BATCH_TOKENS_PER_TOPIC * n_components),
        batch_least_part=1.0,
        max_iter=max_iter,
        effort=Effort(inner_iter or algorithm.n_inner or _PAIRS, n_local),
        local_tol=local_tol,
        tol=tol,
        learn=(learn_priors,) if isinstance(learn_priors, str) else both if learn_priors else (),
        population=_number(population),
        data_multiple=_FACTORS_MULTIPLE if population == "auto" else 0.0,
        least_steps_per_pass=_FACTORS_STEPS_PER_PASS,
    )


def _number(population: float | str | None) -> float | None:
    return None if population is None or population == "auto" else float(population)
