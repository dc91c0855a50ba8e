"""The defaults of regressions, whose data points are rows, or groups of rows."""

from __future__ import annotations

from trustream.learning import algorithms
from trustream.learning.recipe import Effort, Recipe

# Passes of what runs until it converges, at most, and of the others; pairs of a trust-region step.
_PASSES_UNTIL_LEVEL, _PASSES_OF_REGRESSION, _PAIRS_OF_REGRESSION = 1000, 20, 5
# Sweeps over the rows of a group of a probit, and the change of a latent response that ends them.
_SWEEPS, _SWEEP_TOL = 50, 1e-5
# Rows and groups of a batch, unless `batch_size` says otherwise; and rows where the sum of batches
# is exact whatever their size.
_MOST_ROWS, _MOST_GROUPS, _EXACT_ROWS = 500, 100, 2**16


def regression_method(method: str, is_grouped: bool, is_probit: bool) -> str:
    """The algorithm of a regression: what is given, or the one that "auto" stands for.

    >>> regression_method("auto", False, False), regression_method("auto", True, False)
    ('streaming-vb', 'batch')
    """
    if method != "auto":
        return method
    # Without groups, adding is exact for a linear regression.
    return "batch" if is_grouped or is_probit else "streaming-vb"


def adds_exactly(method: str, is_grouped: bool, is_probit: bool) -> bool:
    """Whether adding up batches gives the posterior itself.

    >>> adds_exactly("auto", False, False), adds_exactly("auto", False, True)
    (True, False)
    """
    if is_grouped or is_probit:
        return False
    return algorithms.get(regression_method(method, is_grouped, is_probit)).takes_each_once


def groups_of_start(n_groups: int) -> int:
    """Groups that a start is made from, of so many.

    >>> groups_of_start(30), groups_of_start(5_000)
    (30, 1000)
    """
    return min(n_groups, 10 * _MOST_GROUPS)


def for_regression(
    *,
    method: str,
    is_grouped: bool,
    is_probit: bool,
    adaptive: bool,
    learning_offset: float,
    learning_decay: float,
    cooldown: float,
    batch_size: int | None,
    max_iter: int | None,
    inner_iter: int | None,
    tol: float,
) -> Recipe:
    """The recipe of a regression, whose priors stay as they are.

    Args:
        method: of an algorithm, or "auto".
        is_grouped: whether groups are the data points, or rows.
        is_probit: whether responses are classes.
        max_iter: None is enough passes for what runs until it converges, and 20 for the others.

    >>> options = dict(is_grouped=True, is_probit=False, adaptive=False, learning_offset=1.0)
    >>> options |= dict(learning_decay=0.5, cooldown=0.5, batch_size=None, max_iter=None)
    >>> options |= dict(inner_iter=None, tol=0.0)
    >>> [for_regression(method=m, **options).max_iter for m in ("auto", "trust-region")]
    [1000, 20]
    """
    if adds_exactly(method, is_grouped, is_probit):
        # Nothing is local: one pair is all there is to do.
        batch_size, inner_iter = batch_size or _EXACT_ROWS, 1
    algorithm = algorithms.get(regression_method(method, is_grouped, is_probit))
    passes = _PASSES_UNTIL_LEVEL if algorithm.data == "all" else _PASSES_OF_REGRESSION
    return Recipe(
        method=algorithm.name,
        adaptive=adaptive,
        tau=learning_offset,
        kappa=learning_decay,
        cooldown=cooldown,
        batch_size=batch_size or algorithm.batch_size,
        batch_tokens=_MOST_GROUPS if is_grouped else _MOST_ROWS,
        batch_least_part=1.0,
        max_iter=max_iter or passes,
        effort=Effort(inner_iter or algorithm.n_inner or _PAIRS_OF_REGRESSION, _SWEEPS),
        local_tol=_SWEEP_TOL,
        tol=tol,
        learn=(),
    )
