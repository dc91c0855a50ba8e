"""Held-out log-likelihood with its standard errors: per word, per document, as a perplexity."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trustream.array_types import Float64


@dataclass(frozen=True, repr=False, eq=False)
class HeldOut:
    """Held-out log-likelihood of documents, in nats; higher is better.

    A document is a sequence of tokens: there is no multinomial coefficient in its probability.

    Attributes
    ----------
    method : str
        The estimator.
    per_document : (documents,) array
        log p(document); 0 for a document without tokens.
    n_tokens : (documents,) array of integers
        Tokens that were scored.
    per_word : float
        Sum of ``per_document`` over sum of ``n_tokens``.
    perplexity : float
        exp(-per_word); lower is better.
    standard_error : float or None
        Monte-Carlo error of ``per_word``, for these documents: how much it changes with the seed.
        It does not include the bias of an estimator. 0 where nothing is random, None where it is
        unknown (one repetition).
    standard_error_documents : float or None
        Sampling error of ``per_word``: how much it would change with other documents of the same
        kind, from the spread over documents (that of a ratio of sums), which includes the
        Monte-Carlo error. None for fewer than two documents with tokens.

    Examples
    --------
    >>> result = HeldOut("chib", np.array([-2.0, -4.0]), np.array([1, 2]), np.array([0.01, 0.0]))
    >>> result.per_word, round(result.perplexity, 3), round(result.standard_error, 4)
    (-2.0, 7.389, 0.0333)
    >>> result
    HeldOut(chib: -2.0000 ± 0.0333 nats per word, ± 0.0000 over documents, perplexity 7.39,
    2 documents, 3 tokens)
    """

    method: str
    per_document: Float64
    n_tokens: NDArray[np.int64]
    variance: Float64 | None
    """(documents,) Monte-Carlo variance of ``per_document``, None where it is unknown."""

    @property
    def per_word(self) -> float:
        """Mean over tokens, in nats per word."""
        return float(self.per_document.sum() / self.n_tokens.sum())

    @property
    def perplexity(self) -> float:
        """exp(-per_word)."""
        return math.exp(-self.per_word) if self.per_word > -700 else math.inf

    @property
    def standard_error(self) -> float | None:
        """sqrt(sum_d variance_d) / sum_d n_d."""
        if self.variance is None:
            return None
        return float(np.sqrt(self.variance.sum()) / self.n_tokens.sum())

    @property
    def standard_error_documents(self) -> float | None:
        """sqrt(D / (D - 1) sum_d (l_d - per_word n_d)^2) / sum_d n_d; documents with tokens."""
        filled = self.n_tokens > 0
        n_documents = np.count_nonzero(filled)
        if n_documents < 2 or not math.isfinite(self.per_word):
            return None
        residual = self.per_document[filled] - self.per_word * self.n_tokens[filled]
        scale = n_documents / (n_documents - 1)
        return float(np.sqrt(scale * (residual**2).sum()) / self.n_tokens.sum())

    def __repr__(self) -> str:
        def error(value: float | None, what: str) -> str:
            return "" if value is None else f" ± {value:.4f}{what}"

        over = error(self.standard_error_documents, " over documents")
        return (
            f"HeldOut({self.method}: {self.per_word:.4f}{error(self.standard_error, '')} nats "
            f"per word{over and ','}{over}, perplexity {self.perplexity:.2f}, "
            f"{self.per_document.size:,} documents, {int(self.n_tokens.sum()):,} tokens)"
        )
