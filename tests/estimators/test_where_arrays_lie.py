"""The same bits, wherever the arrays happen to lie in memory."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from trustream import ProbitRegression


@pytest.mark.parametrize("n", [100, pytest.param(4000, marks=pytest.mark.slow)])
def test_copies_of_a_grouped_probit_learn_the_same(n: int) -> None:
    """The compiler may sum in another order where arrays lie otherwise; it was about one in 500."""
    rng = np.random.default_rng(2)
    X, groups = rng.normal(size=(400, 3)), rng.integers(8, size=400)
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=400) > 0
    model = ProbitRegression(learning_method="trust-region", random_state=0)
    model.partial_fit(X[:40], y[:40], groups[:40])
    others: list[np.ndarray] = []
    for _ in range(n):
        rows = np.sort(rng.choice(400, 40, replace=False))
        found = []
        for _ in range(2):
            # Memory that is taken and given back moves what comes next.
            others = [*others[-50:], *(np.empty(size) for size in rng.integers(1, 60, 3))]
            twin = copy.deepcopy(model).partial_fit(X[rows], y[rows], groups[rows])
            found.append([np.asarray(part).tobytes() for part in twin._state.lambda_])
        assert found[0] == found[1]
        model = twin
