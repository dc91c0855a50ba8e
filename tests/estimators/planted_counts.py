"""Counts drawn from a Poisson factorisation whose components are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tests.helpers import Array, matched_cosines


def planted(
    seed: int, n_components: int = 10, n_items: int = 120, n_users: int = 1500
) -> tuple[sparse.csr_array, Array]:
    """(counts, components) of users with about 20 counts, of unequal activity."""
    rng = np.random.default_rng(seed)
    beta = rng.gamma(0.1, 1.0, (n_components, n_items))
    beta /= beta.sum(axis=1, keepdims=True)
    theta = rng.gamma(0.3, 1.0, (n_users, n_components))
    theta *= rng.gamma(2.0, 0.5, (n_users, 1)) * 20 / (0.3 * n_components)
    return sparse.csr_array(rng.poisson(theta @ beta).astype(float)), beta


def n_found(model: Any, beta: Array) -> int:
    """How many of the components a fitted model has."""
    return int((matched_cosines(model.components_, beta) > 0.9).sum())
