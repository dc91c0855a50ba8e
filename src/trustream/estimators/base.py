"""How estimators learn: fit and partial_fit."""

from __future__ import annotations

import copy
from abc import abstractmethod
from contextlib import nullcontext
from functools import cache
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from trustream import _texts
from trustream.estimators import parameters, validation
from trustream.estimators.bounds import Bounds
from trustream.estimators.early_stopping import Watch
from trustream.estimators.progress import progress
from trustream.inference.algorithm import Start
from trustream.inference.population import published
from trustream.inference.restoring import Restorable, generator_savepoint
from trustream.inference.state import Info, State
from trustream.kernels import threads
from trustream.learning import algorithms, continuing
from trustream.learning.learner import Learner
from trustream.learning.recipe import DataSize, Recipe


def has_partial_fit(estimator: Any) -> bool:
    """Whether the estimator learns from batches as they come, by its parameters."""
    method = estimator.learning_method
    if method in algorithms.names() and not algorithms.get(method).takes_batches:
        others = algorithms.choice(lambda other: other.data in ("batches", "arrivals"), quote='"')
        # An AttributeError, so that hasattr() says no.
        raise AttributeError(
            f'learning_method="{method}" has no partial_fit: it needs all data, to visit each '
            f"batch again and again. Use fit, or {others} for data that arrive."
        )
    return True


