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
    _check_tau(tau)
    return lambda state: min(1.0, (tau + state.n_steps + 1) ** -kappa)


def constant(rho: float) -> Schedule:
    """The same rate at every step.

    >>> constant(0.1)(State(None, None))
    0.1
    """
    if not 0 < rho <= 1:
        raise ValueError(f"a learning rate lies in (0, 1], got {rho}")
    return lambda state: rho


def streaming(tau: float, kappa: float, batch_size: int, added: Callable[[], int]) -> Schedule:
    """rho_t = (tau + (N_t - N_0) / B)^-kappa (section 3.1 of the paper).

    The rate falls as data arrive, not as steps are taken.

    Args:
        added: called at each step, N_t - N_0, the data points added since the start of learning.

    >>> streaming(tau=1.0, kappa=0.5, batch_size=100, added=lambda: 300)(State(None, None))
    0.5
    """
    _check_tau(tau)
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}")
    return lambda state: min(1.0, (tau + added() / batch_size) ** -kappa)


def _check_tau(tau: float) -> None:
    if not tau > 0:
        raise ValueError(f"tau (learning_offset) must be positive, got {tau}")
