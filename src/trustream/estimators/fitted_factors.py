"""What a fitted Poisson factorisation shows: factors of items and users, scores, new items."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from trustream.estimators import parameters
from trustream.estimators.base import VariationalEstimator
from trustream.evaluation.validation import whole_number


class FittedFactors(ClassNamePrefixFeaturesOutMixin, TransformerMixin, VariationalEstimator):
    """Base of `PoissonFactorization` that shows factors and says how likely counts are."""

    @property
    def components_(self) -> np.ndarray:
        """E[beta], the items' factors, (n_components, n_features)."""
        self._check_unchanged()
        state = self._shown
        return self._current_model().expected(state.lambda_, state.prior)

    @property
    def item_rate_(self) -> float:
        """The rate of the prior of items' factors, as learned."""
        return self._shown.prior.item_rate

    @property
    def activity_rate_(self) -> float:
        """The rate of the prior of users' activities, as learned."""
        return self._shown.prior.activity_rate

    def transform(self, X: Any) -> np.ndarray:
        """Return E[theta], the factors of users with these counts, (n_samples, n_components).

        Users need not have been in the data that were learned from. A user without items has the
        factors that are expected of somebody of whom nothing is known but that.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        """
        X = self._check_fitted_data(X)
        model, state = self._reading_model(), self._shown
        factors = np.empty((X.shape[0], self.n_components), parameters.dtype_name(self.dtype))

        def look(rows: slice, batch: Any, natural: Any, local: Any) -> None:
            factors[rows] = model.user_factors(state.lambda_, state.prior, local)

        self._visit(model, state, X, look)
        return factors

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return expected counts, (n_samples, n_features), for factors as `transform` returns them.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
        """
        factors, components = np.asarray(X, np.float64), self.components_
        if factors.ndim != 2 or factors.shape[1] != self.n_components:
            raise ValueError(
                f"factors have shape {factors.shape}, expected (n_samples, {self.n_components}), "
                "as transform returns them"
            )
        if not np.isfinite(factors).all():
            raise ValueError("factors contain NaN or infinity, expected those of transform")
        return factors @ components

    def score_samples(self, X: Any) -> np.ndarray:
        """Return a lower bound of log p(x_u | items) of each user in nats, (n_samples,).

        It is the user's part of the bound (`elbo`), with the items' factors as they were learned.
        """
        X = self._check_fitted_data(X)
        return self._local_bounds(self._bounding_model(), self._shown, X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of `score_samples`, in nats per user; higher is better."""
        return float(self.score_samples(X).mean())

    def add_items(self, n_items: int, names: Sequence[str] | None = None) -> Any:
        """Make room for new items, as columns behind those that are there.

        Nothing is known of them but the prior. `partial_fit` learns about them, from rows with all
        columns, old and new; what is known of other items stays as it is.

        Parameters
        ----------
        n_items : int
            Number of new items.
        names : sequence of str, default=None
            Names of the columns, needed if the model was fitted to a frame.

        Returns
        -------
        self

        Examples
        --------
        >>> from trustream import PoissonFactorization
        >>> model = PoissonFactorization(2, random_state=0).fit(np.eye(4, dtype=int))
        >>> model.add_items(2).components_.shape
        (2, 6)
        """
        self._check_unchanged()
        n_new = whole_number("n_items", n_items)
        known = getattr(self, "feature_names_in_", None)
        if (known is not None) != (names is not None):
            raise ValueError(
                "the columns have names: give names of the new ones too"
                if names is None
                else "the columns have no names: leave names out"
            )
        if known is not None and names is not None:
            both = [*known.tolist(), *names]
            if len(both) != len(known) + n_new or len(set(both)) != len(both):
                raise ValueError(f"names must be {n_new} different ones that no column has yet")
        state, draft = self._state, self._draft()
        prior = replace(state.prior, n_items=state.prior.n_items + n_new)
        shape = prior.item_shape
        mean = copy.copy(state.mean)
        if mean is not None:
            mean = replace(mean, lambda_=mean.lambda_.with_items(n_new, shape))
        # A window of gradients has no entries for new items: the next one begins anew.
        lambda_ = state.lambda_.with_items(n_new, shape)
        draft._state = replace(state, lambda_=lambda_, prior=prior, mean=mean, memory=None)
        draft.n_features_in_ += n_new
        if known is not None:
            draft.feature_names_in_ = np.array(both, dtype=object)
        self._become(draft)
        return self
