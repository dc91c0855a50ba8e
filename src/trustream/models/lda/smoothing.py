"""How much eta should smooth what is shown, from the training documents themselves.

Empirical Bayes looks for the eta under which the topics are likely draws. What readers of topics
want is the eta under which *other* documents are likely, and with few documents for many topics it
is several times smaller: eta's pseudo-counts, K V eta of them, outweigh the data. So each document
of a sample is left out of the counts n_vk = lambda_vk - eta that it helped to make and predicted by
the rest:

    max_eta sum_d sum_v n_dv log sum_k E[theta_dk] (n_vk - s_dvk + eta) / (n_k - s_dk + V eta),

where s_dvk = n_dv phi_dvk is what document d put into the counts. theta_d is found from a random
half of its tokens and the sum goes over the other half, since the tokens that decide theta are
predicted too well, which would speak for a smaller eta. Nothing but training documents is looked
at.
"""

from __future__ import annotations

import math
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import optimize

from trustream.array_types import Array, Float64
from trustream.models.lda.batch import WordBatch, segment_sums
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.prior import LdaPrior

if TYPE_CHECKING:
    from trustream.models.lda.model import LdaModel

# Numbers of a sample, topics times pairs of document and word, and least and most pairs: enough for
# a steady maximum, in about the time of a step.
_SAMPLE, _LEAST_PAIRS, _MOST_PAIRS = 1_000_000, 3_000, 10_000
# Iterations of the local step that finds theta.
_N_LOCAL, _TOL = 50, 1e-4
# Where eta is looked for, and how closely: what is shown changes little by a tenth of it.
_LEAST, _MOST, _CLOSE = 1e-5, 10.0, 0.05


class LeftOut(NamedTuple):
    """Documents of a sample, and the counts of topics and words without each of them.

    Attributes:
        documents: (nnz,) the document of each pair.
        counts: (nnz,) tokens of each word of a document that are predicted.
        rows: (nnz, K) counts n_vk without what the document put in.
        sums: (D, K) their sums over all words.
        theta: (D, K) topic proportions.
        pattern: (nnz, 1) what eta is multiplied by for each word.
        pattern_sum: of all words.
        kernels: those of LDA, of the model's backend.
    """

    documents: Array
    counts: Float64
    rows: Array
    sums: Float64
    theta: Float64
    pattern: Float64
    pattern_sum: float
    kernels: ModuleType

    def log_likelihood(self, eta: float) -> float:
        """Of all documents of the sample, each predicted by the others, in nats."""
        weights = self.theta / (self.sums + eta * self.pattern_sum)
        value = np.empty(self.counts.size)
        own = weights.astype(self.rows.dtype)
        self.kernels.weighted_sums(self.rows, own, self.documents, value)
        value += eta * self.pattern[:, 0] * weights.sum(axis=1)[self.documents]
        return float(self.counts @ np.log(np.maximum(value, np.finfo(np.float64).tiny)))


def sample_share(n_topics: int, n_pairs: int) -> float:
    """The part of documents with so many words in all that is enough; more than 1 if they are few.

    >>> sample_share(100, 200_000), sample_share(100, 5_000)
    (0.05, 2.0)
    """
    wanted = min(_MOST_PAIRS, max(_LEAST_PAIRS, _SAMPLE / n_topics))
    return wanted / max(n_pairs, 1)


def n_batches(n_topics: int, n_pairs: int) -> int:
    """How many batches of so many pairs are enough: twice as many as have a sample together."""
    share = sample_share(n_topics, n_pairs)
    return 1 if share <= 1 else math.ceil(2 * share)


