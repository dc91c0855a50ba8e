"""Take a sample of documents to choose a number of topics by: of a store, or of a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from trustream.evaluation import validation
from trustream.feeds.data import read_data
from trustream.store.protocol import Store
from trustream.store.records import Record
from trustream.text import build_vocabulary, count_matrix
from trustream.topics.choosing import FEWEST
from trustream.topics.vocabulary import WordRules

# Documents that are taken, and words of them.
SAMPLE, MOST_WORDS = 10_000, 50_000


@dataclass(frozen=True, eq=False)
class SampledDocuments:
    """Some documents of a store or a file, as `choose_n_components` takes them.

    Attributes:
        counts: (n_sampled, words).
        n_sampled: documents that were taken.
        n_documents: documents that there are, of which these are a random sample, or all.
    """

    counts: Any
    n_sampled: int
    n_documents: int


def sample_store(
    store: Store, max_documents: int = SAMPLE, *, random_state: Any = 0
) -> SampledDocuments:
    """Return some training documents of a store, drawn at random, over its active words.

    Takes time for the documents drawn, however many there are.

    Examples
    --------
    >>> import tempfile, trustream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", min_documents=1) as store:
    ...         _ = store.append(Record(str(i), ["cat", "dog"]) for i in range(30))
    ...         sample = sample_store(store, 20)
    >>> sample.counts.shape
    (20, 2)
    """
    most = validation.whole_number("max_documents", max_documents)
    rng = np.random.default_rng(validation.seed_of(random_state))
    documents = store.draw(most, rng)
    shape = len(documents.keys), max(int(documents.indices.max(initial=-1)) + 1, 1)
    parts = documents.counts.astype(np.int64), documents.indices, documents.indptr
    counts = sparse.csr_array(parts, shape=shape)
    return _sampled(store.name, counts, store.totals().training)


def sample_data(
    source: str | Path | IO[bytes],
    max_documents: int = SAMPLE,
    *,
    random_state: Any = 0,
    format: str | None = None,
    **options: Any,
) -> SampledDocuments:
    """Return some documents of a file, drawn at random, or some rows of a matrix.

    Of texts the words count that are in at least 5 of the documents taken, and in at most half of
    them; fewer where there are fewer than 100 documents.

    Parameters
    ----------
    source, format, **options
        As `trustream.feeds.data.read_data` takes them. A file of documents is read once, and
        `max_documents` of them are kept.
    max_documents : int, default=10000
    random_state : int, RandomState, Generator or None, default=0

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     texts = ["cats, dogs", "bank rates", "ships sail"] * 20
    ...     file.writelines(f"{text}{chr(10)}" for text in texts)
    ...     file.flush()
    ...     sample = sample_data(file.name, 30)
    >>> sample.counts.shape, sample.n_documents
    ((30, 6), 60)
    """
    most = validation.whole_number("max_documents", max_documents)
    rng = np.random.default_rng(validation.seed_of(random_state))
    data = read_data(source, format=format, **options)
    if data.feed is None:
        counts = data.matrix
        rows = np.sort(rng.permutation(counts.shape[0])[:most])
        return _sampled(data.name, counts[rows], counts.shape[0])
    kept, n_documents = _reservoir(data.feed.documents(), most, rng)
    rules, n = WordRules(), len(kept)
    words = build_vocabulary(
        (list(document.words) for document in kept),
        min_documents=rules.least(n),
        max_fraction=rules.most(n),
        max_words=MOST_WORDS,
    )
    counts = count_matrix((document.words for document in kept), words)
    return _sampled(data.name, counts, n_documents)


def _sampled(name: str, counts: Any, n_documents: int) -> SampledDocuments:
    """The sample; an error that names its source if it is too small to choose by."""
    if counts.dtype.kind not in "biuf":
        raise ValueError(f"{name} holds {counts.dtype} and not numbers, expected counts")
    if counts.ndim != 2:
        raise ValueError(
            f"{name} has {counts.ndim} dimensions, expected rows and columns of counts"
        )
    n_filled = int((np.asarray(counts.sum(axis=1)).ravel() > 1).sum())
    if n_filled < FEWEST or counts.shape[1] < 2:
        raise ValueError(
            f"{name} has {n_documents:,} documents, of which {n_filled:,} have two words or more "
            f"that are in enough of them: it takes {FEWEST} to choose a number of topics by"
        )
    return SampledDocuments(counts, counts.shape[0], n_documents)


def _reservoir(
    documents: Iterable[Record], most: int, rng: np.random.Generator
) -> tuple[list[Record], int]:
    """A uniform sample of a stream, and the stream's length."""
    kept: list[Record] = []
    number = 0
    for number, document in enumerate(documents, start=1):
        if len(kept) < most:
            kept.append(document)
        elif (place := int(rng.integers(number))) < most:
            kept[place] = document
    return kept, number
