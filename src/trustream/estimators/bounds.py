"""Local beliefs and bounds of data under a fitted model, block by block."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from trustream.estimators import parameters
from trustream.estimators.compilation import Compiled
from trustream.inference.driver import blocks
from trustream.inference.state import State
from trustream.kernels import threads


def each_block(model: Any, X: Any, look: Callable[[slice, Any], None]) -> None:
    """Prepare the data block by block and hand each to `look(rows, batch)`."""
    with threads.one_blas_thread():
        for rows in blocks(X.shape[0]):
            look(rows, model.batch(X, rows))


class Bounds(Compiled):
    """Base of the estimators that says something about data without learning from them."""

    dtype: Any

    @abstractmethod
    def _local_settings(self) -> tuple[int, float]:
        """(n_local, tol) of local steps that do not learn."""

    @abstractmethod
    def _check_fitted_data(self, X: Any) -> Any:
        """Validated data for a fitted estimator."""

    def _reading_model(self) -> Any:
        """The model whose local beliefs are shown."""
        return self._current_model()

    def _bounding_model(self) -> Any:
        """The model whose lower bound is shown."""
        return self._current_model()

    def elbo(self, X: Any, *, total_samples: float | None = None) -> float:
        """Lower bound on the evidence in nats per data point, local beliefs fitted to X.

        { (N/B) sum_n E[log p(x_n, z_n | beta) / q(z_n)] - KL(q(beta) || p(beta)) } / N

        with B the rows of X. N is B, so that X is all the data, or `total_samples`, of which X is
        then a random part.
        """
        X = self._check_fitted_data(X)
        n_documents = X.shape[0] if total_samples is None else total_samples
        value, _ = self._bound(self._bounding_model(), self._shown, X, n_documents)
        return value / n_documents

    def _bound(
        self, model: Any, state: State, X: Any, n_documents: float | None = None
    ) -> tuple[float, np.ndarray]:
        """(bound in nats, bounds of the data points)."""
        local = self._local_bounds(model, state, X)
        scale = 1.0 if n_documents is None else n_documents / X.shape[0]
        value = scale * float(local.sum()) + model.global_bound(state.lambda_, state.prior)
        return value, local

    def _local_bounds(self, model: Any, state: State, X: Any) -> np.ndarray:
        """E[log p(x_n, z_n | beta) / q(z_n)] of each row, (n_samples,)."""
        bounds = np.empty(X.shape[0])

        def look(rows: slice, batch: Any, natural: Any, local: Any) -> None:
            bounds[rows] = model.local_bound(natural, state.prior, batch, local)

        self._visit(model, state, X, look)
        return bounds

    def _visit(
        self, model: Any, state: State, X: Any, look: Callable[[slice, Any, Any, Any], None]
    ) -> None:
        """Fit local beliefs block by block and hand them to look(rows, batch, natural, local)."""
        n_local, tol = self._local_settings()

        def visit(rows: slice, batch: Any) -> None:
            natural = model.restrict(state.lambda_, state.prior, batch)
            local, _ = model.beliefs(state.prior, batch, None)
            local, _ = model.local_step(natural, state.prior, batch, local, n_local, tol)
            look(rows, batch, natural, local)

        each_block(model, X, visit)

    def _beliefs(self, X: Any) -> np.ndarray:
        """Local beliefs of all rows, (n_samples, n_components)."""
        model = self._reading_model()
        beliefs = np.empty((X.shape[0], self.n_components), parameters.dtype_name(self.dtype))

        def look(rows: slice, batch: Any, natural: Any, local: Any) -> None:
            beliefs[rows] = local

        self._visit(model, self._shown, X, look)
        return beliefs
