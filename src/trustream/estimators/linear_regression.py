"""The estimator of Bayesian linear regression."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import Interval

from trustream import persist
from trustream.estimators import regression_data
from trustream.estimators.regression import CONSTRAINTS, RegressionEstimator
from trustream.estimators.regression_data import GivenRows
from trustream.inference.state import State
from trustream.models.regression import GroupedLinearModel, LinearModel, WeightsPrior
from trustream.models.regression.coordinates import Coordinates

_positive = Interval(Real, 0, None, closed="neither")
# Precision of the intercept relative to that of the noise: next to no prior.
_INTERCEPT_PRECISION = 1e-6
# Precision of the weights from which the best one is found.
_ANY_PRECISION = 1.0


@persist.register
class BayesianLinearRegression(RegressorMixin, RegressionEstimator):
    """Bayesian linear regression, of which groups of rows may each have their own weights.

    Without groups,

        y_n ~ N(x_n' w, v),   w | v ~ N(0, v / a),   v ~ inverse gamma,

    has an exact posterior, which `fit` finds in one pass and `partial_fit` keeps exact batch by
    batch; the precision a of the weights is the one with the most evidence. With groups

        y_gi ~ N(x_gi' w_g, v),   w_g ~ N(mu, Sigma),   (mu, Sigma) ~ normal-inverse-Wishart,

    so that groups with few rows borrow from the others, as much as groups are alike. See the page
    on regression for the mathematics and an example.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is an intercept; with groups, one for each.
    standardize : bool, default=True
        Whether features and response are scaled to mean 0 and standard deviation 1 before anything
        else, by the data of `fit` or of the first `partial_fit`. Priors are meant in these units;
        results are in those of the data. Without an intercept nothing is centred.
    weight_precision : float or None, default=None
        Without groups: a, the precision of the weights relative to that of the noise. None takes
        the one with the most evidence. The intercept has 1e-6.
    mean_precision_prior : float, default=1e-3
        With groups: s, how many groups the prior of the mean of weights, 0, is worth.
    covariance_prior : float or None, default=None
        With groups: variance of each weight from group to group that the prior expects. None tries
        seven from 0.01 to 10, divided by n_weights, and takes the one with the highest bound.
    degrees_of_freedom_prior : float or None, default=None
        With groups: nu, above n_weights + 1. None takes n_weights + 2, with which the prior of the
        covariance is worth one group.
    noise_variance_prior : float, default=1.0
        Variance of the noise that the prior expects.
    noise_degrees_of_freedom_prior : float, default=1e-6
        How many rows that is worth.
    learning_method : {"auto", "trust-region", "natural-gradient", "online", "batch", \
"streaming-vb", "streaming-batch", "memoized"}, default="auto"
        "auto" is "batch" with groups, for which `partial_fit` takes trust-region steps, and
        "streaming-vb" without, which is exact there. The others are described in the guide's
        "Other algorithms"; "memoized" has no `partial_fit`.
    learning_rate : {"decaying", "adaptive"}, default="decaying"
        Of trust-region and natural-gradient steps: the schedule below, or found from the gradients
        (Ranganath et al. 2013).
    learning_decay : float, default=0.5
        kappa of the learning rate rho = (tau + t)^-kappa.
    learning_offset : float, default=10.0
        tau of the learning rate.
    cooldown : float, default=0.5
        Share of the steps of `fit`, at its end, over which the learning rate falls to zero.
    max_iter : int or None, default=None
        Most passes of `fit`. None is 1,000 for "batch" and "memoized", which end when they have
        converged, and 20 for the others.
    batch_size : int or None, default=None
        Most data points of a step of `fit`; None takes 100 groups or 500 rows, or less of small
        data; 1,000 for "streaming-vb", 50,000 for "streaming-batch".
    inner_iter : int or None, default=None
        Pairs of local and global update in a trust-region step, None is 5. For "streaming-vb"
        and "streaming-batch" most pairs or passes on a batch; None is 100.
    total_samples : float, default=None
        For `partial_fit`: number of groups, or of rows where there are none, that a call stands
        for. None counts those seen so far.
    tol : float, default=1e-5
        What runs until it converges ends when a pass raises the bound by less, in nats per data
        point.
    warm_start : bool, default=False
        Whether `fit` goes on from what is fitted.
    dtype : {"float32", "float64"}, default="float64"
        Of the rows; parameters are float64 in any case.
    n_jobs : int, default=None
        Threads; None uses all cores. No result depends on it.
    verbose : int, default=0
        Progress on standard error.
    callback : callable, default=None
        Called as callback(state, info) after each step; `fit` ends when it returns True.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        E[w], or E[mu] with groups.
    intercept_ : float
    coef_std_ : array of shape (n_features,)
        Standard deviations of `coef_`.
    coef_covariance_ : array of shape (n_weights, n_weights)
        Covariance of `coef_` and, last, the intercept.
    noise_variance_ : float
        E[v]; infinite after fewer than three rows.
    weight_precision_ : float
        Without groups: a, as given or found.
    groups_ : array of shape (n_groups,)
        With groups: ids of those seen.
    group_coef_, group_coef_std_ : arrays of shape (n_groups, n_features)
        With groups: their weights and standard deviations.
    group_intercept_ : array of shape (n_groups,)
        With groups: their intercepts.
    group_covariance_ : array of shape (n_weights, n_weights)
        With groups: E[Sigma].
    lower_bound_ : float
        Lower bound on the evidence of the data of `fit`, in nats per group, or per row without
        groups, where it is the evidence.
    n_iter_ : int
        Passes of the last `fit`.
    n_batch_iter_ : int
        Steps taken.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X @ [1.0, -2.0] + 3.0 + 0.1 * rng.normal(size=200)
    >>> model = BayesianLinearRegression().fit(X, y)
    >>> model.coef_.round(1), round(model.intercept_, 1)
    (array([ 1., -2.]), 3.0)
    >>> mean, std = model.predict(X[:1], return_std=True)
    >>> bool(abs(mean[0] - y[0]) < 3 * std[0])
    True

    With groups:

    >>> slopes = rng.normal(1.0, 0.5, size=20)
    >>> groups = np.repeat(np.arange(20), 10)
    >>> y = slopes[groups] * X[:, 0] + 0.1 * rng.normal(size=200)
    >>> model = BayesianLinearRegression().fit(X, y, groups)
    >>> bool(np.abs(model.group_coef_[:, 0] - slopes).max() < 0.2)
    True
    """

    _probit = False
    _parameter_constraints = {
        **CONSTRAINTS,
        "weight_precision": [_positive, None],
        "noise_variance_prior": [_positive],
        "noise_degrees_of_freedom_prior": [_positive],
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        standardize: bool = True,
        weight_precision: float | None = None,
        mean_precision_prior: float = 1e-3,
        covariance_prior: float | None = None,
        degrees_of_freedom_prior: float | None = None,
        noise_variance_prior: float = 1.0,
        noise_degrees_of_freedom_prior: float = 1e-6,
        learning_method: str = "auto",
        learning_rate: str = "decaying",
        learning_decay: float = 0.5,
        learning_offset: float = 10.0,
        cooldown: float = 0.5,
        max_iter: int | None = None,
        batch_size: int | None = None,
        inner_iter: int | None = None,
        total_samples: float | None = None,
        tol: float = 1e-5,
        warm_start: bool = False,
        dtype: Any = "float64",
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.weight_precision = weight_precision
        self.mean_precision_prior = mean_precision_prior
        self.covariance_prior = covariance_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.noise_variance_prior = noise_variance_prior
        self.noise_degrees_of_freedom_prior = noise_degrees_of_freedom_prior
        self.learning_method = learning_method
        self.learning_rate = learning_rate
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.cooldown = cooldown
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.inner_iter = inner_iter
        self.total_samples = total_samples
        self.tol = tol
        self.warm_start = warm_start
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

    def predict(self, X: Any, groups: Any = None, return_std: bool = False) -> Any:
        """The expected response of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), default=None
            Group of each row. Rows of groups that were not seen, or all rows if None, are
            predicted by the mean of all groups; their standard deviations then include how much
            groups differ.
        return_std : bool, default=False
            Whether to return standard deviations, the noise included.

        Returns
        -------
        mean : array of shape (n_samples,)
        std : array of shape (n_samples,), if asked for
        """
        mean, variance = self._latent(X, groups)
        if not return_std:
            return mean
        noise = self.noise_variance_
        # After one or two rows nothing is known of the noise, nor then of the weights.
        return mean, np.sqrt(variance + noise) if np.isfinite(noise) else np.full_like(mean, noise)

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """R^2 of the predictions, as scikit-learn's regressors have it."""
        return float(r2_score(y, self.predict(X, groups), sample_weight=sample_weight))

    @property
    def noise_variance_(self) -> float:
        """E[v], in the units of y squared."""
        self._check_unchanged()
        state = self._shown
        expected = self._current_model().expected(state.lambda_, state.prior)
        return float(expected[-1][0]) * self._coordinates.y_scale**2

    @property
    def weight_precision_(self) -> float:
        """Precision of the weights relative to that of the noise, without groups."""
        self._check_unchanged()
        if self._grouped:
            raise AttributeError("with groups, group_covariance_ says how weights differ")
        return float(self._shown.prior.precision[0])

    @property
    def _shown(self) -> State:
        """With the precision of the weights that has the most evidence, unless it was given."""
        state: State = super()._shown
        if self._grouped or self.weight_precision is not None:
            return state
        lambda_, prior = self._build_model(self.n_features_in_).at_best_precision(
            state.lambda_, state.prior, self.n_features_in_
        )
        return replace(state, lambda_=lambda_, prior=prior)

    def _lower_bound(self, X: Any) -> float:
        state = self._shown
        n_rows = state.lambda_.nu[0] - state.prior.noise_nu
        if self._is_exact and abs(n_rows - X.shape[0]) < 0.5:  # all of these rows, and no others
            return float(self._current_model().evidence(state.lambda_, state.prior))
        return super()._lower_bound(X)

    def _model_class(self) -> Any:
        return GroupedLinearModel if self._grouped else LinearModel

    def _check_responses(self, given: GivenRows, n_rows: int, reset: bool) -> np.ndarray:
        return regression_data.numbers(regression_data.responses(self, given.y, n_rows))

    def _noise_prior(self) -> tuple[float, float]:
        nu = self.noise_degrees_of_freedom_prior
        return nu * self.noise_variance_prior, nu

    def _prior_without_groups(self, here: Coordinates) -> WeightsPrior:
        precision = np.full(here.n_weights, _INTERCEPT_PRECISION)
        given = self.weight_precision
        precision[: here.x_mean.size] = _ANY_PRECISION if given is None else given
        return WeightsPrior(*self._place(here), precision, *self._noise_prior())
