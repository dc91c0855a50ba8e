"""Read the documents of a store in batches, over the words of a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from trustream.array_types import Float64, Index
from trustream.models.lda.batch import CountRows
from trustream.store.draw_order import DrawOrder
from trustream.store.limits import FARTHEST_TIME
from trustream.store.protocol import Store
from trustream.store.records import Documents
from trustream.topics.documents import DocumentBatch
from trustream.topics.stored_titles import titles_and_excerpts


def stored_batches(
    store: Store, words: Sequence[str], *, block: int = 1000, texts: bool = True
) -> Iterator[DocumentBatch]:
    """Yield all documents of a store, held-out ones included, as the functions here take them.

    The vocabulary of a store goes on changing, that of a model that was loaded does not. Counts are
    those of the model's words, wherever the store has them now; words that the model does not
    know are left out. Times are those of the store: where a document came without one, when it
    arrived. Times farther than 1e12 seconds from 1970, which earlier versions took, are NaN.

    Parameters
    ----------
    store : Store
    words : sequence of str
        Words by column of the model: `TopicSet.words`, or its `feature_names_in_`. Columns of
        the name "" have no word.
    block : int, default=1000
        Documents of a batch.
    texts : bool, default=True
        Whether to read titles and excerpts, where the store keeps texts; a document without a title
        has the beginning of its text for one. To show few documents of many, leave them out and
        look these few up by `Store.texts`.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", min_documents=1) as store:
    ...         _ = store.append([Record("a", ["cat", "dog"]), Record("b", ["tree", "cat"])])
    ...         (batch,) = stored_batches(store, ["dog", "cat"])
    >>> batch.keys, batch.counts.indices.tolist(), batch.counts.indptr.tolist()
    (['a', 'b'], [0, 1, 1], [0, 2, 3])
    >>> batch.times.shape
    (2,)
    """
    for documents, counts in over_words(store, store.scan(block), words):
        titles = excerpts = None
        if texts and store.settings.keep_text:
            titles, excerpts = titles_and_excerpts(store, documents.keys)
        yield DocumentBatch(counts, documents.keys, titles, known_times(documents), excerpts)


def sampled(
    store: Store, n: int, rng: np.random.Generator, *, block: int = 1000
) -> Iterator[Documents]:
    """Yield n different documents of a store, all equally likely, held-out ones included.

    If documents are deleted meanwhile, one that takes the place of another may come twice.

    Parameters
    ----------
    store : Store
    n : int
        All documents, if there are fewer.
    rng : Generator
    block : int, default=1000
        Documents that are read together.
    """
    totals = store.totals()
    n = min(n, totals.documents)
    n_held_out = int(rng.hypergeometric(totals.held_out, totals.training, n)) if n else 0
    for held_out, left in ((False, n - n_held_out), (True, n_held_out)):
        order = DrawOrder(rng)
        while left:
            found = store.draw(min(left, block), order, held_out=held_out, times=True)
            if not found.keys:
                break
            left -= len(found.keys)
            yield found


def over_words(
    store: Store, blocks: Iterable[Documents], words: Sequence[str]
) -> Iterator[tuple[Documents, CountRows]]:
    """Yield documents that are read from a store, with their counts over the words of a model."""
    column_of = {word: column for column, word in enumerate(words) if word}
    version, columns = None, np.empty(0, np.int64)
    for documents in blocks:
        if documents.vocabulary != version:
            version, columns = _columns(store, documents, column_of)
        yield documents, _counts(documents, columns, len(words))


def known_times(documents: Documents) -> Float64 | None:
    """Return the times of documents as `DocumentBatch` takes them: NaN where nobody can mean one.

    Stores of earlier versions may have times in milliseconds, and others that are too far away.
    Such documents count as those without a time, which pictures and trends leave out.
    """
    times = documents.times
    if times is None or not np.any(np.abs(times) > FARTHEST_TIME):
        return times
    return np.where(np.abs(times) > FARTHEST_TIME, np.nan, times)


def stored_document(store: Store, words: Sequence[str], key: str) -> DocumentBatch:
    """Return one document of a store by its key, as `stored_batches` returns all of them.

    Raises
    ------
    ValueError
        If there is no such document.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", min_documents=1) as store:
    ...         _ = store.append([Record("a", ["cat", "dog"]), Record("b", ["tree", "cat"])])
    ...         batch = stored_document(store, ["dog", "cat"], "b")
    >>> batch.keys, batch.counts.indices.tolist()
    (['b'], [1])
    """
    try:
        documents = store.read([key])
    except KeyError:
        raise ValueError(f"{store.name} has no document {key!r:.120}") from None
    ((_, counts),) = over_words(store, [documents], words)
    titles = excerpts = None
    if store.settings.keep_text:
        titles, excerpts = titles_and_excerpts(store, documents.keys)
    return DocumentBatch(counts, documents.keys, titles, known_times(documents), excerpts)


def _columns(
    store: Store, documents: Documents, column_of: dict[str, int]
) -> tuple[int | None, Index]:
    """The model's column for each of the store's, -1 for none, and the version that it is of.

    Columns that were given to other words after the documents were read have none, and no version:
    the next documents are of another one.
    """
    vocabulary = store.vocabulary()
    found = [-1 if word is None else column_of.get(word, -1) for word in vocabulary.words]
    columns = np.array(found, np.int64)
    if vocabulary.version == documents.vocabulary:
        return vocabulary.version, columns
    changed = store.vocabulary_since(documents.vocabulary).columns
    columns[changed[changed < columns.size]] = -1
    return None, columns


def _counts(documents: Documents, columns: Index, n_words: int) -> CountRows:
    """Counts over the model's columns, of which `columns` has one for each of the store's, or -1.

    Words that came while the documents were read have none. Columns rise in each row, as in a
    matrix: sums over the words of a document are then the same to the last bit.
    """
    place = np.where(documents.indices < columns.size, documents.indices, -1)
    mine = np.append(columns, -1)[place]
    rows = np.repeat(np.arange(len(documents.keys)), np.diff(documents.indptr))
    order = np.argsort(rows * n_words + mine, kind="stable")
    order = order[mine[order] >= 0]
    before = np.concatenate(([0], np.cumsum(mine >= 0)))
    shape = len(documents.keys), n_words
    return CountRows(
        before[documents.indptr].astype(np.int64),
        mine[order].astype(np.int32),
        documents.counts[order],
        shape,
    )
