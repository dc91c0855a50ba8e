"""How regression estimators learn: data in groups, priors, groups that come in several parts."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from trustream.estimators import group_memory, parameters, regression_data
from trustream.estimators.base import has_partial_fit
from trustream.estimators.fitted_regression import FittedRegression
from trustream.estimators.regression_data import GivenRows, Groups
from trustream.inference.algorithm import Algorithm
from trustream.inference.state import Info, State
from trustream.learning import algorithms, defaults
from trustream.learning.recipe import DataSize, Recipe
from trustream.models.regression import GroupedData, PopulationPrior, RowData, coordinates
from trustream.models.regression.coordinates import Coordinates

_positive = Interval(Real, 0, None, closed="neither")
# How much weights may differ from group to group a priori, all together, relative to a standardised
# response: by default the one with the highest bound. Of a probit little is known about that from
# the data, and a step of ten leaves intervals too narrow or too wide.
_SPREADS = tuple(10.0 ** (i / 2) for i in range(-4, 3))

CONSTRAINTS: dict[str, Any] = {
    **{name: rule for name, rule in parameters.COMMON.items() if name != "n_components"},
    "fit_intercept": ["boolean"],
    "standardize": ["boolean"],
    "mean_precision_prior": [_positive],
    "covariance_prior": [_positive, None],
    "degrees_of_freedom_prior": [_positive, None],
    "learning_method": [StrOptions({"auto"}), *parameters.COMMON["learning_method"]],
    "max_iter": [*parameters.COMMON["max_iter"], None],
}
del CONSTRAINTS["n_init"]


class RegressionEstimator(FittedRegression):
    """Base of the regressions: learning. Groups are the data points, or rows without groups."""

    # --- what each regression says of itself

    @abstractmethod
    def _check_responses(self, given: GivenRows, n_rows: int, reset: bool) -> np.ndarray:
        """y as the model takes it, but for its coordinates."""

    @abstractmethod
    def _prior_without_groups(self, here: Coordinates) -> Any:
        """The prior for rows without groups."""

    # --- learning

    def fit(self, X: Any, y: Any, groups: Any = None) -> Any:  # type: ignore[override]
        """Learn from data that are all there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), default=None
            Group of each row, all integers or all strings. Rows of a group may stand anywhere.
            None gives all rows the same weights.

        Returns
        -------
        self
        """
        return super().fit(GivenRows(X, y, groups))

    @available_if(has_partial_fit)
    def partial_fit(self, X: Any, y: Any, groups: Any = None) -> Any:
        """Take one step on these rows.

        They stand for `total_samples` data points, groups if there are any and else rows, or, if
        that is None, for all that have been seen so far. A group may come in several parts: it
        counts once, with all of its rows so far. "streaming-vb" takes each group once only.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), default=None
            As in `fit`; either all calls have groups, or none has.

        Returns
        -------
        self
        """
        return super().partial_fit(GivenRows(X, y, groups, learned_from=True))

    def elbo(  # type: ignore[override]
        self, X: Any, y: Any, groups: Any = None, *, total_samples: float | None = None
    ) -> float:
        """Lower bound on the evidence in nats per data point, that is, per group or per row.

        { (N/B) sum_n E[log p(y_n, z_n | beta) / q(z_n)] - KL(q(beta) || p(beta)) } / N

        with B the data points given. N is B, so that they are all the data, or `total_samples`, of
        which they are then a random part. For a linear regression without groups, fitted to the
        same data, it is the evidence itself.
        """
        given: Any = GivenRows(X, y, groups)
        value: float = super().elbo(given, total_samples=total_samples)
        return value

    def _check_data(self, X: Any, reset: bool) -> Any:
        given: GivenRows = X
        rows = regression_data.features(self, given.X, reset)
        y = self._check_responses(given, rows.shape[0], reset)
        if reset:
            self._grouped = given.groups is not None
            self._coordinates = self._standard(rows, y)
            self._known: dict[Any, group_memory.Entry] = {}
            self._arrived: dict[Any, group_memory.Entry] = {}
        here = self._coordinates
        dtype = parameters.dtype_name(self.dtype)
        if not self._uses(given.groups):
            return RowData(here.rows(rows, dtype), here.responses(y, dtype))
        groups = regression_data.grouped(given.groups, rows.shape[0])
        self._check_kind(groups.ids[0])
        earlier = None
        if given.learned_from and not reset:
            earlier = self._earlier(groups)
        return GroupedData(
            here.rows(rows[groups.order], dtype),
            here.responses(y[groups.order], dtype),
            groups.offsets,
            earlier,
            tuple(groups.ids),
        )

    def _standard(self, X: np.ndarray, y: np.ndarray) -> Coordinates:
        if not self.standardize:
            return coordinates.identity(X.shape[1], self.fit_intercept)
        return coordinates.standard(X, None if self._probit else y, self.fit_intercept)

    def _recipe(self) -> Recipe:
        return defaults.for_regression(
            **self._recipe_options(), is_grouped=self._grouped, is_probit=self._probit
        )

    @property
    def _algorithm(self) -> Algorithm:
        return algorithms.get(
            defaults.regression_method(self.learning_method, self._grouped, self._probit)
        )

    @property
    def _is_exact(self) -> bool:
        """Whether adding up batches gives the posterior itself."""
        return defaults.adds_exactly(self.learning_method, self._grouped, self._probit)

    def _n_starts(self, size: DataSize) -> int:
        """One for each prior that is tried; a regression has one optimum."""
        return len(_SPREADS) if self._grouped and self.covariance_prior is None else 1

    def _build_prior(self, X: Any) -> Any:
        return self._prior_of_start(X, 0)

    def _prior_of_start(self, X: Any, index: int) -> Any:
        here = self._coordinates
        if not self._grouped:
            return self._prior_without_groups(here)
        p = here.n_weights
        scale, nu = self.covariance_prior, self.degrees_of_freedom_prior
        scale = _SPREADS[index] / p if scale is None else scale
        # The least whole number with which E[Sigma] is finite.
        nu = p + 2 if nu is None else nu
        if nu <= p + 1:
            raise ValueError(
                f"degrees_of_freedom_prior must be above {p + 1}, the number of weights and one, "
                f"got {nu}"
            )
        return PopulationPrior(
            *self._place(here), self.mean_precision_prior, (nu - p - 1) * scale * np.eye(p),
            float(nu), *self._noise_prior(),
        )  # fmt: skip

    @staticmethod
    def _place(here: Coordinates) -> tuple[Any, Any, float, float]:
        return here.x_mean, here.x_scale, here.y_mean, here.y_scale

    def _noise_prior(self) -> tuple[float, float]:
        """Psi and nu of the noise variance, in standard coordinates."""
        return 1.0, 1.0

    def _initial(self, model: Any, prior: Any, X: Any, rng: np.random.Generator) -> Any:
        """What the groups say each by itself, or what a model of rows takes for a start."""
        if not self._grouped:
            return model.initial(prior, rng)
        n = X.shape[0]
        batch = model.batch(X, slice(0, defaults.groups_of_start(n)))
        _, statistics = model.beliefs(prior, batch, None)
        return model.blend(model.eta(prior), prior, batch, statistics, 1.0, n / batch.size)

    def _starts(self, model: Any, X: Any) -> Any:
        return lambda prior, rows, rng: self._initial(model, prior, X, rng)

    # --- groups that come in several parts

    def _earlier(self, groups: Groups) -> Any:
        known = self._remembered()
        algorithm = self._algorithm
        old = [id_ for id_ in groups.ids if id_ in known]
        if not old or algorithm.data == "draws":
            return None
        if algorithm.takes_each_once:
            others = algorithms.choice(lambda other: other.data == "batches", quote='"')
            raise ValueError(
                f'group {old[0]!r} came before, and learning_method="{algorithm.name}" counts '
                "each group once and for ever: give all rows of a group in one call, or use "
                f"{others}"
            )
        return group_memory.moments_of(known, groups.ids, self._n_weights)

    def _n_new(self, X: Any) -> int:
        if not self._grouped or self._algorithm.data == "draws":
            return super()._n_new(X)
        known = self._remembered()
        return sum(id_ not in known for id_ in X.ids)

    def _learned_from(self, X: Any, state: State, info: Info) -> dict[str, Any]:
        if not self._grouped:
            return {}
        found = self._memories(X, state)
        if self._algorithm.data == "draws":
            return {"_known": found, "_arrived": {}}
        return {"_arrived": found}

    def _memories(self, X: Any, state: State) -> dict[Any, group_memory.Entry]:
        """What is to be remembered of the groups of X, by id."""
        model, found = self._current_model(), {}

        def look(rows: slice, batch: Any, natural: Any, local: Any) -> None:
            kept = model.memory(natural, state.prior, batch, local)
            found.update(group_memory.entries(X.ids[rows], kept))

        self._visit(model, state, X, look)
        return found

    def _finish(self, X: Any) -> None:
        self.lower_bound_ = self._lower_bound(X) / X.shape[0]
        if self._grouped:
            self._known, self._arrived = self._memories(X, self._shown), {}

    def _lower_bound(self, X: Any) -> float:
        """Of the data of `fit`, in nats."""
        return self._bound(self._current_model(), self._shown, X)[0]

    def _example(self) -> np.ndarray:
        return np.eye(2)

    def _compile(self, dtype: str) -> None:
        tiny = clone(self).set_params(
            batch_size=2, max_iter=1, total_samples=None, verbose=0, callback=None,
            random_state=0, degrees_of_freedom_prior=None, covariance_prior=1.0,
        )  # fmt: skip
        for groups in (None, [0, 1]):
            tiny.fit(self._example(), [0, 1], groups).elbo(self._example(), [0, 1], groups)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
