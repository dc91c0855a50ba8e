"""Small hidden Markov models that several tests use."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trustream.models.hmm import (
    BernoulliHmmPrior,
    CategoricalHmmPrior,
    GaussianHmmPrior,
    HmmModel,
    Sequences,
)

KINDS = ("categorical", "bernoulli", "full", "diag", "tied")


class Setting(NamedTuple):
    """A model with its prior, a lambda and sequences."""

    model: HmmModel
    prior: Any
    lambda_: Any
    data: Sequences


def setting(
    kind: str, lengths: Any, k: int = 3, backend: str = "compiled", seed: int = 0
) -> Setting:
    """Random observations, and a lambda that tells states apart."""
    rng = np.random.default_rng(seed)
    n = int(np.sum(lengths))
    start, transitions = rng.gamma(3.0, 0.5, k), rng.gamma(3.0, 0.5, (k, k))
    options: dict[str, Any] = {"emissions": kind, "n_features": 4, "start_count": 8.0}
    prior: Any
    if kind == "categorical":
        x: Any = rng.integers(4, size=n)
        prior = CategoricalHmmPrior(start, transitions, np.array([0.5, 1.0, 1.5, 0.7]))
    elif kind == "bernoulli":
        x = (rng.random((n, 4)) < 0.4).astype(float)
        prior = BernoulliHmmPrior(start, transitions, 0.7, np.array([0.5, 1.0, 1.5, 0.7]))
    else:
        x = rng.standard_normal((n, 2)) * 2 + 1
        options |= {"emissions": "gaussian", "covariance_type": kind, "n_features": 2}
        Psi = np.array([2.0, 1.5])
        prior = GaussianHmmPrior(
            start, transitions, np.ones(2), 0.5, Psi if kind == "diag" else np.diag(Psi), 4.5
        )
    model = HmmModel(n_components=k, backend=backend, **options)
    drawn = model.initial(prior, rng)
    lambda_ = drawn._replace(start=start + 1, transitions=transitions + 3 * np.eye(k))
    return Setting(model, prior, lambda_, Sequences.of(x, lengths, options["n_features"]))
