"""What the two mixture estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin
from sklearn.utils import ClassifierTags

from trustream._schema import Array
from trustream.estimators import parameters
from trustream.estimators.base import VariationalEstimator
from trustream.estimators.bounds import each_block
from trustream.estimators.schemas import NUMBERS


class MixtureEstimator(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, VariationalEstimator
):
    """Clusters of data points: beliefs, labels, densities, samples."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Belief that each data point belongs to each component, (n_samples, n_components)."""
        return self._beliefs(self._check_fitted_data(X))

    def transform(self, X: Any) -> np.ndarray:
        """The same as `predict_proba`."""
        return self.predict_proba(X)

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest component of each data point, (n_samples,)."""
        return self.predict_proba(X).argmax(axis=1)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """The same as `fit(X).predict(X)`."""
        labels: np.ndarray = self.fit(X, y).predict(X)
        return labels

    def score_samples(self, X: Any) -> np.ndarray:
        """Log posterior-predictive density of each data point in nats, (n_samples,).

        log sum_k E[pi_k] E_q[p(x | beta_k)]: a density that integrates to one.
        """
        X = self._check_fitted_data(X)
        model, state = self._current_model(), self._shown
        densities = np.empty(X.shape[0])

        def look(rows: slice, batch: Any) -> None:
            densities[rows] = model.predictive_log_density(state.lambda_, state.prior, batch)

        each_block(model, X, look)
        return densities

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of `score_samples`, in nats per data point."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Data points drawn from the expected parameters, and their components.

        Returns
        -------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        """
        expected = self._expected()
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1, got {n_samples}")
        rng = parameters.generator(self.random_state)
        return self._current_model().sample(expected, n_samples, rng)

    @property
    def weights_(self) -> np.ndarray:
        """E[pi], (n_components,)."""
        return self._expected().weights

    def _expected(self) -> Any:
        self._check_unchanged()
        state = self._shown
        return self._current_model().expected(state.lambda_, state.prior)

    def _finish(self, X: Any) -> None:
        value, _ = self._bound(self._current_model(), self._shown, X)
        self.lower_bound_ = value / X.shape[0]

    def _weight_prior(self) -> np.ndarray:
        given = self.weight_concentration_prior
        value = np.asarray(1.0 if given is None else given, np.float64)
        if value.shape not in ((), (self.n_components,)):
            raise ValueError(
                f"weight_concentration_prior has shape {value.shape}, "
                f"expected a number or ({self.n_components},)"
            )
        if not (np.isfinite(value).all() and (value > 0).all()):
            raise ValueError("weight_concentration_prior must be positive and finite")
        return np.broadcast_to(value, (self.n_components,)).copy()

    def _array_params(self, n_features: int) -> dict[str, Array]:
        weights = Array([(), (self.n_components,)], NUMBERS, above=0.0)
        return {"weight_concentration_prior": weights}

    def _example(self) -> np.ndarray:
        return np.eye(2)

    def _tiny_parameters(self) -> dict[str, Any]:
        return {"weight_concentration_prior": None}

    def _local_settings(self) -> tuple[int, float]:
        return 1, 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        # scikit-learn asks whoever has predict_proba how many columns it may have: any number.
        tags.classifier_tags = ClassifierTags(multi_class=True)
        return tags
