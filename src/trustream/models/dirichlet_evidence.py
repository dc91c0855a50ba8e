"""What the parameters of a Dirichlet prior are learned from, and one step on them.

The part of the bound that depends on the parameters a of a Dirichlet prior is its evidence, a
concave function. Its Hessian is minus the Fisher information of the prior, so that the natural
gradient is the Newton direction; a step follows it by the learning rate,

    a <- a + rho * I(a)^-1 (E_q[t] - E_a[t]).

Safeguards: a step changes a parameter by at most a factor of two, keeps it within bounds, and is
halved until the evidence does not fall. A batch of any kind thus leaves a usable prior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trustream import kernels
from trustream.array_types import Float64

SMALLEST, LARGEST = 1e-6, 1e4
_HALVINGS = 20


class DirichletEvidence(NamedTuple):
    """What a Dirichlet prior's parameters are learned from (section 3.1, empirical Bayes).

    The expected log-density of n = `n_draws` draws x_1, ..., x_n under Dir(a) is

        n { log Gamma(rest + sum_i m_i a_i) - sum_i m_i log Gamma(a_i) + sum_i m_i a_i l_i }

    up to a constant, with l_i = `mean_log[i]` the expected log x_i averaged over the draws,
    m_i = `multiplicity` the number of coordinates that share the parameter a_i (1 for a vector
    prior, the number of words for a scalar one), and `rest` the sum of the parameters that are
    held fixed. `backend` says which kernels compute a step, "compiled" or "reference".
    """

    parameter: Float64
    mean_log: Float64
    multiplicity: float
    rest: float
    n_draws: float
    backend: str = "compiled"

    def improved(self, rho: float) -> Float64:
        """The parameter after one safeguarded step; unchanged if no step is any good.

        >>> evidence = DirichletEvidence(np.ones(2), np.array([-0.5, -1.2]), 1.0, 0.0, 9.0)
        >>> new = evidence.improved(1.0)
        >>> bool(new[0] > new[1])
        True
        """
        old, mean_log, multiplicity, rest, n_draws, backend = self
        if n_draws == 0 or old.size == 0:
            return old
        new, direction = np.empty_like(old), np.empty_like(old)
        is_better = kernels.get("priors", backend).dirichlet_step(
            old, mean_log, float(multiplicity), float(rest), float(rho), SMALLEST, LARGEST,
            _HALVINGS, direction, new,
        )  # fmt: skip
        return new if is_better else old
