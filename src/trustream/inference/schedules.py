"""Learning rates rho_t in (0, 1] as functions of the state."""

from __future__ import annotations

from collections.abc import Callable

from trustream.inference.state import State

Schedule = Callable[[State], float]


def decaying(tau: float, kappa: float) -> Schedule:
    """rho_t = (tau + t)^-kappa, the first step being t = 1.

    Counted from 1, as scikit-learn does, tau = 1 does not begin with rho = 1, which would forget
    the start altogether and with it all that tells topics apart.

    >>> decaying(tau=10.0, kappa=0.5)(State(None, None, n_steps=5))
    0.25
    """
    if not tau > 0:
        raise ValueError(f"tau (learning_offset) must be positive, got {tau}")
    return lambda state: min(1.0, (tau + state.n_steps + 1) ** -kappa)


def cooling(schedule: Schedule, first: int, last: int, share: float) -> Schedule:
    """`schedule`, falling linearly to zero over the last part of a run whose end is known.

    At a constant rate lambda keeps the noise of the batches it saw last; a falling one averages
    it out.

    Args:
        first, last: steps taken before the run and after it.
        share: the part of the run's steps over which the rate falls, from 0 (none) to 1.

    >>> rates = cooling(lambda state: 0.5, first=0, last=4, share=0.5)
    >>> [rates(State(None, None, n_steps=t)) for t in range(4)]
    [0.5, 0.5, 0.5, 0.25]
    """
    n_falling = share * (last - first)

    def rate(state: State) -> float:
        left = last - state.n_steps
        return schedule(state) * (min(1.0, left / n_falling) if left < n_falling else 1.0)

    return rate
