"""lambda or statistics of a batch's words, and what they are computed from.

A local step computes statistics, blend and exp E[log beta] in one pass over memory, and then never
needs the rows themselves. So what a step hands on are descriptions: rows of lambda stay where they
are stored (`StoredNatural`), statistics are kept as the beliefs that they are summed from
(`BeliefStatistics`) and a blend as its parts (`lda.blend.BlendedNatural`). Nothing is computed
until someone calls `materialise` or `table`:

- `materialise(computation)` gives the numbers, an `LdaNatural`, and keeps them for the next call;
- `table(computation)` gives exp E[log beta], which a local step works with.

What is described by lambda is of use only until lambda changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from trustream.array_types import Array, Float64
from trustream.models.lda.batch import WordBatch
from trustream.models.lda.computation import LdaComputation
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.prior import LdaPrior
from trustream.models.lda.seeds import SeedCounts


class ExpLogTable(NamedTuple):
    """E[log beta_wk] = log table_wk - offset_w - psi(totals_k) of a batch's words.

    table is (W, padded K), offset (W,) and totals (K,).
    """

    table: Array
    offset: Array
    totals: Float64


class LdaNatural(NamedTuple):
    """lambda or statistics of a batch's words.

    Attributes:
        rows: (W, K), or (W, 1) where they are the same for all topics.
        totals: (K,) in float64, sums over all words.
    """

    rows: Array
    totals: Float64

    def materialise(self, computation: LdaComputation) -> LdaNatural:
        """These numbers."""
        return self

    def table(self, computation: LdaComputation) -> ExpLogTable:
        """exp E[log beta] for these rows of lambda."""
        return ExpLogTable(*computation.table(self.rows), self.totals)


class Description(ABC):
    """lambda or statistics of a batch's words that are not computed yet."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: LdaNatural | None = None

    @property
    def is_made(self) -> bool:
        """Whether the numbers were asked for before."""
        return self._made is not None

    def materialise(self, computation: LdaComputation) -> LdaNatural:
        """The numbers, computed at the first call."""
        if self._made is None:
            self._made = self._make(computation)
        return self._made

    @abstractmethod
    def _make(self, computation: LdaComputation) -> LdaNatural:
        """Compute the numbers."""


class StoredNatural(Description):
    """lambda of a batch's words, where lambda is kept.

    Attributes:
        lambda_, prior: lambda of all words, and the prior that its rows decay to.
        words: (W,).
    """

    __slots__ = ("lambda_", "prior", "words")

    def __init__(self, lambda_: LazyRows, prior: LdaPrior, words: Array) -> None:
        super().__init__()
        self.lambda_, self.prior, self.words = lambda_, prior, words

    def _make(self, computation: LdaComputation) -> LdaNatural:
        rows = computation.get_rows(self.lambda_, self.prior, self.words)
        return LdaNatural(rows, self.lambda_.totals)

    def table(self, computation: LdaComputation) -> ExpLogTable:
        """exp E[log beta] for these rows of lambda."""
        return self.materialise(computation).table(computation)


class BeliefStatistics(Description):
    """s_wk = sum_d n_dw phi_dwk of a batch, where n_dw phi_dwk = ratio_dw theta_dk table_wk.

    Attributes:
        batch: the documents d.
        table: (W, padded K), exp E[log beta] that the local step worked with.
        theta: (B, padded K), exp E[log theta] that it ended with.
        ratio: (nnz,), counts over sum_k theta_dk table_wk.
        extra: what seeds add to s, or None.
    """

    __slots__ = ("batch", "extra", "ratio", "table", "theta")

    def __init__(
        self,
        batch: WordBatch,
        table: Array,
        theta: Array,
        ratio: Array,
        extra: SeedCounts | None = None,
    ) -> None:
        super().__init__()
        self.batch, self.table, self.theta, self.ratio = batch, table, theta, ratio
        self.extra = extra

    def _make(self, computation: LdaComputation) -> LdaNatural:
        rows, totals = computation.statistics(self.batch, self.table, self.theta, self.ratio)
        return with_extra(LdaNatural(rows, totals), self.extra)


def with_extra(statistics: LdaNatural, extra: SeedCounts | None) -> LdaNatural:
    """Statistics with what seeds add to them."""
    if extra is None:
        return statistics
    rows = extra.added_to(statistics.rows, statistics.rows.shape[0])
    return LdaNatural(rows, statistics.totals + extra.totals)
