"""Documents drawn from latent Dirichlet allocation itself, for tests and demonstrations."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from trustream.array_types import Array
from trustream.models.lda.prior import LdaPrior

# Documents at a time, whose distributions over all words are needed.
_SAMPLED_DOCUMENTS = 256


def sample_prior(
    prior: LdaPrior, lengths: Array, n_words: int, rng: np.random.Generator
) -> tuple[Array, Array, sparse.csr_array]:
    """(beta, theta, counts) drawn from the model: topics, proportions and documents.

    Args:
        prior: alpha, and eta of any form.
        lengths: (N,) tokens of each document.
        n_words: V.

    Returns:
        beta (K, V), theta (N, K) and counts, a CSR array (N, V).

    >>> prior = LdaPrior.of(0.5, 0.5, n_topics=2, n_words=4)
    >>> beta, theta, counts = sample_prior(prior, np.full(3, 10), 4, np.random.default_rng(0))
    >>> beta.shape, theta.shape, counts.sum(axis=1).tolist()
    ((2, 4), (3, 2), [10, 10, 10])
    """
    n_topics = prior.alpha.size
    eta = np.broadcast_to(prior.rows(slice(None)), (n_words, n_topics))
    # A draw per topic: each may have a prior of its own.
    beta = np.stack([rng.dirichlet(column) for column in eta.T])
    theta = rng.dirichlet(prior.alpha, size=len(lengths))
    parts = []
    for first in range(0, len(lengths), _SAMPLED_DOCUMENTS):
        part = slice(first, first + _SAMPLED_DOCUMENTS)
        mixed = theta[part] @ beta
        mixed /= mixed.sum(axis=1, keepdims=True)
        parts.append(sparse.csr_array(rng.multinomial(lengths[part], mixed)))
    return beta, theta, sparse.vstack(parts, format="csr")
