"""The defaults of hidden Markov models."""

from __future__ import annotations

from typing import Any

from trustream.learning.defaults.mixtures import for_mixture
from trustream.learning.recipe import Recipe

# Observations of a batch, and pairs of a trust-region step.
_BATCH_OBSERVATIONS, _PAIRS = 20_000, 5
# Starts of categorical emissions.
_STARTS = 5


def for_sequences(emissions: str, population: float | str | None, **options: Any) -> Recipe:
    """The recipe of a hidden Markov model; other options as in `for_mixture`.

    Args:
        emissions: "categorical", "bernoulli" or "gaussian".
        population: a number of sequences, None for those that there are, or "auto", which is None
            but for Bernoulli emissions: only states of binary data gain by one.
    """
    if population == "auto" and emissions != "bernoulli":
        population = None
    return for_mixture(
        **options, most_in_batch=_BATCH_OBSERVATIONS, n_inner=_PAIRS, population=population
    )


def starts_of_sequences(emissions: str) -> int:
    """Starts that a fit tries, unless users say otherwise.

    >>> starts_of_sequences("categorical"), starts_of_sequences("gaussian")
    (5, 1)
    """
    return _STARTS if emissions == "categorical" else 1
