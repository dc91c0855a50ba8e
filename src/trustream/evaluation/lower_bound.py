"""Compute the variational lower bound on the log-likelihood of held-out documents.

The bound is a sum of one term per document and one term for the topics,

    L = sum_d E_q[log p(x_d, z_d, theta_d | beta) / q(z_d, theta_d)] - KL(q(beta) || p(beta)).

The last term is the cost of the topics, paid once for the data that they were learned from. It
does not belong to a few test documents, so it is reported separately and never divided by the
number of their words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trustream import matrices
from trustream.array_types import Float64
from trustream.kernels import threads
from trustream.models.lda import LazyRows, LdaModel, LdaPrior

# Documents at a time, to bound the memory.
_BLOCK = 256


@dataclass(frozen=True, eq=False, repr=False)
class Bound:
    """A lower bound on the log-likelihood of documents given q(beta).

    Attributes:
        per_document: (D,) in nats.
        n_tokens: (D,) words of each document.
        topics: -KL(q(beta) || p(beta)) in nats, for all topics together.
    """

    per_document: Float64
    n_tokens: Float64
    topics: float

    @property
    def per_word(self) -> float:
        """Mean over words, in nats per word, without the term of the topics."""
        return float(self.per_document.sum() / self.n_tokens.sum())

    @property
    def perplexity(self) -> float:
        """exp(-per_word), an upper bound on the perplexity of the documents under q(beta)."""
        return float(np.exp(-self.per_word))

    def __repr__(self) -> str:
        return (
            f"Bound({self.per_word:.4f} nats per word, {self.per_document.size} documents; "
            f"topics {self.topics:.1f} nats)"
        )


def bound(
    counts: Any,
    lambda_: Any,
    alpha: Any,
    eta: Any,
    *,
    n_local: int = 200,
    tol: float = 1e-5,
    n_jobs: int | None = None,
) -> Bound:
    """Compute the lower bound for documents under an LDA posterior q(beta_k) = Dir(lambda_k).

    gamma of each document is fitted by coordinate ascent from gamma = alpha + N_d / K, with
    extrapolation in every second iteration.

    Parameters
    ----------
    counts : matrix of shape (n_documents, n_words)
        Dense or sparse; not negative.
    lambda_ : array of shape (n_topics, n_words)
        Dirichlet parameters of the topics (`components_` here and in scikit-learn), positive.
    alpha : float or array of shape (n_topics,)
    eta : float, array of shape (n_words,) or (n_topics, n_words)
        Prior of the topics.
    n_local, tol
        Maximal number of iterations for a document, and the mean change of gamma at which they
        stop.
    n_jobs : int, default=None
        Threads, all cores if None; the result does not depend on it.

    Returns
    -------
    Bound

    Examples
    --------
    >>> lambda_ = np.array([[9.0, 1.0], [1.0, 9.0]])
    >>> bound([[2, 0], [0, 3]], lambda_, alpha=0.1, eta=0.5)
    Bound(-0.4325 nats per word, 2 documents; topics -2.0 nats)
    """
    lambda_ = np.asarray(lambda_, np.float64)
    sound = np.isfinite(lambda_).all() and (lambda_ > 0).all()
    if lambda_.ndim != 2 or lambda_.size == 0 or not sound:
        raise ValueError(
            f"lambda_ has shape {lambda_.shape}, expected (n_topics, n_words) of positive and "
            "finite numbers"
        )
    n_topics, n_words = lambda_.shape
    data = matrices.csr(counts, "counts", summed=True).astype(np.float64)
    if data.shape[1] != n_words:
        raise ValueError(f"counts have shape {data.shape}, lambda_ {lambda_.shape}: widths differ")
    if data.nnz == 0 or not (np.isfinite(data.data).all() and data.data.min() >= 0):
        raise ValueError("counts must be finite, not negative, and hold at least one word")
    matrices.check_tokens(data, "counts")
    matrices.n_tokens(data, "counts")  # refuses none
    alpha, eta = (np.asarray(value, np.float64) for value in (alpha, eta))
    for name, value in (("alpha", alpha), ("eta", eta)):
        if not (np.isfinite(value).all() and (value > 0).all()):
            raise ValueError(f"{name} must be positive and finite")
    threads_ = threads.n_threads(n_jobs)
    model = LdaModel(n_topics, n_words, dtype="float64", n_threads=threads_, strides=True)
    prior = LdaPrior.of(alpha, eta, n_topics, n_words)
    table = LazyRows.of(np.ascontiguousarray(lambda_.T))
    values = np.empty(data.shape[0])
    for first in range(0, data.shape[0], _BLOCK):
        rows = slice(first, min(first + _BLOCK, data.shape[0]))
        batch = model.batch(data, rows)
        natural = model.restrict(table, prior, batch)
        local, _ = model.beliefs(prior, batch, None)
        local, _ = model.local_step(natural, prior, batch, local, n_local, tol)
        values[rows] = model.local_bound(natural, prior, batch, local)
    n_tokens = np.asarray(data.sum(axis=1), np.float64).ravel()
    return Bound(values, n_tokens, model.global_bound(table, prior))
