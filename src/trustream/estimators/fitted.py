"""What an estimator holds once it is fitted: reading, checking, copying and saving it."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from trustream import persist
from trustream._schema import Array, Described, check_entries
from trustream.estimators import saving
from trustream.inference.population import published
from trustream.inference.restoring import ReplacedStateError, Restorable
from trustream.inference.state import State
from trustream.learning import state_arrays, state_formats

# Types of parameters whose values stay what they are.
_SETTLED = (bool, int, float, str, type(None))


class Fitted(BaseEstimator):
    """Base of the estimators that keeps what was learned.

    A fitted estimator holds `_state` (what `inference` needs to go on), `_rng` (random numbers of
    the steps to come) and `_n_samples_seen`, and `_model`, which is only a cache.
    """

    n_components: int
    n_features_in_: int
    _kept: Restorable[State]
    _rng: np.random.Generator
    # Parameters that `_state` was last found to agree with, where that need not be asked again.
    _agreed: tuple[Any, ...] | None = None

    @property
    def _state(self) -> State:
        while True:
            kept = self._kept
            try:
                return kept.restored()
            except ReplacedStateError:
                if kept is self._kept:
                    raise
                # Another thread has taken a step just now.

    @_state.setter
    def _state(self, state: State) -> None:
        self._kept = Restorable(state)
        self._agreed = None

    @abstractmethod
    def _format(self, n_features: int) -> state_formats.StateFormat:
        """What the arrays of a saved state must be."""

    @abstractmethod
    def _array_params(self, n_features: int) -> dict[str, Array]:
        """Parameters that may be arrays, and what they must be in a file."""

    @abstractmethod
    def _build_model(self, n_features: int) -> Any:
        """The model for the parameters as they are now."""

    # --- what only some estimators have in their files

    def _own_arrays(self) -> dict[str, np.ndarray]:
        """Arrays of a file beside state and parameters, by names with a prefix of their own."""
        return {}

    def _own_table(self, entries: Mapping[str, Described]) -> state_formats.Table:
        """What these must be in a file with those entries."""
        return {}

    def _take_own_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take them from a file whose arrays were checked; a ValueError if they cannot be right."""

    # --- what is fitted

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    @property
    def n_batch_iter_(self) -> int:
        """Steps taken since the start."""
        self._check_is_fitted()
        return self._state.n_steps

    @property
    def _n_features_out(self) -> int:
        return self.n_components

    @property
    def _shown(self) -> State:
        """The state for the data that there are: what everything but learning looks at."""
        self._check_is_fitted()
        return published(self._build_model(self.n_features_in_), self._state)

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            # In scikit-learn's words. An AttributeError as well, so that hasattr() says no.
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )

    def _check_unchanged(self) -> None:
        """Refuse parameters that do not describe what is fitted: kernels trust shapes and types."""
        self._check_is_fitted()
        state = replace(self._state, memory=None, mean=None)
        try:
            arrays, header = state_arrays.to_arrays(state)
            check_entries(arrays, self._format(self.n_features_in_).table(header))
        except ValueError as error:
            raise ValueError(
                f"this {type(self).__name__} was fitted with other parameters than it has now "
                f"({error}): change them back, or fit it again"
            ) from error

    def _settled_parameters(self) -> tuple[Any, ...] | None:
        """All parameters, if none of them can be changed in place."""
        values = tuple(getattr(self, name) for name in self._get_param_names())
        return values if all(isinstance(value, _SETTLED) for value in values) else None

    def _agrees(self) -> bool:
        """Whether these are the very parameters that were checked for what is fitted."""
        now, before = self._settled_parameters(), self._agreed
        if now is None or before is None:
            return False
        return all(a is b for a, b in zip(now, before, strict=True))

    # --- learning, wholly or not at all

    def _draft(self) -> Self:
        """Another estimator with the same attributes, to learn in the place of this one.

        All that learning changes is changed there, and `_become` takes it over at once. So an error
        or an interrupt leaves this estimator as it was, and there is nothing to be undone. What a
        step overwrites in memory is put back by `_kept`, which both share.
        """
        draft = object.__new__(type(self))
        draft.__dict__.update(self.__dict__)
        return draft

    def _become(self, draft: Self) -> None:
        """Take over all that a draft of this estimator has learned."""
        self.__dict__ = draft.__dict__

    def __getstate__(self) -> Any:
        if "_kept" in self.__dict__:
            _ = self._state  # puts back the random numbers as well
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_model"}

    def __copy__(self) -> Any:
        # Steps change the memory of what is fitted: a copy has its own.
        return copy.deepcopy(self)

    # --- disk

    def save(self, path: Any) -> None:
        """Write the fitted estimator to a file; `trustream.load(path)` reads it again.

        The file holds parameters, priors, clock and random state, so that `partial_fit` goes on
        exactly as it would have. A `callback` is not saved.
        """
        self._check_is_fitted()
        persist.write(path, *saving.to_arrays(self))

    @classmethod
    def _from_contents(cls, contents: persist.Contents) -> Any:
        return saving.from_contents(cls, contents)
