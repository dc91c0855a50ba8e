"""The defaults of topics: batches, effort of a step, population, priors and starts of LDA."""

from __future__ import annotations

from typing import Any

from trustream.learning import algorithms
from trustream.learning.defaults.common import (
    BATCH_TOKENS_PER_TOPIC,
    PAIRS,
    given_number,
    usual_batch_tokens,
)
from trustream.learning.recipe import LEAST_STEPS, Effort, Recipe

# --- batches
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

# With fewer tokens, which are learned from in no time, so many starts are tried.
_FEW_TOKENS, _STARTS = 500, 10

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


def small_batch_tokens(n_components: int) -> float:
    """Tokens of a batch for a trust-region step, if there are enough documents.

    >>> [round(small_batch_tokens(n)) for n in (10, 50, 100, 200, 400, 1000)]
    [20000, 30000, 60000, 60000, 30000, 75000]
    """
    return max(
        _SMALL_BATCH_TOKENS,
        min(BATCH_TOKENS_PER_TOPIC * n_components, _TOKENS_TIMES_TOPICS / n_components),
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
    has_prior_per_topic: bool = False,
) -> Recipe:
    """The recipe of LDA; arguments as in `trustream.LatentDirichletAllocation`.

    `population` is a number of documents, "auto" for as many as give each pair of topic and word
    enough tokens, or None for the documents that there are. `is_seeded` says that some topics are
    meant for some words: these have to occur in the first batches, or others take their topics, so
    that batches are larger. `has_prior_per_topic` says that words have another prior in each topic,
    which means as much. A population that is "auto" is none then, and where the priors of words are
    learned, one for each.

    Raises:
        ValueError: priors of words cannot be learned for a population.

    >>> recipe = for_topics(100)
    >>> recipe.effort_at(0, 0.0), recipe.effort_at(50, 0.5), recipe.effort_at(50, 2.0)
    (Effort(n_inner=2, n_local=50), Effort(n_inner=2, n_local=15), Effort(n_inner=1, n_local=20))
    """
    population = _usable_population(population, learn_priors == "per-word", has_prior_per_topic)
    algorithm = algorithms.get(method)
    n_inner = inner_iter or algorithm.n_inner or PAIRS
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
    batch_tokens: float = usual_batch_tokens(n_components)
    least_part, least_steps, least_documents = _LEAST_PART, LEAST_STEPS, 1
    if algorithm.gains_from_small_batches and not (is_seeded or has_prior_per_topic):
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
        population=given_number(population),
        tokens_per_pair=_TOKENS_PER_PAIR if population == "auto" else 0.0,
        equal_documents=0.0 if population is None else _EQUAL_DOCUMENTS,
        least_separation=0.0 if population is None else LEAST_SEPARATION,
    )


def _usable_population(
    given: float | str | None, per_word: bool, has_prior_per_topic: bool
) -> float | str | None:
    if given == "auto":
        return None if has_prior_per_topic or per_word else "auto"
    if given is not None and per_word:
        raise ValueError(
            'learn_priors="per-word" learns from the documents that there are: leave population at '
            '"auto", or give None'
        )
    return given


def starts_of_topics(n_tokens: float) -> int:
    """Starts that a fit to so many tokens tries, unless users say otherwise.

    >>> starts_of_topics(200), starts_of_topics(20_000)
    (10, 1)
    """
    return _STARTS if 0 < n_tokens < _FEW_TOKENS else 1
