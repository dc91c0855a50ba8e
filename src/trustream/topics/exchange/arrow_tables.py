"""Topics, their words and the topics of documents as Arrow tables and Parquet files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trustream._regular_file import replacement
from trustream.topics.characteristic_words import label
from trustream.topics.documents import read
from trustream.topics.exchange.libraries import needing
from trustream.topics.topic_set import TopicSet, as_topics

# What to install.
_EXTRA = "trustream[parquet]"


class ArrowTopics(NamedTuple):
    """Topics as two Arrow tables.

    Attributes:
        topics: a row for each topic, in the order of rows: topic (id), label, share, alpha.
        words: a row for each topic and word, topic by topic: topic, word, probability E[beta] and
            weight lambda.
    """

    topics: Any
    words: Any


def to_arrow(model: Any) -> ArrowTopics:
    """Return the topics of a model, and all their words, as tables of pyarrow.

    The table of words is long, a row for each topic and word, as databases and frames like it:
    ``WHERE topic = 3 ORDER BY probability DESC`` is a topic. It has n_topics x n_words rows;
    `write_parquet` writes it topic by topic.

    Parameters
    ----------
    model : LatentDirichletAllocation, TopicModel or TopicSet

    Returns
    -------
    ArrowTopics

    Examples
    --------
    >>> from trustream.topics import TopicSet
    >>> tables = to_arrow(TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1, ["cat", "bank"]))
    >>> tables.topics.column("share").to_pylist(), tables.words.column_names
    ([0.375, 0.625], ['topic', 'word', 'probability', 'weight'])
    """
    arrow, topics = _arrow("to_arrow"), as_topics(model)
    return ArrowTopics(_topics(arrow, topics), arrow.Table.from_batches(_words(arrow, topics)))


def documents_to_arrow(model: Any, documents: Any) -> Any:
    """Return the topic proportions of documents as Arrow batches, which are computed as they are
    read.

    Parameters
    ----------
    model : LatentDirichletAllocation, TopicModel or TopicSet
    documents : matrix of shape (n_documents, n_words), or batches of documents
        As in `trustream.topics.documents.as_batches`, for example from `stored_batches`. An
        iterable is read batch by batch, and memory does not grow with the number of documents.

    Returns
    -------
    pyarrow.RecordBatchReader
        A row for each document: row (from 0), key as text (if the documents have keys), n_tokens,
        and a column topic_i of its proportions for each topic of id i, which sum to one. They are
        those of `transform`.

    Examples
    --------
    >>> from trustream.topics import TopicSet
    >>> topics = TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1)
    >>> reader = documents_to_arrow(topics, np.array([[3, 0], [0, 2]]))
    >>> reader.read_all().column_names
    ['row', 'n_tokens', 'topic_0', 'topic_1']
    """
    arrow, topics = _arrow("documents_to_arrow"), as_topics(model)
    batches = _documents(arrow, topics, documents)
    first = next(batches, None)
    if first is None:
        raise ValueError("there are no documents: give a matrix of counts or batches of documents")
    return arrow.RecordBatchReader.from_batches(first.schema, chain([first], batches))


def write_parquet(model: Any, folder: str | Path, documents: Any = None) -> list[Path]:
    """Write topics, words and, if there are any, documents to Parquet files in a folder.

    The files are topics.parquet, words.parquet and documents.parquet, with the columns of
    `to_arrow` and `documents_to_arrow`. They are written batch by batch under other names and
    renamed at the end, so that files of these names are whole; those that are there are replaced.

    Parameters
    ----------
    model : LatentDirichletAllocation, TopicModel or TopicSet
    folder : str or Path
        Made if it is not there.
    documents : matrix of shape (n_documents, n_words), batches of documents or None, default=None

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> from trustream.topics import TopicSet
    >>> topics = TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1, ["cat", "bank"])
    >>> with tempfile.TemporaryDirectory() as home:
    ...     paths = write_parquet(topics, home, np.array([[3, 0], [0, 2]]))
    >>> [path.name for path in paths]
    ['topics.parquet', 'words.parquet', 'documents.parquet']
    """
    arrow, topics = _arrow("write_parquet"), as_topics(model)
    with needing(_EXTRA, "write_parquet"):
        from pyarrow import parquet
    tables: dict[str, Iterable[Any]] = {
        "topics": _topics(arrow, topics).to_batches(),
        "words": _words(arrow, topics),
    }
    if documents is not None:
        tables["documents"] = documents_to_arrow(topics, documents)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.parquet" for name in tables]
    with ExitStack() as stack:
        for path, batches in zip(paths, tables.values(), strict=True):
            _write(parquet, stack.enter_context(replacement(path)), batches)
    return paths


def _arrow(purpose: str) -> Any:
    with needing(_EXTRA, purpose):
        import pyarrow
    return pyarrow


def _topics(arrow: Any, topics: TopicSet) -> Any:
    labels = [label(topics, row) for row in range(topics.n_topics)]
    return arrow.table(
        {
            "topic": arrow.array(topics.names.ids, arrow.int64()),
            "label": arrow.array(labels, arrow.string()),
            "share": topics.shares,
            "alpha": topics.alpha,
        }
    )


def _words(arrow: Any, topics: TopicSet) -> Iterator[Any]:
    """A batch for each topic; words are a dictionary, which is shared."""
    places = arrow.array(np.arange(topics.n_words, dtype=np.int32))
    words = arrow.DictionaryArray.from_arrays(places, arrow.array(topics.words, arrow.string()))
    for row, topic in enumerate(topics.names.ids):
        columns = {
            "topic": arrow.array(np.full(topics.n_words, topic, np.int64)),
            "word": words,
            "probability": arrow.array(topics.probabilities(row)),
            "weight": arrow.array(np.ascontiguousarray(topics.weights[row])),
        }
        yield arrow.RecordBatch.from_pydict(columns)


def _documents(arrow: Any, topics: TopicSet, documents: Any) -> Iterator[Any]:
    has_keys = None
    for part in read(topics, documents):
        size, keys = part.documents.size, part.documents.keys
        has_keys = keys is not None if has_keys is None else has_keys
        if has_keys != (keys is not None):
            raise ValueError("some batches have keys and some have none: give keys to all or none")
        columns = {"row": arrow.array(np.arange(part.first, part.first + size))}
        if keys is not None:
            columns["key"] = arrow.array([str(key) for key in keys], arrow.string())
        columns["n_tokens"] = arrow.array(part.lengths.astype(np.float64))
        proportions = part.proportions
        for row, topic in enumerate(topics.names.ids):
            columns[f"topic_{topic}"] = arrow.array(np.ascontiguousarray(proportions[:, row]))
        yield arrow.RecordBatch.from_pydict(columns)


def _write(parquet: Any, path: Path, batches: Iterable[Any]) -> None:
    batches = iter(batches)
    first = next(batches)
    with parquet.ParquetWriter(path, first.schema) as writer:
        for batch in chain([first], batches):
            writer.write_batch(batch)
