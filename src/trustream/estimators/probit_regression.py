"""The estimator of Bayesian probit regression."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from trustream import persist
from trustream._schema import Array, Described
from trustream.estimators import regression_data
from trustream.estimators.base import VariationalEstimator, has_partial_fit
from trustream.estimators.regression import CONSTRAINTS, RegressionEstimator
from trustream.estimators.regression_data import GivenRows
from trustream.estimators.schemas import NUMBERS
from trustream.models.regression import GroupedProbitModel, ProbitModel, WeightsPrior
from trustream.models.regression.coordinates import Coordinates

_positive = Interval(Real, 0, None, closed="neither")
# Of the intercept: a standard deviation of ten, far beyond any probability but 0 and 1.
_INTERCEPT_PRECISION = 0.01
# Rows from which a start is found, by at most so many steps of Newton's method.
_MOST_START_ROWS, _NEWTON_STEPS = 20_000, 50


@persist.register
class ProbitRegression(ClassifierMixin, RegressionEstimator):
    """Bayesian probit regression of two classes, by the latent responses of Albert and Chib.

    Without groups,

        z_n ~ N(x_n' w, 1),   y_n = the second class if z_n > 0,   w ~ N(0, 1 / a),

    and with groups, so that groups with few rows borrow from the others,

        z_gi ~ N(x_gi' w_g, 1),   w_g ~ N(mu, Sigma),   (mu, Sigma) ~ normal-inverse-Wishart.

    All priors are proper: classes that a line can separate give finite weights. See the page on
    regression for the mathematics and an example.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is an intercept; with groups, one for each.
    standardize : bool, default=True
        Whether features are scaled to mean 0 and standard deviation 1 before anything else, by the
        data of `fit` or of the first `partial_fit`. Priors are meant in these units; results are
        in those of the data. Without an intercept nothing is centred.
    weight_precision : float, default=1.0
        Without groups: a, the precision of the weights. The intercept has 0.01.
    mean_precision_prior : float, default=0.1
        With groups: s, how many groups the prior of the mean of weights, 0, is worth.
    covariance_prior : float or None, default=None
        With groups: variance of each weight from group to group that the prior expects. None tries
        seven from 0.01 to 10, divided by n_weights, and takes the one with the highest bound.
    degrees_of_freedom_prior : float or None, default=None
        With groups: nu, above n_weights + 1. None takes n_weights + 2, with which the prior of the
        covariance is worth one group.
    learning_method, learning_rate, learning_decay, learning_offset, cooldown, max_iter, \
batch_size, inner_iter, total_samples, tol, warm_start, dtype, n_jobs, verbose, callback, \
random_state
        As in `BayesianLinearRegression`; "auto" is "batch".

    Attributes
    ----------
    classes_ : array of shape (2,)
    coef_ : array of shape (n_features,)
        E[w], or E[mu] with groups.
    intercept_ : float
    coef_std_ : array of shape (n_features,)
        Standard deviations of `coef_`.
    coef_covariance_ : array of shape (n_weights, n_weights)
        Covariance of `coef_` and, last, the intercept.
    groups_, group_coef_, group_coef_std_, group_intercept_, group_covariance_, lower_bound_, \
n_iter_, n_batch_iter_
        As in `BayesianLinearRegression`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> y = np.where(X @ [1.0, -2.0] + rng.normal(size=500) > 0, "yes", "no")
    >>> model = ProbitRegression().fit(X, y)
    >>> model.classes_.tolist(), bool(model.coef_[1] < -1 < 0 < model.coef_[0])
    (['no', 'yes'], True)
    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    """

    _probit = True
    _parameter_constraints = {**CONSTRAINTS, "weight_precision": [_positive]}

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        standardize: bool = True,
        weight_precision: float = 1.0,
        mean_precision_prior: float = 0.1,
        covariance_prior: float | None = None,
        degrees_of_freedom_prior: float | None = None,
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

    @available_if(has_partial_fit)
    def partial_fit(self, X: Any, y: Any, groups: Any = None, classes: Any = None) -> Any:
        """Take one step on these rows; see `BayesianLinearRegression.partial_fit`.

        What is kept of the rows of a group for its next ones is a Gaussian.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), default=None
            As in `fit`; either all calls have groups, or none has.
        classes : array-like of shape (2,), default=None
            Both classes, in the first call, if its rows have only one of them.

        Returns
        -------
        self
        """
        given = GivenRows(X, y, groups, learned_from=True, classes=classes)
        return VariationalEstimator.partial_fit(self, given)

    def decision_function(self, X: Any, groups: Any = None, return_std: bool = False) -> Any:
        """x' w of each row, above zero where the second class is likelier.

        Parameters
        ----------
        X, groups, return_std
            As in `BayesianLinearRegression.predict`; the noise of z is not included.

        Returns
        -------
        mean : array of shape (n_samples,)
        std : array of shape (n_samples,), if asked for
        """
        mean, variance = self._latent(X, groups)
        return (mean, np.sqrt(variance)) if return_std else mean

    def predict_proba(self, X: Any, groups: Any = None) -> np.ndarray:
        """Probability of each class, (n_samples, 2), what is not known of the weights included.

        E[Phi(x' w)] = Phi(x' m / sqrt(1 + x' C x)) for w ~ N(m, C). Groups as in `predict`.
        """
        mean, variance = self._latent(X, groups)
        z = mean / np.sqrt(1 + variance)
        return np.column_stack([ndtr(-z), ndtr(z)])

    def predict_log_proba(self, X: Any, groups: Any = None) -> np.ndarray:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, groups))

    def predict(self, X: Any, groups: Any = None) -> np.ndarray:
        """The likelier class of each row, (n_samples,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), default=None
            Group of each row. Rows of groups that were not seen, or all rows if None, are
            predicted by the mean of all groups.
        """
        chosen = (self.decision_function(X, groups) > 0).astype(int)
        return np.asarray(self.classes_[chosen])

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """Share of rows whose class is predicted, as scikit-learn's classifiers have it."""
        return float(accuracy_score(y, self.predict(X, groups), sample_weight=sample_weight))

    def _model_class(self) -> Any:
        return GroupedProbitModel if self._grouped else ProbitModel

    def _check_responses(self, given: GivenRows, n_rows: int, reset: bool) -> np.ndarray:
        y = regression_data.responses(self, given.y, n_rows)
        check_classification_targets(y)
        present = np.unique(y)
        if reset:
            self.classes_ = self._two_classes(y, given.classes)
        elif given.classes is not None and not np.array_equal(
            np.unique(given.classes), self.classes_
        ):
            raise ValueError(
                f"classes is {given.classes!r}, and was {self.classes_.tolist()} in the first call"
            )
        strange = np.setdiff1d(present, self.classes_)
        if strange.size:
            raise ValueError(
                f"y has the class {strange.tolist()[0]!r}, expected one of {self.classes_.tolist()}"
            )
        return np.where(y == self.classes_[1], 1.0, -1.0)

    @staticmethod
    def _two_classes(y: np.ndarray, given: Any) -> np.ndarray:
        classes = np.unique(y if given is None else np.asarray(given))
        if classes.dtype.kind == "O" and not all(isinstance(value, str) for value in classes):
            raise ValueError(f"classes must be numbers or strings, got {classes.tolist()}")
        if classes.size > 2:
            kind = type_of_target(y, input_name="y")
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}: y "
                f"has {classes.size} classes, {classes[:3].tolist()} among them"
            )
        if classes.size < 2:
            raise ValueError(
                f"y has one class only, {classes.tolist()}, expected two: give both to "
                "partial_fit as `classes`, or leave out what does not vary"
            )
        return classes.astype(str) if classes.dtype.kind == "O" else classes

    def _prior_without_groups(self, here: Coordinates) -> WeightsPrior:
        precision = np.full(here.n_weights, _INTERCEPT_PRECISION)
        precision[: here.x_mean.size] = self.weight_precision
        return WeightsPrior(*self._place(here), precision)

    def _initial(self, model: Any, prior: Any, X: Any, rng: np.random.Generator) -> Any:
        """Without groups: the highest point of the posterior of some rows, by Newton's method."""
        if self._grouped:
            return super()._initial(model, prior, X, rng)
        n = X.shape[0]
        rows: Any = slice(None)
        if n > _MOST_START_ROWS:
            rows = np.sort(rng.choice(n, _MOST_START_ROWS, replace=False))
        batch = model.batch(X, rows)
        scale = n / batch.size
        w = model.mode(prior, batch, scale, _NEWTON_STEPS)
        return model.start(prior, batch, scale, w)

    def _own_arrays(self) -> dict[str, np.ndarray]:
        if self.classes_.dtype.kind == "U":
            classes = {"classes.names": persist.pack_strings(self.classes_.tolist())}
        else:
            classes = {"classes.numbers": self.classes_}
        return super()._own_arrays() | classes

    def _own_table(self, entries: Mapping[str, Described]) -> dict[str, Array]:
        if "classes.names" in entries:
            return super()._own_table(entries) | {"classes.names": Array(None, ("uint8",))}
        kinds = (*NUMBERS, "bool")
        return super()._own_table(entries) | {"classes.numbers": Array([(2,)], kinds)}

    def _take_own_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        super()._take_own_arrays(arrays)
        if "classes.names" in arrays:
            self.classes_ = np.array(persist.unpack_strings(arrays["classes.names"]))
        else:
            self.classes_ = arrays["classes.numbers"]
        if np.unique(self.classes_).size != 2 or self.classes_.size != 2:
            raise ValueError(f"the classes are {self.classes_.tolist()}, expected two")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
