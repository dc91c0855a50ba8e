"""Batches of LDA in parts, each of which may be computed by somebody else.

The parts of a batch are batches themselves, of W_p words each. Together they have the W words of
the batch, in rising order, with

    n_v = sum_p n_pv,   s_vk = sum_p s_pvk,   sum_d E[log theta_dk] = sum_p sum_{d in p} ...,

added in the order of parts, in lambda's own type, so that who computes a part, and when, changes
nothing. A part needs no more of lambda than the rows of the batch's words, which are a lambda of
their own: there word v of the batch is row v (`excerpt`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from trustream.array_types import Array, Float64
from trustream.models.lda.batch import WordBatch
from trustream.models.lda.evidence import ThetaSums
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.natural import LdaNatural
from trustream.models.lda.prior import LdaPrior
from trustream.models.lda.row_journal import RowJournal


class WordOutline(NamedTuple):
    """What is to be known of a part, so that others can plan a step.

    Attributes:
        words: (W_p,) int32, rising.
        word_counts: (W_p,) float64, tokens of each.
        size: B_p, documents.
        n_pairs: of document and word.
    """

    words: Array
    word_counts: Float64
    size: int
    n_pairs: int

    @classmethod
    def of(cls, batch: WordBatch) -> WordOutline:
        """Of a part."""
        order = np.argsort(batch.words, kind="stable")
        words = batch.words[order]
        return cls(words, batch.word_counts[order], batch.size, int(batch.counts.size))


@dataclass(frozen=True, slots=True)
class JoinedBatch(WordBatch):
    """A batch in parts, without its documents: words and their tokens.

    Attributes:
        places: of each part, (W_p,) where its words are among those of the batch.
        sizes: documents of each part.
    """

    places: tuple[Array, ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """B, the number of documents of all parts."""
        return sum(self.sizes)

    @classmethod
    def of(cls, outlines: Sequence[WordOutline]) -> JoinedBatch:
        """Of parts in their order.

        >>> words = np.array([2, 7], np.int32), np.array([3, 7], np.int32)
        >>> outlines = [WordOutline(of_part, np.array([1.0, 2.0]), 1, 2) for of_part in words]
        >>> batch = JoinedBatch.of(outlines)
        >>> batch.words.tolist(), batch.word_counts.tolist(), batch.size
        ([2, 3, 7], [1.0, 1.0, 4.0], 2)
        """
        none = np.empty(0, np.int32)
        words = np.unique(np.concatenate([none, *(outline.words for outline in outlines)]))
        places = tuple(np.searchsorted(words, outline.words) for outline in outlines)
        word_counts = np.zeros(words.size)
        for at, outline in zip(places, outlines, strict=True):
            word_counts[at] += outline.word_counts
        zero, pointers = np.empty(0), np.zeros(1, np.int64)
        return cls(
            pointers, none, zero, words.astype(np.int32), pointers, none, none.astype(np.int64),
            zero, word_counts, [], places, tuple(outline.size for outline in outlines),
        )  # fmt: skip


class Excerpt(NamedTuple):
    """lambda and prior of the words of a batch, by themselves: what a part is computed with.

    Attributes:
        lambda_: (W, K).
        prior: of these W words.
        words: (W,) the vocabulary's number of each, rising.
    """

    lambda_: LazyRows
    prior: LdaPrior
    words: Array

    def part(self, batch: WordBatch) -> WordBatch:
        """A part whose words are rows of the excerpt."""
        places = np.searchsorted(self.words, batch.words)
        return replace(batch, words=places.astype(np.int32))


def excerpt_of_lambda(lambda_: LazyRows, prior: LdaPrior, words: Array) -> Excerpt:
    """lambda as it is kept, with what is the prior's in it, of words in rising order."""
    rows = replace(lambda_, stored=lambda_.stored[words], journal=RowJournal())
    return Excerpt(rows, excerpt_of_prior(prior, words), words)


def excerpt_of_prior(prior: LdaPrior, words: Array) -> LdaPrior:
    """The prior of these words, which are in rising order."""
    pattern = prior.pattern if prior.pattern.shape[0] == 1 else prior.pattern[words]
    seeds = prior.seeds
    if seeds is not None:
        ids, weights = seeds.among(words)
        seeds = seeds._replace(places=ids, weights=weights) if ids.size else None
    return replace(prior, pattern=pattern, seeds=seeds)


class Contribution(NamedTuple):
    """What a part adds to its batch.

    Attributes:
        statistics: s of its words, in rising order.
        draws: what alpha is learned from.
    """

    statistics: LdaNatural
    draws: ThetaSums


def summed(
    batch: JoinedBatch, contributions: Sequence[Contribution], n_topics: int, dtype: str
) -> Contribution:
    """The sum over parts, in their order."""
    rows, totals = np.zeros((batch.n_words, n_topics), dtype), np.zeros(n_topics)
    draws = ThetaSums.zeros(n_topics)
    for places, ((part_rows, part_totals), part_draws) in zip(
        batch.places, contributions, strict=True
    ):
        rows[places] += part_rows
        totals += part_totals
        draws += part_draws
    return Contribution(LdaNatural(rows, totals), draws)
