"""Where Gaussians start: from the data, or from the prior."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.cluster import kmeans_plusplus

from trustream.models.mixture import GaussianModel, GaussianNatural, GaussianPrior, gaussian_start


def start_count(n_samples: float, n_components: int) -> float:
    """Rows that a component has seen, so to speak, when it starts.

    Of the weight that the data will give it, a tenth: enough for components to stay apart in the
    first steps.
    """
    return max(1.0, n_samples / (10 * n_components))


def start(
    model: GaussianModel,
    prior: GaussianPrior,
    X: Any,
    init_params: str,
    n_samples: float,
    rng: np.random.Generator,
) -> GaussianNatural:
    """lambda of a Gaussian mixture to start from.

    Args:
        X: rows of numbers.
        init_params: "spherical" clusters found in a sample of the rows; "k-means++", rows far from
            each other; or "random", drawn from the prior.
        n_samples: how many rows these stand for.
    """
    n_rows, n_features = X.shape
    model = replace(model, start_count=start_count(n_samples, model.n_components))
    if init_params == "random" or n_rows < model.n_components:
        return model.initial(prior, rng)
    n_points = min(n_rows, gaussian_start.n_points(model.n_components))
    y = prior.to_y(X[rng.choice(n_rows, n_points, replace=False)])
    far, _ = kmeans_plusplus(y, model.n_components, random_state=int(rng.integers(2**31)))
    if init_params == "k-means++":
        # Together the components fill about the volume of the data.
        return model.start(prior, far, model.n_components ** (-2 / n_features))
    near = y[rng.choice(n_points, model.n_components, replace=False)]
    m, v, _ = gaussian_start.best(y, (far, near))
    return model.start(prior, m, v)
