"""How hidden Markov models learn: data in sequences, priors, starts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from trustream._schema import Array
from trustream.estimators import gaussian_priors, gaussian_starts, parameters, validation
from trustream.estimators.base import has_partial_fit
from trustream.estimators.fitted_sequences import FittedSequences
from trustream.estimators.schemas import NUMBERS
from trustream.estimators.sequence_data import (
    GivenSequences,
    checked_lengths,
    refuse_nested,
    symbols,
)
from trustream.kernels import threads
from trustream.learning import defaults, state_formats
from trustream.learning.recipe import DataSize, Recipe
from trustream.models.hmm import (
    BernoulliHmmPrior,
    CategoricalHmmPrior,
    GaussianHmmPrior,
    HmmModel,
    Sequences,
)


class SequenceEstimator(FittedSequences):
    """Base of the hidden Markov model: learning. Sequences, or subchains, are the data points."""

    n_symbols_: int
    _instead_of_texts = "numbers, for example of the letters or words of each text"

    # --- learning

    def fit(self, X: Any, lengths: Any = None) -> Any:
        """Learn from sequences that are all there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of all sequences, one after the other; for Bernoulli emissions also sparse.
        lengths : array-like of int, default=None
            Rows of each sequence, in the order of X; None takes X for one sequence.

        Returns
        -------
        self
        """
        return super().fit(GivenSequences(X, lengths))

    @available_if(has_partial_fit)
    def partial_fit(self, X: Any, lengths: Any = None) -> Any:
        """Take one step on these sequences, whatever their number.

        The sequences stand for `total_samples` or, if that is None, for all that have been seen so
        far, these included. With "streaming-vb" they stand for themselves and are added to what
        was seen; with "streaming-batch" they are all the data, and what was learned before is
        replaced.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of all sequences, one after the other; for Bernoulli emissions also sparse.
        lengths : array-like of int, default=None
            Rows of each sequence, in the order of X; None takes X for one sequence.

        Returns
        -------
        self
        """
        return super().partial_fit(GivenSequences(X, lengths, may_cut=True))

    def _check_data(self, X: GivenSequences, reset: bool) -> Sequences:
        options: dict[str, Any] = {"dtype": "numeric"}
        if self.emissions == "bernoulli":
            options["accept_sparse"] = "csr"
        elif self.emissions == "gaussian":
            options = {"dtype": [np.float64, np.float32], "order": "C"}
        refuse_nested(X.X)
        x = self._validated(X.X, reset, **options)
        lengths = checked_lengths(X.lengths, x.shape[0])
        n_features = x.shape[1]
        if self.emissions == "bernoulli":
            x = validation.binary(x, self.binarize, parameters.dtype_name(self.dtype))
        elif self.emissions == "gaussian":
            x = validation.moderate(x)
        else:
            x, n_features = symbols(x, self.n_symbols if reset else self.n_symbols_)
            self.n_symbols_ = n_features
        data = Sequences.of(x, lengths, n_features)
        return self._cut(data) if X.may_cut else data

    def _n_starts(self, size: DataSize) -> int:
        if self.n_init == "auto":
            return defaults.starts_of_sequences(self.emissions)
        return int(self.n_init)

    def _set_aside(self, X: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        return self._cut(X), X

    def _cut(self, X: Sequences) -> Sequences:
        """The data points that are learned from."""
        if self.subchain_length is None:
            return X
        if self.subchain_length == 1 and self.subchain_buffer == 0:
            raise ValueError(
                "subchain_length=1 with subchain_buffer=0 leaves no transitions to learn from: use "
                "longer subchains, or a buffer"
            )
        return X.cut(self.subchain_length, self.subchain_buffer)

    def _n_tokens(self, X: Any) -> float:
        return float(X.extent.observations)

    def _recipe(self) -> Recipe:
        return defaults.for_sequences(self.emissions, self.population, **self._recipe_options())

    # --- model, prior and start

    def _build_model(self, n_features: int) -> HmmModel:
        return HmmModel(
            n_components=self.n_components,
            n_features=self._width(n_features),
            emissions=self.emissions,
            covariance_type=self.covariance_type,
            dtype=parameters.dtype_name(self.dtype),
            n_threads=threads.n_threads(self.n_jobs),
        )

    def _width(self, n_features: int) -> int:
        """n_features of the model: symbols, or columns."""
        return self.n_symbols_ if self.emissions == "categorical" else n_features

    def _build_prior(self, X: Sequences) -> Any:
        k = self.n_components
        start = self._dirichlet("start_prior", (k,))
        transitions = self._dirichlet("transition_prior", (k, k))
        if self.emissions == "categorical":
            emissions = self._dirichlet("emission_prior", (X.n_features,))
            return CategoricalHmmPrior(start, transitions, emissions)
        if self.emissions == "bernoulli":
            pair = validation.beta_pair(self.probability_prior, X.n_features)
            return BernoulliHmmPrior(start, transitions, *pair)
        normal = gaussian_priors.prior(self, X.observations(), np.ones(k))
        return GaussianHmmPrior(start, transitions, normal.mean, normal.s, normal.Psi, normal.nu)

    def _dirichlet(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Dirichlet parameters of that shape, given as such or as one number."""
        value = np.asarray(getattr(self, name), np.float64)
        if value.shape not in ((), shape):
            raise ValueError(f"{name} has shape {value.shape}, expected a number or {shape}")
        if not (np.isfinite(value).all() and (value > 0).all()):
            raise ValueError(f"{name} must be positive and finite")
        return np.broadcast_to(value, shape).copy()

    def _initial(self, model: Any, prior: Any, X: Sequences, rng: np.random.Generator) -> Any:
        x = X.observations()
        n_samples = x.shape[0] * (self.total_samples or X.shape[0]) / X.shape[0]
        if self.emissions == "gaussian":
            natural = gaussian_starts.start(
                model.kind.mixture, prior.mixture, x, self.init_params, n_samples, rng
            )
            return model.started(tuple(natural[1:]))
        if self.emissions == "bernoulli":
            return model.initial(prior, rng)
        frequencies = (1 + np.bincount(x, minlength=X.n_features)) / (X.n_features + x.size)
        count = gaussian_starts.start_count(n_samples, self.n_components)
        return model.started(model.kind.start(prior, frequencies, count, rng))

    # --- kernels and files

    def _warm_up(self, dtype: str) -> None:
        super()._warm_up(f"{dtype}, {self.emissions}")

    def _example(self) -> np.ndarray:
        return np.array([[0], [1]]) if self.emissions == "categorical" else np.eye(2)

    def _tiny_parameters(self) -> dict[str, Any]:
        return {
            "n_symbols": None,
            "start_prior": 1.0,
            "transition_prior": 1.0,
            "emission_prior": 1.0,
            "probability_prior": (1.0, 1.0),
            "mean_prior": None,
            "covariance_prior": None,
            "degrees_of_freedom_prior": None,
            "subchain_length": None,
            # Of the one sequence there, a population may be too small.
            "population": None if self.population is None else "auto",
        }

    def _format(self, n_features: int) -> state_formats.StateFormat:
        dtype = parameters.dtype_name(self.dtype)
        return state_formats.hmm(
            self.emissions, self.n_components, self._width(n_features), dtype, self.covariance_type
        )

    def _array_params(self, n_features: int) -> dict[str, Array]:
        k, d = self.n_components, n_features
        covariance = (d,) if self.covariance_type == "diag" else (d, d)
        given = {
            "start_prior": Array([(), (k,)], NUMBERS, above=0.0),
            "transition_prior": Array([(), (k, k)], NUMBERS, above=0.0),
        }
        symbols = [(), (self.n_symbols_,)] if self.emissions == "categorical" else None
        return given | {
            "emission_prior": Array(symbols, NUMBERS, above=0.0),
            "probability_prior": Array([(2,), (2, d)], NUMBERS, above=0.0),
            "mean_prior": Array([(d,)], NUMBERS),
            "covariance_prior": Array([covariance], NUMBERS),
        }
