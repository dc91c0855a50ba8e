"""Ways to score items for users, ours and those of other libraries, all called alike.

Each takes likes (U, I), a seed and settings, a number of factors k among them, and returns scores
as `trustream.evaluation.ranking` takes them: a pair of factors (U, k) and (k, I). Other libraries
are imported inside, so that one that is missing is missing alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np
from scipy import sparse

from trustream import PoissonRecommender, TopicRecommender

Pair = tuple[np.ndarray, np.ndarray]
Method = Callable[..., Pair]


def popularity(train: sparse.csr_array, seed: int) -> Pair:
    """Everybody gets what most like."""
    return np.ones((train.shape[0], 1)), train.sum(axis=0, dtype=np.float64)[None]


def trust_region(train: sparse.csr_array, seed: int, k: int, **options: Any) -> Pair:
    """Ours, with its defaults."""
    model = TopicRecommender(k, random_state=seed, **options).fit(train)
    return model.user_topics(), model.item_topics_


def natural_gradient(train: sparse.csr_array, seed: int, k: int) -> Pair:
    """Ours with the natural gradient: twice the passes, which take about the same time."""
    return trust_region(train, seed, k, learning_method="natural-gradient", max_iter=10)


def poisson(train: sparse.csr_array, seed: int, k: int, **options: Any) -> Pair:
    """Our Poisson factorisation by trust region, with its defaults."""
    model = PoissonRecommender(k, random_state=seed, **options).fit(train)
    return model.user_factors(), model.item_factors_


def hierarchical_poisson(train: sparse.csr_array, seed: int, k: int, max_iter: int = 100) -> Pair:
    """cornac's hierarchical Poisson factorisation."""
    from cornac.models import HPF

    with redirect_stdout(sys.stderr):  # it says what it does
        model = HPF(k=k, max_iter=max_iter, seed=seed).fit(_cornac_data(train))
    return np.asarray(model.Theta), np.asarray(model.Beta).T


def probabilistic(train: sparse.csr_array, seed: int, k: int) -> Pair:
    """cornac's probabilistic matrix factorisation, of the likes and ten times as many others.

    It fits what it is shown, so without some zeros it would learn that everybody likes everything.
    Its settings are the best of ten on another split.
    """
    from cornac.models import PMF

    rng = np.random.default_rng(seed)
    user, item = train.tocoo().coords
    others = tuple(rng.integers(n, size=10 * user.size) for n in train.shape)
    new = np.asarray(train[others]).ravel() == 0
    user, item = np.append(user, others[0][new]), np.append(item, others[1][new])
    rating = np.repeat([1.0, 0.0], [train.nnz, int(new.sum())])
    data = _cornac(train.shape, user, item, rating)
    model = PMF(k=k, max_iter=50, learning_rate=0.003, lambda_reg=0.001, seed=seed).fit(data)
    return np.asarray(model.U), np.asarray(model.V).T


def non_negative(train: sparse.csr_array, seed: int, k: int) -> Pair:
    """scikit-learn's non-negative matrix factorisation, of the whole matrix with its zeros."""
    from sklearn.decomposition import NMF

    model = NMF(k, init="nndsvda", random_state=seed, max_iter=200, tol=1e-3)
    users = model.fit_transform(sparse.csr_matrix(train))
    return users, model.components_


def alternating(train: sparse.csr_array, seed: int, k: int, regularization: float) -> Pair:
    """implicit's alternating least squares."""
    from implicit.als import AlternatingLeastSquares
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):  # as implicit asks for
        model = AlternatingLeastSquares(k, regularization=regularization, random_state=seed)
        model.fit(sparse.csr_matrix(train), show_progress=False)
    return np.asarray(model.user_factors), np.asarray(model.item_factors).T


_FACTORS = [{"k": k} for k in (10, 20, 50)]
_REGULARISED = [
    {**factors, "regularization": x} for factors in _FACTORS for x in (10.0, 20.0, 30.0)
]

# Name in the table: function, and settings to choose from.
METHODS: dict[str, tuple[Method, list[dict[str, Any]]]] = {
    "LDA, trust region": (trust_region, _FACTORS),
    "LDA, natural gradient": (natural_gradient, _FACTORS),
    "Poisson factorisation, trust region": (poisson, _FACTORS),
    "popularity": (popularity, [{}]),
    # 50 factors take it minutes.
    "HPF (cornac)": (hierarchical_poisson, _FACTORS[:2]),
    "PMF (cornac)": (probabilistic, _FACTORS),
    "NMF (scikit-learn)": (non_negative, _FACTORS),
    # Its default, 0.01, is far too low for so few likes per user.
    "ALS (implicit)": (alternating, _REGULARISED),
}


def _cornac_data(train: sparse.csr_array) -> Any:
    user, item = train.tocoo().coords
    return _cornac(train.shape, user, item, train.data)


def _cornac(shape: tuple[int, int], user: np.ndarray, item: np.ndarray, rating: np.ndarray) -> Any:
    """cornac's data set with our rows and columns, those without a rating too."""
    from cornac.data import Dataset

    maps = [{i: i for i in range(n)} for n in shape]
    return Dataset(*shape, *maps, (user, item, rating), seed=0)
