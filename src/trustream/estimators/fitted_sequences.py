"""What a fitted hidden Markov model shows, and what it says about sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils import ClassifierTags

from trustream.estimators import parameters
from trustream.estimators.base import VariationalEstimator
from trustream.estimators.sequence_data import GivenSequences
from trustream.inference.driver import blocks
from trustream.inference.state import State
from trustream.kernels import threads


class FittedSequences(DensityMixin, VariationalEstimator):
    """Base of the hidden Markov model: states, densities, samples and parameters."""

    emissions: str

    # --- sequences

    def predict(self, X: Any, lengths: Any = None) -> np.ndarray:
        """The likeliest path of states of each sequence (Viterbi), (n_samples,).

        The path of largest q(z), all states together; `predict_proba` looks at each state alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        lengths : array-like of int, default=None
            Rows of each sequence, in the order of X; None takes X for one sequence.
        """

        def path(model: Any, state: State, batch: Any) -> np.ndarray:
            return model.paths(state.lambda_, state.prior, batch)

        return self._each_row(X, lengths, path)

    def fit_predict(self, X: Any, lengths: Any = None) -> np.ndarray:
        """The same as `fit(X, lengths).predict(X, lengths)`."""
        return self.fit(X, lengths).predict(X, lengths)

    def predict_proba(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Belief q(z_t = k) of each observation, given its whole sequence.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        lengths : array-like of int, default=None
            Rows of each sequence, in the order of X; None takes X for one sequence.

        Returns
        -------
        array of shape (n_samples, n_components)
        """

        def beliefs(model: Any, state: State, batch: Any) -> np.ndarray:
            phi = model.marginals(state.lambda_, state.prior, batch)
            return phi.astype(model.dtype, copy=False)

        return self._each_row(X, lengths, beliefs)

    def score_samples(self, X: Any, lengths: Any = None) -> np.ndarray:
        """log p(x_t | x_1, ..., x_{t-1}) of each observation in nats, (n_samples,).

        Of the hidden Markov model with expected start and transition probabilities and with the
        posterior predictive density of each state: the sum over a sequence is the logarithm of a
        density that integrates to one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        lengths : array-like of int, default=None
            Rows of each sequence, in the order of X; None takes X for one sequence.
        """

        def density(model: Any, state: State, batch: Any) -> np.ndarray:
            return model.predictive_log_density(state.lambda_, state.prior, batch)

        return self._each_row(X, lengths, density)

    def score(self, X: Any, lengths: Any = None) -> float:
        """Mean of `score_samples`, in nats per observation."""
        return float(self.score_samples(X, lengths).mean())

    def elbo(self, X: Any, lengths: Any = None, *, total_samples: float | None = None) -> float:
        """Lower bound on the evidence in nats per observation, beliefs fitted to X.

        { (N/B) sum_n E[log p(x_n, z_n | beta) / q(z_n)] - KL(q(beta) || p(beta)) } / (N/B T)

        with B the sequences of X and T their observations. N is B, so that X is all the data, or
        `total_samples` sequences, of which those of X are then a random part.
        """
        data = self._check_fitted_data(GivenSequences(X, lengths))
        n_sequences = data.shape[0] if total_samples is None else total_samples
        model = self._current_model()
        value, _ = self._bound(model, self._shown, data, n_sequences)
        return value / (data.extent.observations * n_sequences / data.shape[0])

    def sample(self, n_samples: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """A sequence drawn from the expected parameters, and its states.

        Returns
        -------
        X : array of shape (n_samples, n_features)
        states : array of shape (n_samples,)
        """
        expected = self._expected()
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1, got {n_samples}")
        rng = parameters.generator(self.random_state)
        return self._current_model().sample(expected, n_samples, rng)

    def _each_row(
        self, X: Any, lengths: Any, compute: Callable[[Any, State, Any], np.ndarray]
    ) -> np.ndarray:
        """What is computed for the observations of some sequences at a time, put together."""
        data = self._check_fitted_data(GivenSequences(X, lengths))
        model, state = self._current_model(), self._shown
        with threads.one_blas_thread():
            found = [
                compute(model, state, model.batch(data, rows)) for rows in blocks(data.shape[0])
            ]
        return np.concatenate(found)

    def _local_bounds(self, model: Any, state: State, X: Any) -> np.ndarray:
        """Of each sequence: a pass forward is enough."""
        with threads.one_blas_thread():
            found = [
                model.local_bound(state.lambda_, state.prior, model.batch(X, rows))
                for rows in blocks(X.shape[0])
            ]
        return np.concatenate(found)

    # --- parameters

    @property
    def startprob_(self) -> np.ndarray:
        """E[pi], probabilities of the first state, (n_components,)."""
        return self._expected().start

    @property
    def transmat_(self) -> np.ndarray:
        """E[A], probabilities of the next state in rows, (n_components, n_components)."""
        return self._expected().transitions

    @property
    def emissionprob_(self) -> np.ndarray:
        """E[beta], probabilities of symbols in rows, of categorical emissions."""
        return self._emission("emissionprob_", "emissions")

    @property
    def means_(self) -> np.ndarray:
        """Means of the states: E[beta] of Bernoulli and E[mu] of Gaussian emissions."""
        name = "probs" if self.emissions == "bernoulli" else "means"
        return self._emission("means_", name)

    @property
    def covariances_(self) -> np.ndarray:
        """E[Sigma] of Gaussian emissions; its shape depends on `covariance_type`."""
        return self._emission("covariances_", "covariances")

    @property
    def startprob_posterior_(self) -> np.ndarray:
        """Dirichlet parameters of the start probabilities, (n_components,)."""
        return self._shown.lambda_.start.copy()

    @property
    def transmat_posterior_(self) -> np.ndarray:
        """Dirichlet parameters of the rows of transitions, (n_components, n_components)."""
        return self._shown.lambda_.transitions.copy()

    def _emission(self, attribute: str, name: str) -> np.ndarray:
        expected = self._expected()
        if not hasattr(expected, name):
            raise AttributeError(f"{self.emissions} emissions have no {attribute}")
        found: np.ndarray = getattr(expected, name)
        return found

    def _expected(self) -> Any:
        self._check_unchanged()
        state = self._shown
        return self._current_model().expected(state.lambda_, state.prior)

    def _finish(self, X: Any) -> None:
        value, _ = self._bound(self._current_model(), self._shown, X)
        self.lower_bound_ = value / X.extent.observations

    def _local_settings(self) -> tuple[int, float]:
        return 1, 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.emissions == "bernoulli"
        tags.input_tags.categorical = self.emissions == "categorical"
        # scikit-learn asks whoever has predict_proba how many columns it may have: any number.
        tags.classifier_tags = ClassifierTags(multi_class=True)
        return tags
