"""Write the report on the topics of a store's model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trustream.store.protocol import Store
from trustream.streaming.published import DEFAULT_NAME
from trustream.topics.documents import DocumentBatch, Gatherer
from trustream.topics.report import report_data, write_report
from trustream.topics.stored_documents import known_times, over_words, sampled, stored_batches
from trustream.topics.stored_titles import titles_and_excerpts
from trustream.topics.stored_topics import stored_topics
from trustream.topics.topic_set import TopicSet, as_topics


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report that was written.

    Attributes:
        path: the file.
        n_topics: topics in it.
        n_documents: documents of the store that were read for it.
        n_bytes: size of the file.
    """

    path: str
    n_topics: int
    n_documents: int
    n_bytes: int


def write_stored_report(
    store: Store,
    path: str | Path,
    name: str = DEFAULT_NAME,
    *,
    title: str | None = None,
    bins: int | None = None,
    n_documents: int = 5,
    progress: Callable[[int, int], None] | None = None,
) -> WrittenReport:
    """Write a page on the topics of a store's model, as `trustream.topics.write_report` does.

    All documents are read, once, block by block.

    Parameters
    ----------
    store : Store
    path : str or Path
    name : str, default="model"
        Name of the model in the store.
    title : str, default=None
        Of the page; None is the name of the store.
    bins : int, default=None
        The most bins of time; None leaves it to `write_report`.
    n_documents : int, default=5
        Documents that are shown of each topic.
    progress : callable, default=None
        Called with the number of documents that were read, and how many there are to read.

    Examples
    --------
    >>> from trustream.topics.stored_topics import _example
    >>> folder, store = _example()
    >>> written = write_stored_report(store, f"{folder.name}/topics.html")
    >>> written.n_topics, written.n_documents
    (3, 100)
    >>> store.close(); folder.cleanup()
    """
    topics = stored_topics(store, name)
    read, total = 0, store.totals().documents
    if not total:
        raise ValueError(f"{store.name} has no documents to report on")

    def counted() -> Any:
        nonlocal read
        for batch in stored_batches(store, topics.words):
            yield batch
            read += batch.size
            if progress is not None:
                progress(read, max(read, total))

    options: dict[str, Any] = {} if bins is None else {"bins": bins}
    shown = store.name if title is None else title
    write_report(path, topics, counted(), title=shown, n_documents=n_documents, **options)
    return WrittenReport(str(path), topics.n_topics, read, Path(path).stat().st_size)


def stored_report_data(
    store: Store,
    topics: TopicSet | str = DEFAULT_NAME,
    *,
    sample: int | None = None,
    n_documents: int = 5,
    into: Sequence[Gatherer] = (),
    random_state: Any = 0,
    **options: Any,
) -> dict[str, Any]:
    """Return what a report shows of a store's topics, from all its documents or a sample of them.

    Parameters
    ----------
    store : Store
    topics : TopicSet or str, default="model"
        Topics, or the name of the model in the store.
    sample : int, default=None
        Look at so many documents, drawn at random, if there are more; None looks at all.
    n_documents, into, **options
        As in `trustream.topics.report_data`.
    random_state : int or Generator, default=0
        Draws the sample.

    Examples
    --------
    >>> from trustream.topics.stored_topics import _example
    >>> folder, store = _example()
    >>> data = stored_report_data(store, sample=60)
    >>> data["n_documents"], len(data["topics"])
    (60, 3)
    >>> store.close(); folder.cleanup()
    """
    found = stored_topics(store, topics) if isinstance(topics, str) else as_topics(topics)
    options.setdefault("title", store.name)
    if sample is None or store.totals().documents <= sample:
        batches = stored_batches(store, found.words)
    else:
        batches = _sampled_batches(store, found.words, sample, np.random.default_rng(random_state))
    return report_data(found, batches, n_documents=n_documents, into=into, **options)


def _sampled_batches(
    store: Store, words: Sequence[str], sample: int, rng: np.random.Generator
) -> Iterator[DocumentBatch]:
    for documents, counts in over_words(store, sampled(store, sample, rng), words):
        titles = excerpts = None
        if store.settings.keep_text:
            titles, excerpts = titles_and_excerpts(store, documents.keys)
        yield DocumentBatch(counts, documents.keys, titles, known_times(documents), excerpts)
