"""What a fitted LDA estimator shows: topics, and what they say of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trustream import matrices
from trustream.estimators.base import VariationalEstimator


class FittedTopics(VariationalEstimator):
    """Base of the LDA estimator that shows topics, topics of documents, and bounds."""

    def transform(self, X: Any) -> np.ndarray:
        """Topic proportions E[theta] of documents, shape (n_samples, n_components).

        Rows sum to one. A document without words has the prior's proportions.
        """
        gamma = self._beliefs(self._check_fitted_data(X))
        return gamma / gamma.sum(axis=1, keepdims=True)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean lower bound on the log-likelihood of a document given the topics, in nats."""
        X = self._check_fitted_data(X)
        return float(self._local_bounds(self._bounding_model(), self._shown, X).mean())

    def elbo(self, X: Any, *, per: str = "document", total_samples: float | None = None) -> float:
        """Lower bound on the evidence, in nats per document or per word.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        per : {"document", "word"}, default="document"
        total_samples : float, default=None
            Number of documents of which X is a random part; None takes X for all of them.
        """
        if per not in ("document", "word"):
            raise ValueError(f'per must be "document" or "word", got {per!r}')
        value = super().elbo(X, total_samples=total_samples)
        if per == "document":
            return value
        X = self._check_fitted_data(X)
        return value * X.shape[0] / matrices.n_tokens(X)

    def perplexity(self, X: Any) -> float:
        """exp(-bound per word): an upper bound on the perplexity of documents given the topics.

        The bound is that of `score`: what the topics themselves cost is not shared out among the
        words of X.
        """
        X = self._check_fitted_data(X)
        bounds = self._local_bounds(self._bounding_model(), self._shown, X)
        return float(np.exp(-bounds.sum() / matrices.n_tokens(X)))

    def top_words(self, n: int = 10, feature_names: Sequence[str] | None = None) -> list[list[str]]:
        """The n most probable words of each topic, most probable first.

        Parameters
        ----------
        n : int, default=10
        feature_names : sequence of str, default=None
            Words by column; None takes the columns of the frame that was fitted, or x0, x1, ...
        """
        state = self._shown
        if n < 1:
            raise ValueError(f"n must be at least 1, got {n}")
        n_features = self.n_features_in_
        names = feature_names
        if names is None:
            names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(n_features)])
        if len(names) != n_features:
            raise ValueError(f"feature_names has {len(names)} words, the model has {n_features}")
        # All topics are judged by lambda: within a topic, E[beta] has the same order.
        rows = state.lambda_.dense(state.prior.pattern)
        order = np.argsort(-rows, axis=0, kind="stable")[: min(n, n_features)]
        return [[str(names[v]) for v in column] for column in order.T]

    # --- fitted

    @property
    def components_(self) -> np.ndarray:
        """lambda for the documents that there are, (n_components, n_features)."""
        state = self._shown
        return state.lambda_.dense(state.prior.pattern).T

    @property
    def doc_topic_prior_(self) -> np.ndarray:
        """alpha, (n_components,)."""
        return self._shown.prior.alpha.copy()

    @property
    def topic_word_prior_(self) -> Any:
        """eta: a number, (n_features,) or (n_components, n_features)."""
        eta = self._shown.prior.dense()
        return float(eta) if eta.ndim == 0 else eta
