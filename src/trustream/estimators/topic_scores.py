"""Methods of topic models that call `trustream.evaluation` with their own topics and priors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trustream import matrices

if TYPE_CHECKING:
    from trustream.evaluation import Bound, Coherence, HeldOut


class TopicScores:
    """Held-out likelihood, bound, coherence and diversity of a fitted topic model.

    Each method is the function of that name in `trustream.evaluation`, with E[beta] as the topics
    and alpha as learned; options are passed on. `random_state` and `n_jobs` are the estimator's
    own unless given.
    """

    def chib(self, X: Any, **options: Any) -> HeldOut:
        """Held-out log-likelihood of documents, Chib-style; see `evaluation.chib`."""
        return self._held_out("chib", X, options)

    def left_to_right(self, X: Any, **options: Any) -> HeldOut:
        """Held-out log-likelihood by particles; see `evaluation.left_to_right`."""
        return self._held_out("left_to_right", X, options)

    def completion(self, X: Any, **options: Any) -> HeldOut:
        """Log-likelihood of half of each document given the rest; see `evaluation.completion`."""
        return self._held_out("completion", X, options)

    def importance(self, X: Any, **options: Any) -> HeldOut:
        """Held-out log-likelihood by sampling the prior; see `evaluation.importance`."""
        return self._held_out("importance", X, options)

    def bound(self, X: Any) -> Bound:
        """Lower bound of documents per word, and the topics' term apart; see `evaluation.bound`."""
        from trustream.evaluation import Bound

        X = self._check_fitted_data(X)  # type: ignore[attr-defined]
        matrices.n_tokens(X)  # refuses none
        n_tokens = np.asarray(X.sum(axis=1), np.float64).ravel()
        model, state = self._bounding_model(), self._shown  # type: ignore[attr-defined]
        per_document = self._local_bounds(model, state, X)  # type: ignore[attr-defined]
        return Bound(per_document, n_tokens, model.global_bound(state.lambda_, state.prior))

    def coherence(
        self,
        reference: Any,
        measure: str = "npmi",
        *,
        vocabulary: Sequence[str] | None = None,
        **options: Any,
    ) -> Coherence:
        """Coherence of the topics by a reference corpus; see `evaluation.coherence`.

        Strings in the reference are looked up in `vocabulary` or, without one, among the names of
        the frame's columns that was fitted.
        """
        from trustream import evaluation

        if vocabulary is None and hasattr(self, "feature_names_in_"):
            vocabulary = list(self.feature_names_in_)
        weights = self.components_  # type: ignore[attr-defined]
        return evaluation.coherence(weights, reference, measure, vocabulary=vocabulary, **options)

    def diversity(self, n_words: int = 25) -> float:
        """Share of different words among the top words of all topics."""
        from trustream import evaluation

        return evaluation.diversity(self.components_, n_words)  # type: ignore[attr-defined]

    def _held_out(self, method: str, X: Any, options: dict[str, Any]) -> HeldOut:
        from trustream import evaluation

        X = self._check_fitted_data(X)  # type: ignore[attr-defined]
        topics, alpha = self._scored_topics()
        options = {"random_state": self.random_state, "n_jobs": self.n_jobs, **options}  # type: ignore[attr-defined]
        return getattr(evaluation, method)(X, topics, alpha, **options)

    def _scored_topics(self) -> tuple[np.ndarray, np.ndarray]:
        """E[beta], (K, V), and alpha, (K,), as all estimates of held-out likelihood take them."""
        state = self._shown  # type: ignore[attr-defined]
        topics = self._current_model().expected(state.lambda_, state.prior)  # type: ignore[attr-defined]
        return topics, state.prior.alpha
