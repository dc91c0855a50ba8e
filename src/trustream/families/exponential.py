"""Blend natural parameters, in the same way for all exponential families."""

from __future__ import annotations

from typing import Any, TypeVar

NaturalT = TypeVar("NaturalT", bound=tuple[Any, ...])


def blend(
    anchor: NaturalT, prior: NaturalT, statistics: NaturalT, rho: float, scale: float
) -> NaturalT:
    """Return the blend of natural parameters of equation 14, for tuples of arrays.

        lambda = (1 - rho) lambda_t + rho (eta + scale * s)

    Args:
        anchor: lambda_t, a named tuple of arrays.
        prior: eta, the same tuple, entries broadcastable to those of `anchor`.
        statistics: s, shaped like `anchor`.
        rho: learning rate in [0, 1]; rho = 1 / (1 + xi).
        scale: N / B.

    >>> from typing import NamedTuple
    >>> class Pair(NamedTuple):
    ...     a: float
    ...     b: float
    >>> blend(Pair(1.0, 2.0), Pair(0.0, 0.0), Pair(1.0, 1.0), rho=0.5, scale=10.0)
    Pair(a=5.5, b=6.0)
    """
    return type(anchor)(
        *(
            (1 - rho) * old + rho * (eta + scale * s)
            for old, eta, s in zip(anchor, prior, statistics, strict=True)
        )
    )
