"""Equation 14 of the paper for LDA: the blend of lambda_t with what a batch says.

    lambda_vk = (1 - rho) lambda_t,vk + rho (eta_vk + scale s_vk),        scale = N / B

is computed in two places, once for each kind of word:

- the W words of the batch here, with their sums over all words, `totals`, which obey the same
  equation, being linear in lambda;
- all other words have s = 0 and only decay, (1 - rho) lambda_t + rho eta: `LazyRows.decayed`
  does that for the whole table at once, by changing two numbers.

lambda_t is read where it is stored, as scale_t stored_vk + shift_t pattern_vk (`LazyRows`), and s
is summed from the beliefs word by word, so that the kernel `lda_update` computes, for a word,

    keep stored_vk + base_vk + gain sum_d ratio_dv theta_dk table_vk,

    keep = (1 - rho) scale_t,   base = rho eta + (1 - rho) shift_t pattern,   gain = rho scale,

and exp E[log beta] from it while it is at hand. Rows of lambda are written out only if someone
wants them, at the end of a step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trustream.array_types import Array, Float64
from trustream.kernels import BLOCK
from trustream.models.lda.computation import LdaComputation
from trustream.models.lda.natural import (
    BeliefStatistics,
    Description,
    ExpLogTable,
    LdaNatural,
    StoredNatural,
)


class _Output(NamedTuple):
    """What a blend is written to: rows of lambda, or `table` and `offset`; the others are empty."""

    rows: Array
    table: Array
    offset: Array


class BlendedNatural(Description):
    """(1 - rho) anchor + rho (eta + scale * statistics), of a batch's words.

    Attributes:
        anchor: lambda_t.
        eta: the prior's rows, (1, 1), (W, 1) or (W, K).
        eta_totals: (K,) their sums over all words.
        statistics: s.
        rho, scale: learning rate and N / B.
    """

    __slots__ = ("anchor", "eta", "eta_totals", "rho", "scale", "statistics")

    def __init__(
        self,
        anchor: Natural,
        eta: Array,
        eta_totals: Float64,
        statistics: Statistics,
        rho: float,
        scale: float,
    ) -> None:
        super().__init__()
        self.anchor, self.eta, self.eta_totals = anchor, eta, eta_totals
        self.statistics, self.rho, self.scale = statistics, rho, scale

    def _make(self, computation: LdaComputation) -> LdaNatural:
        out, totals = self._compute(computation, rows=True)
        return LdaNatural(out.rows, totals)

    def table(self, computation: LdaComputation) -> ExpLogTable:
        """exp E[log beta] for these rows of lambda, in one pass if they are not computed yet."""
        if self.is_made:
            return self.materialise(computation).table(computation)
        out, totals = self._compute(computation, table=True)
        return ExpLogTable(out.table, out.offset, totals)

    @np.errstate(over="ignore", invalid="ignore")  # such a step is refused later
    def _compute(
        self, computation: LdaComputation, *, rows: bool = False, table: bool = False
    ) -> tuple[_Output, Float64]:
        """Rows of lambda or their table, whichever is wanted, and the totals."""
        anchor, statistics, rho, scale = self.anchor, self.statistics, self.rho, self.scale
        if isinstance(anchor, StoredNatural):
            n_words, anchor_totals = anchor.words.size, anchor.lambda_.totals
        else:
            anchor_rows, anchor_totals = anchor.materialise(computation)
            n_words = anchor_rows.shape[0]
        made = np.empty((n_words if rows else 0, computation.n_topics), computation.dtype)
        out = _Output(made, *computation.empty_table(n_words if table else 0))
        if isinstance(statistics, BeliefStatistics) and not statistics.is_made:
            eta, extra = self.eta, statistics.extra
            if extra is not None:
                # Given like a prior of the words: rho (eta + scale a n) beside the documents' part.
                eta = extra.added_to(eta, n_words, scale)
            sums = self._update(computation, statistics, eta, out)
            sums = sums if extra is None else sums + extra.totals
        else:
            s, sums = statistics.materialise(computation)
            if s.shape[1] == self.eta.shape[1] == 1:
                # What is the same for all topics is added like a prior of the words.
                self._update(computation, None, self.eta + scale * s, out)
            else:
                out = self._blend_rows(computation, s, table, out)
        totals = (1 - rho) * anchor_totals + rho * (self.eta_totals + scale * sums)
        return out, totals

    def _update(
        self,
        computation: LdaComputation,
        beliefs: BeliefStatistics | None,
        eta: Array,
        out: _Output,
    ) -> Float64:
        """Fill `out` in one pass; the sums over words of the beliefs' statistics."""
        anchor, rho = self.anchor, self.rho
        if isinstance(anchor, StoredNatural):
            lambda_, words = anchor.lambda_, anchor.words
            rows, keep = lambda_.stored, (1 - rho) * lambda_.scale
            base = rho * eta + (1 - rho) * lambda_.level(words, anchor.prior.pattern)
        else:
            rows, keep = anchor.materialise(computation).rows, 1 - rho
            words, base = np.arange(rows.shape[0], dtype=np.int32), rho * eta
        if beliefs is None:
            none = np.empty(0, np.int64)
            walk = (none, none.astype(np.int32), none)
            local = (np.empty(0, computation.dtype), *2 * (computation.empty_table(0)[0],))
        else:
            walk = beliefs.batch.by_word
            local = (beliefs.ratio, beliefs.theta, beliefs.table)
        gain, base = rho * self.scale, np.asarray(base, computation.dtype)
        recipe = (rows, words, keep, base, gain, computation.collapsed)
        n_blocks = 0 if beliefs is None else -(-words.size // BLOCK)
        blocks = np.empty((n_blocks, computation.n_topics))

        def work(start: int, stop: int) -> None:
            computation.kernels.lda_update(*walk, *local, *recipe, *out, blocks, start, stop)

        computation.over_words(work, words.size)
        return np.asarray(blocks.sum(axis=0))

    def _blend_rows(
        self, computation: LdaComputation, statistics: Array, table: bool, out: _Output
    ) -> _Output:
        """The same with statistics that are summed already, topic by topic."""
        anchor = self.anchor.materialise(computation).rows
        made = np.empty((anchor.shape[0], computation.n_topics), computation.dtype)
        eta = np.asarray(self.eta, computation.dtype)

        def work(start: int, stop: int) -> None:
            computation.kernels.blend_rows(
                anchor, eta, statistics, self.rho, self.scale, made, start, stop
            )
            if table:
                computation.fill_table(made, out.table, out.offset, start, stop)

        computation.over_words(work, anchor.shape[0])
        return out._replace(rows=made)


Natural = LdaNatural | StoredNatural | BlendedNatural
Statistics = LdaNatural | BeliefStatistics
