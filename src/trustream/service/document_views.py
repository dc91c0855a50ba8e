"""Find the topics of documents and texts, and of their words, by the published model, as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trustream.service.live_model import LiveModel
from trustream.service.problem_error import ProblemError
from trustream.service.published_model import number
from trustream.store.protocol import Store
from trustream.terminal import shown
from trustream.topics.coloured_text import coloured_text

if TYPE_CHECKING:
    from trustream.models.lda.batch import CountRows
    from trustream.service.shown_report import ShownReport
    from trustream.topics.inference import TopicProportion

# Topics of a document that are listed.
_TOPICS = 20


def view_document(store: Store, model: LiveModel | None, key: str) -> dict[str, Any] | None:
    """A document of a store, see `schemas.Document`; None if it is not there."""
    try:
        found = store.read([key])
    except KeyError:
        return None
    assert found.times is not None and found.arrival is not None
    names = store.vocabulary().words
    counts = {
        names[column]: float(count)
        for column, count in zip(found.indices.tolist(), found.counts.tolist(), strict=True)
        if column < len(names) and names[column] is not None
    }
    kept = store.texts([key]).get(key)
    topics: list[dict[str, Any]] = []
    topic_of: dict[str, tuple[int, float]] = {}
    segments = None
    if model is not None:
        from trustream.topics.document_view import view_documents
        from trustream.topics.stored_documents import stored_document

        batch = stored_document(store, model.topics.words, key)
        (view,) = view_documents(model.topics, batch)
        topics = _topics(model, view.topics[:_TOPICS]) if view.words else []
        topic_of = {word.word: (word.topic, max(word.phi)) for word in view.words}
        if kept is not None and model.tokenise is not None:
            segments = _segments(model, kept.text, topic_of)
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return {
        "id": key,
        "title": None if kept is None else kept.title,
        "time": float(found.times[0]),
        "arrived_untimed": bool(found.arrival[0]),
        "n_tokens": sum(counts.values()),
        "text": None if kept is None else kept.text,
        "segments": segments,
        "words": [_word(word, count, topic_of) for word, count in ordered],
        "topics": topics,
        "version": None if model is None else model.version,
    }


def inferred_texts(
    model: LiveModel, texts: Sequence[str], top: int, with_words: bool
) -> list[dict[str, Any]]:
    """The topics of texts, see `schemas.InferredText`."""
    from trustream.topics.document_view import view_documents
    from trustream.topics.documents import DocumentBatch, read
    from trustream.topics.inference import document_topics

    tokenise = _tokeniser(model)
    words = [tokenise(text) for text in texts]
    counts = _counts(model, words)
    ids = model.topics.names.ids
    found: list[dict[str, Any]] = []
    if not with_words:
        for part in read(model.topics, DocumentBatch(counts)):
            for theta, known in zip(part.proportions, part.lengths.tolist(), strict=True):
                row = len(found)
                one = document_topics(row, None, theta, ids, top, len(words[row]), known)
                topics = _topics(model, one.topics)
                found.append({"topics": topics, "n_known": known, "words": None, "segments": None})
    else:
        for text, view in zip(
            texts, view_documents(model.topics, DocumentBatch(counts)), strict=True
        ):
            topic_of = {word.word: (word.topic, max(word.phi)) for word in view.words}
            found.append(
                {
                    "topics": _topics(model, view.topics[:top]) if view.words else [],
                    "n_known": view.n_tokens,
                    "words": [_word(w.word, w.count, topic_of) for w in view.words],
                    "segments": _segments(model, text, topic_of),
                }
            )
    return [
        {"n_tokens": float(len(tokens)), **one} for tokens, one in zip(words, found, strict=True)
    ]


def _counts(model: LiveModel, documents: Sequence[Sequence[str]]) -> CountRows:
    """Counts of words that the model knows, columns rising in each row, as `count_matrix` has them.

    The columns of words are known from before: with many words it takes most of the time to find
    them for one short text.
    """
    from trustream.models.lda.batch import CountRows

    columns = model.columns
    rows = [
        sorted(Counter(columns[word] for word in words if word in columns).items())
        for words in documents
    ]
    pairs = np.array([pair for row in rows for pair in row], np.int64).reshape(-1, 2)
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    shape = len(documents), model.topics.n_words
    return CountRows(indptr, pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.float32), shape)


def proportions_of(
    store: Store, model: LiveModel, *, key: str | None = None, text: str | None = None
) -> dict[int, float] | None:
    """Topics of a document or of a text, by id; none if the model knows none of its words.

    None if the document is not there.
    """
    from trustream.topics.document_view import view_documents
    from trustream.topics.documents import DocumentBatch
    from trustream.topics.stored_documents import stored_document

    if text is not None:
        counts = DocumentBatch(_counts(model, [_tokeniser(model)(text)]))
    else:
        try:
            counts = stored_document(store, model.topics.words, str(key))
        except ValueError:
            return None
    (view,) = view_documents(model.topics, counts)
    return {found.topic: found.proportion for found in view.topics} if view.words else {}


def nearest_to(
    report: ShownReport, proportions: dict[int, float], limit: int, *, without: str | None = None
) -> dict[str, Any]:
    """Documents near one with some topics, see `schemas.Nearest`.

    Args:
        report: has read the documents.
        proportions: of topics by id; perhaps of a later model than that of the report.
        limit: how many, at most.
        without: a document to leave out.
    """
    items = []
    if proportions:
        wanted = [proportions.get(topic, 0.0) for topic in report.ids]
        items = report.nearest.nearest(wanted, limit, without=without)
    return {
        "version": report.model.version,
        "items": [
            {
                "id": found.key,
                "title": found.title,
                "excerpt": found.excerpt,
                "similarity": number(found.similarity),
            }
            for found in items
        ],
        "n_searched": len(report.nearest),
        "n_stored": report.state["n_stored"],
    }


def _tokeniser(model: LiveModel) -> Any:
    if model.tokenise is None:
        raise ProblemError(
            409,
            "unknown-tokeniser",
            "texts of this store were split by a Python function that only its writers have: set a "
            "tokeniser by trustream tokeniser",
        )
    return model.tokenise


def _topics(model: LiveModel, found: Sequence[TopicProportion]) -> list[dict[str, Any]]:
    return [
        {
            "topic": one.topic,
            "label": model.label(one.topic),
            "proportion": number(one.proportion),
        }
        for one in found
    ]


def _word(word: str, count: float, topic_of: dict[str, tuple[int, float]]) -> dict[str, Any]:
    topic, probability = topic_of.get(word, (None, None))
    return {
        "word": shown(word),
        "count": count,
        "topic": topic,
        "probability": number(probability),
    }


def _segments(
    model: LiveModel, text: str, topic_of: dict[str, tuple[int, float]]
) -> list[dict[str, Any]]:
    topics = {word: topic for word, (topic, _) in topic_of.items()}
    assert model.tokenise is not None
    return [
        {"text": piece.text, "word": piece.word, "topic": piece.topic}
        for piece in coloured_text(text, model.tokenise, topics)
    ]
