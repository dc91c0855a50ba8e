"""The defaults of Poisson factorisation."""

from __future__ import annotations

from trustream.learning import algorithms
from trustream.learning.defaults.common import PAIRS, given_number, usual_batch_tokens
from trustream.learning.recipe import Effort, Recipe

# Users of the population for each one that there is, and steps in a pass: planted components were
# all found in batches of a fiftieth of the users, and not in twice as large ones
# (docs/notes/defaults.md).
_FACTORS_MULTIPLE = 3.0
_FACTORS_STEPS_PER_PASS = 50


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
        batch_tokens=usual_batch_tokens(n_components),
        batch_least_part=1.0,
        max_iter=max_iter,
        effort=Effort(inner_iter or algorithm.n_inner or PAIRS, n_local),
        local_tol=local_tol,
        tol=tol,
        learn=(learn_priors,) if isinstance(learn_priors, str) else both if learn_priors else (),
        population=given_number(population),
        data_multiple=_FACTORS_MULTIPLE if population == "auto" else 0.0,
        least_steps_per_pass=_FACTORS_STEPS_PER_PASS,
    )
