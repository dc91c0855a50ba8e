"""What a fitted regression knows: weights of features, of groups, and how sure they are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from trustream import _texts
from trustream._schema import Array, Described
from trustream.estimators import group_memory, parameters, regression_data
from trustream.estimators.base import VariationalEstimator
from trustream.estimators.bounds import each_block
from trustream.kernels import threads
from trustream.learning import regression_formats, state_formats
from trustream.models.regression import GroupedData
from trustream.models.regression.coordinates import Coordinates


class FittedRegression(VariationalEstimator):
    """Base of the regressions that reads what was learned.

    A fitted regression holds, beside what all estimators do, `_coordinates`, `_grouped`, and what
    is known of each group by its id: `_known`, and `_arrived` from the last step.
    """

    _instead_of_texts = _texts.NUMBERS
    _probit: bool
    _grouped: bool
    _coordinates: Coordinates
    _known: dict[Any, group_memory.Entry]
    _arrived: dict[Any, group_memory.Entry]

    @abstractmethod
    def _model_class(self) -> Any:
        """The model, with or without groups."""

    def _remembered(self) -> dict[Any, group_memory.Entry]:
        """What is known of each group.

        What the last step learned is taken over here, in calls that can be repeated: an interrupt
        between a step and this leaves nothing out.
        """
        self._known.update(self._arrived)
        self._arrived = {}
        return self._known

    def _uses(self, groups: Any) -> bool:
        """Whether data come in groups, as those that were learned from."""
        if self._grouped and groups is None:
            raise ValueError(
                f"this {type(self).__name__} was fitted with groups, and these data have none: "
                "give the group of each row, or fit it again"
            )
        if groups is not None and not self._grouped:
            raise ValueError(
                f"this {type(self).__name__} was fitted without groups, and these data have some: "
                "leave them out, or fit it again"
            )
        return self._grouped

    def _check_kind(self, id_: Any) -> None:
        """Refuse ids of another kind than those that are known: they would all be new."""
        known = next(iter(self._remembered()), None)
        if known is not None and isinstance(known, str) != isinstance(id_, str):
            raise ValueError(
                f"groups are {type(id_).__name__}, like {id_!r}, and were {type(known).__name__}, "
                f"like {known!r}, before: use the same kind"
            )

    # --- what was learned

    @property
    def _n_weights(self) -> int:
        n_features: int = self.n_features_in_
        return n_features + int(self.fit_intercept)

    def _one_vector(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights (P,) and covariance (P, P) of rows of no group that is known, in coordinates."""
        self._check_unchanged()
        model, state = self._current_model(), self._shown
        if self._grouped:
            found = model.weights_of_new_group(state.lambda_, state.prior)
        else:
            found = model.weights(state.lambda_, state.prior)
        return found[0], found[1]

    def _of_groups(self, ids: Any) -> tuple[np.ndarray, np.ndarray]:
        """Weights (G, P) and covariances (G, P, P) of groups that are known, in coordinates."""
        model, state = self._current_model(), self._shown
        moments = group_memory.moments_of(self._remembered(), ids, self._n_weights)
        means, covariances = [], []

        def look(rows: slice, batch: Any) -> None:
            local = model.beliefs(state.prior, batch, None)[0]
            settings = self._local_settings()
            local, _ = model.local_step(state.lambda_, state.prior, batch, local, *settings)
            found = model.weights_of_groups(state.lambda_, state.prior, batch, local)
            means.append(found[0])
            covariances.append(found[1])

        p = self._n_weights
        if not len(moments.counts):
            return np.empty((0, p)), np.empty((0, p, p))
        nothing = np.zeros(moments.counts.size + 1, np.int64)
        data = GroupedData(np.empty((0, p)), np.empty(0), nothing, moments)
        each_block(model, data, look)
        return np.concatenate(means), np.concatenate(covariances)

    def _latent(self, X: Any, groups: Any) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of x' w of each row, both (n,), y in its own units."""
        self._check_unchanged()
        rows = regression_data.features(self, X, reset=False)
        here = self._coordinates
        rows = here.rows(rows)
        w, covariance = self._one_vector()
        mean = rows @ w
        if np.isfinite(covariance).all():
            variance = ((rows @ covariance) * rows).sum(axis=1)
        else:
            variance = np.full(rows.shape[0], np.inf)
        if groups is not None:
            self._uses(groups)
            given = regression_data.grouped(groups, rows.shape[0])
            self._check_kind(given.ids[0])
            known = self._remembered()
            places = [place for place, id_ in enumerate(given.ids) if id_ in known]
            w, covariance = self._of_groups([given.ids[place] for place in places])
            for place, weights, spread in zip(places, w, covariance, strict=True):
                low, high = given.offsets[place : place + 2]
                chosen = given.order[low:high]
                mean[chosen] = rows[chosen] @ weights
                variance[chosen] = ((rows[chosen] @ spread) * rows[chosen]).sum(axis=1)
        return here.y_mean + here.y_scale * mean, here.y_scale**2 * variance

    def _own_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights (P,) and covariance (P, P) in the data's own units, of the mean of groups."""
        self._check_unchanged()
        model, state = self._current_model(), self._shown
        w, covariance = self._one_vector()
        if self._grouped:
            covariance = model.mean_covariance(state.lambda_)
        return self._coordinates.weights(w), self._coordinates.covariance(covariance)

    def _split(self, weights: np.ndarray) -> tuple[np.ndarray, Any]:
        """Coefficients (..., D) and intercepts (...,), zero where there are none."""
        d = self.n_features_in_
        if self.fit_intercept:
            return weights[..., :d], weights[..., d]
        return weights, np.zeros(weights.shape[:-1])

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the features, (n_features,); with groups, their mean over groups."""
        return self._split(self._own_weights()[0])[0]

    @property
    def intercept_(self) -> float:
        """Intercept; with groups, its mean over groups. 0 without `fit_intercept`."""
        return float(self._split(self._own_weights()[0])[1])

    @property
    def coef_std_(self) -> np.ndarray:
        """Standard deviations of `coef_`, (n_features,)."""
        return np.sqrt(np.diag(self._own_weights()[1])[: self.n_features_in_])

    @property
    def coef_covariance_(self) -> np.ndarray:
        """Covariance of `coef_` and, if there is one, `intercept_`, which comes last."""
        return self._own_weights()[1]

    def _need_groups(self) -> None:
        self._check_unchanged()
        if not self._grouped:
            raise AttributeError(f"this {type(self).__name__} was fitted without groups")

    @property
    def groups_(self) -> np.ndarray:
        """Ids of the groups that were seen, (n_groups,)."""
        self._need_groups()
        return np.array(list(self._remembered()))

    @property
    def group_coef_(self) -> np.ndarray:
        """Coefficients of each group, (n_groups, n_features), in the order of `groups_`."""
        self._need_groups()
        weights, _ = self._of_groups(self._remembered())
        return self._split(self._coordinates.weights(weights))[0]

    @property
    def group_intercept_(self) -> np.ndarray:
        """Intercept of each group, (n_groups,)."""
        self._need_groups()
        weights, _ = self._of_groups(self._remembered())
        return np.asarray(self._split(self._coordinates.weights(weights))[1])

    @property
    def group_coef_std_(self) -> np.ndarray:
        """Standard deviations of `group_coef_`, (n_groups, n_features)."""
        self._need_groups()
        _, covariances = self._of_groups(self._remembered())
        own = self._coordinates.covariance(covariances)
        return np.sqrt(np.diagonal(own, axis1=-2, axis2=-1)[:, : self.n_features_in_])

    @property
    def group_covariance_(self) -> np.ndarray:
        """E[Sigma]: how weights differ from group to group, the intercept last."""
        self._need_groups()
        state = self._shown
        _, covariance, _ = self._current_model().expected(state.lambda_, state.prior)
        return self._coordinates.covariance(covariance)

    # --- model, kernels and files

    def _build_model(self, n_features: int) -> Any:
        return self._model_class()(
            n_weights=n_features + int(self.fit_intercept),
            dtype=parameters.dtype_name(self.dtype),
            n_threads=threads.n_threads(self.n_jobs),
        )

    def _format(self, n_features: int) -> state_formats.StateFormat:
        p = n_features + int(self.fit_intercept)
        return regression_formats.regression(n_features, p, self._grouped, self._probit)

    def _array_params(self, n_features: int) -> dict[str, Array]:
        return {}

    def _local_settings(self) -> tuple[int, float]:
        # What is read is converged, far beyond what a step needs.
        return 500, 1e-10

    def _own_arrays(self) -> dict[str, np.ndarray]:
        if not self._grouped:
            return {}
        return group_memory.to_arrays(self._remembered(), self._n_weights)

    def _own_table(self, entries: Mapping[str, Described]) -> dict[str, Array]:
        if not hasattr(self, "_grouped"):
            raise ValueError("the attributes lack _grouped")
        return group_memory.table(entries, self._n_weights) if self._grouped else {}

    def _take_own_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._coordinates = self._state.prior.coordinates
        self._known = group_memory.from_arrays(arrays) if self._grouped else {}
        self._arrived = {}
