"""What a fitted LDA estimator shows: topics, and what they say of documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import digamma
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from trustream import matrices
from trustream.estimators import parameters
from trustream.estimators.base import VariationalEstimator
from trustream.estimators.early_stopping import Watch
from trustream.estimators.topic_words import TopicWords
from trustream.inference.state import State
from trustream.learning.defaults import starts_of_topics
from trustream.learning.recipe import DataSize


class FittedTopics(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, TopicWords, VariationalEstimator
):
    """Base of the LDA estimator that shows topics, topics of documents, and bounds."""

    evaluate_every: int
    perp_tol: float
    validation_fraction: float
    n_init: Any

    def transform(self, X: Any, *, normalize: bool = True) -> np.ndarray:
        """Topic proportions E[theta] of documents, shape (n_samples, n_components).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        normalize : bool, default=True
            Whether rows sum to one. If not, they are gamma, the Dirichlet parameters of a
            document's proportions: alpha and the expected number of its tokens in each topic.

        A document without words has the prior's proportions.

        >>> from trustream import LatentDirichletAllocation
        >>> counts = np.array([[3, 2, 0, 0], [0, 0, 4, 1]])
        >>> lda = LatentDirichletAllocation(2, random_state=0).fit(counts)
        >>> gamma = lda.transform(counts, normalize=False)
        >>> np.round(gamma.sum(axis=1) - lda.doc_topic_prior_.sum())
        array([5., 5.])
        """
        gamma = self._beliefs(self._check_fitted_data(X))
        return gamma / gamma.sum(axis=1, keepdims=True) if normalize else gamma

    def fit_transform(self, X: Any, y: Any = None, *, normalize: bool = True) -> np.ndarray:
        """The same as `fit(X).transform(X, normalize=normalize)`."""
        return self.fit(X, y).transform(X, normalize=normalize)

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

    def perplexity(self, X: Any, sub_sampling: bool = False) -> float:
        """exp(-bound per word): an upper bound on the perplexity of documents given the topics.

        The bound is that of `score`: what the topics themselves cost is not shared out among the
        words of X.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        sub_sampling : bool, default=False
            As in scikit-learn, whether X is a sample of `total_samples` documents. The bound and
            the number of words are then both larger by the same factor, so that the perplexity is
            the same; in scikit-learn it differs by the cost of the topics. For a bound with that
            cost use `elbo(X, per="word", total_samples=...)`.
        """
        return self._perplexity(self._shown, self._check_fitted_data(X))

    def _perplexity(self, shown: State, X: Any) -> float:
        bounds = self._local_bounds(self._bounding_model(), shown, X)
        return float(np.exp(-bounds.sum() / matrices.n_tokens(X)))

    def top_words(self, n: int = 10, feature_names: Sequence[str] | None = None) -> list[list[str]]:
        """The n most probable words of each topic, most probable first.

        Parameters
        ----------
        n : int, default=10
        feature_names : sequence of str, default=None
            Words by column; None takes `words_`, those of `set_words` or the columns of the frame
            that was fitted, or else x0, x1, ...
        """
        state = self._shown
        if n < 1:
            raise ValueError(f"n must be at least 1, got {n}")
        n_features = self.n_features_in_
        names = self.words_ if feature_names is None else feature_names
        if names is None:
            names = [f"x{i}" for i in range(n_features)]
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
    def exp_dirichlet_component_(self) -> np.ndarray:
        """exp(E[log beta]) for the documents that there are, (n_components, n_features)."""
        lambda_ = np.asarray(self.components_, np.float64)
        logs = digamma(lambda_) - digamma(lambda_.sum(axis=1, keepdims=True))
        return np.exp(logs).astype(parameters.dtype_name(self.dtype))

    @property
    def bound_(self) -> float:
        """The perplexity at the end of the last `fit` with `evaluate_every`."""
        self._check_is_fitted()
        value: float | None = getattr(self, "_watched_perplexity", None)
        if value is None:
            # An AttributeError, so that hasattr() says no.
            raise AttributeError(
                "bound_ is computed by fit if evaluate_every is above 0; perplexity(X) is the same "
                "for any documents"
            )
        return value

    @property
    def doc_topic_prior_(self) -> np.ndarray:
        """alpha, (n_components,)."""
        return self._shown.prior.alpha.copy()

    @property
    def topic_word_prior_(self) -> Any:
        """eta: a number, (n_features,) or (n_components, n_features)."""
        eta = self._shown.prior.dense()
        return float(eta) if eta.ndim == 0 else eta

    # --- starts and early stopping

    def _n_starts(self, size: DataSize) -> int:
        if self.n_init != "auto":
            return super()._n_starts(size)
        return starts_of_topics(size.n_tokens)

    def _set_aside(self, X: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        share = self.validation_fraction
        if self.evaluate_every <= 0 or not share:
            return X, X
        n_aside = math.ceil(share * X.shape[0])
        if n_aside >= X.shape[0]:
            raise ValueError(
                f"validation_fraction={share:g} of {X.shape[0]} documents leaves none to learn "
                "from: give more documents, or a smaller share"
            )
        order = rng.permutation(X.shape[0])
        aside = X[np.sort(order[:n_aside])]
        if not aside.data.sum():
            raise ValueError(
                f"the {n_aside} documents that validation_fraction={share:g} sets aside have no "
                "words: give more documents, or a larger share"
            )
        return X[np.sort(order[n_aside:])], aside

    def _watch(self, X: Any) -> Watch | None:
        if self.evaluate_every <= 0:
            return None
        return Watch(lambda shown: self._perplexity(shown, X), self.evaluate_every, self.perp_tol)

    def _finish(self, X: Any) -> None:
        self.__dict__.pop("_watched_perplexity", None)
        if self.evaluate_every > 0:
            self._watched_perplexity = self._perplexity(self._shown, X)
