"""The model of an estimator, with kernels that are compiled before they are needed."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import clone

from trustream.estimators.fitted import Fitted
from trustream.estimators.progress import compilation_notice

_warm: set[tuple[type, str]] = set()


class Compiled(Fitted):
    """Base of the estimators that makes their model, and runs every kernel of it once."""

    def _current_model(self) -> Any:
        """The model for the parameters as they are now, compiled and ready."""
        model = self._build_model(self.n_features_in_)
        if getattr(self, "_model", None) != model:
            self._model = model
            self._warm_up(model.dtype)
        return self._model

    def _warm_up(self, dtype: str) -> None:
        key = (type(self), dtype)
        if key not in _warm:
            _warm.add(key)
            with compilation_notice():
                self._compile(dtype)

    @abstractmethod
    def _example(self) -> np.ndarray:
        """Two data points that the estimator takes."""

    def _compile(self, dtype: str) -> None:
        """Run every kernel once on next to nothing, as the parameters are now."""
        tiny = clone(self).set_params(
            n_components=2, batch_size=2, max_iter=1, n_init=1, total_samples=None, verbose=0,
            callback=None, random_state=0, **self._tiny_parameters(),
        )  # fmt: skip
        tiny.fit(self._example())
        tiny.elbo(self._example())

    def _tiny_parameters(self) -> dict[str, Any]:
        """Parameters whose shapes do not fit `_example`, as they should be instead."""
        return {}