class VariationalEstimator(Bounds):
    """Base of the estimators: learning. See the classes themselves for parameters."""

    # --- what each estimator says of itself

    # What to pass in the place of texts.
    _instead_of_texts = _texts.COUNTS

    @abstractmethod
    def _build_prior(self, X: Any) -> Any:
        """The prior for the parameters as they are now; from data where they leave it open."""

    @abstractmethod
    def _check_data(self, X: Any, reset: bool) -> Any:
        """Validated data for the model, or a ValueError that names what is wrong."""

    @abstractmethod
    def _recipe(self) -> Recipe:
        """How to learn, by the parameters as they are now."""

    def _recipe_options(self) -> dict[str, Any]:
        """Arguments of a recipe that all estimators have."""
        same = (
            "learning_offset", "learning_decay", "cooldown", "batch_size", "max_iter",
            "inner_iter", "tol",
        )  # fmt: skip
        options = {name: getattr(self, name) for name in same}
        adaptive = self.learning_rate == "adaptive"
        return {"method": self.learning_method, "adaptive": adaptive, **options}

    def _n_tokens(self, X: Any) -> float:
        """Tokens of all data points; data points, where these have none."""
        return float(X.shape[0])

    def _size(self, X: Any) -> DataSize:
        """How much data there are to learn from."""
        return DataSize(X.shape[0], self._n_tokens(X))

    def _mean_length(self, X: Any, first: bool) -> float:
        """Tokens per data point of all that were seen, X included."""
        here = self._n_tokens(X) / X.shape[0]
        if first or not hasattr(self, "_mean_tokens"):
            return here
        share = X.shape[0] / (self._n_samples_seen + X.shape[0])
        return (1 - share) * self._mean_tokens + share * here

    def _n_new(self, X: Any) -> int:
        """Data points of `partial_fit` that have not been counted yet: all, unless they are known
        by name."""
        n_new: int = X.shape[0]
        return n_new

    def _learned_from(self, X: Any, state: State, info: Info) -> dict[str, Any]:
        """Attributes that a step of `partial_fit` on X sets, beside those of all estimators."""
        return {}

    def _finish(self, X: Any) -> None:
        """Called at the end of `fit` with the validated data."""

    # --- learning

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn from data that are all there.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        draft = self._draft()
        draft._fit(X)
        self._become(draft)
        return self

    def _fit(self, X: Any) -> None:
        self._validate_params()
        goes_on = self.warm_start and self.__sklearn_is_fitted__()
        if goes_on:
            self._check_unchanged()
        X = self._check_data(X, reset=not goes_on)
        learner = self._learner()
        learner.recipe.check_population(X.shape[0])
        rng = copy.deepcopy(self._rng) if goes_on else parameters.generator(self.random_state)
        X, watched = self._set_aside(X, rng)
        size = self._size(X)
        n_starts = 1 if goes_on else self._n_starts(size)
        best: tuple[float, State, int] | None = None
        with threads.one_blas_thread():
            for i in range(n_starts):
                name = type(self).__name__
                name += f", start {i + 1} of {n_starts}" if n_starts > 1 else ""
                # Without a name of its own here, the start is gone after the first step.
                state, n_iter = self._run(
                    name, learner, self._start(learner, X, rng, goes_on, i), X, size, rng,
                    self._watch(watched),
                )  # fmt: skip
                state = learner.smoothed(state, X, rng)
                value = self._start_value(state, X) if n_starts > 1 else 0.0
                if best is None or value > best[0]:
                    best = (value, state, n_iter)
            _, self._state, self.n_iter_ = best  # type: ignore[misc]
            self._rng = rng
            self._n_samples_seen = X.shape[0]
            self._mean_tokens = size.n_tokens / size.n_documents
            self._finish(watched)

    def _n_starts(self, size: DataSize) -> int:
        """Starts that are tried on so much data."""
        n_init: int = self.n_init
        return n_init

    def _start_value(self, state: State, X: Any, n_documents: float | None = None) -> float:
        """The bound by which starts are compared, in nats."""
        shown = published(self._current_model(), state)
        return self._bound(self._bounding_model(), shown, X, n_documents)[0]

    def _set_aside(self, X: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        """(data that `fit` learns from, data that it watches)."""
        return X, X

    def _watch(self, X: Any) -> Watch | None:
        """What tells a fit that watches X that it may end; None if nothing does."""
        return None

    def _learner(self) -> Learner:
        return Learner(self._current_model(), self._recipe())

    def _start(
        self, learner: Learner, X: Any, rng: np.random.Generator, goes_on: bool, index: int
    ) -> State:
        """Where a fit starts, of several with these numbers: afresh, or from what is fitted."""
        if goes_on:
            return copy.deepcopy(self._state)
        prior = self._prior_of_start(X, index)
        return learner.start(prior, rng, self._starts(learner.model, X))

    def _prior_of_start(self, X: Any, index: int) -> Any:
        """The prior of a start; the same for all, unless there is a choice of priors."""
        return self._build_prior(X)

    def _starts(self, model: Any, X: Any) -> Start:
        """Makes a lambda to start from, for some rows of X or, as a slice, all of them."""

        def start(prior: Any, rows: Any, rng: np.random.Generator) -> Any:
            some = X if isinstance(rows, slice) else X[rows]
            return self._initial(model, prior, some, rng)

        return start

    def _initial(self, model: Any, prior: Any, X: Any, rng: np.random.Generator) -> Any:
        """lambda to start from."""
        return model.initial(prior, rng)

    def _run(
        self,
        name: str,
        learner: Learner,
        state: State,
        X: Any,
        size: DataSize,
        rng: np.random.Generator,
        watch: Watch | None,
    ) -> tuple[State, int]:
        """(the state at the end, passes done), shown by that name."""
        steps_per_pass, n_passes = learner.length(size)
        done, model, ending = 0, learner.model, None
        steps = learner.passes(state, X, rng, size, self._starts(model, X))
        del state  # its lambda is consumed by the first step
        with progress(name, n_passes * steps_per_pass, steps_per_pass, self.verbose) as report:
            for state, info in steps:
                done += 1
                measured, settled = "", False
                if watch is not None and done % steps_per_pass == 0:
                    n_done = done // steps_per_pass
                    settled = watch.has_settled(published(model, state), n_done)
                    if watch.is_due(n_done):
                        measured = f", perplexity {watch.value:.1f}"
                report(done, info, measured)
                if self.callback is not None and self.callback(published(model, state), info):
                    break
                if settled:
                    ending = learner.ending(size, done // steps_per_pass)
                    if ending is not None:
                        break
        n_iter = -(-done // steps_per_pass)
        if ending is not None and ending.recipe.max_iter > 0:
            state, more = self._run(f"{name}, settled", ending, state, X, size, rng, None)
            return state, n_iter + more
        return learner.algorithm.finish(state), n_iter

    @available_if(has_partial_fit)
    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Take one step on these rows, whatever their number.

        The rows stand for `total_samples` data points or, if that is None, for all that have been
        seen so far, these included. With "streaming-vb" they stand for themselves and are added to
        what was seen; with "streaming-batch" they are all the data, and what was learned before is
        replaced.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._step_as(self._draft(), X)
        return self

    def _step_as(self, draft: Self, X: Any) -> None:
        """Take a step on these rows as a draft does, in which more may have been changed."""
        before = self.__dict__.get("_kept")
        with nullcontext() if before is None else before.lock:
            info = draft._learn(X)
            # The step is done with this call, and not before.
            self._become(draft)
            if before is not None:
                before.replaced()
        if self.callback is not None:
            self.callback(self._shown, info)

    def _learn(self, X: Any) -> Info:
        first = not self.__sklearn_is_fitted__()
        with threads.one_blas_thread():
            # Checks of thirty parameters take as long as a small step: once is enough.
            if first or not self._agrees():
                self._validate_params()
                if not first:
                    self._check_unchanged()
            X = self._check_data(X, reset=first)
            learner = self._learner()
            rng = parameters.generator(self.random_state) if first else self._rng
            seen = self._n_new(X) + (0 if first else self._n_samples_seen)
            n_documents = seen if self.total_samples is None else self.total_samples
            if self.total_samples is not None:
                learner.recipe.check_population(n_documents)
            length = self._mean_length(X, first)
            n_starts = self._n_starts(self._size(X)) if first else 1
            best: tuple[float, State, Info] | None = None
            for i in range(n_starts):
                kept = Restorable(self._start(learner, X, rng, False, i)) if first else self._kept
                state, info = self._step(learner, kept, X, rng, seen, n_documents, length)
                value = self._start_value(state, X, n_documents) if n_starts > 1 else 0.0
                if best is None or value > best[0]:
                    best = (value, state, info)
            _, state, info = best  # type: ignore[misc]
            self._state, self._agreed = state, self._settled_parameters()
            self._rng, self._n_samples_seen, self._mean_tokens = rng, seen, length
            self.n_iter_ = getattr(self, "n_iter_", 1)
            self.__dict__.update(self._learned_from(X, state, info))
        return info

    def _step(
        self,
        learner: Learner,
        kept: Restorable[State],
        X: Any,
        rng: np.random.Generator,
        seen: int,
        n_documents: float,
        length: float,
    ) -> tuple[State, Info]:
        """One step of `partial_fit` on rows that stand for n_documents of that mean length."""
        state = kept.restored()
        kept.protect(generator_savepoint(rng))
        return learner.go_on(
            state,
            X,
            n_documents,
            rng=rng,
            population=learner.population(DataSize(n_documents, n_documents * length, X.shape[1])),
            window=continuing.mean_window(seen),
            weight=continuing.WEIGHT_OF_UNKNOWN,
            start=lambda prior, rng: self._initial(learner.model, prior, X, rng),
            protect=kept.protect,
        )

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        # scikit-learn looks at the signature of __init__ each time, which takes as long as a
        # small step.
        names: list[str] = super()._get_param_names()
        return names

    def _check_fitted_data(self, X: Any) -> Any:
        self._check_unchanged()
        return self._check_data(X, reset=False)

    def _validated(self, X: Any, reset: bool, **options: Any) -> Any:
        """X as scikit-learn takes it; if sparse, a `matrices.csr`."""
        return validation.validated(self, X, self._instead_of_texts, reset=reset, **options)
