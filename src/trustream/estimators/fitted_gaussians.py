"""What a fitted Gaussian mixture shows: its parameters, and those of posterior and prior."""

from __future__ import annotations

from typing import Any

import numpy as np

from trustream.estimators.mixture import MixtureEstimator


class FittedGaussians(MixtureEstimator):
    """Base of the Gaussian mixture estimator that shows what was learned, by scikit-learn's names.

    >>> from trustream import GaussianMixture
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> mixture = GaussianMixture(1, mean_precision_prior=0.5, random_state=0).fit(X)
    >>> mixture.mean_precision_prior_, bool(abs(mixture.mean_precision_[0] - 50.5) < 0.1)
    (0.5, True)
    >>> np.round(mixture.precisions_[0] @ mixture.covariances_[0], 6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """

    covariance_type: str

    # --- expected parameters

    @property
    def means_(self) -> np.ndarray:
        """E[mu], (n_components, n_features)."""
        return self._expected().means

    @property
    def covariances_(self) -> np.ndarray:
        """E[Sigma]; its shape depends on `covariance_type`."""
        return self._expected().covariances

    @property
    def precisions_(self) -> np.ndarray:
        """Inverse of `covariances_`, of the same shape."""
        covariances = self.covariances_
        return 1 / covariances if self.covariance_type == "diag" else np.linalg.inv(covariances)

    # --- posterior

    @property
    def weight_concentration_(self) -> np.ndarray:
        """gamma, Dirichlet parameters of the weights, (n_components,)."""
        return self._shown.lambda_.gamma.copy()

    @property
    def mean_precision_(self) -> np.ndarray:
        """s: how many data points each mean counts for, (n_components,)."""
        return self._shown.lambda_.s.copy()

    @property
    def degrees_of_freedom_(self) -> Any:
        """nu of the inverse Wishart: (n_components,), or a number for "tied"."""
        nu = np.asarray(self._shown.lambda_.nu)
        return float(nu.reshape(())) if self.covariance_type == "tied" else nu.copy()

    # --- prior

    @property
    def weight_concentration_prior_(self) -> np.ndarray:
        """alpha, Dirichlet prior of the weights, (n_components,)."""
        return self._shown.prior.alpha.copy()

    @property
    def mean_prior_(self) -> np.ndarray:
        """Prior mean of the components' means, (n_features,)."""
        return self._shown.prior.mean.copy()

    @property
    def mean_precision_prior_(self) -> float:
        """s: how many data points the prior mean counts for."""
        return float(self._shown.prior.s)

    @property
    def degrees_of_freedom_prior_(self) -> float:
        """nu of the prior."""
        return float(self._shown.prior.nu)

    @property
    def covariance_prior_(self) -> np.ndarray:
        """Psi of the prior: (n_features, n_features), or (n_features,) for "diag"."""
        return self._shown.prior.Psi.copy()
