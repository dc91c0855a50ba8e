"""Count the words of topics in bins, in a memory that does not grow with the vocabulary."""

from __future__ import annotations

import numpy as np

from trustream.array_types import Array, Float64
from trustream.evaluation import word_lists
from trustream.topics.characteristic_words import RELEVANCE, WordWeight
from trustream.topics.documents import ReadBatch
from trustream.topics.topic_set import TopicSet

# Tokens of a topic as a whole by which its words in a bin are smoothed: what occurred once in a
# bin is not yet a word of the bin.
_SMOOTHING = 10.0


class CandidateWords:
    """The words of each topic that are counted in bins: its most probable ones.

    Parameters
    ----------
    topics : TopicSet
    n_candidates : int
        Words of each topic.
    """

    def __init__(self, topics: TopicSet, n_candidates: int) -> None:
        n_candidates = min(n_candidates, topics.n_words)
        chosen = word_lists.top_words(topics.weights, n_candidates) if n_candidates else []
        self.columns = np.array(chosen, np.int64).reshape(topics.n_topics, n_candidates)
        self.words = topics.words
        order = np.argsort(self.columns, axis=None, kind="stable")
        # Places of a word's candidacies, topic * n_candidates + rank, one word after the other.
        self._places = order
        counts = np.bincount(self.columns.ravel(), minlength=topics.n_words)
        self._starts = np.concatenate(([0], np.cumsum(counts)))

    @property
    def size(self) -> int:
        """Numbers that are kept for a bin."""
        return self.columns.size

    def tokens(self, part: ReadBatch, bins: Array, n_bins: int) -> Float64:
        """Return expected tokens of the candidates, (n_bins, size), for documents in these bins.

        Documents whose bin is negative are left out.
        """
        batch = part.words
        words = batch.words[batch.ids]
        n_places = self._starts[words + 1] - self._starts[words]
        documents = np.repeat(np.arange(batch.size), np.diff(batch.indptr))
        n_places = np.where(bins[documents] >= 0, n_places, 0)
        pairs = np.repeat(np.arange(words.size), n_places)
        within = np.arange(pairs.size) - np.repeat(np.cumsum(n_places) - n_places, n_places)
        places = self._places[self._starts[words[pairs]] + within]
        amounts = part.phi(pairs, places // self.columns.shape[1])
        slots = bins[documents[pairs]] * self.size + places
        counts = np.bincount(slots, amounts, n_bins * self.size)
        return np.asarray(counts.reshape(n_bins, self.size))

    def best(
        self, tokens: Float64, row: int, of_topic: Float64, n_words: int
    ) -> list[list[WordWeight]]:
        """Return the words of a topic in each bin, the most relevant first.

        The relevance is that of `relevant_words`, of the bin within the topic:
        0.6 log p_bw + 0.4 log(p_bw / p_w). The weight is p_bw, the word's share of the topic's
        tokens in the bin, smoothed by 10 tokens of the topic as a whole.

        Parameters
        ----------
        tokens : array of shape (n_bins, size)
            Of the candidates.
        row : int
            The topic.
        of_topic : array of shape (n_bins,)
            All tokens of the topic in the bins.
        n_words : int
        """
        mine = tokens.reshape(len(tokens), *self.columns.shape)[:, row]
        whole = mine.sum(axis=0) / max(float(of_topic.sum()), 1e-300)
        shares = (mine + _SMOOTHING * whole) / (of_topic[:, np.newaxis] + _SMOOTHING)
        seen = np.flatnonzero(whole > 0)
        relevance = np.log(shares[:, seen]) - (1 - RELEVANCE) * np.log(whole[seen])
        found = []
        for share, score, n in zip(shares, relevance, of_topic, strict=True):
            order = seen[np.argsort(-score, kind="stable")] if n >= 1 else seen[:0]
            named = [i for i in order if self.words[self.columns[row, i]]][:n_words]
            found.append(
                [WordWeight(self.words[self.columns[row, i]], float(share[i])) for i in named]
            )
        return found
