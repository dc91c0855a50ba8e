"""lambda and the priors of LDA: how they start and how a step changes them.

The local step, the bound, whole-data statistics and what is shown are in `lda.model`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from trustream.array_types import Array, Float64
from trustream.kernels.lda import ALL_TOPICS
from trustream.models.dirichlet_evidence import DirichletEvidence
from trustream.models.lda import evidence, starts
from trustream.models.lda.batch import BatchMaker, WordBatch
from trustream.models.lda.blend import BlendedNatural, Natural, Statistics
from trustream.models.lda.computation import LdaComputation
from trustream.models.lda.evidence import ThetaSums
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.natural import LdaNatural, StoredNatural
from trustream.models.lda.prior import LdaPrior
from trustream.models.protocol import Rows


@dataclass(frozen=True)
class LdaParameters:
    """What LDA's lambda and priors start from, and become in a step.

    Attributes:
        n_components: K.
        n_words: V.
        dtype: "float32" or "float64", of lambda, gamma and the statistics.
        backend: "compiled" or "reference".
        n_threads: threads to use; no result depends on it.
        eta_per_word: learn a prior for each word instead of one for all.
        max_doc_topics: a local step goes on with so many topics of a document at most, the ones
            it uses (`kernels.lda.compiled_active_topics`); None goes on with all.
        strides: local steps extrapolate, from equal topics. They end where they would without, in
            half of the iterations, which pays where topics are given. Steps that learn are better
            without: topics gain from documents that are not quite decided
            (docs/notes/performance.md).
    """

    collapsed: ClassVar[bool] = False

    n_components: int
    n_words: int
    dtype: str = "float32"
    backend: str = "compiled"
    n_threads: int = 1
    eta_per_word: bool = False
    max_doc_topics: int | None = None
    strides: bool = False

    @cached_property
    def computation(self) -> LdaComputation:
        """The kernels on whole batches, with this model's settings."""
        return LdaComputation(
            self.backend,
            self.n_components,
            self.dtype,
            self.n_threads,
            self.collapsed,
            self.max_doc_topics or ALL_TOPICS,
            self.strides,
        )

    @cached_property
    def _make_batch(self) -> BatchMaker:
        return BatchMaker(self.backend, self.n_words, self.dtype, self.n_threads)

    def batch(self, data: Any, rows: Rows | slice) -> WordBatch:
        """Rows of a CSR matrix of counts (N, V).

        Nothing is checked here: the matrix is one that `trustream.matrices.csr` returned, or as
        sound, with finite counts that are not negative; `rows` are rows that it has.
        """
        return self._make_batch(data, rows)

    # --- global parameters

    def initial(self, prior: LdaPrior, rng: np.random.Generator) -> LazyRows:
        """lambda_vk ~ Gamma(100, 0.01), as in the paper: mean 1, standard deviation 0.1.

        Seed words start in their topics (`lda.seeds`).
        """
        return starts.initial((self.n_words, self.n_components), self.dtype, rng, prior.seeds)

    def random_start(
        self, prior: LdaPrior, batch: WordBatch, rng: np.random.Generator
    ) -> LdaNatural:
        """What `initial` would draw, of the batch's words only."""
        n_others, shape = self.n_words - batch.n_words, (batch.n_words, self.n_components)
        return starts.of_batch(shape, n_others, self.dtype, rng, prior.seeds, batch.words)

    def restrict(self, lambda_: LazyRows, prior: LdaPrior, batch: WordBatch) -> StoredNatural:
        """lambda of the batch's words, where it is stored."""
        return StoredNatural(lambda_, prior, batch.words)

    def blend(
        self,
        anchor: Natural,
        prior: LdaPrior,
        batch: WordBatch,
        statistics: Statistics,
        rho: float,
        scale: float,
    ) -> BlendedNatural:
        """(1 - rho) lambda_t + rho (eta + scale s), equation 14: see `lda.blend`."""
        return BlendedNatural(anchor, prior.rows(batch.words), prior.totals, statistics, rho, scale)

    def add(
        self, anchor: Natural, prior: LdaPrior, batch: WordBatch, statistics: Statistics
    ) -> BlendedNatural:
        """lambda_t + s: the full step (rho = 1) of a batch whose prior is lambda_t."""
        return BlendedNatural(anchor, *self.materialise(anchor), statistics, 1.0, 1.0)

    def materialise(self, natural: Natural | Statistics) -> LdaNatural:
        """Rows and totals; see `lda.natural` for what they are computed from."""
        return natural.materialise(self.computation)

    def gradient(
        self,
        lambda_: LazyRows,
        prior: LdaPrior,
        batch: WordBatch,
        statistics: Statistics,
        scale: float,
    ) -> Float64:
        """eta + scale s - lambda, (V K,): of all words, since those without s decay."""
        values = prior.rows(slice(None)) - lambda_.dense(prior.pattern)
        values[batch.words] += scale * self.materialise(statistics).rows.astype(np.float64)
        return np.asarray(values.reshape(-1))

    def commit(
        self, lambda_: LazyRows, prior: LdaPrior, batch: WordBatch, natural: Natural, rho: float
    ) -> LazyRows:
        """The batch's words as given; all others decay lazily, seed words to what is held."""
        rows, totals = self.materialise(natural)
        table = lambda_.decayed(rho, prior.eta, totals)
        self.computation.put_rows(table, prior, batch.words, rows)
        return _holding(table, prior, batch, rho)

    @property
    def can_average(self) -> bool:
        """Not where rows are stored anew when the prior of their word changes."""
        return not self.eta_per_word

    def commit_averaged(
        self,
        mean: LazyRows,
        lambda_: LazyRows,
        prior: LdaPrior,
        batch: WordBatch,
        natural: Natural,
        rho: float,
        weight: float,
    ) -> tuple[LazyRows, LazyRows]:
        """`commit`, and (1 - w) mean + w (eta + scale s): see `LazyRows.put_averaged`."""
        rows, totals = self.materialise(natural)
        kernels = self.computation.kernels
        table, mean = lambda_.put_averaged(
            kernels, mean, batch.words, rows, totals, prior.eta, prior.pattern, rho, weight,
            self.n_threads,
        )  # fmt: skip
        return _holding(table, prior, batch, rho), _holding(mean, prior, batch, weight)

    def with_gains(self, lambda_: LazyRows, places: Array, gains: Float64) -> LazyRows:
        """Of words that came late into a mean: so many times what the data have put in."""
        return lambda_.with_gains(places, gains)

    def rescaled(self, lambda_: LazyRows, prior: LdaPrior, factor: float) -> LazyRows:
        """eta + factor (lambda - eta), in the same memory and a time that does not depend on V.

        eta is what lambda has of it, if it was another one in earlier steps.
        """
        return lambda_.rescaled(factor, prior.pattern_sums)

    def savepoint(self, lambda_: LazyRows, prior: LdaPrior, batch: WordBatch) -> Callable[[], None]:
        """Rows of lambda that will be overwritten, and of a prior that is learned word by word."""
        restore_rows = lambda_.savepoint()
        if not self.eta_per_word or prior.pattern.shape != (self.n_words, 1):
            return restore_rows
        words, pattern = batch.words, prior.pattern[batch.words]

        def restore() -> None:
            restore_rows()
            prior.pattern[words] = pattern

        return restore

    def is_finite(self, value: LdaNatural | LazyRows) -> bool:
        """Entries are not negative, so a bad one shows in the totals."""
        return bool(np.all(value.totals < np.finfo(self.dtype).max))

    # --- empirical Bayes

    def prior_evidence(
        self,
        lambda_: LazyRows,
        prior: LdaPrior,
        batch: WordBatch | None,
        locals_: Sequence[Array | ThetaSums],
        rng: np.random.Generator | None,
        equal: float = 0.0,
        least_separation: float = 0.0,
    ) -> dict[str, DirichletEvidence]:
        """alpha from the documents' gamma, eta from lambda.

        eta is learned from a sample of words drawn with `rng` (all words without it), or with
        `eta_per_word` for the words of the batch (all words without one). A (V, K) prior is
        given by the user and not changed. One topic, one word, or a batch without a single word has
        nothing to learn from.
        """
        if batch is not None and not len(batch.words):
            return {}
        words = self._words(batch) if self.eta_per_word else None
        return evidence.of_prior(
            self.computation, lambda_, prior, words, locals_, rng, equal, least_separation
        )

    def _words(self, batch: WordBatch | None) -> Array:
        return np.arange(self.n_words) if batch is None else batch.words

    def replace_prior(
        self,
        lambda_: LazyRows,
        prior: LdaPrior,
        batch: WordBatch | None,
        values: dict[str, Float64],
    ) -> tuple[LazyRows, LdaPrior]:
        """New alpha and eta; rows whose pattern changes are stored anew, lambda stays."""
        alpha, eta = values.get("alpha", prior.alpha), prior.eta
        if "eta" in values and not self.eta_per_word:
            eta = float(values["eta"][0])
        new = replace(prior, alpha=alpha, eta=eta)
        if "eta" not in values or not self.eta_per_word:
            return lambda_, new
        words = self._words(batch)
        rows = self.computation.get_rows(lambda_, prior, words)
        new = new.with_word_eta(
            words, values["eta"], n_words=self.n_words, in_place=batch is not None
        )
        self.computation.put_rows(lambda_, new, words, rows)
        return lambda_, new


def _holding(table: LazyRows, prior: LdaPrior, batch: WordBatch, rho: float) -> LazyRows:
    """A table that decayed by rho, with what seeds hold of the words that the batch lacks."""
    if prior.seeds is not None:
        places, held = prior.seeds.missing(batch.words)
        table.add(places, (rho / table.scale * held).astype(table.stored.dtype))
    return table
