"""Read the documents of a store in batches, over the words of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from trustream.array_types import Index
from trustream.models.lda.batch import CountRows
from trustream.store.protocol import Store
from trustream.store.records import Documents
from trustream.topics.documents import DocumentBatch


def stored_batches(
    store: Store, words: Sequence[str], *, block: int = 1000
) -> Iterator[DocumentBatch]:
    """Yield all documents of a store, held-out ones included, as the functions here take them.

    The vocabulary of a store goes on changing, that of a model that was loaded does not. Counts are
    those of the model's words, wherever the store has them now; words that the model does not
    know are left out. Times are those of the store: where a document came without one, when it
    arrived.

    Parameters
    ----------
    store : Store
    words : sequence of str
        Words by column of the model: `TopicSet.words`, or its `feature_names_in_`. Columns of
        the name "" have no word.
    block : int, default=1000
        Documents of a batch.

    Examples
    --------
    >>> import tempfile, trustream
    >>> from trustream.store import Record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trustream.open_store(f"{folder}/topics.db", min_documents=1) as store:
    ...         _ = store.append([Record("a", ["cat", "dog"]), Record("b", ["tree", "cat"])])
    ...         (batch,) = stored_batches(store, ["dog", "cat"])
    >>> batch.keys, batch.counts.indices.tolist(), batch.counts.indptr.tolist()
    (['a', 'b'], [1, 0, 1], [0, 2, 3])
    >>> batch.times.shape
    (2,)
    """
    column_of = {word: column for column, word in enumerate(words) if word}
    version, columns = None, np.empty(0, np.int64)
    for documents in store.scan(block):
        if documents.vocabulary != version:
            version, columns = _columns(store, documents, column_of)
        counts = _counts(documents, columns, len(words))
        yield DocumentBatch(counts, keys=documents.keys, times=documents.times)


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
    column_of = {word: column for column, word in enumerate(words) if word}
    _, columns = _columns(store, documents, column_of)
    return DocumentBatch(_counts(documents, columns, len(words)), keys=documents.keys)


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

    Words that came while the documents were read have none.
    """
    place = np.where(documents.indices < columns.size, documents.indices, -1)
    mine = np.append(columns, -1)[place]
    known = mine >= 0
    before = np.concatenate(([0], np.cumsum(known)))
    shape = len(documents.keys), n_words
    return CountRows(
        before[documents.indptr].astype(np.int64),
        mine[known].astype(np.int32),
        documents.counts[known],
        shape,
    )
