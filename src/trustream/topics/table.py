"""The table of topics: how large each is, its words, how coherent it is and what it is called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from trustream.evaluation import word_lists
from trustream.topics import characteristic_words, frames, table_text
from trustream.topics.characteristic_words import RELEVANCE, WordWeight
from trustream.topics.documents import ReadBatch, as_matrix, gather
from trustream.topics.running_coherence import RunningCoherence
from trustream.topics.topic_set import TopicSet, as_topics

# A document is counted as one with a topic from this proportion of its tokens on.
THRESHOLD = 0.1
# Top words whose coherence is measured, as everywhere in `trustream.evaluation`.
_COHERENT_WORDS = 10


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """One topic in a table.

    Attributes:
        topic: id of the topic.
        row: its row in `components_`.
        label: the label that it was given or, without one, its three most relevant words.
        labelled: whether it was given one.
        share: its share of the tokens of the documents; without documents, of its weights.
        n_documents: documents whose largest topic it is (of equal ones the first); over all topics
            they sum to the documents with words. None without documents.
        n_documents_with: documents of whose tokens it has at least the share `threshold`. None
            without documents.
        words: the most probable words, with probabilities.
        relevant: the words that set it apart, with relevance as in LDAvis.
        frex: the words that are both frequent and exclusive, with FREX.
        coherence: npmi of its ten most probable words in the documents; None without documents.
    """

    topic: int
    row: int
    label: str
    labelled: bool
    share: float
    n_documents: int | None
    n_documents_with: int | None
    words: list[WordWeight]
    relevant: list[WordWeight]
    frex: list[WordWeight]
    coherence: float | None


@dataclass(frozen=True, slots=True, repr=False)
class TopicTable:
    """All topics, the largest first; a shell or a notebook shows the first twenty.

    Attributes:
        topics: one for each topic.
        n_documents: documents that were read, those without words included; None without any.
        n_tokens: their tokens; None without documents.
        threshold: of `n_documents_with`.
        relevance: lambda of the relevance.

    >>> topics = TopicSet.of([[6.0, 2.0, 2.0], [1.0, 2.0, 3.0]], 0.1, ["cat", "the", "bank"])
    >>> topic_info(topics)
    2 topics, words by relevance 0.6
    topic  share  words
        0  62.5%  cat the bank
        1  37.5%  bank the cat
    """

    topics: list[TopicInfo]
    n_documents: int | None
    n_tokens: float | None
    threshold: float
    relevance: float

    def __iter__(self) -> Iterator[TopicInfo]:
        return iter(self.topics)

    def __len__(self) -> int:
        return len(self.topics)

    def __repr__(self) -> str:
        return table_text.as_text(self)

    def _repr_html_(self) -> str:
        return table_text.as_html(self)

    def topic(self, topic: int) -> TopicInfo:
        """Return the topic of this id."""
        for found in self.topics:
            if found.topic == topic:
                return found
        raise ValueError(f"there is no topic {topic!r} in the table")

    def frame(self) -> Any:
        """Return a pandas DataFrame, a row for each topic; lists of words are joined by spaces."""
        names = ("topic", "label", "share", "n_documents", "n_documents_with", "coherence")
        columns = {name: [getattr(found, name) for found in self.topics] for name in names}
        for name in ("words", "relevant", "frex"):
            lists = [[entry.word for entry in getattr(found, name)] for found in self.topics]
            columns[name] = [" ".join(words) for words in lists]
        return frames.frame(columns)


class TableCounts:
    """What a table of topics counts in documents; see `topic_info`.

    Parameters
    ----------
    topics : TopicSet or LatentDirichletAllocation
    threshold : float, default=0.1
        Of `TopicInfo.n_documents_with`.
    coherence : bool, default=True
        Whether to count how often top words occur together.
    """

    def __init__(self, topics: Any, threshold: float = THRESHOLD, coherence: bool = True) -> None:
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold is {threshold}, expected a share above 0, up to 1")
        self.topics, self.threshold = as_topics(topics), threshold
        k = self.topics.n_topics
        self.n_read, self.n_tokens = 0, 0.0
        self.tokens = np.zeros(k)
        self.n_documents = np.zeros(k, np.int64)
        self.n_documents_with = np.zeros(k, np.int64)
        self.coherence = _running_coherence(self.topics) if coherence else None

    def add(self, part: ReadBatch) -> None:
        """Take in some documents."""
        filled, tokens = part.lengths > 0, part.tokens
        self.n_read += filled.size
        self.n_tokens += float(part.lengths.sum())
        self.tokens += tokens.sum(axis=0)
        main = part.gamma[filled].argmax(axis=1)
        self.n_documents += np.bincount(main, minlength=self.tokens.size)
        least = self.threshold * part.lengths[filled, np.newaxis]
        # A share that is the threshold up to rounding counts.
        self.n_documents_with += (tokens[filled] >= least * (1 - 1e-6)).sum(axis=0)
        if self.coherence is not None:
            self.coherence.add(as_matrix(part.documents.counts))

    def merge(self, other: TableCounts) -> None:
        """Take in what another one has counted, of the same topics and threshold."""
        if other.topics.names.ids != self.topics.names.ids or other.threshold != self.threshold:
            raise ValueError("the other counts are of other topics, or with another threshold")
        if (self.coherence is None) != (other.coherence is None):
            raise ValueError("only one of the two counts has the coherence")
        self.n_read += other.n_read
        self.n_tokens += other.n_tokens
        self.tokens += other.tokens
        self.n_documents += other.n_documents
        self.n_documents_with += other.n_documents_with
        if self.coherence is not None and other.coherence is not None:
            self.coherence.merge(other.coherence)


def topic_info(
    model: Any,
    documents: Any = None,
    *,
    n_words: int = 10,
    relevance: float = RELEVANCE,
    exclusivity: float = 0.5,
    threshold: float = THRESHOLD,
    coherence: bool = True,
) -> TopicTable:
    """Return a table of the topics: sizes, words, coherence and labels, the largest topic first.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
        With a TopicSet, its words, ids and labels are used.
    documents : matrix of shape (n_documents, n_words), batches of documents or TableCounts
        What to count in, read once (`trustream.topics.documents.as_batches`); None counts nothing,
        and the share of a topic is then that of its weights. Counts that were gathered already are
        taken as they are.
    n_words : int, default=10
        Words in each list.
    relevance : float, default=0.6
        lambda of LDAvis: 1 sorts by probability, 0 by how much more probable a word is here.
    exclusivity : float, default=0.5
        Weight of exclusivity in FREX; the rest is frequency's.
    threshold : float, default=0.1
        Of `TopicInfo.n_documents_with`.
    coherence : bool, default=True
        Whether to measure coherence.

    Returns
    -------
    TopicTable
        A short table when it is printed; `table.frame()` is a pandas DataFrame. Where topics are
        all equal, no word sets one apart, and all lists are sorted by probability.

    Examples
    --------
    >>> topics = TopicSet.of([[6.0, 2.0, 2.0], [1.0, 2.0, 7.0]], 0.1, ["cat", "the", "bank"])
    >>> table = topic_info(topics, np.array([[3, 1, 0], [0, 1, 4], [2, 0, 0]]), n_words=2)
    >>> [(info.topic, info.label, info.n_documents) for info in table]
    [(0, 'cat, the, bank', 2), (1, 'bank, the, cat', 1)]
    """
    topics = as_topics(model)
    if documents is None:
        return _table(topics, None, threshold, n_words, relevance, exclusivity)
    if isinstance(documents, TableCounts):
        counts = documents
        if counts.topics.names.ids != topics.names.ids:
            raise ValueError("the counts are of other topics than the model has")
    else:
        counts = TableCounts(topics, threshold, coherence)
        gather(topics, documents, counts)
    return _table(topics, counts, counts.threshold, n_words, relevance, exclusivity)


def _table(
    topics: TopicSet,
    counts: TableCounts | None,
    threshold: float,
    n_words: int,
    relevance: float,
    exclusivity: float,
) -> TopicTable:
    share = topics.shares
    coherence = None
    if counts is not None:
        if counts.n_tokens == 0:
            raise ValueError(
                f"the {counts.n_read} documents have not a single word that the model knows: "
                "there is nothing to count"
            )
        share = counts.tokens / counts.tokens.sum()
        coherence = None if counts.coherence is None else counts.coherence.result()
    found = []
    for row in np.argsort(-share, kind="stable").tolist():
        topic = topics.names.ids[row]
        found.append(
            TopicInfo(
                topic=topic,
                row=row,
                label=characteristic_words.label(topics, row),
                labelled=topic in topics.names.labels,
                share=float(share[row]),
                n_documents=None if counts is None else int(counts.n_documents[row]),
                n_documents_with=None if counts is None else int(counts.n_documents_with[row]),
                words=characteristic_words.top_words(topics, row, n_words),
                relevant=characteristic_words.relevant_words(topics, row, n_words, relevance),
                frex=characteristic_words.frex_words(topics, row, n_words, exclusivity),
                coherence=None if coherence is None else float(coherence.per_topic[row]),
            )
        )
    n_read, n_tokens = (None, None) if counts is None else (counts.n_read, counts.n_tokens)
    return TopicTable(found, n_read, n_tokens, threshold, relevance)


def _running_coherence(topics: TopicSet) -> RunningCoherence | None:
    n_words = min(_COHERENT_WORDS, topics.n_words)
    if n_words < 2:
        return None
    lists = word_lists.top_words(topics.weights, n_words)
    return RunningCoherence([np.array(words) for words in lists])
