"""The defaults of mixtures of Gaussians and of Bernoullis."""

from __future__ import annotations

from typing import Any

from trustream.learning import algorithms
from trustream.learning.defaults.common import given_number
from trustream.learning.recipe import Effort, Recipe

# Data points of the population of a mixture for each one that there is: from 3 to 10 it hardly
# matters where data are plenty, and less is better where they are few (docs/notes/defaults.md).
_MIXTURE_MULTIPLE = 3.0
# Data points of a batch, and pairs of a trust-region step.
_GAUSSIANS_IN_BATCH, _PAIRS_OF_GAUSSIANS = 500, 5
_BERNOULLIS_IN_BATCH, _PAIRS_OF_BERNOULLIS = 200, 2


def for_gaussians(
    n_components: int, n_features: int, covariance_type: str, **options: Any
) -> Recipe:
    """The recipe of a mixture of Gaussians, which has no population: it gains nothing by one.

    Args:
        covariance_type: "full", "diag" or "tied".
        **options: as in `for_mixture`.
    """
    # A covariance needs more points than it has rows, whatever the rate forgets.
    n_rows = n_features if covariance_type == "full" else 1
    return for_mixture(
        **options,
        most_in_batch=max(_GAUSSIANS_IN_BATCH, 2 * n_components * n_rows),
        n_inner=_PAIRS_OF_GAUSSIANS,
    )


def for_bernoullis(**options: Any) -> Recipe:
    """The recipe of a mixture of Bernoullis; options as in `for_mixture`."""
    return for_mixture(**options, most_in_batch=_BERNOULLIS_IN_BATCH, n_inner=_PAIRS_OF_BERNOULLIS)


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
        population=given_number(population),
        data_multiple=_MIXTURE_MULTIPLE if population == "auto" else 0.0,
    )
