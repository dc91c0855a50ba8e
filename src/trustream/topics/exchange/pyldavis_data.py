"""What `pyLDAvis.prepare` draws: topics, documents and words."""

from __future__ import annotations

from typing import Any

import numpy as np

from trustream.topics.documents import read
from trustream.topics.exchange.fitted_models import different_words
from trustream.topics.topic_set import as_topics


def to_pyldavis(model: Any, documents: Any = None) -> dict[str, Any]:
    """Return the arguments of `pyLDAvis.prepare`, with or without documents.

    ``pyLDAvis.prepare(**to_pyldavis(model, counts))`` makes the page. The sizes that it shows are
    those of `topic_info`: shares of the documents' tokens or, without documents, of the topics'
    weights. pyLDAvis sorts topics by size and numbers them from 1; ``sort_topics=False`` keeps
    their order. It needs three topics or more.

    Parameters
    ----------
    model : LatentDirichletAllocation, TopicModel or TopicSet
    documents : matrix of shape (n_documents, n_words), batches of documents or None, default=None
        As in `trustream.topics.documents.as_batches`; ``model.count(texts)`` makes them for a
        `TopicModel`. pyLDAvis holds an array (documents, topics). Documents without words are left
        out. None takes each topic for a document.

    Returns
    -------
    dict
        topic_term_dists : (n_topics, n_words), E[beta]
        doc_topic_dists : (n_documents, n_topics), parts of each document's tokens
        doc_lengths : (n_documents,)
        vocab : list of words
        term_frequency : (n_words,), tokens of each word

    Examples
    --------
    >>> from trustream.topics import TopicSet
    >>> found = to_pyldavis(TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1, ["cat", "bank"]))
    >>> found["doc_lengths"].tolist(), found["term_frequency"].tolist(), found["vocab"]
    ([6.0, 10.0], [6.0, 10.0], ['cat', 'bank'])
    """
    topics = as_topics(model)
    weights = topics.weights.astype(np.float64)
    parts, lengths, frequency = [np.eye(topics.n_topics)], [topics.totals], weights.sum(axis=0)
    if documents is not None:
        parts, lengths, frequency = [], [], np.zeros(topics.n_words)
        for part in read(topics, documents):
            tokens = part.tokens[part.lengths > 0]
            parts.append(tokens / tokens.sum(axis=1, keepdims=True))
            lengths.append(part.lengths[part.lengths > 0].astype(np.float64))
            frequency[part.words.words] += part.words.word_counts
        if not sum(map(len, lengths)):
            raise ValueError("no document has a word that the model knows: give other documents")
    return {
        "topic_term_dists": weights / topics.totals[:, np.newaxis],
        "doc_topic_dists": np.concatenate(parts),
        "doc_lengths": np.concatenate(lengths),
        "vocab": different_words(topics),
        "term_frequency": frequency,
    }