def left_out(
    model: LdaModel,
    lambda_: LazyRows,
    prior: LdaPrior,
    batch: WordBatch,
    weight: float | Float64,
    rng: np.random.Generator,
) -> LeftOut:
    """Leave each document of a batch out.

    Args:
        lambda_, prior: of the data that there are; n_vk is what they have put into lambda.
        weight: how often each of the documents stands in lambda, one number or (D,) of them.
        rng: draws the tokens that theta is found from.
    """
    natural = model.restrict(lambda_, prior, batch)
    half = rng.binomial(batch.counts.astype(np.int64), 0.5).astype(batch.counts.dtype)
    seen = replace(batch, counts=half, lengths=segment_sums(half, batch.indptr))
    gamma, _ = model.beliefs(prior, seen, None)
    gamma, _ = model.local_step(natural, prior, seen, gamma, _N_LOCAL, _TOL)
    theta = gamma.astype(np.float64)
    theta /= theta.sum(axis=1, keepdims=True)
    rows, totals = model.materialise(natural)
    documents = np.repeat(np.arange(batch.size), batch.indptr[1:] - batch.indptr[:-1])
    pattern = prior.plain_rows(batch.words)[:, :1] / prior.eta
    kept, sums = model.computation.left_out(
        batch,
        rows,
        theta / totals,
        np.broadcast_to(weight, batch.size)[documents] * batch.counts,
        lambda_.shift * pattern[:, 0],
        None if prior.seeds is None else prior.seeds.rows(batch.words),
    )
    n_taken, n_kept = sums[:, 0], sums[:, 1]
    return LeftOut(
        documents,
        batch.counts.astype(np.float64) - half,  # what is not whole is predicted
        kept,
        # Words and their sums agree, also of a topic that is as good as this document alone.
        np.maximum(totals - lambda_.shift * prior.pattern_sums - n_taken, n_kept),
        theta,
        np.broadcast_to(pattern, (batch.n_words, 1))[batch.ids],
        float(prior.pattern_sums[0]),
        model.computation.kernels,
    )


def best_eta(sample: LeftOut, start: float) -> float:
    """The eta by which documents that are left out are predicted best.

    Of ((4 + eta) / (4 + 2 eta))^3 eta / (4 + 2 eta), one topic of two words, that is 2:

    >>> from trustream import kernels
    >>> numpy_kernels = kernels.get("lda", "reference")
    >>> sample = LeftOut(np.zeros(2, int), np.array([3.0, 1.0]), np.array([[4.0], [0.0]]),
    ...     np.array([[4.0]]), np.ones((1, 1)), np.ones((2, 1)), 2.0, numpy_kernels)
    >>> round(best_eta(sample, 0.1), 1)
    2.0
    """
    if sample.counts.sum() == 0:
        return start
    result = optimize.minimize_scalar(
        lambda log_eta: -sample.log_likelihood(float(np.exp(log_eta))),
        bounds=(np.log(_LEAST), np.log(_MOST)),
        method="bounded",
        options={"xatol": _CLOSE},
    )
    return float(np.exp(result.x))


class Sample(NamedTuple):
    """Documents that are left out.

    Attributes:
        rows: of the data, rising.
        share: the part of the data that is enough; more than 1 if they are few.
    """

    rows: Array
    share: float


def drawn(n_topics: int, n_rows: int, n_pairs: int, rng: np.random.Generator) -> Sample:
    """Draw documents to leave out of data with so many rows and pairs of document and word."""
    share = sample_share(n_topics, n_pairs)
    n = max(1, min(n_rows, round(share * n_rows)))
    return Sample(np.sort(rng.choice(n_rows, n, replace=False)), share)


def found(
    model: LdaModel,
    lambda_: LazyRows,
    prior: LdaPrior,
    batch: WordBatch,
    weight: Float64,
    share: float,
    start: float,
    rng: np.random.Generator,
) -> float:
    """The best eta for a sample of documents, or a part of the way from `start` if there are few.

    Args:
        batch: the documents that were `drawn`.
        weight: (D,) how often each of them stands in lambda.
        share: of the sample.
    """
    sample = left_out(model, lambda_, prior, batch, weight, rng)
    # A few documents do not say much.
    return float(start * (best_eta(sample, start) / start) ** min(1.0, 1.0 / share))
