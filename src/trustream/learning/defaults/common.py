"""Defaults that several kinds of model share."""

from __future__ import annotations

# Tokens of a batch for each topic, and the least number of them. Smaller batches are too noisy for
# short documents and for many topics.
BATCH_TOKENS_PER_TOPIC, BATCH_TOKENS = 600, 60_000

# Pairs of local and global update in a trust-region step of LDA and of Poisson factorisation.
PAIRS = 2

# Most iterations of a local step that does not learn, which gains nothing from stopping early,
# and the change that ends it where users say nothing.
READING_STEPS, READING_TOL = 100, 1e-4

# Steps of a model in which the parts of a batch share every iteration, where they take steps of
# their own afterwards: while topics come apart, those of two parts need not be the same.
EXACT_STEPS = 30


def usual_batch_tokens(n_components: int) -> float:
    """Tokens of a batch, unless smaller ones are better.

    >>> [usual_batch_tokens(n) for n in (10, 100, 1000)]
    [60000, 60000, 600000]
    """
    return max(BATCH_TOKENS, BATCH_TOKENS_PER_TOPIC * n_components)


def given_number(population: float | str | None) -> float | None:
    """The population that a user has given as a number; None of "auto" and of None."""
    return None if population is None or population == "auto" else float(population)
